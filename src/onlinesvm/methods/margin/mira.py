"""MIRA: the shortest weights that a step along the example can reach."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ...data.arguments import check_number
from ...model.bounds import Bounded, Floats, hinge, longest2
from ...model.classifier import OnlineClassifier
from ...model.groups import StepLearner
from ...model.parameters import number


class MiraClassifier(StepLearner, Bounded, OnlineClassifier):
    """MIRA (Crammer and Singer): many classes at once, each moved no more than it must.

    Among the weights that a step along the example can reach, it takes the shortest, so that the
    true class rises and every class that stands too high falls, each by its own amount: one exact
    projection. That is what it has over :class:`PassiveAggressiveClassifier`, which moves the
    strongest rival only; for two classes it is the same method with ``C=1``.

    There is no rate and no scale to set. A linear step costs one pass over the features present in
    the example for each class that moves. With a kernel every example that caused a step is kept,
    so on noisy data time and memory grow with the stream; :class:`RampSVC` then stays far smaller.

    References
    ----------
    K. Crammer, Y. Singer: Ultraconservative Online Algorithms for Multiclass Problems. Journal of
    Machine Learning Research 3 (2003).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from onlinesvm import MiraClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = MiraClassifier(classes=range(10)).partial_fit(X[:1000], y[:1000])
    >>> print(f"{model.score(X[1000:], y[1000:]):.2f}")
    0.91
    """

    _stem = "Mira"

    margin: float = number(
        default=1.0,
        at_least=0,
        kw_only=False,
        doc="""How far above all others the true class is to stand, >= 0. 0 is the paper's, which
        corrects mistakes only, and with sparse rows never learns from features that are new.""",
    )

    _theorem: ClassVar[str] = "Crammer et al. (2006)"

    def _bound(self, X: Floats, y: Floats, u: Floats) -> Floats:
        """That of PA-I with C = 1 / margin, which two classes are in units of the margin."""
        C = 1 / check_number("margin", self.margin, above=0)
        return np.maximum(longest2(X), 1 / C) * (u @ u + 2 * C * np.cumsum(hinge(X, y, u)))
