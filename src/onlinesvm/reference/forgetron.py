"""The self-tuned Forgetron (Dekel, Shalev-Shwartz, Singer 2008), readable."""

from __future__ import annotations

import numpy as np

from onlinesvm.reference.function import StepLearner, hinge
from onlinesvm.reference.kernels import Array, Kernel


class Forgetron(StepLearner):
    """A perceptron on examples of length one; beyond ``budget`` it shrinks and drops the oldest.

    Attributes
    ----------
    M : int
        Mistakes so far.
    Q : float
        The damage that shrinking and dropping have done; at most 15/32 of M.

    Examples
    --------
    >>> from onlinesvm.reference import Kernel
    >>> from onlinesvm.reference.forgetron import Forgetron
    >>> model = Forgetron(Kernel("rbf", gamma=1.0), budget=2)
    >>> for x, y in [([0.0], 1), ([1.0], -1), ([0.6], 1)]:
    ...     model.learn(x, y)
    >>> model.X.ravel(), model.s.round(3), round(float(model.Q), 3)
    (array([1. , 0.6]), array([[-1.,  1.]]), 0.34)
    """

    def __init__(
        self, kernel: Kernel | None = None, *, budget: int = 100, outputs: int = 1
    ) -> None:
        super().__init__(kernel, outputs)
        self.budget, self.M, self.Q = budget, 0, 0.0

    def step(self, x: Array, y: float, weight: float) -> None:
        """On a mistake the example is added, and the oldest may have to go."""
        length = np.sqrt(self.kernel(x, x)[0, 0])
        wrong, direction = hinge(self.score(x), y, 0.0)
        if wrong < 0 or length == 0:
            return
        self.add(x, weight / length * direction)
        self.M += 1
        while len(self.X) > self.budget:
            self.forget(self.oldest)

    @property
    def oldest(self) -> int:
        """Who came first, of those that are not alone on their side."""
        products = self.s.T @ self.s
        np.fill_diagonal(products, 0.0)
        among = np.flatnonzero((products > 0).any(axis=1))
        among = among if len(among) else np.arange(len(self.X))
        return int(among[self.born[among].argmin()])

    def forget(self, r: int) -> None:
        """Shrink by the largest phi whose damage fits what the mistakes allow, and drop r."""
        length2 = self.kernel(self.X[r], self.X[r])[0, 0]
        sigma = np.sqrt(self.s[:, r] @ self.s[:, r] * length2)
        sigma_mu = self.s[:, r] @ self.score(self.X[r])
        a, b = sigma**2 - 2 * sigma_mu, 2 * sigma / np.sqrt(min(2, len(self.s)))
        L = 15 * self.M / 32 - self.Q
        phi = 1.0
        if a + b > L:
            roots = np.roots([a, b, -L]) if abs(a) > 1e-300 else np.array([L / b])
            phi = max(x.real for x in roots if abs(x.imag) < 1e-9 and 0 < x.real <= 1)
        self.Q += a * phi**2 + b * phi
        self.shrink(phi)
        keep = np.arange(len(self.X)) != r
        self.X, self.s, self.born = self.X[keep], self.s[:, keep], self.born[keep]
