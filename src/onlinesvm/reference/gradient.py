"""Pegasos (2007) and the SVM by stochastic gradient descent (Bottou), readable.

Both shrink f and add the examples inside the margin. Here every coefficient is multiplied in
every step and every past f is kept for the average: what the fast classes avoid, written out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from onlinesvm.reference.kernels import Array, Kernel


class Expansion:
    """f_r(x) = sum_i s_ri k(x_i, x), with a record of how the coefficients were after each step."""

    def __init__(self, kernel: Kernel | None, outputs: int) -> None:
        self.kernel = kernel or Kernel("linear")
        self.X = np.empty((0, 0))
        self.s = np.empty((outputs, 0))
        self.past = [self.s]

    def score(self, x: ArrayLike) -> Array:
        """The outputs f_r(x) of one example."""
        if not self.s.shape[1]:
            return np.zeros(len(self.s))
        return np.asarray(self.s @ self.kernel(self.X, x)[:, 0])

    def averaged(self, x: ArrayLike) -> Array:
        """The mean of f(x) over all steps, the zero function at the start included."""
        k = self.kernel(self.X, x)[:, 0] if len(self.X) else np.zeros(0)
        return np.asarray(np.mean([s @ k[: s.shape[1]] for s in self.past], axis=0))

    def add(self, x: Array, step: Array) -> None:
        """f += step k(x, .)"""
        self.X = np.vstack([self.X.reshape(-1, len(x)), x])
        self.s = np.column_stack([self.s, step])

    @property
    def norm(self) -> float:
        """|f|, over all outputs."""
        if not len(self.X):
            return 0.0
        return float(np.sqrt(np.einsum("ri,ij,rj", self.s, self.kernel(self.X, self.X), self.s)))

    @property
    def w(self) -> Array:
        """Weights of a linear model, one row per output."""
        return np.asarray(self.s @ self.X)


def hinge(f: Array, y: float, margin: float = 1.0) -> tuple[bool, Array]:
    """Whether an example is inside the margin, and which way the outputs should then move.

    One output: y is -1 or +1. More: y is the class, against the best of the others.
    """
    if len(f) == 1:
        return bool(y * f[0] < margin), np.array([y])
    label = int(y)
    rival = int(np.argmax(np.where(np.arange(len(f)) == label, -np.inf, f)))
    direction = np.zeros(len(f))
    direction[[label, rival]] = 1.0, -1.0
    return bool(f[label] - f[rival] < margin), direction


class Pegasos(Expansion):
    """Step t is 1 / (lam (t + t0)) long, on a block of k examples, and inside |f| <= 1/sqrt(lam).

    t0 = 0 is the paper's; with "scale", lam t0 is the mean of k(x, x) over the examples so far.

    Examples
    --------
    >>> from onlinesvm.reference import Kernel, Pegasos
    >>> model = Pegasos(Kernel("linear"), lam=0.5)
    >>> model.learn([3.0, 4.0], 1)
    >>> model.w.round(4), round(model.norm, 4)
    (array([[0.8485, 1.1314]]), 1.4142)
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        lam: float = 1e-4,
        block: int = 1,
        t0: float | str = 0.0,
        project: bool = True,
        outputs: int = 1,
    ) -> None:
        super().__init__(kernel, outputs)
        self.lam, self.k, self.t0, self.project = lam, block, t0, project
        self.t = 0
        self.lengths: list[float] = []
        self.block: list[tuple[Array, float, float]] = []

    def learn(self, x: ArrayLike, y: float, weight: float = 1.0) -> None:
        """Collect the example; a full block is a step."""
        if weight == 0.0:
            return
        self.block.append((np.asarray(x, dtype=np.float64), y, weight))
        self.lengths.append(self.kernel(x, x)[0, 0])
        if len(self.block) == self.k:
            self._step()
            self.block = []
            self.past.append(self.s)

    def _step(self) -> None:
        self.t += 1
        t0 = np.mean(self.lengths) / self.lam if self.t0 == "scale" else float(self.t0)
        eta = 1 / (self.lam * (self.t + t0))
        judged = [(x, weight, *hinge(self.score(x), y)) for x, y, weight in self.block]
        self.s = (1 - eta * self.lam) * self.s
        for x, weight, inside, direction in judged:
            if inside:
                self.add(x, eta / self.k * weight * direction)
        if self.project and self.norm > 0:
            self.s = self.s * min(1.0, 1 / (np.sqrt(self.lam) * self.norm))


# Learning rates: the step of round t = 1, 2, ...
RATES: dict[str, Callable[[float, float, int], float]] = {
    "constant": lambda eta0, lam, t: eta0,
    "invscaling": lambda eta0, lam, t: eta0 / np.sqrt(t),
    "optimal": lambda eta0, lam, t: eta0 / (1 + eta0 * lam * (t - 1)),
}


class Sgd(Expansion):
    """f <- (1 - eta_t lam) f + eta_t y k(x, .) where the example is inside the margin.

    Examples
    --------
    >>> from onlinesvm.reference import Kernel, Sgd
    >>> model = Sgd(Kernel("linear"), lam=0.5, eta0=1.0)
    >>> model.learn([3.0, 4.0], 1)
    >>> model.learn([1.0, -2.0], 1)
    >>> model.w.round(4)
    array([[2.6667, 1.3333]])
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        lam: float = 1e-4,
        learning_rate: str = "optimal",
        eta0: float = 0.1,
        outputs: int = 1,
    ) -> None:
        super().__init__(kernel, outputs)
        self.lam, self.eta0, self.rate = lam, eta0, RATES[learning_rate]
        self.t = 0

    def learn(self, x: ArrayLike, y: float, weight: float = 1.0) -> None:
        """One round."""
        if weight == 0.0:
            return
        x = np.asarray(x, dtype=np.float64)
        self.t += 1
        eta = self.rate(self.eta0, self.lam, self.t)
        inside, direction = hinge(self.score(x), y)
        self.s = (1 - eta * self.lam) * self.s
        if inside:
            self.add(x, eta * weight * direction)
        self.past.append(self.s)
