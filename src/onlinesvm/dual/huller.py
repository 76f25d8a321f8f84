"""The Huller: the SVM as the nearest points of two convex hulls, found while examples pass."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..kernels import KernelFunction
from ..params import count, number
from .passes import TowardsOptimum


class HullerSVC(TowardsOptimum):
    """Huller (Bordes & Bottou): a large-margin SVM in one pass, for data with clean labels.

    The SVM lies halfway between the nearest points of the two classes' convex hulls. Each example
    pulls the point of its class towards itself if that brings the two closer; then a random support
    vector does the same, or leaves. Both are one closed-form step, and memory is the support
    vectors and their kernel values. With ``C=inf`` it is the hard-margin SVM of the paper, with a
    finite ``C`` the SVM with squared slacks; both have a free bias. :meth:`fit` makes passes until
    nobody violates: the SVM itself. A stream is one pass, near it; :meth:`finish` then makes the
    model optimal over the examples it holds.

    Prefer it where classes separate well, as in digits or text. Squared slacks make every
    example inside the margin a support vector, so on noisy labels :class:`LASVC` or
    :class:`RampSVC` is smaller. The price: one kernel row against the support vectors per example.

    Parameters
    ----------
    C : float, default=1.0
        Weight of an error against a wide margin, > 0. ``np.inf`` allows no error at all: then
        classes that overlap end in a ``ConvergenceWarning``.
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
        :meth:`finish` ends when nobody is off its margin by more.
        :meth:`finish` checks that in double, and warns where it is not kept. :meth:`kkt_residual`
        runs over the examples held, which are not all that were seen.
    init : int, default=1
        Examples of a class whose mean its point starts from. Until both classes have shown up,
        further examples of the first pass by.
    reprocess : int, default=1
        Random support vectors updated after each example: attempts to remove, per attempt to
        insert.
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
        Seed of the random picks and orders; the same seed and rows give the same model.
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
    nbytes_ : int, memory of the model

    References
    ----------
    A. Bordes, L. Bottou: The Huller: a simple and efficient online SVM. ECML 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import HullerSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (600, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    >>> model = HullerSVC(C=np.inf, gamma=4).fit(X[:400], y[:400])
    >>> print(f"{model.score(X[400:], y[400:]):.2f}")
    0.99
    >>> bool(model.duality_gap() < 1e-3 * model.objective())
    True
    """

    _stem = "Huller"
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
        init: int = 1,
        reprocess: int = 1,
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
        self.init = init
        self.reprocess = reprocess
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.classes = classes
        self.dtype = dtype
        self.cache_bytes = cache_bytes
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def duality_gap(self) -> float:
        """How far from the optimum over the examples held.

        The squared distance of the hulls, :meth:`objective`, is above its least value by at most
        twice this; with several classes, both are sums over the one-vs-rest problems.
        """
        return float(self._verb("duality_gap")())

    @property
    def _hard_margin(self) -> bool:
        return isinstance(self.C, float) and math.isinf(self.C) and self.C > 0

    def _core_params(self, n_features: int) -> dict[str, Any]:
        return super()._core_params(n_features) | {
            "C": self.C if self._hard_margin else number("C", self.C, above=0),
            "init": count("init", self.init, at_least=1),
            "reprocess": count("reprocess", self.reprocess),
            "random_state": count("random_state", self.random_state),
        }

    def _criterion(self, n: int) -> Callable[[float], bool]:
        optimal = super()._criterion(n)
        return lambda violators: optimal(violators) or (self._hard_margin and self._core.touching)

    def _warn_if_capped(self) -> None:
        if self._hard_margin and self._core.touching:
            warnings.warn(
                "HullerSVC: the classes overlap, so that no hyperplane separates them and C=inf "
                "has no solution; take a finite C",
                ConvergenceWarning,
                stacklevel=4,
            )
        super()._warn_if_capped()

    def _check_tol(self, changes: float = np.inf, tol: float | None = None) -> None:
        if not (self._hard_margin and self._core.touching):  # else there is no solution
            super()._check_tol(changes, tol)
