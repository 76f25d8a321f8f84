"""Stochastic gradient descent for the SVM, with a learning rate of one's choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ..base import OnlineClassifier, StepByStep, WeightsOrExamples
from ..kernels import KernelFunction
from ..params import flag, number, word

#: Learning rates: eta0, eta0 / sqrt(t), and eta0 / (1 + eta0 alpha (t - 1)).
RATES = ("constant", "invscaling", "optimal")


def rate(eta0: Any, alpha: float) -> float:
    """``eta0`` as a first step that shrinks the weights without turning them round."""
    first = number("eta0", eta0, above=0)
    if first * alpha >= 1:
        raise ValueError(f"eta0 must be below 1 / alpha = {1 / alpha:g}, got {first!r}")
    return first


class SGDSVC(StepByStep, WeightsOrExamples, OnlineClassifier):
    """SGD for the SVM (Bottou): the workhorse of large linear problems, one cheap step each.

    Each example shrinks the weights a little and, if inside the margin, pulls them its way. The
    step of round t is ``eta0 / (1 + eta0 alpha t)``: at first as long as told, in the long run
    that of :class:`PegasosSVC`, but without its violent first steps. A constant rate follows
    streams that drift.

    A linear step costs one pass over the features present in the example. With a kernel every
    example inside the margin is kept, so time and memory grow with the stream. ``eta0`` matters:
    a good value is about one over the squared length of an example; unlike batch programs, a
    stream cannot try several first.

    Parameters
    ----------
    alpha : float, default=1e-4
        Regularisation, > 0: lambda, ``1 / (n C)`` of a batch SVM on n examples.
    learning_rate : {"optimal", "invscaling", "constant"}, default="optimal"
        ``eta0 / (1 + eta0 alpha (t - 1))``, ``eta0 / sqrt(t)`` or ``eta0`` in round t.
    eta0 : float, default=0.1
        The first step, > 0 and below ``1 / alpha``.
    average : bool, default=True
        Predict with the mean of the weights of all rounds: smoother, at no cost per feature. False
        predicts with the newest, for streams that drift.
    kernel : {"linear", "rbf", "poly", "laplacian", "chi2"} or callable, default="linear"
        A callable ``k(x, X)`` gives the values of one example against the rows of ``X``.
    gamma, degree, coef0
        Of the kernel, as in :class:`PegasosSVC`.
    bias : {"none", "kernel"}, default="kernel"
        ``"kernel"`` adds a constant feature 1, regularised like any other.
    class_weight : dict or "balanced", default=None
        Multiplies the loss by class. ``"balanced"`` works with ``fit`` only.
    classes : "open" or array of labels, default=None
        ``"open"`` lets classes appear at any time; an array names them beforehand, so that
        ``partial_fit`` and ``learn_one`` need no more.
    dtype : {"float32", "float64"}, default="float64"
        Type of the examples, and of those kept with a kernel; weights are float64 throughout.
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
    coef_ : array of shape (1, n_features) or (n_classes, n_features); linear only
    intercept_ : array, the bias of each output
    support_, support_vectors_, dual_coef_, n_support_ : the examples kept; with a kernel only
    n_seen_ : int, examples that arrived
    n_iter_ : int, passes that ``fit`` made
    nbytes_ : int, memory of the model

    References
    ----------
    L. Bottou: Large-Scale Machine Learning with Stochastic Gradient Descent. COMPSTAT 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import SGDSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 5))
    >>> y = X @ [1, -2, 0, 1, 0.5] > 0
    >>> model = SGDSVC().fit(X[:2000], y[:2000])
    >>> print(f"{model.score(X[2000:], y[2000:]):.2f}")
    0.99
    """

    _stem = "Sgd"

    def __init__(
        self,
        alpha: float = 1e-4,
        *,
        learning_rate: Literal["optimal", "invscaling", "constant"] = "optimal",
        eta0: float = 0.1,
        average: bool = True,
        kernel: str | KernelFunction = "linear",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        bias: Literal["none", "kernel"] = "kernel",
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
        self.alpha = alpha
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.average = average
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

    def _core_params(self, n_features: int) -> dict[str, Any]:
        alpha = number("alpha", self.alpha, above=0)
        return {
            "alpha": alpha,
            "learning_rate": word("learning_rate", self.learning_rate, RATES),
            "eta0": rate(self.eta0, alpha),
            "average": flag("average", self.average),
            "kernel": self._kernel_params(self.bias, n_features),
        }
