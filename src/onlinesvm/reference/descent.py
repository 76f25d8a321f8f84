"""Gradient descent (Widrow and Hoff; Kivinen and Warmuth 1997), readable."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from onlinesvm.reference.function import StepLearner, hinge
from onlinesvm.reference.gradient import RATES
from onlinesvm.reference.kernels import Array, Kernel
from onlinesvm.reference.norma import regression

# Minus the slope of a loss of the margin z.
SLOPES: dict[str, Callable[[float], float]] = {
    "hinge": lambda z: float(z < 1.0),
    "squared_hinge": lambda z: max(0.0, 1.0 - z),
    "logistic": lambda z: 1.0 / (1.0 + np.exp(z)),
    "squared": lambda z: 1.0 - z,
    "perceptron": lambda z: float(z <= 0.0),
}


class Descent(StepLearner):
    """f <- f - eta L'(f(x)) k(x, .)

    Parameters
    ----------
    kernel : Kernel
    loss : str
        One of ``SLOPES`` for labels, or a loss of ``regression``.
    learning_rate, eta0
        The step; with ``scale`` in units of 1 / X^2, X the longest example so far, and for squared
        losses at most 1.
    epsilon, quantile : float
        Of the losses for regression.
    outputs : int

    Examples
    --------
    >>> from onlinesvm.reference.descent import Descent
    >>> model = Descent(loss="squared", eta0=0.5)
    >>> model.learn([3.0, 4.0], 1)
    >>> model.w
    array([[0.06, 0.08]])
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        loss: str = "hinge",
        learning_rate: str = "constant",
        eta0: float = 0.5,
        scale: bool = True,
        epsilon: float = 0.1,
        quantile: float = 0.5,
        outputs: int = 1,
        targets: bool = False,
    ) -> None:
        super().__init__(kernel, outputs)
        self.loss, self.rate, self.eta0, self.scale = loss, RATES[learning_rate], eta0, scale
        self.judge = regression(loss, quantile) if targets else None
        self.epsilon, self.X2 = epsilon, 0.0

    def step(self, x: Array, y: float, weight: float) -> None:
        """One round."""
        self.X2 = max(self.X2, self.kernel(x, x)[0, 0])
        eta = weight * self.rate(self.eta0, 0.0, self.t)
        if self.scale:
            curved = self.loss in ("squared", "squared_hinge")
            eta = (min(eta, 1.0) if curved else eta) / self.X2 if self.X2 > 0.0 else 0.0
        if self.judge:
            loss, slope = self.judge(self.score(x), y, self.epsilon)
            slope = slope * (loss > 0)
        else:
            gap, direction = hinge(self.score(x), y)
            slope = SLOPES[self.loss](1.0 - gap) * direction
        if slope.any():
            self.add(x, eta * slope)
