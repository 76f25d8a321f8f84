"""Passive-aggressive learning: the smallest change that repairs the current mistake."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ...kernels import KernelFunction
from ...model.bounds import Bounded, Floats, hinge, least_squares, longest2, only_for, total
from ...model.classifier import OnlineClassifier
from ...model.estimator import OnlineEstimator
from ...model.groups import LinearOrKernel, StepByStep, StepLearner
from ...model.outlier import OnlineOutlierDetector
from ...model.parameters import inherit, number, word
from ...model.regressor import OnlineRegressor
from ...model.solution import weights


class PassiveAggressiveModel(StepLearner, Bounded, OnlineEstimator):
    """What the classifier and the regressor share: the step."""

    C: float = number(
        default=1.0,
        above=0,
        also=math.inf,
        kw_only=False,
        doc="""Aggressiveness, > 0: the largest step of PA-I, the price of squared loss of PA-II.
        Lower it on noisy data. ``inf`` is the paper's plain PA, which repairs every mistake
        fully.""",
    )

    _theorem: ClassVar[str] = "Crammer et al. (2006)"

    def _squared_bound(self, X: Floats, u: Floats, losses: Floats) -> Floats:
        """Theorem 5: (R^2 + 1/2C) (|u|^2 + 2C sum l^2) for PA-II; PA's, theorem 2, as C grows."""
        return (longest2(X) + 1 / (2 * self.C)) * (u @ u + 2 * total(self.C, losses**2))


class PassiveAggressiveClassifier(PassiveAggressiveModel, OnlineClassifier):
    """Passive-Aggressive I and II (Crammer et al.): classify millions of examples a second.

    For wide data, text above all. Where features are few and no straight line parts the classes, as
    on the banana set, there is always a mistake to repair, and ``fit`` may end below the majority:
    take a kernel, or ``C=0.1``, which ends near it.

    If the example at hand has no hinge loss, nothing happens; else the weights move by the
    smallest step that repairs it, no further than ``C`` allows. There is no learning rate and no
    schedule. More than two classes are learned natively: the true one is pushed above the
    strongest rival.

    A linear step costs one pass over the features present in the example. With a kernel every
    example that suffered a loss is kept, so on noisy data time and memory grow with the stream;
    :class:`RampSVC` then stays far smaller. One pass is not the SVM optimum: where batch quality
    is needed, present the data several times or use the exact family.

    References
    ----------
    K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer: Online Passive-Aggressive
    Algorithms. Journal of Machine Learning Research 7 (2006).

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import PassiveAggressiveClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 5))
    >>> y = np.where(X @ [1, -2, 0, 1, 0.5] > 0.5, "spam", "ham")
    >>> model = PassiveAggressiveClassifier(C=0.1, classes=["ham", "spam"])
    >>> for start in range(0, 1000, 100):
    ...     _ = model.partial_fit(X[start : start + 100], y[start : start + 100])
    >>> print(f"{model.score(X[1000:], y[1000:]):.2f}")
    0.98
    """

    _stem = "PassiveAggressiveClassifier"

    loss: Literal["hinge", "squared_hinge"] = word(
        default="hinge",
        words={"hinge": "PA-I", "squared_hinge": "PA-II"},
        core="variant",
        doc="PA-I or PA-II.",
    )

    def _bound(self, X: Floats, y: Floats, u: Floats) -> Floats:
        """PA-I: max(R^2, 1/C) (|u|^2 + 2C sum l). A mistake is a loss of 1 or more."""
        losses = hinge(X, y, u)
        if self.loss == "squared_hinge":
            return self._squared_bound(X, u, losses)
        return np.maximum(longest2(X), 1 / self.C) * (u @ u + 2 * total(self.C, losses))


class PassiveAggressiveRegressor(PassiveAggressiveModel, OnlineRegressor):
    """Passive-Aggressive I and II for regression: follow a target, example by example.

    Predictions within ``epsilon`` of the target change nothing; others move the weights by the
    smallest step that brings them there, shortened by ``C``. For targets that drift, take
    ``average=False``: the last examples then always count.

    A linear step costs one pass over the features present in the example; with a kernel every
    example outside the tube is kept, so time and memory grow with the stream.

    References
    ----------
    K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer: Online Passive-Aggressive
    Algorithms. Journal of Machine Learning Research 7 (2006), section 5.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import PassiveAggressiveRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 3))
    >>> y = X @ [1.0, -2.0, 3.0] + 4.0
    >>> model = PassiveAggressiveRegressor(epsilon=0.01).fit(X, y)
    >>> model.coef_.round(1), model.intercept_.round(1)
    (array([ 1., -2.,  3.]), array([4.]))
    """

    _stem = "PassiveAggressiveRegressor"

    loss: Literal["squared_epsilon_insensitive", "epsilon_insensitive"] = word(
        default="squared_epsilon_insensitive",
        words={"epsilon_insensitive": "PA-I", "squared_epsilon_insensitive": "PA-II"},
        core="variant",
        doc="""PA-I or PA-II, the default. A step of PA-II is in proportion to the error, so the
        unit of the target does not matter; one of PA-I ends at ``C``, however large the error.""",
    )
    epsilon: float = number(
        default=0.1, at_least=0, doc="Errors up to this size cost nothing, >= 0."
    )

    _counts: ClassVar[str] = "squared loss outside the tube"

    def _bound(self, X: Floats, y: Floats, u: Floats) -> Floats:
        """As for two classes, with the loss outside the tube; nothing is proved for PA-I."""
        if math.isfinite(self.C):
            only_for(self, loss="squared_epsilon_insensitive")
        return self._squared_bound(X, u, np.maximum(0.0, np.abs(y - X @ u) - self.epsilon))

    def _rivals(self, X: Floats, y: Floats) -> Iterable[Floats]:
        return least_squares(X, y)


class PassiveAggressiveOneClass(LinearOrKernel, StepByStep, OnlineOutlierDetector):
    """Passive-Aggressive I and II for one class: a ball around the usual, as wide as it must be.

    An example inside the ball changes nothing; one outside moves the centre towards itself and
    widens the radius, by the smallest step that takes it in, shortened by ``C``. The radius never
    shrinks, so the ball ends around nearly all that it has learned: for streams of usual examples
    only. Where a share of them is not usual, :class:`NormaOneClassSVM` steers that share.

    A step costs one pass over the features present in the example; with a kernel every example
    that was outside is kept. The scale of the features and where they are centred do not matter,
    but with a linear kernel the ball is round: bring them to one scale.

    Attributes
    ----------
    radius_ : float, of the ball: ``decision_function`` is how far inside it an example is
    center_ : array of shape (n_features,); linear only

    References
    ----------
    K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer: Online Passive-Aggressive
    Algorithms. Journal of Machine Learning Research 7 (2006), section 6.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import PassiveAggressiveOneClass
    >>> rng = np.random.default_rng(0)
    >>> usual = rng.normal(size=(2000, 2))
    >>> model = PassiveAggressiveOneClass(kernel="linear").fit(usual)
    >>> model.predict([[0.0, 0.1], [4.0, -4.0]])
    array([ 1, -1])
    """

    _stem = "PassiveAggressiveOneClass"
    _scores_are_sums = False

    C: float = number(
        default=0.1,
        above=0,
        also=math.inf,
        kw_only=False,
        doc="""Aggressiveness, > 0: the price of squared loss of PA-II, the largest step of PA-I.
        Lower it where some of the examples are not usual. ``inf`` takes every example in.""",
    )
    loss: Literal["squared_epsilon_insensitive", "epsilon_insensitive"] = word(
        default="squared_epsilon_insensitive",
        words={"epsilon_insensitive": "PA-I", "squared_epsilon_insensitive": "PA-II"},
        core="variant",
        doc="""PA-I or PA-II, the default. A step of PA-II is in proportion to the distance, so the
        unit of the features does not matter; one of PA-I ends at ``C``.""",
    )
    max_radius: float | None = number(
        default=None,
        above=0,
        none=0.0,
        doc="""The radius never exceeds it, B of the paper, > 0. None is the farthest that an
        example was from the centre when it came.""",
    )
    kernel: str | KernelFunction = inherit(default="rbf")

    def _core_params(self, n_features: int) -> dict[str, Any]:
        if self._is_pairwise():
            raise NotImplementedError(
                "PassiveAggressiveOneClass has no kernel='precomputed': the distance of a row from "
                "the centre needs k(x, x), which is none of its values; NormaOneClassSVM and "
                "PokerOneClassSVM can."
            )
        return super()._core_params(n_features)

    @property
    def radius_(self) -> float:
        """Of the ball that holds what is usual."""
        return float(self._fitted_core("radius_").radius()[0])

    @property
    def center_(self) -> NDArray[np.float64]:
        """Of the ball; with a linear kernel."""
        return np.asarray(weights(self, "center_")["coef"][0])

    @property
    def offset_(self) -> float:
        """Minus the radius: scores are minus the distances from the centre."""
        return -self.radius_
