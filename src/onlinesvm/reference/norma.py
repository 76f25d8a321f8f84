"""NORMA: online learning with kernels (Kivinen, Smola, Williamson 2004), readable.

Gradient descent in the space of the kernel. Terms are kept as (x, coefficients, round); every
coefficient is multiplied in every round, and a term that has lived tau rounds is struck off.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from onlinesvm.reference.gradient import RATES, hinge
from onlinesvm.reference.kernels import Array, Kernel

# A task says whether an example is an error at a level (rho or epsilon), and -l'(f, y) if it is.
Task = Callable[[Array, float, float], tuple[bool, Array]]


def classification(f: Array, y: float, rho: float) -> tuple[bool, Array]:
    """max(0, rho - y f) - nu rho"""
    return hinge(f, y, rho)


def novelty(f: Array, y: float, rho: float) -> tuple[bool, Array]:
    """max(0, rho - f) - nu rho"""
    return bool(f[0] < rho), np.ones(1)


def regression(loss: str = "epsilon_insensitive", quantile: float = 0.5) -> Task:
    """A loss of r = y - f by name; the level is epsilon, or sigma of Huber's loss."""

    def judge(f: Array, y: float, level: float) -> tuple[bool, Array]:
        r = y - f[0]
        slope = {
            "epsilon_insensitive": 1.0 if r > 0 else -1.0,
            "squared": r,
            "huber": np.clip(r / level, -1.0, 1.0) if level else np.sign(r),
            "pinball": quantile if r > 0 else quantile - 1.0,
        }[loss]
        return bool(abs(r) > (level if loss == "epsilon_insensitive" else 0.0)), np.array([slope])

    return judge


class Norma:
    """f <- (1 - eta lam) f - eta l'(f(x), y) k(x, .)

    Parameters
    ----------
    kernel : Kernel
    task : Task
        ``classification``, ``novelty`` or ``regression(...)``.
    lam, learning_rate, eta0
        Regularisation and step.
    level : float
        rho or epsilon at the start.
    nu : float, optional
        The share of errors the level is steered to; None keeps it.
    tau : int, optional
        The age at which a term is dropped; None never.
    free_bias : bool
        Whether to learn a bias that does not shrink.
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
        task: Task = classification,
        lam: float = 1e-2,
        learning_rate: str = "constant",
        eta0: float = 0.1,
        level: float = 1.0,
        nu: float | None = None,
        tau: int | None = None,
        free_bias: bool = False,
        outputs: int = 1,
    ) -> None:
        self.kernel = kernel or Kernel("rbf")
        self.task, self.lam, self.eta0, self.rate = task, lam, eta0, RATES[learning_rate]
        self.level, self.nu, self.tau, self.free_bias = level, nu, tau, free_bias
        self.terms: list[tuple[Array, Array, int]] = []
        self.b = np.zeros(outputs)
        self.t = self.errors = 0

    def learn(self, x: ArrayLike, y: float = 0.0, weight: float = 1.0) -> None:
        """One round."""
        if weight == 0.0:
            return
        x = np.asarray(x, dtype=np.float64)
        self.t += 1
        eta = self.rate(self.eta0, self.lam, self.t)
        error, slope = self.task(self.score(x), y, self.level)
        self.terms = [(z, (1 - eta * self.lam) * c, i) for z, c, i in self.terms]
        if self.tau is not None:
            self.terms = [term for term in self.terms if self.t - term[2] < self.tau]
        if error:
            self.errors += 1
            self.terms.append((x, eta * weight * slope, self.t))
            if self.free_bias:
                self.b = self.b + eta * weight * slope
        if self.nu is not None:
            self._adapt(eta * weight, error)

    def unlearn(self, t: int) -> None:
        """Strike off the term of round t, counted from 1; all else stays as it is."""
        self.terms = [term for term in self.terms if term[2] != t]

    def _adapt(self, eta: float, error: bool) -> None:
        if self.task in (classification, novelty):
            self.level += eta * (self.nu_ - error)
        else:
            self.level = max(0.0, self.level + eta * (error - self.nu_))

    @property
    def nu_(self) -> float:
        """nu, which must be there."""
        assert self.nu is not None
        return self.nu

    def score(self, x: ArrayLike) -> Array:
        """The outputs f_r(x) + b_r of one example."""
        values = (c * self.kernel(z, x)[0, 0] for z, c, _ in self.terms)
        return np.asarray(sum(values, self.b))
