"""NORMA: gradient descent in the space of a kernel, with a memory that fades and ends."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..base import (
    OnlineClassifier,
    OnlineOutlierDetector,
    OnlineRegressor,
    StepByStep,
    WeightsOrExamples,
)
from ..kernels import KernelFunction
from ..params import count, number, word
from .sgd import RATES, rate

_BIAS = ("none", "kernel", "free")
_LOSSES = ("epsilon_insensitive", "squared", "huber", "pinball")
_UNIT_KERNELS = ("rbf", "laplacian", "chi2")  # k(x, x) = 1

#: What ``truncation="auto"`` may change of any prediction.
_TRUNCATION_ERROR = 1e-2


class NormaModel(StepByStep, WeightsOrExamples):
    """What the three tasks share: the step, the level steered by nu, the truncation."""

    def _core_params(self, n_features: int) -> dict[str, Any]:
        alpha = number("alpha", self.alpha, above=0)
        eta0 = rate(self.eta0, alpha)
        schedule = word("learning_rate", self.learning_rate, RATES)
        bias = word("bias", getattr(self, "bias", "none"), _BIAS)
        kernel = self._kernel_params("kernel" if bias == "kernel" else "none", n_features)
        return {
            "alpha": alpha,
            "learning_rate": schedule,
            "eta0": eta0,
            "nu": 0.0 if self.nu is None else number("nu", self.nu, above=0, below=1),
            "truncation": self._tau(alpha, eta0, schedule, kernel),
            "free_bias": bias == "free",
            "kernel": kernel,
        }

    def _tau(self, alpha: float, eta0: float, schedule: str, kernel: Mapping[str, Any]) -> int:
        """The age at which an example is dropped; 0 for never."""
        if self.truncation is None:
            return 0
        if not isinstance(self.truncation, str):
            return count("truncation", self.truncation, at_least=1)
        word("truncation", self.truncation, ("auto",))
        if schedule != "constant" or kernel["name"] not in _UNIT_KERNELS:
            return 0
        # |f - f_truncated| <= D X (1 - eta alpha)^tau / alpha for slopes up to D, k(x, x) <= X^2;
        # D is 1 but for the squared loss, where it is the largest error.
        room = _TRUNCATION_ERROR * alpha / math.sqrt(1 + kernel["offset"])
        return max(1, math.ceil(math.log(room) / math.log1p(-eta0 * alpha)))

    def _forget(self, ids: NDArray[np.int64]) -> None:
        """Drop their own terms from the expansion; what others did because of them stays."""
        if self._keeps_weights():
            raise NotImplementedError(
                f"{type(self).__name__} has no unlearn() with a linear kernel and no truncation: "
                "it keeps the sum of the examples, not the examples; with a truncation it can."
            )
        super()._forget(ids)

    def _keeps_weights(self) -> bool:
        return super()._keeps_weights() and self._core_settings["truncation"] == 0

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The bias of each output."""
        regularised = super().intercept_
        if self._keeps_weights():
            return regularised
        return np.asarray(regularised + self._by_output(np.asarray(self._core.free_bias())))


class NormaSVC(NormaModel, OnlineClassifier):
    """NORMA (Kivinen, Smola, Williamson): a kernel classifier for streams that drift.

    Every example shrinks the past by ``1 - eta0 alpha`` and is kept if it lies inside the margin;
    what has shrunk to nothing is dropped. Memory is bounded by ``truncation`` examples, and what
    was true long ago is forgotten. With ``nu`` the margin moves until a share ``nu`` of the
    examples lies inside it. More than two classes are learned natively: the true one is pushed
    above the strongest rival.

    Each example costs one kernel value per example kept, thousands with the defaults. On a stream
    that does not drift, forgetting wastes information: :class:`RampSVC` is then more accurate
    with fewer examples.

    Parameters
    ----------
    alpha : float, default=0.01
        Regularisation, > 0: lambda of the paper; with the step it is the rate of forgetting.
    learning_rate : {"constant", "invscaling", "optimal"}, default="constant"
        ``eta0``, ``eta0 / sqrt(t)`` or ``eta0 / (1 + eta0 alpha (t - 1))`` in round t.
    eta0 : float, default=0.1
        The first step, > 0 and below ``1 / alpha``.
    nu : float, default=None
        The share of margin errors to aim at, between 0 and 1; None keeps the margin at 1.
    truncation : "auto", int or None, default="auto"
        tau of the paper: how many rounds an example is kept. ``"auto"`` is the least that changes
        no score by more than 0.01, where there is such a bound (constant rate, and rbf,
        laplacian or chi2 kernel), else None: for ever.
    kernel : {"linear", "rbf", "poly", "laplacian", "chi2"} or callable, default="rbf"
        A callable ``k(x, X)`` gives the values of one example against the rows of ``X``.
    gamma, degree, coef0
        Of the kernel, as in :class:`PegasosSVC`.
    bias : {"none", "kernel", "free"}, default="none"
        ``"kernel"`` adds 1 to the kernel; ``"free"`` learns a bias that does not shrink.
    class_weight : dict or "balanced", default=None
        Multiplies the loss by class. ``"balanced"`` works with ``fit`` only.
    classes : "open" or array of labels, default=None
        ``"open"`` lets classes appear at any time; an array names them beforehand, so that
        ``partial_fit`` and ``learn_one`` need no more.
    dtype : {"float32", "float64"}, default="float32"
        Type of the examples kept; coefficients are float64 throughout.
    n_jobs : int, default=None
        Threads for predicting; None is one, -1 all processors. The results are the same bits.
    verbose : bool, default=False
        Show a live bar when learning takes long.
    max_iter, tol, n_iter_no_change, shuffle, random_state
        Passes of :meth:`fit`, as in :class:`PegasosSVC`.

    Attributes
    ----------
    classes_ : array of labels, in ascending order
    n_features_in_, feature_names_in_ : as in scikit-learn
    margin_ : float, rho of the paper
    support_, support_vectors_, dual_coef_, n_support_ : the examples kept
    coef_ : array of shape (1, n_features) or (n_classes, n_features); linear, not truncated
    intercept_ : array, the bias of each output
    n_seen_ : int, examples that arrived
    n_iter_ : int, passes that ``fit`` made
    nbytes_ : int, memory of the model

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

    def __init__(
        self,
        alpha: float = 0.01,
        *,
        learning_rate: Literal["constant", "invscaling", "optimal"] = "constant",
        eta0: float = 0.1,
        nu: float | None = None,
        truncation: int | Literal["auto"] | None = "auto",
        kernel: str | KernelFunction = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        bias: Literal["none", "kernel", "free"] = "none",
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        classes: Sequence[Any] | Literal["open"] | None = None,
        dtype: Literal["float32", "float64"] = "float32",
        n_jobs: int | None = None,
        random_state: int = 0,
        verbose: bool = False,
    ) -> None:
        self.alpha = alpha
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.nu = nu
        self.truncation = truncation
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.bias = bias
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.classes = classes
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def margin_(self) -> float:
        """The margin rho: 1, unless ``nu`` moves it."""
        return float(self._fitted_core("margin_").level)


class NormaSVR(NormaModel, OnlineRegressor):
    """NORMA for regression: follow a curve that moves, with bounded memory.

    Four losses: squared, outside a tube (which ``nu`` can size), Huber's, and pinball for a
    quantile instead of the mean. The past fades by ``1 - eta0 alpha`` per example and is dropped
    in the end, so the model follows targets that drift.

    Each example costs one kernel value per example kept. But for the squared loss, a step moves the
    prediction by at most ``eta0``: scale the targets then, far ones take many examples to reach.

    Parameters
    ----------
    alpha : float, default=1e-3
        Regularisation, > 0: lambda of the paper; with the step it is the rate of forgetting.
    learning_rate, eta0, kernel, gamma, degree, coef0, dtype, n_jobs, verbose
        As in :class:`NormaSVC`.
    truncation : "auto", int or None, default="auto"
        As in :class:`NormaSVC`; with the squared loss ``"auto"`` changes no prediction by more than
        a hundredth of the largest error so far.
    bias : {"none", "kernel", "free"}, default="free"
        ``"free"`` learns a bias that does not shrink; ``"kernel"`` adds 1 to the kernel.
    loss : {"squared", "epsilon_insensitive", "huber", "pinball"}, default="squared"
        ``"squared"`` suits targets of any scale; the others bound what one example can do.
    epsilon : float, default=0.1
        Half the width of the tube, >= 0; for Huber's loss, > 0, where it turns linear.
    quantile : float, default=0.5
        Of the pinball loss, between 0 and 1.
    nu : float, default=None
        The share of examples outside the tube to aim at; None keeps the tube. Only for
        ``loss="epsilon_insensitive"``.
    max_iter, tol, n_iter_no_change, shuffle, random_state
        Passes of :meth:`fit`, as in :class:`PegasosSVC`.

    Attributes
    ----------
    n_features_in_, feature_names_in_ : as in scikit-learn
    epsilon_ : float, the tube as it is now
    support_, support_vectors_, dual_coef_ : the examples kept
    coef_ : array of shape (n_features,); linear, not truncated
    intercept_ : array of shape (1,)
    n_seen_ : int, examples that arrived
    n_iter_ : int, passes that ``fit`` made
    nbytes_ : int, memory of the model

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

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        learning_rate: Literal["constant", "invscaling", "optimal"] = "constant",
        eta0: float = 0.1,
        loss: Literal["squared", "epsilon_insensitive", "huber", "pinball"] = "squared",
        epsilon: float = 0.1,
        quantile: float = 0.5,
        nu: float | None = None,
        truncation: int | Literal["auto"] | None = "auto",
        kernel: str | KernelFunction = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        bias: Literal["none", "kernel", "free"] = "free",
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        dtype: Literal["float32", "float64"] = "float32",
        n_jobs: int | None = None,
        random_state: int = 0,
        verbose: bool = False,
    ) -> None:
        self.alpha = alpha
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.loss = loss
        self.epsilon = epsilon
        self.quantile = quantile
        self.nu = nu
        self.truncation = truncation
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.bias = bias
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _core_params(self, n_features: int) -> dict[str, Any]:
        loss = word("loss", self.loss, _LOSSES)
        if self.nu is not None and loss != "epsilon_insensitive":
            raise ValueError(f"nu sizes the tube of loss='epsilon_insensitive', not of {loss!r}")
        least = {"above": 0.0} if loss == "huber" else {"at_least": 0.0}
        return super()._core_params(n_features) | {
            "loss": loss,
            "epsilon": number("epsilon", self.epsilon, **least),
            "quantile": number("quantile", self.quantile, above=0, below=1),
        }

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights."""
        return np.asarray(self._weights("coef_")["coef"][0])

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

    Parameters
    ----------
    alpha, learning_rate, eta0, truncation, kernel, gamma, degree, coef0, dtype, n_jobs,
    verbose
        As in :class:`NormaSVC`.
    nu : float, default=0.1
        The share of outliers, between 0 and 1.
    max_iter, tol, n_iter_no_change, shuffle, random_state
        Passes of :meth:`fit`, as in :class:`PegasosSVC`.

    Attributes
    ----------
    n_features_in_, feature_names_in_ : as in scikit-learn
    offset_ : float, the threshold rho: ``decision_function = score_samples - offset_``
    support_, support_vectors_, dual_coef_ : the examples kept
    n_seen_ : int, examples that arrived
    n_iter_ : int, passes that ``fit`` made
    nbytes_ : int, memory of the model

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

    def __init__(
        self,
        nu: float = 0.1,
        *,
        alpha: float = 0.01,
        learning_rate: Literal["constant", "invscaling", "optimal"] = "constant",
        eta0: float = 0.1,
        truncation: int | Literal["auto"] | None = "auto",
        kernel: str | KernelFunction = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        dtype: Literal["float32", "float64"] = "float32",
        n_jobs: int | None = None,
        random_state: int = 0,
        verbose: bool = False,
    ) -> None:
        self.nu = nu
        self.alpha = alpha
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.truncation = truncation
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The threshold, as a bias."""
        return np.array([-self.offset_])
