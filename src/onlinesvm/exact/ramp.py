"""OnlineSVM-R: a robust kernel machine that is optimal after every example."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from .. import kernels, queries
from ..base import OnlineClassifier
from ..kernels import KernelFunction
from ..params import count, number, word
from ..queries import Query


class RampSVC(OnlineClassifier):
    """OnlineSVM-R (Wang & Vucetic): a kernel SVM for noisy streams, optimal after every example.

    The ramp loss stops counting an example once it lies far on the wrong side, so mislabelled
    examples never become support vectors: on noisy data the model is both more accurate and
    several times smaller than a hinge-loss SVM. Every ``partial_fit`` and ``learn_one`` ends at a
    stationary point of the whole problem, and :meth:`unlearn` returns to one exactly.

    The price: an update costs time in proportion to the examples kept, and everything is kept
    unless ``keep_non_support`` and ``max_support`` say otherwise. The loss is not convex, so
    another order of the stream may end at another stationary point. For millions of rows and a
    linear boundary, take :class:`PassiveAggressiveClassifier`.

    Meant for two classes, or a few of like size. A class that is rare against the rest starts out
    at ``f = -1``, the very end of the default ramp, where it counts for nothing: with raw covtype's
    seven classes that costs 4 points against the hinge loss. ``s=-1.5`` wins them back, at about
    the hinge loss's number of support vectors where labels are wrong.

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
    s : float, default=-1.0
        Where the ramp flattens, <= 0: examples with ``y f(x) < s`` count no further. Take -1.5
        where classes are many or rare. ``-inf`` gives the plain hinge loss.
    bias : {"none", "kernel"}, default="none"
        ``"kernel"`` adds 1 to the kernel, a regularised bias.
    tol : float, default=1e-2
        A promise: after every example each example held violates its optimality condition by at
        most so much, in units of the margin, and none is on the wrong side of the end of the ramp
        by more. Where rounding forbids it, a ``ConvergenceWarning`` says so: calls of ``fit``,
        ``partial_fit`` and ``unlearn`` look at 64 examples, in double, each time a quarter more
        have been learned. The default leaves a relative duality gap below 0.02 on the paper's nine
        tasks, where most multipliers are free (DNA, USPS), and below 0.001 elsewhere; accuracy
        does not change below it.
    stopping : {"kkt", "paper"}, default="kkt"
        ``"kkt"`` keeps ``tol``. ``"paper"`` stops as printed, where the largest violation is at
        most ``tol`` *or* no step gains more than ``gain_tol``: the paper's pair is ``tol=1e-3,
        gain_tol=1e-5``, and leaves violations of up to ten times its ``tol``.
    gain_tol : float, default=1e-5
        With ``stopping="paper"``: steps that improve the objective by less are not taken.
    keep_non_support : int, default=None
        Examples kept besides the support vectors, in case they become ones; ``None`` keeps all.
        100 is fair, 1000 costs nothing noticeable.
    max_support : int, default=None
        At most so many support vectors are held, over all outputs; ``None`` sets no bound, and on
        a noisy stream they grow for ever. One too many goes for good: of those on the wrong side
        the one with the largest loss, if there is none the oldest (the smallest id). The rest
        settle again, so the model stays stationary for the examples it holds, and ``evicted_``
        counts. With ``keep_non_support``, no more than the sum of the two is ever stored.
    query : {"all", "margin", "greedy"} or query, default="all"
        Which labels to use: ``"margin"`` (OnlineASVM-R) skips examples with ``|f(x)| > 1``,
        ``Greedy(h)`` takes one in every ``h``. :meth:`wants_label` tells beforehand. While a
        ``gamma`` by word settles, every label that comes is used.
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
    labels_used_ : int, labels the query asked for
    evicted_ : int, support vectors given up for ``max_support``
    nbytes_ : int, memory of the model

    References
    ----------
    Z. Wang, S. Vucetic: Fast Online Training of Ramp Loss Support Vector Machines.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import RampSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (600, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    >>> noisy = np.where(rng.random(600) < 0.15, -y, y)
    >>> model = RampSVC(C=10, gamma=4).fit(X, noisy)
    >>> print(f"{model.score(X, y):.2f}")
    0.98
    >>> model.unlearn([3, 17]).n_seen_
    600
    """

    _stem = "Ramp"
    _optimal_after = ("learn", "unlearn")
    _statement = (
        "The model is a stationary point of the ramp loss over the examples held, within "
        "kkt_residual; the examples removed have no influence left. It is not what training "
        "without them would find, which may be another stationary point. f* is the exact solution "
        "of the hinge loss over the examples held that are inside the ramp: decision_function(x) "
        "is within distance * sqrt(k(x, x)) + bias_distance of f*(x)."
    )

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str | KernelFunction = "rbf",
        gamma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        s: float = -1.0,
        bias: Literal["none", "kernel"] = "none",
        tol: float = 1e-2,
        stopping: Literal["kkt", "paper"] = "kkt",
        gain_tol: float = 1e-5,
        keep_non_support: int | None = None,
        max_support: int | None = None,
        query: str | Query = "all",
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
        self.s = s
        self.bias = bias
        self.tol = tol
        self.stopping = stopping
        self.gain_tol = gain_tol
        self.keep_non_support = keep_non_support
        self.max_support = max_support
        self.query = query
        self.class_weight = class_weight
        self.classes = classes
        self.dtype = dtype
        self.cache_bytes = cache_bytes
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def evicted_(self) -> int:
        """Support vectors given up for ``max_support`` so far."""
        return int(self._fitted_core("evicted_").evicted)

    def _core_params(self, n_features: int) -> dict[str, Any]:
        problem = problem_params(self, n_features)
        if problem["s"] > 0:  # f = 0 would be stationary: nothing would ever be learned
            raise ValueError(f"s must be <= 0, got {self.s!r}; OfflineRampSVC takes up to 1")
        keep, most = self.keep_non_support, self.max_support
        return {
            **problem,
            "keep_non_support": -1 if keep is None else count("keep_non_support", keep),
            "max_support": -1 if most is None else count("max_support", most, at_least=1),
            **queries.resolve(self.query).core_params(),
        }

    def _check_tol(self, changes: float = math.inf, tol: float | None = None) -> None:
        if self.stopping == "kkt":  # the paper leaves steps that gain little, whatever tol says
            super()._check_tol(changes, tol)


def problem_params(face: Any, n_features: int) -> dict[str, Any]:
    """What the online and the offline machine have in common: the problem and its tolerances."""
    return {
        "C": number("C", face.C, above=0),
        "s": -math.inf if face.s == -math.inf else number("s", face.s, below=1),
        "tol": number("tol", face.tol, above=0),
        "stopping": word("stopping", face.stopping, ("kkt", "paper")),
        "gain_tol": number("gain_tol", face.gain_tol, at_least=0),
        "cache_bytes": count("cache_bytes", face.cache_bytes),
        "kernel": kernels.resolve(
            face.kernel,
            gamma=face.gamma,
            degree=face.degree,
            coef0=face.coef0,
            bias=face.bias,
            n_features=n_features,
        ),
    }
