"""Confidence-weighted learning, readable: AROW (Crammer, Kulesza, Dredze, NIPS 2009) and soft
confidence-weighted learning (Wang, Zhao, Hoi, ICML 2012).

Weights are normal, N(mu, Sigma). On each example they move to the nearest such distribution, in the
sense of Kullback and Leibler, that trades the distance against the loss on the example.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from onlinesvm.reference.function import WeightLearner, hinge
from onlinesvm.reference.kernels import Array

# alpha, and by how much x x' counts in the inverse of Sigma, from m = y mu.x and v = x' Sigma x.
Rule = Callable[[float, float, float, float], tuple[float, float]]


def arow(m: float, v: float, C: float, _phi: float) -> tuple[float, float]:
    """Equations 8 and 9, with r = 1 / (2 C)."""
    r = 1 / (2 * C)
    return max(0.0, 1 - m) / (v + r), 1 / r if m < 1 else 0.0


def scw1(m: float, v: float, C: float, phi: float) -> tuple[float, float]:
    """Proposition 1."""
    psi, zeta = 1 + phi**2 / 2, 1 + phi**2
    alpha = (-m * psi + np.sqrt(m**2 * phi**4 / 4 + v * phi**2 * zeta)) / (v * zeta)
    return _with_variance(min(C, max(0.0, alpha)), v, phi)


def scw2(m: float, v: float, C: float, phi: float) -> tuple[float, float]:
    """Proposition 2."""
    n = v + 1 / (2 * C)
    gamma = phi * np.sqrt(phi**2 * m**2 * v**2 + 4 * n * v * (n + v * phi**2))
    alpha = (-(2 * m * n + phi**2 * m * v) + gamma) / (2 * (n**2 + n * v * phi**2))
    return _with_variance(max(0.0, alpha), v, phi)


def _with_variance(alpha: float, v: float, phi: float) -> tuple[float, float]:
    """The root of u is the standard deviation of the margin after the step."""
    u = (-alpha * v * phi + np.sqrt(alpha**2 * v**2 * phi**2 + 4 * v)) ** 2 / 4
    return alpha, alpha * phi / np.sqrt(u)


RULES: dict[str, Rule] = {"AROW": arow, "SCW-I": scw1, "SCW-II": scw2}


class ConfidenceWeighted(WeightLearner):
    """One closed-form step per example; Sigma is kept by its inverse.

    Parameters
    ----------
    features : int
    variant : {"AROW", "SCW-I", "SCW-II"}
    C : float
        Times the weight of the example.
    phi : float
        The quantile of the standard normal that stands for the confidence asked for.
    full : bool
        Or a diagonal covariance: that of the inverse.
    bias : bool
    outputs : int

    Attributes
    ----------
    inverses : array of shape (outputs, features, features)

    Examples
    --------
    >>> from onlinesvm.reference.confidence_weighted import ConfidenceWeighted
    >>> model = ConfidenceWeighted(2, C=0.5)
    >>> model.learn([3.0, 0.0], 1.0)
    >>> model.W, np.linalg.inv(model.inverses[0]).diagonal()
    (array([[0.3, 0. ]]), array([0.1, 1. ]))
    """

    def __init__(
        self,
        features: int,
        *,
        variant: str = "AROW",
        C: float = 1.0,
        phi: float = 1.0,
        full: bool = True,
        bias: bool = False,
        outputs: int = 1,
    ) -> None:
        super().__init__(features, bias=bias, outputs=outputs)
        self.rule, self.C, self.phi, self.whole = RULES[variant], C, phi, full
        self.inverses = np.array([np.eye(features + bias)] * outputs)

    def step(self, x: Array, y: float, weight: float) -> None:
        """One round; with more outputs, the true one against the first best of the others."""
        short, direction = hinge(self.W @ x, y)
        moved = np.flatnonzero(direction)
        along = {r: np.linalg.solve(self.inverses[r], x) for r in moved}
        v = sum(float(x @ along[r]) for r in moved)
        if v == 0.0:
            return
        alpha, by = self.rule(1 - short, v, self.C * weight, self.phi)
        self.W = self.W.copy()
        for r in moved:
            self.W[r] += alpha * direction[r] * along[r]
            self.inverses[r] += by * (np.outer(x, x) if self.whole else np.diag(x**2))
