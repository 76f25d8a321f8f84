"""The Huller: the SVM as the nearest points of two convex hulls, found while examples pass."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...model.classifier import OnlineClassifier
from ...model.groups import TowardsOptimum
from ...model.parameters import count, inherit, number


class HullerSVC(TowardsOptimum, OnlineClassifier):
    """Huller (Bordes & Bottou): a large-margin SVM in one pass, for data with clean labels.

    The SVM lies halfway between the nearest points of the two classes' convex hulls. Each example
    pulls the point of its class towards itself if that brings the two closer; then a random support
    vector does the same, or leaves. Both are one closed-form step, and memory is the support
    vectors and their kernel values. With ``C=inf`` it is the hard-margin SVM of the paper, with a
    finite ``C`` the SVM with squared slacks; both have a free bias. :meth:`fit` makes passes until
    none violates: the SVM itself. A stream is one pass, near it; :meth:`finish` then makes the
    model optimal over the examples it holds.

    Prefer it where classes separate well, as in digits or text. Squared slacks make every
    example inside the margin a support vector, so on noisy labels :class:`LASVC` or
    :class:`RampSVC` is smaller. The price: one kernel row against the support vectors per example.

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

    C: float = number(
        default=1.0,
        above=0,
        also=math.inf,
        kw_only=False,
        doc="""Weight of an error against a wide margin, > 0. ``np.inf`` allows no error at all:
        then classes that overlap end in a ``ConvergenceWarning``.""",
    )
    tol: float = inherit(
        default=1e-3,
        doc=""":meth:`finish` ends when no example is off its margin by more. It checks that in
        double, and warns where it is not kept. :meth:`kkt_residual` runs over the examples held,
        which are not all that were seen.""",
    )
    init: int = count(
        default=1,
        at_least=1,
        doc="""Examples of a class whose mean its point starts from. Until both classes have shown
        up, further examples of the first pass by.""",
    )
    reprocess: int = count(
        default=1,
        doc="""Random support vectors updated after each example: attempts to remove, per attempt
        to insert.""",
    )
    random_state: int = inherit(
        default=0,
        core="",
        doc="Seed of the random picks and orders; the same seed and rows give the same model.",
    )

    def duality_gap(self) -> float:
        """How far from the optimum over the examples held.

        The squared distance of the hulls, :meth:`objective`, is above its least value by at most
        twice this; with several classes, both are sums over the one-vs-rest problems.
        """
        return float(self._verb("duality_gap")())

    @property
    def _hard_margin(self) -> bool:
        return isinstance(self.C, float) and math.isinf(self.C) and self.C > 0

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
