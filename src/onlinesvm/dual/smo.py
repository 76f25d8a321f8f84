"""SMO: the batch SVM, from nothing or from where it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..base import OnlineClassifier
from ..base.estimator import EXACT, Batch
from ..base.progress import LiveGap, Progress, Silence
from ..kernels import KernelFunction
from ..params import count, number, word

BIASES = ("free", "none")
ORDERS = ("second", "first")
_NO_LIMIT = 2**62


class SmoSVC(OnlineClassifier):
    """SMO (Platt; Fan, Chen & Lin): ``SVC`` in a fraction of its time, and it goes on.

    The batch SVM: :meth:`fit` takes all rows together and steps, two coefficients at a time, until
    the optimality conditions hold within ``tol``. :meth:`partial_fit` adds rows and goes on from
    the solution at hand, :meth:`unlearn` takes rows away and does the same, so that small changes
    cost little. Prefer it where data come in large batches; where the model must be right after
    every single example, :class:`IncrementalSVC` is faster and sharper.

    Every call is solved as a whole: cutting a stream into other batches leads to the same solution
    within ``tol``, not to the same bits. All rows are kept. A step costs one pass over the working
    set; memory is the rows, a few numbers for each, and the cache of kernel values.

    Parameters
    ----------
    C : float, default=1.0
        Weight of an error against a wide margin, > 0.
    kernel : {"rbf", "linear", "poly", "laplacian", "chi2"} or callable, default="rbf"
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
    bias : {"free", "none"}, default="free"
        ``"free"`` is the problem of ``SVC``. ``"none"`` fixes the bias at 0.
    tol : float, default=1e-3
        No pair of examples violates the optimality conditions by more, as in ``SVC``.
        Checked in double, on 64 of the examples held, after ``fit`` and each time the stream has
        grown by a quarter: where it is not kept, a ``ConvergenceWarning``. :meth:`kkt_residual`
        tells the truth over all of them.
    order : {"second", "first"}, default="second"
        Who steps with the example that violates most: the partner of the best step, or the one
        that violates most the other way. ``"second"`` needs fewer steps.
    max_iter : int, default=None
        At most so many steps per output and call; then a ``ConvergenceWarning`` says so and the
        model is the best so far.
    class_weight : dict or "balanced", default=None
        Multiplies ``C`` by class. ``"balanced"`` works with ``fit`` only.
    classes : "open" or array of labels, default=None
        ``"open"`` lets classes appear at any time; an array names them beforehand, so that
        ``partial_fit`` and ``learn_one`` need no more.
    dtype : {"float32", "float64"}, default="float32"
        Type of the stored examples and kernel values; the solution is float64 throughout.
    cache_bytes : int, default=256 MiB
        Memory for kernel rows, on top of the examples. It affects speed only.
    n_jobs : int, default=None
        Threads for predicting and for kernel rows of examples to come; None is one, -1 all
        processors. The results are the same bits.
    verbose : bool, default=False
        Show a live bar when solving takes long. Ctrl-C stops at once; the model is then that of
        the last whole round of steps, and the next ``partial_fit`` goes on from it.

    Attributes
    ----------
    classes_ : array of labels, in ascending order
    n_features_in_, feature_names_in_ : as in scikit-learn
    support_ : ids of the support vectors
    support_vectors_, dual_coef_ : the vectors and their signed coefficients
    n_support_ : number of support vectors of each class (one-vs-rest problem)
    intercept_ : array, the bias of each output
    n_iter_ : array, the steps of the last call by output
    gamma_ : float, the value of ``gamma`` in use, where the kernel has one
    n_seen_ : int, examples that arrived
    nbytes_ : int, memory of the model

    References
    ----------
    J. Platt: Fast Training of Support Vector Machines using Sequential Minimal Optimization. 1999.
    R.-E. Fan, P.-H. Chen, C.-J. Lin: Working Set Selection Using Second Order Information for
    Training Support Vector Machines. Journal of Machine Learning Research 6, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from onlinesvm import SmoSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (600, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    >>> model = SmoSVC(C=10, gamma=4).fit(X[:400], y[:400])
    >>> batch = SVC(C=10, gamma=4).fit(X[:400], y[:400])
    >>> print(f"{model.score(X[400:], y[400:]):.2f} {batch.score(X[400:], y[400:]):.2f}")
    0.96 0.96
    >>> model.partial_fit(X[400:], y[400:]).kkt_residual() <= model.tol
    True
    """

    _stem = "Smo"
    _statement = EXACT
    _any_cut_gives = "solution"

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str | KernelFunction = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        bias: Literal["free", "none"] = "free",
        tol: float = 1e-3,
        order: Literal["second", "first"] = "second",
        max_iter: int | None = None,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        classes: Sequence[Any] | Literal["open"] | None = None,
        dtype: Literal["float32", "float64"] = "float32",
        cache_bytes: int = 256 << 20,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.bias = bias
        self.tol = tol
        self.order = order
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.classes = classes
        self.dtype = dtype
        self.cache_bytes = cache_bytes
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _core_params(self, n_features: int) -> dict[str, Any]:
        free = self.max_iter is None
        return {
            "C": number("C", self.C, above=0),
            "tol": number("tol", self.tol, above=0),
            "bias": word("bias", self.bias, BIASES),
            "order": word("order", self.order, ORDERS),
            "max_iter": _NO_LIMIT if free else count("max_iter", self.max_iter, at_least=1),
            "cache_bytes": count("cache_bytes", self.cache_bytes),
            "kernel": kernels.resolve(
                self.kernel,
                gamma=self.gamma,
                degree=self.degree,
                coef0=self.coef0,
                bias="none",  # of the kernel: this machine has a bias of its own
                n_features=n_features,
            ),
        }

    def _forget(self, ids: NDArray[np.int64]) -> None:
        super()._forget(ids)
        self._solve(len(ids))

    @property
    def n_iter_(self) -> NDArray[np.int64]:
        """Steps of the last call, by output."""
        return self._labels.columns(np.asarray(self._fitted_core("n_iter_").steps()))

    def _learn(self, batch: Batch) -> None:
        super()._learn(batch)  # the rows wait
        self._solve(len(batch.rows))

    def _solve(self, changes: float = np.inf) -> None:
        with LiveGap(type(self).__name__, self.tol) if self.verbose else Silence() as progress:
            going = True
            while going:
                going = self._core.improve()
                progress.narrow(self._core.gap, int(self._core.steps().sum()))
        self._warn_if_capped()
        self._check_tol(changes)

    def _progress(self, total: int) -> Progress:
        return Silence()  # taking the rows in is quick; the bar is for solving

    def _learns_at_once(self) -> bool:
        return False  # a single example is solved, too

    def _takes_several_verbs(self, batch: Batch) -> bool:
        return True
