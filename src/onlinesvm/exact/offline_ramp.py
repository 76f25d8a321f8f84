"""The ramp-loss SVM in one batch: the yardstick for the online one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ..base import BatchClassifier
from ..base.estimator import Batch
from ..kernels import KernelFunction
from ..params import count
from .ramp import problem_params


class OfflineRampSVC(BatchClassifier):
    """The ramp-loss SVM by CCCP: all rows at once, a few hinge-loss SVMs one after the other.

    The same problem as :class:`RampSVC` without the stream: prefer it when the data are complete
    and will not change. Online and offline end at different stationary points of comparable
    value. It keeps all rows, and each of its outer rounds costs about one SVM training. Like the
    other it is meant for two classes, or a few of like size; take ``s=-1.5`` for rare ones.

    Parameters
    ----------
    C : float, default=1.0
        Weight of an error against a wide margin, > 0.
    kernel : {"rbf", "linear", "poly", "laplacian", "chi2"} or callable, default="rbf"
        A callable ``k(x, X)`` gives the values of one example against the rows of ``X``.
    gamma : {"scale", "auto"} or float, default="scale"
        Of rbf, poly, laplacian and chi2; the words are scikit-learn's: ``1 / (n_features X.var())``
        and ``1 / n_features``.
    degree : int, default=3
        Of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial kernel, >= 0.
    s : float, default=-1.0
        Where the ramp flattens, < 1. ``-inf`` gives the plain hinge loss.
    bias : {"none", "kernel"}, default="none"
        ``"kernel"`` adds 1 to the kernel, a regularised bias.
    tol : float, default=1e-2
        A promise: each example violates its optimality condition by at
        most so much, in units of the margin, and none is on the wrong side of the end of the ramp
        by more. Where rounding forbids it, a ``ConvergenceWarning`` says so.
    stopping : {"kkt", "paper"}, default="kkt"
        ``"kkt"`` keeps ``tol``. ``"paper"`` stops as printed, where the largest violation is at
        most ``tol`` *or* no step gains more than ``gain_tol``: the paper's pair is ``tol=1e-3,
        gain_tol=1e-5``, and leaves violations of up to ten times its ``tol``.
    gain_tol : float, default=1e-5
        With ``stopping="paper"``: steps that improve the objective by less are not taken.
    max_outer : int, default=50
        At most so many rounds of relocating the examples on the ramp.
    class_weight : dict or "balanced", default=None
        Multiplies ``C`` by class.
    classes : array of labels, default=None
        The classes, when ``y`` may lack some.
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
    classes_ : array of labels, in ascending order
    n_features_in_, feature_names_in_ : as in scikit-learn
    support_ : row numbers of the support vectors
    support_vectors_, dual_coef_, n_support_, intercept_ : as in :class:`RampSVC`
    nbytes_ : int, memory of the model

    References
    ----------
    R. Collobert, F. Sinz, J. Weston, L. Bottou: Trading Convexity for Scalability.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import OfflineRampSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (600, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    >>> noisy = np.where(rng.random(600) < 0.15, -y, y)
    >>> print(f"{OfflineRampSVC(C=10, gamma=4).fit(X, noisy).score(X, y):.2f}")
    0.99
    """

    _stem = "OfflineRamp"

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
        max_outer: int = 50,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        classes: Sequence[Any] | None = None,
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
        self.max_outer = max_outer
        self.class_weight = class_weight
        self.classes = classes
        self.dtype = dtype
        self.cache_bytes = cache_bytes
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _core_params(self, n_features: int) -> dict[str, Any]:
        outer = count("max_outer", self.max_outer, at_least=1)
        return {**problem_params(self, n_features), "max_outer": outer}

    def _fit(self, batch: Batch) -> None:
        super()._fit(batch)
        self._core.solve()
        self._warn_if_capped()
        if self.stopping == "kkt":  # the paper leaves steps that gain little, whatever tol says
            self._check_tol()
