"""Exponentiated gradient (Kivinen and Warmuth 1997), readable.

The two positive weights of each feature are written down as they are; all examples have all
features.
"""

from __future__ import annotations

import numpy as np

from onlinesvm.reference.descent import SLOPES
from onlinesvm.reference.function import WeightLearner, hinge
from onlinesvm.reference.gradient import RATES
from onlinesvm.reference.kernels import Array
from onlinesvm.reference.norma import regression


class Exponentiated(WeightLearner):
    """EG: f = U w.x on the simplex. EG+-: f = U (w+ - w-).x, both on one simplex together.

    Parameters
    ----------
    features : int
    is_signed : bool
        Whether EG+-.
    U, eta0, learning_rate
        The bound and the step; with ``scale``, U in units of Y / X, the largest target and feature
        so far, and eta in units of 1 / (U X)^2.
    loss, epsilon, quantile
        As of ``Descent``; ``targets`` tells a regression.
    bias : bool
    outputs : int

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm.reference.exponentiated import Exponentiated
    >>> model = Exponentiated(
    ...     2, is_signed=False, U=1.0, eta0=np.log(2), loss="squared", scale=False, targets=True
    ... )
    >>> model.learn([1.0, 0.0], -0.5)  # f = 1/2, L' = 1
    >>> model.W.round(4)
    array([[0.3333, 0.6667]])
    """

    def __init__(
        self,
        features: int,
        *,
        is_signed: bool = True,
        U: float = 1.0,
        eta0: float = 1.0,
        learning_rate: str = "constant",
        scale: bool = True,
        loss: str = "hinge",
        epsilon: float = 0.1,
        quantile: float = 0.5,
        targets: bool = False,
        bias: bool = False,
        outputs: int = 1,
    ) -> None:
        super().__init__(features, bias=bias, outputs=outputs)
        self.is_signed, self.U0, self.eta0, self.rate = is_signed, U, eta0, RATES[learning_rate]
        self.scale, self.loss, self.epsilon = scale, loss, epsilon
        self.judge = regression(loss, quantile) if targets else None
        self.X, self.Y = 0.0, 0.0 if targets else 1.0
        D = features + bias
        self.plus = np.full((outputs, D), (0.5 if is_signed else 1.0) / D)
        self.minus = np.full((outputs, D), 0.5 / D if is_signed else 0.0)
        self.W = self.plus - self.minus  # in units of U
        self.past = [self.W]

    @property
    def U(self) -> float:
        """The bound on the sum of the weights."""
        if not self.scale:
            return self.U0
        return self.U0 * self.Y / self.X if self.X else 0.0

    def step(self, x: Array, y: float, weight: float) -> None:
        """One round."""
        self.X = max(self.X, np.abs(x).max(initial=0.0))
        f = self.U * (self.W @ x)
        if self.judge:
            loss, slope = self.judge(f, y, self.epsilon)
            slope = slope * (loss > 0)
            self.Y = max(self.Y, abs(y))
        else:
            gap, direction = hinge(f, y)
            slope = SLOPES[self.loss](1.0 - gap) * direction
        if not slope.any():
            return
        eta = weight * self.rate(self.eta0, 0.0, self.t)
        eta *= 1 / (self.U * self.X**2) if self.scale else self.U
        change = np.outer(eta * slope, x)
        top = np.abs(change).max()  # before exp, against overflow
        plus, minus = self.plus * np.exp(change - top), self.minus * np.exp(-change - top)
        total = (plus + minus).sum(axis=1, keepdims=True)
        self.plus, self.minus = plus / total, minus / total
        self.W = self.plus - self.minus

    def score(self, x: Array) -> Array:  # type: ignore[override]
        """The outputs f_r(x) of one example."""
        return self.U * super().score(x)

    def averaged(self, x: Array) -> Array:  # type: ignore[override]
        """With the mean weights of all rounds, and the bound as it is now."""
        return self.U * super().averaged(x)
