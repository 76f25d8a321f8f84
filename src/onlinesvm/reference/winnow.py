"""Winnow (Littlestone 1988): dividing, eliminating and balanced, readable."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from onlinesvm.reference.function import WeightLearner
from onlinesvm.reference.kernels import Array
from onlinesvm.reference.perceptron import Perceptron


class Winnow(WeightLearner):
    """After a mistake, the weights of the features present are multiplied, up or down.

    Parameters
    ----------
    features : int
    variant : {"divide", "eliminate", "balanced"}
    promotion, demotion : float
    threshold : float, optional
        Of positive weights; None: half the number of features.
    bias : bool
        Of balanced weights.
    outputs : int

    Examples
    --------
    >>> from onlinesvm.reference.winnow import Winnow
    >>> model = Winnow(4, variant="divide")
    >>> for x, y in [([1, 0, 0, 0], 1), ([1, 1, 0, 1], -1)]:
    ...     model.learn(x, y)
    >>> model.W
    array([[1. , 0.5, 1. , 0.5]])
    """

    def __init__(
        self,
        features: int,
        *,
        variant: str = "divide",
        promotion: float = 2.0,
        demotion: float = 0.5,
        threshold: float | None = None,
        bias: bool = False,
        outputs: int = 1,
    ) -> None:
        super().__init__(features, bias=bias, outputs=outputs)
        self.variant, self.up, self.down = variant, promotion, demotion
        self.balanced = variant == "balanced"
        self.theta = 0.0 if self.balanced else threshold or features / 2
        self.u = np.ones_like(self.W)
        self.v = np.ones_like(self.W) * self.balanced
        self.W = self.u - self.v
        self.past = [self.W]

    def step(self, x: Array, y: float, weight: float) -> None:
        """One round; with more outputs, the true one against those not below it."""
        moves = Perceptron()._repair(self.W @ x - self.theta, y) * weight
        largest = np.abs(x).max(initial=0.0)
        for r in np.flatnonzero(moves if largest > 0 else []):
            # the exponent of each feature, negative where it speaks against the label
            s = moves[r] * x / (largest if self.balanced else 1.0)
            up, down = self.up ** np.abs(s), self.down ** np.abs(s)
            if self.variant == "eliminate":
                down = np.where(s < 0, 0.0, 1.0)
            self.u, self.v = self.u.copy(), self.v.copy()
            self.u[r] *= np.where(s > 0, up, np.where(s < 0, down, 1.0))
            self.v[r] *= np.where(s > 0, down, np.where(s < 0, up, 1.0))
        self.W = self.u - self.v

    def score(self, x: ArrayLike) -> Array:
        """The outputs f_r(x) of one example."""
        return super().score(x) - self.theta

    def averaged(self, x: ArrayLike) -> Array:
        """With the mean weights of all rounds."""
        return super().averaged(x) - self.theta
