"""Exponentiated gradient: multiply the weights, so that idle features cost next to nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import rel_entr

from ...model.bounds import Bounded, Floats, only_for
from ...model.classifier import OnlineClassifier
from ...model.estimator import OnlineEstimator
from ...model.groups import LinearStepLearner
from ...model.parameters import flag, inherit, number, word
from ...model.regressor import OnlineRegressor
from .error_loss import ErrorLoss


class ExponentiatedModel(LinearStepLearner, Bounded, OnlineEstimator):
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
    eta0: float | None = number(
        default=None,
        above=0,
        none=0.0,
        doc="""The first step, > 0; with ``scale`` in units of ``1 / (U X)^2``, where 1/3 is that of
        the paper's bounds for the squared loss. None is 1.""",
    )
    scale: bool = flag(
        default=True,
        doc="""Whether ``U`` and ``eta0`` are measured by the data so far: no unit of features or
        targets then matters.""",
    )

    def _usual_step(self) -> float:
        return 1.0

    def _core_params(self, n_features: int) -> dict[str, Any]:
        settings = super()._core_params(n_features)
        settings["eta0"] = settings["eta0"] or self._usual_step()
        return settings

    _theorem: ClassVar[str] = "Kivinen and Warmuth (1997)"

    def _bound(self, X: Floats, y: Floats, u: Floats) -> Floats:
        """L(u) / (1 - eta R^2 / 2) + KL(u, w_0) / eta, of squared errors, for eta R^2 < 2.

        With eta = 2 / (3 R^2), which is 1/3 in units of 1 / (U X)^2 here, that is the paper's
        3/2 (L(u) + R^2 KL(u, w_0)). R is the range of U x. A mistake errs by 1 or more.
        """
        only_for(self, loss="squared", learning_rate="constant", scale=False)
        w, rows = self._mixture(u), self.U * self._sides(X)
        eta0 = float(self._core_params(X.shape[1])["eta0"])
        share = 1 - eta0 / 4 * np.maximum.accumulate(np.ptp(rows, axis=1)) ** 2
        paid = np.full(len(y), np.inf)
        np.divide(np.cumsum((y - X @ u) ** 2), share, out=paid, where=share > 0)
        return paid + float(rel_entr(w, 1 / len(w)).sum()) / (eta0 / 2)

    def _sides(self, X: Floats) -> Floats:
        """The features whose mixtures f is."""
        return np.hstack([X, -X]) if self.variant == "EG+-" else X

    def _mixture(self, u: Floats) -> Floats:
        """u as a mixture of the sides; what is left of U cancels out."""
        if self.variant == "EG+-":
            w = np.concatenate([np.maximum(u, 0), np.maximum(-u, 0)]) / self.U
            w += (1 - w.sum()) / len(w)
        else:
            w = u / self.U
        if w.min() < -1e-12 or abs(w.sum() - 1) > 1e-9:
            raise ValueError(f"u must be a mixture of the features, summing to U={self.U:g}")
        return np.maximum(w, 0.0)

    def _rivals(self, X: Floats, y: Floats) -> Iterable[Floats]:
        """The best mixtures, the more even the less the fit counts; the last row makes the sum."""
        from scipy.optimize import nnls

        sides = self.U * self._sides(X)
        n, scale = sides.shape[1], float(np.abs(sides).max()) or 1.0
        for even in np.logspace(-6, 2, 9) * scale:
            heavy = 1e3 * scale * np.sqrt(len(y))
            rows = np.vstack([sides, even * np.eye(n), np.full(n, heavy)])
            w = nnls(rows, np.concatenate([y, np.full(n, even / n), [heavy]]))[0]
            w /= w.sum()
            yield self.U * (w[: n // 2] - w[n // 2 :] if self.variant == "EG+-" else w)


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

    The Weighted Majority Algorithm (Littlestone and Warmuth) is the mixture with the perceptron's
    loss: features are the votes of experts, -1 or 1, and a mistake multiplies the weights of those
    who were wrong by ``beta = exp(-2 * eta0)``. Here nine guess and one is right 9 times in 10:

    >>> truth = rng.choice([-1.0, 1.0], size=2000)
    >>> votes = rng.choice([-1.0, 1.0], size=(2000, 9))
    >>> votes = np.c_[votes, np.where(rng.random(2000) < 0.1, -truth, truth)]
    >>> majority = ExponentiatedGradientClassifier(
    ...     "perceptron", variant="EG", U=1, eta0=-np.log(0.9) / 2, scale=False, bias="none",
    ...     average=False, classes=[-1.0, 1.0],
    ... ).partial_fit(votes, truth)
    >>> int((votes[:, -1] != truth).sum()), majority.mistakes_  # the best, the majority
    (203, 324)
    """

    _stem = "ExponentiatedClassifier"

    loss: Literal["hinge", "squared_hinge", "logistic", "squared", "perceptron"] = word(
        default="hinge",
        words=("hinge", "squared_hinge", "logistic", "squared", "perceptron"),
        kw_only=False,
        doc="As of :class:`GradientDescentClassifier`.",
    )
    U: float = inherit(default=1000.0)
    eta0: float | None = inherit(
        default=None,
        doc="""The first step, > 0; with ``scale`` in units of ``1 / (U X)^2``: a loss of slope 1
        multiplies the weight of the largest feature by ``exp(eta0 / U)``. None is 100; for the
        squared losses, whose slope is as large as the error, it is 1.""",
    )

    def _usual_step(self) -> float:
        return 1.0 if self.loss in ("squared", "squared_hinge") else 100.0


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
    _counts: ClassVar[str] = "squared error"

    loss: Literal["squared", "epsilon_insensitive", "huber", "pinball"] = inherit(
        default="squared", kw_only=False
    )
