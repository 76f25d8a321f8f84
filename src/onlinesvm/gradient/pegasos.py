"""Pegasos: the SVM objective by subgradient steps whose length needs no tuning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ..base import OnlineClassifier, StepByStep, WeightsOrExamples
from ..kernels import KernelFunction
from ..params import count, flag, number, word


class PegasosSVC(StepByStep, WeightsOrExamples, OnlineClassifier):
    """Pegasos (Shalev-Shwartz, Singer, Srebro): a linear SVM from a stream, no rate to tune.

    For streams of any scale that one pass must do: in the mean over the 23 sets of the tournament
    of defaults (docs/benchmarks.md), raw and standardised, it is the most accurate linear learner
    after one pass. With ``fit``, which makes many, :class:`SGDSVC` and
    :class:`PassiveAggressiveClassifier` do as well. Where no straight line parts the classes, as on
    the banana set, ``fit`` may end below the majority; take a kernel, or ``alpha=1e-3``.

    Step t is ``1 / (alpha (t + t0))`` long, along the subgradient of the SVM objective on a block
    of examples, and back into the ball in which the optimum must lie. After T steps the average of
    the weights is within ``O(log T / (alpha T))`` of the optimum. More than two classes are
    learned natively: the true one is pushed above the strongest rival.

    A linear step costs one pass over the features present in the example. With a kernel every
    example inside the margin is kept, so time and memory grow with the stream; prefer
    :class:`RampSVC` there.

    Parameters
    ----------
    alpha : float, default=1e-4
        Regularisation, > 0: lambda of the paper, ``1 / (n C)`` of a batch SVM on n examples.
    block : int, default=1
        Examples per step, k of the paper. Predictions lag behind by the examples of a block that
        is not full yet.
    t0 : "scale" or float, default="scale"
        The first steps are as long as if so many had been taken before, >= 0. ``"scale"`` is the
        mean of ``|x|^2`` so far over ``alpha``: the first step then repairs its example and no
        more, whatever the scale of the features. 0 is the paper's: first steps ``1 / alpha`` long,
        from which features in the hundreds do not recover within any usual stream.
    project : bool, default=True
        Whether each step ends inside the ball of radius ``1 / sqrt(alpha)``.
    average : bool, default=True
        Predict with the mean of the weights of all steps: smoother, at no cost per feature. False
        predicts with the newest, for streams that drift.
    kernel : {"linear", "rbf", "poly", "laplacian", "chi2"} or callable, default="linear"
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
    bias : {"none", "kernel"}, default="kernel"
        ``"kernel"`` adds a constant feature 1, regularised like any other; the paper has none.
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
        Multiplies the loss by class. ``"balanced"`` works with ``fit`` only.
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
    S. Shalev-Shwartz, Y. Singer, N. Srebro: Pegasos: Primal Estimated sub-GrAdient SOlver for
    SVM. ICML 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import PegasosSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 5))
    >>> y = X @ [1, -2, 0, 1, 0.5] > 0
    >>> model = PegasosSVC(alpha=1e-3).fit(X[:2000], y[:2000])
    >>> print(f"{model.score(X[2000:], y[2000:]):.2f}")
    0.99
    """

    _stem = "Pegasos"

    def __init__(
        self,
        alpha: float = 1e-4,
        *,
        block: int = 1,
        t0: float | Literal["scale"] = "scale",
        project: bool = True,
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
        self.block = block
        self.t0 = t0
        self.project = project
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
        by_scale = isinstance(self.t0, str)
        if by_scale:
            word("t0", self.t0, ("scale",))
        return {
            "alpha": number("alpha", self.alpha, above=0),
            "block": count("block", self.block, at_least=1),
            "t0": -1.0 if by_scale else number("t0", self.t0, at_least=0),
            "project": flag("project", self.project),
            "average": flag("average", self.average),
            "kernel": self._kernel_params(self.bias, n_features),
        }
