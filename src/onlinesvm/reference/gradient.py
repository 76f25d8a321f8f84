"""Pegasos (2007) and the SVM by stochastic gradient descent (Bottou), readable.

Both shrink f and add the examples inside the margin.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from onlinesvm.reference.function import StepLearner, hinge
from onlinesvm.reference.kernels import Array, Kernel


class Pegasos(StepLearner):
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
        self.lam, self.size, self.t0, self.project = lam, block, t0, project
        self.lengths: list[float] = []
        self.block: list[tuple[Array, float, float]] = []

    def learn(self, x: ArrayLike, y: float = 0.0, weight: float = 1.0) -> None:
        """Collect the example; a full block is a round."""
        if weight == 0.0:
            return
        self.block.append((np.asarray(x, dtype=np.float64), y, weight))
        self.lengths.append(self.kernel(x, x)[0, 0])
        if len(self.block) == self.size:
            self._round()
            self.block = []
            self.past.append(self.s)

    def _round(self) -> None:
        scale = float(np.mean(self.lengths)) / self.lam
        t0 = scale if self.t0 == "scale" else float(self.t0)
        eta = 1 / (self.lam * (self.t + t0))
        judged = [(x, weight, *hinge(self.score(x), y)) for x, y, weight in self.block]
        self.shrink(1 - eta * self.lam)
        for x, weight, loss, direction in judged:
            if loss > 0:
                self.add(x, eta / self.size * weight * direction)
        if self.project and self.norm > 0:
            self.shrink(min(1.0, 1 / (np.sqrt(self.lam) * self.norm)))


# Learning rates: the step of round t = 1, 2, ...
RATES: dict[str, Callable[[float, float, int], float]] = {
    "constant": lambda eta0, lam, t: eta0,
    "invscaling": lambda eta0, lam, t: eta0 / np.sqrt(t),
    "optimal": lambda eta0, lam, t: eta0 / (1 + eta0 * lam * (t - 1)),
}


class Sgd(StepLearner):
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

    def step(self, x: Array, y: float, weight: float) -> None:
        """One round."""
        eta = self.rate(self.eta0, self.lam, self.t)
        loss, direction = hinge(self.score(x), y)
        self.shrink(1 - eta * self.lam)
        if loss > 0:
            self.add(x, eta * weight * direction)
