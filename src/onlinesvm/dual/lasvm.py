"""LASVM: nearly the accuracy of a batch SVM after one pass over the stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from ..kernels import KernelFunction
from ..params import count, number, word
from .passes import TowardsOptimum

SELECTIONS = ("random", "gradient", "active", "autoactive")


class LASVC(TowardsOptimum):
    """LASVM (Bordes et al.): near-SVM accuracy after one pass, at a fraction of a batch fit.

    Each example that passes takes at most one step into the model and lets ``reprocess`` others
    correct themselves; who supports nothing leaves again. Memory is the support vectors and their
    kernel values, never the stream. It solves the same problem as scikit-learn's ``SVC``, free bias
    included: :meth:`fit` makes passes, each ended by :meth:`finish`, until nobody violates, which
    is the solution of ``SVC`` itself. A stream is one pass, near it, and :meth:`finish` makes the
    model optimal over the examples it still holds.

    The price: one kernel row against the support vectors per example, and after one pass a model
    that is close to the optimum rather than at it: what was dropped in passing does not come back.
    For a model that is optimal after every example, or labels that lie, take :class:`RampSVC`.

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
    tol : float, default=1e-3
        Pairs whose gradients differ by no more are left alone (tau of the paper).
        :meth:`finish` checks that in double, and warns where it is not kept. :meth:`kkt_residual`
        runs over the examples held, which are not all that were seen.
    reprocess : int or "auto", default="auto"
        Correction steps after each example; 1 is the paper's. ``"auto"`` takes one, and more (up to
        100) while the worst pair still violates by more than half the margin's width: on streams
        that shift or are noisy it keeps the model closer to the optimum, on others it costs
        nothing.
    selection : {"random", "gradient", "active", "autoactive"}, default="random"
        ``"random"`` learns every example, in the order of the stream. ``"autoactive"`` asks only
        for labels of examples with ``|f(x)| < 1 + delta / 2``: beyond, a right label would change
        nothing. ``"active"`` and ``"gradient"`` learn one of every ``pool`` examples, the one with
        the smallest ``|f(x)|`` (its label alone is used) or the smallest ``y f(x)``. While a
        ``gamma`` by word settles, every label that comes is used.
    pool : int, default=50
        Examples that ``"active"`` and ``"gradient"`` choose from.
    seed_per_class : int, default=5
        Examples kept while the stream has shown one class only.
    max_iter : int, default=50
        Passes of :meth:`fit` over its rows, at most; it ends with the pass that met no violator,
        and a ``ConvergenceWarning`` tells when none did. 1 is one pass, then :meth:`finish`.
    shuffle : bool, default=True
        Whether each pass of :meth:`fit` takes the rows in a new random order. ``partial_fit``
        never does.
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
    random_state : int, default=0
        Seed of the orders of :meth:`fit`; the same seed and rows give the same model.
    verbose : bool, default=False
        Show a live bar when learning takes long.

    Attributes
    ----------
    classes_ : array of labels, in ascending order
    n_features_in_, feature_names_in_ : as in scikit-learn
    support_ : ids of the support vectors
    support_vectors_, dual_coef_ : the vectors and their signed coefficients
    n_support_ : number of support vectors of each class (one-vs-rest problem)
    intercept_ : array, the bias of each output
    gamma_ : float, the value of ``gamma`` in use, where the kernel has one
    n_seen_ : int, examples that arrived
    n_iter_ : int, passes that ``fit`` made
    violation_ : float, by how much the worst pair held violates now; above 1, half the width of the
        margin, call :meth:`finish` before the model is used
    labels_used_ : int, labels the selection asked for
    nbytes_ : int, memory of the model

    References
    ----------
    A. Bordes, S. Ertekin, J. Weston, L. Bottou: Fast Kernel Classifiers with Online and Active
    Learning. Journal of Machine Learning Research 6, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from onlinesvm import LASVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (600, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    >>> model = LASVC(C=10, gamma=4).fit(X[:400], y[:400])
    >>> batch = SVC(C=10, gamma=4).fit(X[:400], y[:400])
    >>> print(f"{model.score(X[400:], y[400:]):.2f} {batch.score(X[400:], y[400:]):.2f}")
    0.96 0.96
    """

    _stem = "Lasvm"
    _optimal_after = ("unlearn",)

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str | KernelFunction = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        tol: float = 1e-3,
        reprocess: int | Literal["auto"] = "auto",
        selection: Literal["random", "gradient", "active", "autoactive"] = "random",
        pool: int = 50,
        seed_per_class: int = 5,
        max_iter: int = 50,
        shuffle: bool = True,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        classes: Sequence[Any] | Literal["open"] | None = None,
        dtype: Literal["float32", "float64"] = "float32",
        cache_bytes: int = 256 << 20,
        n_jobs: int | None = None,
        random_state: int = 0,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol
        self.reprocess = reprocess
        self.selection = selection
        self.pool = pool
        self.seed_per_class = seed_per_class
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.classes = classes
        self.dtype = dtype
        self.cache_bytes = cache_bytes
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _core_params(self, n_features: int) -> dict[str, Any]:
        auto = isinstance(self.reprocess, str)
        if auto:
            word("reprocess", self.reprocess, ("auto",))
        return super()._core_params(n_features) | {
            "C": number("C", self.C, above=0),
            "reprocess": -1 if auto else count("reprocess", self.reprocess),
            "selection": word("selection", self.selection, SELECTIONS),
            "pool": count("pool", self.pool, at_least=1),
            "seed_per_class": count("seed_per_class", self.seed_per_class, at_least=1),
        }

    @property
    def violation_(self) -> float:
        """By how much the worst pair held violates; :meth:`finish` brings it below ``tol``."""
        return float(self._fitted_core("violation_").violation)

    @property
    def labels_used_(self) -> int:
        """Labels the selection has asked for so far; a row's label counts once."""
        return min(super().labels_used_, self.n_seen_)

    def _criterion(self, n: int) -> Callable[[float], bool]:
        if self.selection != "random":  # a label is asked for once
            return lambda violators: True
        return super()._criterion(n)
