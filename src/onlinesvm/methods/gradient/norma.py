"""NORMA: gradient descent in the space of a kernel, with a memory that fades and ends."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...kernels import KernelFunction
from ...model.classifier import OnlineClassifier
from ...model.estimator import OnlineEstimator
from ...model.groups import KernelMethod, LinearOrKernel, StepByStep, WithBudget
from ...model.outlier import OnlineOutlierDetector
from ...model.parameters import count, group, inherit, number, word
from ...model.regressor import OnlineRegressor
from ...model.room import UNBOUNDED, room
from .error_loss import ErrorLoss
from .sgd import LearningRate

_UNIT_KERNELS = ("rbf", "laplacian", "chi2")  # k(x, x) = 1

_ENDLESS = float(1 << 62)  # no stream is so long
#: What ``truncation="auto"`` may change of any prediction.
_TRUNCATION_ERROR = 1e-2


class NormaModel(LearningRate, WithBudget, LinearOrKernel, StepByStep, OnlineEstimator):
    """What the three tasks share: the step, the level steered by nu, the truncation."""

    alpha: float = inherit(
        default=0.01,
        doc="""Regularisation, > 0: lambda of the paper; with the step it is the rate of
        forgetting.""",
    )
    learning_rate: Literal["constant", "invscaling", "optimal"] = inherit(default="constant")
    truncation: int | Literal["auto"] | None = count(
        default="auto",
        at_least=1,
        words={"auto": None},
        none=0,
        doc="""tau of the paper: how many rounds an example is kept. ``"auto"`` is the least that
        changes no score by more than 0.01 (with the squared loss, by more than a hundredth of the
        largest error so far), where there is such a bound (constant rate, and rbf, laplacian or
        chi2 kernel), else None: for ever.""",
    )
    budget: int | str | None = room(
        default=None,
        doc="""Examples kept at most, >= 2, or the memory of the model, such as ``"64MB"``; the
        oldest go. ``None``: as many as ``truncation`` leaves.""",
    )
    kernel: str | KernelFunction = inherit(default="rbf")
    dtype: Literal["float32", "float64"] = inherit(
        default="float32", doc="Type of the examples kept; coefficients are float64 throughout."
    )

    def _core_params(self, n_features: int) -> dict[str, Any]:
        settings = super()._core_params(n_features)
        bias = settings.pop("bias", "none")
        settings["bias"] = bias == "free"
        settings["kernel"]["offset"] = float(bias == "kernel")
        if settings["truncation"] is None:
            settings["truncation"] = self._tau(settings)
        return settings

    def _tau(self, settings: Mapping[str, Any]) -> int:
        """The age at which dropping an example changes next to nothing; 0 where none is known."""
        kernel, alpha, eta0 = settings["kernel"], settings["alpha"], settings["eta0"]
        if settings["learning_rate"] != "constant" or kernel["name"] not in _UNIT_KERNELS:
            return 0
        # |f - f_truncated| <= D X (1 - eta alpha)^tau / alpha for slopes up to D, k(x, x) <= X^2;
        # D is 1 but for the squared loss, where it is the largest error.
        room = _TRUNCATION_ERROR * alpha / math.sqrt(1 + kernel["offset"])
        shrinkage = -math.log1p(-eta0 * alpha)  # 0 where alpha is lost beside 1
        age = -math.log(room) / shrinkage if shrinkage and room else math.inf
        return max(1, math.ceil(age)) if age < _ENDLESS else 0

    def _read_gone(self, ids: Any, keys: Any) -> NDArray[np.int64]:
        """Whose terms are dropped from the expansion; what others did because of them stays."""
        if self._keeps_weights():
            raise NotImplementedError(
                f"{type(self).__name__} has no unlearn() with a linear kernel and no truncation: "
                "it keeps the sum of the examples, not the examples; with a truncation it can."
            )
        return super()._read_gone(ids, keys)

    def _keeps_weights(self) -> bool:
        settings = self._core_settings
        endless = settings["truncation"] == 0 and UNBOUNDED.items() <= settings.items()
        return super()._keeps_weights() and endless


@group
class _BiasOfChoice(KernelMethod):
    bias: Literal["none", "kernel", "free"] = word(
        default="none",
        words=("none", "kernel", "free"),
        doc='``"kernel"`` adds 1 to the kernel; ``"free"`` learns a bias that does not shrink.',
    )


class NormaSVC(_BiasOfChoice, NormaModel, OnlineClassifier):
    """NORMA (Kivinen, Smola, Williamson): a kernel classifier for streams that drift.

    Every example shrinks the past by ``1 - eta0 alpha`` and is kept if it lies inside the margin;
    what has shrunk to nothing is dropped. Memory is bounded by ``truncation`` examples, and what
    was true long ago is forgotten. With ``nu`` the margin moves until a share ``nu`` of the
    examples lies inside it. More than two classes are learned natively: the true one is pushed
    above the strongest rival.

    Each example costs one kernel value per example kept, thousands with the defaults. On a stream
    that does not drift, forgetting wastes information: :class:`RampSVC` is then more accurate
    with fewer examples.

    Attributes
    ----------
    margin_ : float, rho of the paper
    coef_ : array of shape (1, n_features) or (n_classes, n_features); linear, not truncated

    References
    ----------
    J. Kivinen, A. J. Smola, R. C. Williamson: Online Learning with Kernels. IEEE Transactions on
    Signal Processing 52 (2004).

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import NormaSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 2))
    >>> y = np.hypot(*X.T) > 1.2
    >>> model = NormaSVC(gamma=1.0, truncation=500).fit(X[:2000], y[:2000])
    >>> print(f"{model.score(X[2000:], y[2000:]):.2f}, {len(model.support_) <= 500}")
    0.95, True
    """

    _stem = "NormaClassifier"

    alpha: float = inherit(default=0.01, kw_only=False)
    nu: float | None = number(
        default=None,
        above=0,
        below=1,
        none=0.0,
        doc="""The share of margin errors to aim at, between 0 and 1; None keeps the margin at
        1.""",
    )

    @property
    def margin_(self) -> float:
        """The margin rho: 1, unless ``nu`` moves it."""
        return float(self._fitted_core("margin_").level)


class NormaSVR(ErrorLoss, _BiasOfChoice, NormaModel, OnlineRegressor):
    """NORMA for regression: follow a curve that moves, with bounded memory.

    Four losses: squared, outside a tube (which ``nu`` can size), Huber's, and pinball for a
    quantile instead of the mean. The past fades by ``1 - eta0 alpha`` per example and is dropped
    in the end, so the model follows targets that drift.

    Each example costs one kernel value per example kept. But for the squared loss, a step moves the
    prediction by at most ``eta0``: scale the targets then, far ones take many examples to reach.

    Attributes
    ----------
    epsilon_ : float, the tube as it is now
    coef_ : array of shape (n_features,); linear, not truncated

    References
    ----------
    J. Kivinen, A. J. Smola, R. C. Williamson: Online Learning with Kernels. IEEE Transactions on
    Signal Processing 52 (2004).

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import NormaSVR
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(3000, 1))
    >>> y = np.sin(X[:, 0])
    >>> model = NormaSVR(gamma=1.0).partial_fit(X[:2000], y[:2000])
    >>> print(f"{model.score(X[2000:], y[2000:]):.2f}")
    1.00
    """

    _stem = "NormaRegressor"

    alpha: float = inherit(default=1e-3, kw_only=False)
    nu: float | None = number(
        default=None,
        above=0,
        below=1,
        none=0.0,
        doc="""The share of examples outside the tube to aim at; None keeps the tube. Only for
        ``loss="epsilon_insensitive"``.""",
    )
    bias: Literal["none", "kernel", "free"] = inherit(default="free")

    def _core_params(self, n_features: int) -> dict[str, Any]:
        settings = super()._core_params(n_features)
        loss = settings["loss"]
        if self.nu is not None and loss != "epsilon_insensitive":
            raise ValueError(f"nu sizes the tube of loss='epsilon_insensitive', not of {loss!r}")
        return settings

    @property
    def epsilon_(self) -> float:
        """Half the width of the tube: ``epsilon``, unless ``nu`` moves it."""
        return float(self._fitted_core("epsilon_").level)


class NormaOneClassSVM(NormaModel, OnlineOutlierDetector):
    """NORMA for novelty: learn what is usual, and raise the alarm for a share ``nu`` of a stream.

    The score of an example is its likeness to those kept. The threshold moves up or down with
    every example, so that in the long run a share ``nu`` falls below it, whatever the stream
    does; the past fades, so what is usual may change.

    Each example costs one kernel value per example kept. The alarm rate is steered, not the
    quality of the alarms: scale the features and choose ``gamma`` with care.

    References
    ----------
    J. Kivinen, A. J. Smola, R. C. Williamson: Online Learning with Kernels. IEEE Transactions on
    Signal Processing 52 (2004).

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import NormaOneClassSVM
    >>> rng = np.random.default_rng(0)
    >>> usual = rng.normal(size=(2000, 2))
    >>> model = NormaOneClassSVM(nu=0.05, gamma=0.5).fit(usual)
    >>> model.predict([[0.0, 0.1], [4.0, -4.0]])
    array([ 1, -1])
    """

    _stem = "NormaOneClass"

    nu: float = number(
        default=0.1, above=0, below=1, kw_only=False, doc="The share of outliers, between 0 and 1."
    )

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The threshold, as a bias."""
        return np.array([-self.offset_])
