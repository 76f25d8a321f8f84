"""The perceptron: learn from mistakes only, and let every past hypothesis have its say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ..base import OnlineClassifier, StepByStep, WeightsOrExamples
from ..kernels import KernelFunction
from ..params import word

_VARIANTS = ("plain", "averaged", "voted")


class KernelPerceptron(StepByStep, WeightsOrExamples, OnlineClassifier):
    """Perceptron with kernels (Rosenblatt; Freund and Schapire): the simplest learner that works.

    Only a mistake changes it: the example is added to its class and taken from the classes that
    scored no less. Predicting with the average of all hypotheses of the past, which costs nothing
    extra, makes it nearly as accurate as a support vector machine on clean data.

    A linear step costs one pass over the features present in the example. With a kernel every
    mistake is kept and each prediction visits all of them: on noisy data, time and memory grow
    with the stream, and :class:`RampSVC` stays far smaller. There is no margin to tune and no
    optimum to reach; the number of mistakes is bounded only where the classes can be separated.

    Parameters
    ----------
    variant : {"averaged", "plain", "voted"}, default="averaged"
        Who predicts: the mean of the hypotheses of all rounds, the newest one, or a vote among
        them, each as often as it served. Learning is the same for all three. Voting keeps the
        examples even if the kernel is linear; scores are then shares of the votes.
    kernel : {"linear", "rbf", "poly", "laplacian", "chi2"} or callable, default="rbf"
        A callable ``k(x, X)`` gives the values of one example against the rows of ``X``.
    gamma : {"scale", "auto"} or float, default="scale"
        Of rbf, poly, laplacian and chi2; the words are scikit-learn's: ``1 / (n_features X.var())``
        and ``1 / n_features``. ``fit`` takes them from its rows. A stream settles them on its first
        256 examples, learned afresh after 1, 2, 4, ..., and keeps the value from then on; it warns
        once if the rows so far would give one 10 times as large or small. Later scales that are
        known beforehand are better said by a number.
    degree : float, default=3
        Of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial kernel, >= 0.
    bias : {"none", "kernel"}, default="none"
        ``"kernel"`` adds 1 to the kernel: a bias learned like any other weight.
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
        Multiplies the step by class. ``"balanced"`` works with ``fit`` only.
    classes : "open" or array of labels, default=None
        ``"open"`` lets classes appear at any time; an array names them beforehand, so that
        ``partial_fit`` and ``learn_one`` need no more.
    dtype : {"float32", "float64"}, default="float32"
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
    support_, support_vectors_, dual_coef_, n_support_ : the mistakes; with a kernel, or voted
        (``dual_coef_`` is then that of the newest hypothesis)
    gamma_ : float, the value of ``gamma`` in use, where the kernel has one
    n_seen_ : int, examples that arrived
    n_iter_ : int, passes that ``fit`` made
    nbytes_ : int, memory of the model

    References
    ----------
    Y. Freund, R. E. Schapire: Large Margin Classification Using the Perceptron Algorithm.
    Machine Learning 37 (1999).

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import KernelPerceptron
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> y = np.hypot(*X.T) > 1.2
    >>> model = KernelPerceptron(gamma=1.0).fit(X[:1000], y[:1000])
    >>> print(f"{model.score(X[1000:], y[1000:]):.2f} with {len(model.support_)} examples")
    0.99 with 138 examples
    """

    _stem = "Perceptron"

    def __init__(
        self,
        variant: Literal["averaged", "plain", "voted"] = "averaged",
        *,
        kernel: str | KernelFunction = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        bias: Literal["none", "kernel"] = "none",
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
        self.variant = variant
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
        return {
            "variant": word("variant", self.variant, _VARIANTS),
            "kernel": self._kernel_params(self.bias, n_features),
        }

    def _keeps_weights(self) -> bool:
        return super()._keeps_weights() and self._core_settings["variant"] != "voted"
