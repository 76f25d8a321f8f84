"""Exponentiated gradient: multiply the weights, so that idle features cost next to nothing."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..base import LinearStepLearner, OnlineClassifier, OnlineRegressor
from ..base.parameters import flag, inherit, number, word
from .error_loss import ErrorLoss


class ExponentiatedModel(LinearStepLearner):
    """What the classifier and the regressor share: the step, and the sum of the weights."""

    variant: Literal["EG+-", "EG"] = word(
        default="EG+-",
        words=("EG+-", "EG"),
        doc="""``"EG+-"`` has weights of both signs whose absolute values sum to at most ``U``,
        ``"EG"`` positive ones that sum to ``U``: a mixture of the features; for two classes.""",
    )
    U: float = number(
        default=100.0,
        above=0,
        doc="""The bound on the sum of the absolute weights, > 0; too large a bound costs speed
        of learning, too small a one accuracy. With ``scale`` it is in units of ``Y / X``: the
        largest target so far (1 for classes) over the largest feature.""",
    )
    learning_rate: Literal["constant", "invscaling"] = word(
        default="constant",
        words=("constant", "invscaling"),
        doc="The step of round t: ``eta0``, or ``eta0 / sqrt(t)``.",
    )
    eta0: float = number(
        default=1.0,
        above=0,
        doc="""The first step, > 0; with ``scale`` in units of ``1 / (U X)^2``, where 1/3 is that of
        the paper's bounds for the squared loss.""",
    )
    scale: bool = flag(
        default=True,
        doc="""Whether ``U`` and ``eta0`` are measured by the data so far: no unit of features or
        targets then matters.""",
    )


class ExponentiatedGradientClassifier(ExponentiatedModel, OnlineClassifier):
    """Exponentiated gradient (Kivinen and Warmuth): for many features of which few matter.

    Where gradient descent adds the example to the weights, this multiplies them: what it costs to
    have features that do not matter grows with the logarithm of their number only. Where all
    matter a little, as in text with all its words, :class:`GradientDescentClassifier` is quicker.
    More than two classes are learned natively: the true one is pushed above the strongest rival.

    A step costs one exponential for each feature present in the example. Weights only; there is
    no kernel. All features should be of one scale.

    References
    ----------
    J. Kivinen, M. K. Warmuth: Exponentiated Gradient versus Gradient Descent for Linear Predictors.
    Information and Computation 132 (1997).

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import ExponentiatedGradientClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.choice([-1.0, 1.0], size=(2000, 200))
    >>> y = X[:, :3].sum(axis=1) > 0  # three features matter
    >>> model = ExponentiatedGradientClassifier(classes=[False, True])
    >>> _ = model.partial_fit(X[:1000], y[:1000])
    >>> print(f"{model.score(X[1000:], y[1000:]):.2f}")
    0.98
    """

    _stem = "ExponentiatedClassifier"

    loss: Literal["hinge", "squared_hinge", "logistic", "squared", "perceptron"] = word(
        default="hinge",
        words=("hinge", "squared_hinge", "logistic", "squared", "perceptron"),
        kw_only=False,
        doc="As of :class:`GradientDescentClassifier`.",
    )
    U: float = inherit(default=1000.0)
    eta0: float = inherit(
        default=100.0,
        doc="""The first step, > 0; with ``scale`` in units of ``1 / (U X)^2``: a loss of slope 1
        multiplies the weight of the largest feature by ``exp(eta0 / U)``.""",
    )


class ExponentiatedGradientRegressor(ErrorLoss, ExponentiatedModel, OnlineRegressor):
    """Exponentiated gradient for regression: few features of many, or a mixture of experts.

    With the squared loss, the total loss is within 3/2 of that of the best weights whose sum is
    bounded by ``U``, plus a price that grows with the logarithm of the number of features only
    (Kivinen and Warmuth). ``variant="EG"`` is a mixture: features that are forecasts of experts,
    and weights that say how far each is to be trusted; then ``scale=False, U=1, bias="none"``.

    A step costs one exponential for each feature present in the example. Weights only; there is
    no kernel. All features should be of one scale.

    Attributes
    ----------
    coef_ : array of shape (n_features,)

    References
    ----------
    J. Kivinen, M. K. Warmuth: Exponentiated Gradient versus Gradient Descent for Linear Predictors.
    Information and Computation 132 (1997).

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import ExponentiatedGradientRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 50))
    >>> y = X @ np.r_[1.0, -2.0, 3.0, np.zeros(47)] + 4.0
    >>> model = ExponentiatedGradientRegressor(average=False).fit(X, y)
    >>> model.coef_[:4].round(1) + 0.0, model.intercept_.round(1)
    (array([ 1., -2.,  3.,  0.]), array([4.]))
    """

    _stem = "ExponentiatedRegressor"

    loss: Literal["squared", "epsilon_insensitive", "huber", "pinball"] = inherit(
        default="squared", kw_only=False
    )

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights."""
        return np.asarray(super().coef_[0])
