"""Confidence-weighted learning: weights with a variance each; what is sure moves less."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import ndtri

from ...model.bounds import Bounded, Floats, hinge, only_for
from ...model.classifier import OnlineClassifier
from ...model.groups import LinearStepLearner
from ...model.parameters import inherit, number, word


class ConfidenceWeightedClassifier(LinearStepLearner, Bounded, OnlineClassifier):
    """AROW and soft confidence-weighted learning: for features of unlike frequency or scale.

    Every weight has a variance, 1 at first, which shrinks with each example that its feature took
    part in. A step moves weights that are unsure and leaves those that are settled: a rare word
    learns quickly, a frequent one slowly, and features of unlike scale need no scaler. So one pass
    comes nearer to the batch solution than one of :class:`PassiveAggressiveClassifier`. As
    variances never grow again, it follows a drift ever more slowly.

    More than two classes are learned natively: the true one is pushed above the strongest rival.

    A step costs three passes over the features present in the example, and twice the memory of
    plain weights; with ``covariance="full"`` time and memory grow with the square of the number of
    features. Weights only; there is no kernel.

    References
    ----------
    K. Crammer, A. Kulesza, M. Dredze: Adaptive Regularization of Weight Vectors. Advances in Neural
    Information Processing Systems 22 (2009).
    J. Wang, P. Zhao, S. C. H. Hoi: Exact Soft Confidence-Weighted Learning. International
    Conference on Machine Learning (2012).

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import ConfidenceWeightedClassifier, PassiveAggressiveClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 20)) * np.logspace(-1, 1, 20)  # of unlike scale
    >>> y = X @ np.logspace(1, -1, 20) > 0
    >>> for model in ConfidenceWeightedClassifier(), PassiveAggressiveClassifier():
    ...     _ = model.partial_fit(X[:1000], y[:1000], classes=[False, True])
    ...     print(f"{model.score(X[1000:], y[1000:]):.2f}")
    0.95
    0.82
    """

    _stem = "ConfidenceWeighted"

    variant: Literal["AROW", "SCW-I", "SCW-II"] = word(
        default="AROW",
        words=("AROW", "SCW-I", "SCW-II"),
        kw_only=False,
        doc="""``"AROW"`` minimises squared hinge loss and variance along the example; ``"SCW-I"``
        and ``"SCW-II"`` want the example on its side with probability ``confidence``, at a price
        that is linear or squared.""",
    )
    C: float = number(
        default=0.1,
        above=0,
        doc="""Price of an error, > 0: the largest step of SCW-I; r of AROW is ``1 / (2 C)``. Lower
        it on noisy data. Sample weights multiply it.""",
    )
    confidence: float = number(
        default=0.9,
        above=0.5,
        below=1,
        core="phi",
        doc="The probability eta that SCW asks for, above 0.5 and below 1; AROW has none.",
    )
    covariance: Literal["diagonal", "full"] = word(
        default="diagonal",
        words=("diagonal", "full"),
        doc="""``"full"`` knows of features that go together; for a few hundred of them at most, as
        its time and memory grow with their square.""",
    )
    average: bool = inherit(default=False)

    def _core_params(self, n_features: int) -> dict[str, Any]:
        settings = super()._core_params(n_features)
        return settings | {"phi": float(ndtri(settings["phi"]))}

    _theorem: ClassVar[str] = "Crammer et al. (2009)"

    def _bound(self, X: Floats, y: Floats, u: Floats) -> Floats:
        """Theorem 2: M <= sqrt((r |u|^2 + u'X_A u) (log det(I + X_A / r) + U)) - U + sum l.

        X_A sums x x' over the rows that moved the weights, U of which were right. Of all rows it
        is larger, and here U is the number for which the right side is largest.
        """
        only_for(self, variant="AROW", covariance="full")
        r = 1 / (2 * self.C)
        a = r * (u @ u) + np.cumsum((X @ u) ** 2)
        b = _log_determinants(X, r)
        worst = np.where(a <= 4 * b, np.sqrt(a * b), a / 4 + b)
        return np.asarray(worst + np.cumsum(hinge(X, y, u)))


def _log_determinants(X: Floats, r: float) -> Floats:
    """log det(I + sum of x x' / r) after each row, by what each multiplies the determinant with."""
    S, logs = np.eye(X.shape[1]), []
    for x in X:
        s = S @ x
        v = float(x @ s) / r
        logs.append(np.log1p(v))
        S -= np.outer(s, s) / (r * (1 + v))
    return np.cumsum(logs)
