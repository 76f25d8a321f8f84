"""NORMA: online learning with kernels (Kivinen, Smola, Williamson 2004), readable.

Gradient descent in the space of the kernel: every coefficient is multiplied in every round, and a
term that has lived tau rounds is struck off.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from onlinesvm.reference.function import StepLearner, Task, hinge, tube
from onlinesvm.reference.gradient import RATES
from onlinesvm.reference.kernels import Array, Kernel


def novelty(f: Array, y: float, rho: float) -> tuple[float, Array]:
    """max(0, rho - f) - nu rho"""
    return rho - f[0], np.ones(1)


def regression(loss: str = "epsilon_insensitive", quantile: float = 0.5) -> Task:
    """A loss of r = y - f by name; the level is epsilon, or sigma of Huber's loss."""

    def judge(f: Array, y: float, level: float) -> tuple[float, Array]:
        r = y - f[0]
        slope = {
            "squared": r,
            "huber": np.clip(r / level, -1.0, 1.0) if level else np.sign(r),
            "pinball": quantile if r > 0 else quantile - 1.0,
        }[loss]
        return abs(r), np.array([slope])

    return tube if loss == "epsilon_insensitive" else judge


class Norma(StepLearner):
    """f <- (1 - eta lam) f - eta l'(f(x), y) k(x, .)

    Parameters
    ----------
    kernel : Kernel
    task : Task
        ``hinge``, ``novelty`` or ``regression(...)``.
    lam, learning_rate, eta0
        Regularisation and step.
    level : float
        rho or epsilon at the start.
    nu : float, optional
        The share of errors the level is steered to; None keeps it.
    tau : int, optional
        The age at which a term is dropped; None never.
    bias : {"none", "free"}
        ``"free"`` learns one that does not shrink.
    outputs : int

    Examples
    --------
    >>> from onlinesvm.reference import Kernel, Norma
    >>> model = Norma(Kernel("linear"), lam=0.5, eta0=1.0)
    >>> model.learn([3.0, 4.0], 1)
    >>> model.learn([-1.0, 1.0], -1)
    >>> model.score([1.0, 0.0])
    array([2.5])
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        task: Task = hinge,
        lam: float = 1e-2,
        learning_rate: str = "constant",
        eta0: float = 0.1,
        level: float = 1.0,
        nu: float | None = None,
        tau: int | None = None,
        bias: Literal["none", "free"] = "none",
        outputs: int = 1,
    ) -> None:
        super().__init__(kernel or Kernel("rbf"), outputs)
        self.task, self.lam, self.eta0, self.rate = task, lam, eta0, RATES[learning_rate]
        self.level, self.nu, self.tau, self.bias = level, nu, tau, bias
        self.b = np.zeros(outputs)

    def step(self, x: Array, y: float, weight: float) -> None:
        """One round."""
        eta = self.rate(self.eta0, self.lam, self.t)
        loss, slope = self.task(self.score(x), y, self.level)
        self.shrink(1 - eta * self.lam)
        if self.tau is not None:
            self.drop(self.t - self.born >= self.tau)
        if loss > 0:
            self.add(x, eta * weight * slope)
            if self.bias == "free":
                self.b = self.b + eta * weight * slope
        if self.nu is not None:
            rise = eta * weight * (self.nu - (loss > 0))
            by_margin = self.task in (hinge, novelty)
            self.level = self.level + rise if by_margin else max(0.0, self.level - rise)

    def unlearn(self, t: int) -> None:
        """Strike off the term of round t."""
        self.drop(self.born == t)

    def score(self, x: ArrayLike) -> Array:
        """The outputs f_r(x) + b_r of one example."""
        return np.asarray(super().score(x) + self.b)
