"""Projectron and Projectron++ (Orabona, Keshet, Caputo 2009), readable."""

from __future__ import annotations

import numpy as np

from onlinesvm.reference.function import StepLearner, hinge
from onlinesvm.reference.kernels import Array, Kernel


class Projectron(StepLearner):
    """A perceptron on examples of length one that stores what is ``eta`` away from its span.

    ``plus`` learns from examples inside the margin too. ``None`` as a budget sets no bound.

    Examples
    --------
    >>> from onlinesvm.reference import Kernel
    >>> from onlinesvm.reference.projectron import Projectron
    >>> model = Projectron(Kernel("linear"), eta=0.1)
    >>> for x, y in [([1.0, 0.0], 1), ([0.0, 2.0], -1), ([1.0, 1.0], 1)]:
    ...     model.learn(x, y)
    >>> len(model.X), model.w.round(3)
    (2, array([[ 1.707, -0.293]]))
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        eta: float = 0.1,
        budget: int | None = None,
        plus: bool = True,
        outputs: int = 1,
    ) -> None:
        super().__init__(kernel, outputs)
        self.eta, self.budget, self.plus = eta, budget, plus

    def step(self, x: Array, y: float, weight: float) -> None:
        """Store the example, or move what is stored by its projection."""
        length = np.sqrt(self.kernel(x, x)[0, 0])
        if length == 0:
            return
        wrong, direction = hinge(self.score(x) / length, y, 0.0)
        loss = 1 + wrong
        n = float(direction @ direction)
        d, delta2 = self.projection(x, length)
        if wrong >= 0:
            full = self.budget is not None and len(self.X) >= self.budget
            if delta2 > self.eta**2 and not full:
                self.add(x, weight / length * direction)
            else:
                self.s = self.s + weight / length * np.outer(direction, d)
        elif self.plus and loss > 0:
            room = max(0.0, loss - np.sqrt(n * delta2) / self.eta)
            tau = min(weight, min(loss, 2 * room) / (n * (1 - delta2)))
            self.s = self.s + tau / length * np.outer(direction, d)

    def projection(self, x: Array, length: float) -> tuple[Array, float]:
        """The combination of what is stored that is nearest, and the share of |x|^2 beside it."""
        if not len(self.X):
            return np.zeros(0), 1.0
        k = self.k(x)
        d = np.linalg.solve(self.kernel(self.X, self.X), k)
        return np.asarray(d), max(0.0, 1 - float(k @ d) / length**2)
