"""Gradient descent on a loss: the rule of Widrow and Hoff, and its kin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Literal

import numpy as np

from ...model.bounds import Bounded, Floats, least_squares, longest2, only_for
from ...model.classifier import OnlineClassifier
from ...model.estimator import OnlineEstimator
from ...model.groups import StepLearner
from ...model.parameters import flag, inherit, number, word
from ...model.regressor import OnlineRegressor
from .error_loss import ErrorLoss


class DescentModel(StepLearner, Bounded, OnlineEstimator):
    """What the classifier and the regressor share: how long a step is."""

    learning_rate: Literal["constant", "invscaling"] = word(
        default="constant",
        words=("constant", "invscaling"),
        doc="The step of round t: ``eta0``, or ``eta0 / sqrt(t)``.",
    )
    eta0: float = number(default=0.5, above=0, doc="The first step, > 0.")
    scale: bool = flag(
        default=True,
        doc="""Whether steps are in units of ``1 / X^2``, X the length of the longest example so
        far, and for squared losses at most 1: the scale of the features then does not matter.""",
    )

    _theorem: ClassVar[str] = "Kivinen and Warmuth (1997)"

    def _bound(self, X: Floats, y: Floats, u: Floats) -> Floats:
        """(L(u) / c + |u|^2 / eta) / 2 (1 - c), eta X^2 <= c < 1, of squared errors.

        With c = eta X^2 = 1/2 that is the paper's 2 (L(u) + X^2 |u|^2). A mistake errs by 1 or
        more.
        """
        only_for(self, loss="squared", learning_rate="constant", scale=False)
        c = np.maximum(self.eta0 * longest2(X), 0.5)
        paid = np.cumsum((y - X @ u) ** 2) / c + (u @ u) / self.eta0
        return np.asarray(np.where(c < 1, paid / np.maximum(2 * (1 - c), 1e-300), np.inf))

    def _rivals(self, X: Floats, y: Floats) -> Iterable[Floats]:
        return least_squares(X, y)


class GradientDescentClassifier(DescentModel, OnlineClassifier):
    """Gradient descent on a loss of one's choice: Widrow-Hoff, logistic regression, the perceptron.

    Every example with a loss moves the weights down its gradient. There is no regularisation:
    :class:`SGDSVC` has one, and :class:`PassiveAggressiveClassifier` chooses the length of each
    step. More than two classes are learned natively: the true one is pushed above the strongest
    rival.

    A linear step costs one pass over the features present in the example, and one for its length.
    With a kernel every example that moved f is kept, with the losses that never vanish
    (``"logistic"``, ``"squared"``) that is all of them.

    References
    ----------
    B. Widrow, M. E. Hoff: Adaptive Switching Circuits. IRE WESCON Convention Record 4 (1960).
    J. Kivinen, M. K. Warmuth: Exponentiated Gradient versus Gradient Descent for Linear Predictors.
    Information and Computation 132 (1997).

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import GradientDescentClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 5))
    >>> y = X @ [1, -2, 0, 1, 0.5] > 0
    >>> model = GradientDescentClassifier("logistic").fit(X[:2000], y[:2000])
    >>> print(f"{model.score(X[2000:], y[2000:]):.2f}")
    0.99
    """

    _stem = "DescentClassifier"

    loss: Literal["hinge", "squared_hinge", "logistic", "squared", "perceptron"] = word(
        default="hinge",
        words=("hinge", "squared_hinge", "logistic", "squared", "perceptron"),
        kw_only=False,
        doc="""Of the margin z: ``max(0, 1 - z)``, half its square, ``log(1 + exp(-z))``,
        ``(1 - z)^2 / 2`` (Widrow and Hoff, with labels -1 and 1), ``max(0, -z)``.""",
    )
    eta0: float = inherit(default=1.0)


class GradientDescentRegressor(ErrorLoss, DescentModel, OnlineRegressor):
    """Gradient descent for regression: least mean squares, and losses that outliers cannot rule.

    With the squared loss this is the rule of Widrow and Hoff, whose total loss is within twice that
    of the best weights of any length, plus a price for their length (Kivinen and Warmuth). Targets
    of any unit will do with it; a step of the other losses is as long for any error, so bring the
    targets to a scale of about 1 for them.

    A linear step costs one pass over the features present in the example, and one for its length.
    With a kernel every example that moved f is kept.

    Attributes
    ----------
    coef_ : array of shape (n_features,); linear only

    References
    ----------
    B. Widrow, M. E. Hoff: Adaptive Switching Circuits. IRE WESCON Convention Record 4 (1960).
    J. Kivinen, M. K. Warmuth: Exponentiated Gradient versus Gradient Descent for Linear Predictors.
    Information and Computation 132 (1997).

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import GradientDescentRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 3))
    >>> y = X @ [1.0, -2.0, 3.0] + 4.0
    >>> model = GradientDescentRegressor().fit(X, y)
    >>> model.coef_.round(1), model.intercept_.round(1)
    (array([ 1., -2.,  3.]), array([4.]))
    """

    _stem = "DescentRegressor"
    _counts: ClassVar[str] = "squared error"

    loss: Literal["squared", "epsilon_insensitive", "huber", "pinball"] = inherit(
        default="squared", kw_only=False
    )
