"""The core vector machine: an SVM from the few examples on the rim of a ball."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..base import OnlineClassifier
from ..base.estimator import Batch
from ..kernels import KernelFunction
from ..params import count, number, word


class CoreVectorSVC(OnlineClassifier):
    """The core vector machine (Tsang, Kwok & Cheung): a big SVM from a small core, with a bound.

    The SVM with squared slack is the smallest ball around the examples, and that ball is decided by
    few of them. The core starts with two; the farthest example outside its ball enters, and the
    ball around the core is made anew, until no example is farther away than 1 + ``tol`` times its
    radius. How far the model is from the optimum is known, and so is how often all examples had
    to be looked at (``passes_``).

    Prefer it where all examples are at hand and only some of them matter: every example is kept,
    but kernel values are computed against the core alone. It solves every call of ``partial_fit``
    as a whole, going on from the core it has, so that cutting a stream otherwise gives the same
    solution within ``tol``, not the same bits; :meth:`learn_one` is dear. :meth:`unlearn` drops
    examples and goes on, too. Each round costs one kernel value for each candidate and member of
    the core; squared slack makes many members, so where data are noisy :class:`LASVC` is faster,
    and :class:`StreamSVC` is the one-pass ball.

    Parameters
    ----------
    C : float, default=1.0
        Weight of a squared error against a wide margin, > 0. Sample weights multiply it.
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
    bias : {"none", "kernel"}, default="none"
        ``"kernel"`` adds 1 to the kernel, a regularised bias.
    tol : float, default=1e-3
        Epsilon of the paper: the radius is within 1 + ``tol`` of the smallest. No example
        violates the optimality conditions by more, either.
        Checked in double, on 64 of the examples held, after ``fit`` and each time the stream has
        grown by a quarter: where it is not kept, a ``ConvergenceWarning``. :meth:`kkt_residual`
        tells the truth over all of them.
    sample : int or "all", default=59
        A round looks at so many random candidates and takes the farthest: among 59 there is one of
        the farthest 5 % with probability 0.95. When none is outside, a pass over all examples
        either proves that nobody is, or brings as many of the farthest into the core. With
        ``"all"`` every round is such a pass, and takes the farthest of all.
    class_weight : dict or "balanced", default=None
        Multiplies ``C`` by class. ``"balanced"`` works with ``fit`` only.
    classes : "open" or array of labels, default=None
        ``"open"`` lets classes appear at any time; an array names them beforehand, so that
        ``partial_fit`` and ``learn_one`` need no more. More than two are learned one against the
        rest, over one core.
    random_state : int, default=0
        Seed of the candidates.
    dtype : {"float32", "float64"}, default="float32"
        Type of the stored examples and kernel values; the solution is float64 throughout.
    cache_bytes : int, default=256 MiB
        Memory for kernel rows, on top of the examples. It affects speed only.
    n_jobs : int, default=None
        Threads for predicting and for kernel rows of examples to come; None is one, -1 all
        processors. The results are the same bits.
    verbose : bool, default=False
        Show a live bar when reading the rows takes long.

    Attributes
    ----------
    passes_ : int, passes over all examples in the last search, the most of any output
    radius_ : array, the radius of each output's ball: no more than that of the smallest
    classes_ : array of labels, in ascending order
    n_features_in_, feature_names_in_ : as in scikit-learn
    support_ : ids of the core
    support_vectors_, dual_coef_ : the core and its signed coefficients
    n_support_ : number of support vectors of each class (one-vs-rest problem)
    intercept_ : array, the bias of each output
    gamma_ : float, the value of ``gamma`` in use, where the kernel has one
    n_seen_ : int, examples that arrived
    nbytes_ : int, memory of the model

    References
    ----------
    I. W. Tsang, J. T. Kwok, P.-M. Cheung: Core Vector Machines: Fast SVM Training on Very Large
    Data Sets. Journal of Machine Learning Research 6, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import CoreVectorSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (3000, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    >>> model = CoreVectorSVC(C=100, gamma=4).fit(X[:2000], y[:2000])
    >>> print(len(model.support_) < 500, f"{model.score(X[2000:], y[2000:]):.2f}")
    True 0.99
    """

    _stem = "CoreVector"
    _any_cut_gives: ClassVar[Literal["bits", "solution"]] = "solution"
    _optimal_after = ("unlearn",)

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str | KernelFunction = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        bias: Literal["none", "kernel"] = "none",
        tol: float = 1e-3,
        sample: int | Literal["all"] = 59,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        classes: Sequence[Any] | Literal["open"] | None = None,
        random_state: int = 0,
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
        self.sample = sample
        self.class_weight = class_weight
        self.classes = classes
        self.random_state = random_state
        self.dtype = dtype
        self.cache_bytes = cache_bytes
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _core_params(self, n_features: int) -> dict[str, Any]:
        everybody = isinstance(self.sample, str)
        if everybody:
            word("sample", self.sample, ("all",))
        return {
            "C": number("C", self.C, above=0),
            "tol": number("tol", self.tol, above=0),
            "sample": 0 if everybody else count("sample", self.sample, at_least=1),
            "random_state": count("random_state", self.random_state),
            "cache_bytes": count("cache_bytes", self.cache_bytes),
            "kernel": kernels.resolve(
                self.kernel,
                gamma=self.gamma,
                degree=self.degree,
                coef0=self.coef0,
                bias=self.bias,
                n_features=n_features,
            ),
        }

    def _learns_at_once(self) -> bool:
        return False  # the core collects; partial_fit solves

    def _takes_several_verbs(self, batch: Batch) -> bool:
        return True

    def _learn(self, batch: Batch) -> None:
        super()._learn(batch)
        self._core.solve()
        self._warn_if_capped()
        self._check_tol(len(batch.rows))

    @property
    def passes_(self) -> int:
        """Passes over all examples in the last search; the most of any output."""
        return int(self._fitted_core("passes_").passes)

    @property
    def radius_(self) -> NDArray[np.float64]:
        """The radius of each output's ball: no more than that of the smallest around all."""
        return self._labels.columns(np.asarray(self._fitted_core("radius_").radius()))
