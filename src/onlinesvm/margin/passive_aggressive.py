"""Passive-aggressive learning: the smallest change that repairs the current mistake."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..base import OnlineClassifier, OnlineRegressor, StepByStep, WeightsOrExamples
from ..kernels import KernelFunction
from ..params import flag, number, word


class PassiveAggressiveModel(StepByStep, WeightsOrExamples):
    """What the classifier and the regressor share: the step."""

    # loss -> the paper's variant of the step
    _variants: Mapping[str, str]

    def _core_params(self, n_features: int) -> dict[str, Any]:
        most = self.C
        return {
            "variant": self._variants[word("loss", self.loss, self._variants)],
            "C": math.inf if most == math.inf else number("C", most, above=0),
            "average": flag("average", self.average),
            "kernel": self._kernel_params("kernel" if self.fit_intercept else "none", n_features),
        }


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

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, > 0: the largest step (``loss="hinge"``) or the price of squared loss
        (``"squared_hinge"``). Lower it on noisy data. ``inf`` is the paper's plain PA, which
        repairs every mistake fully.
    fit_intercept : bool, default=True
        Whether to learn a bias, as the weight of a constant feature 1.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        PA-I or PA-II.
    average : bool, default=True
        Predict with the mean of the weights of all rounds, which the last noisy step cannot spoil;
        it costs a second pass over the features where a step is taken. False predicts with the
        newest weights, as the paper does: for streams that drift, which a mean over the whole past
        follows too late.
    kernel : {"linear", "rbf", "poly", "laplacian", "chi2"} or callable, default="linear"
        A callable ``k(x, X)`` gives the values of one example against the rows of ``X``.
    gamma : {"scale", "auto"} or float, default="scale"
        Of rbf, poly, laplacian and chi2; the words are scikit-learn's: ``1 / (n_features X.var())``
        and ``1 / n_features``. ``fit`` takes them from its rows. A stream settles them on its first
        256 examples, learned afresh after 1, 2, 4, ..., and keeps the value from then on; it warns
        once if the rows so far would give one 10 times as large or small. Later scales that are
        known beforehand are better said by a number.
    degree : int, default=3
        Of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial kernel, >= 0.
    max_iter : int, default=1000
        Passes of :meth:`fit` over its rows, at most; a ``ConvergenceWarning`` tells when they were
        not enough. ``partial_fit`` and ``learn_one`` make one, in order.
    tol : float or None, default=1e-3
        :meth:`fit` ends when for ``n_iter_no_change`` passes in a row the mean loss of the
        examples, each taken before its own step, has not fallen ``tol`` below the best. None makes
        all ``max_iter`` passes.
    n_iter_no_change : int, default=5
        Passes without progress before :meth:`fit` ends.
    shuffle : bool, default=True
        Whether each pass of :meth:`fit` takes the rows in a new random order.
    class_weight : dict or "balanced", default=None
        Multiplies ``C`` by class. ``"balanced"`` works with ``fit`` only.
    classes : "open" or array of labels, default=None
        ``"open"`` lets classes appear at any time; an array names them beforehand, so that
        ``partial_fit`` and ``learn_one`` need no more.
    dtype : {"float32", "float64"}, default="float64"
        Type of the examples, and of those kept with a kernel; weights are float64 throughout.
    n_jobs : int, default=None
        Threads for predicting; None is one, -1 all processors. The results are the same bits.
    random_state : int, default=0
        Seed of the orders of :meth:`fit`; the same seed and rows give the same model.
    verbose : bool, default=False
        Show a live bar when learning takes long.

    Attributes
    ----------
    classes_ : array of labels, in ascending order
    n_features_in_, feature_names_in_ : as in scikit-learn
    coef_ : array of shape (1, n_features) or (n_classes, n_features); linear only
    intercept_ : array, the bias of each output
    support_, support_vectors_, dual_coef_, n_support_ : the examples kept; with a kernel only
    gamma_ : float, the value of ``gamma`` in use, where the kernel has one
    n_seen_ : int, examples that arrived
    n_iter_ : int, passes that ``fit`` made
    nbytes_ : int, memory of the model

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
    _variants = {"hinge": "PA-I", "squared_hinge": "PA-II"}

    def __init__(
        self,
        C: float = 1.0,
        *,
        fit_intercept: bool = True,
        loss: Literal["hinge", "squared_hinge"] = "hinge",
        average: bool = True,
        kernel: str | KernelFunction = "linear",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        classes: Sequence[Any] | Literal["open"] | None = None,
        dtype: Literal["float32", "float64"] = "float64",
        n_jobs: int | None = None,
        random_state: int = 0,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.loss = loss
        self.average = average
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
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


class PassiveAggressiveRegressor(PassiveAggressiveModel, OnlineRegressor):
    """Passive-Aggressive I and II for regression: follow a target, example by example.

    Predictions within ``epsilon`` of the target change nothing; others move the weights by the
    smallest step that brings them there, shortened by ``C``. For targets that drift, take
    ``average=False``: the last examples then always count.

    A linear step costs one pass over the features present in the example; with a kernel every
    example outside the tube is kept, so time and memory grow with the stream.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, > 0: the price of squared loss or, with ``loss="epsilon_insensitive"``, the
        largest step. Lower it on noisy targets. ``inf`` is the paper's plain PA.
    fit_intercept : bool, default=True
        Whether to learn a bias, as the weight of a constant feature 1.
    loss : {"squared_epsilon_insensitive", "epsilon_insensitive"}
        PA-II, the default, or PA-I. A step of PA-II is in proportion to the error, so the unit of
        the target does not matter; one of PA-I ends at ``C``, however large the error.
    epsilon : float, default=0.1
        Errors up to this size cost nothing, >= 0.
    average : bool, default=True
        Predict with the mean of the weights of all rounds, which the last noisy step cannot spoil.
        False predicts with the newest weights, as the paper does: for targets that drift, which a
        mean over the whole past follows too late.
    kernel : {"linear", "rbf", "poly", "laplacian", "chi2"} or callable, default="linear"
        A callable ``k(x, X)`` gives the values of one example against the rows of ``X``.
    gamma, degree, coef0
        Of the kernel, as in :class:`PassiveAggressiveClassifier`.
    dtype : {"float32", "float64"}, default="float64"
        Type of the examples, and of those kept with a kernel; weights are float64 throughout.
    n_jobs : int, default=None
        Threads for predicting; None is one, -1 all processors. The results are the same bits.
    verbose : bool, default=False
        Show a live bar when learning takes long.
    max_iter, tol, n_iter_no_change, shuffle, random_state
        Passes of :meth:`fit`, as in :class:`PassiveAggressiveClassifier`.

    Attributes
    ----------
    n_features_in_, feature_names_in_ : as in scikit-learn
    coef_ : array of shape (n_features,); linear only
    intercept_ : array of shape (1,)
    support_, support_vectors_, dual_coef_ : the examples kept; with a kernel only
    gamma_ : float, the value of ``gamma`` in use, where the kernel has one
    n_seen_ : int, examples that arrived
    n_iter_ : int, passes that ``fit`` made
    nbytes_ : int, memory of the model

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
    _variants = {"epsilon_insensitive": "PA-I", "squared_epsilon_insensitive": "PA-II"}

    def __init__(
        self,
        C: float = 1.0,
        *,
        fit_intercept: bool = True,
        loss: Literal[
            "squared_epsilon_insensitive", "epsilon_insensitive"
        ] = "squared_epsilon_insensitive",
        epsilon: float = 0.1,
        average: bool = True,
        kernel: str | KernelFunction = "linear",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        dtype: Literal["float32", "float64"] = "float64",
        n_jobs: int | None = None,
        random_state: int = 0,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.loss = loss
        self.epsilon = epsilon
        self.average = average
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

    def _core_params(self, n_features: int) -> dict[str, Any]:
        epsilon = number("epsilon", self.epsilon, at_least=0)
        return super()._core_params(n_features) | {"epsilon": epsilon}

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights."""
        return np.asarray(self._weights("coef_")["coef"][0])
