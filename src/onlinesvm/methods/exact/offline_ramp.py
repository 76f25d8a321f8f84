"""The ramp-loss SVM in one batch: the yardstick for the online one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ...model.parameters import count, inherit, number
from ...model.verbs import Without
from .ramp import RampProblem


class OfflineRampSVC(RampProblem):
    """The ramp-loss SVM by CCCP: all rows at once, a few hinge-loss SVMs one after the other.

    The same problem as :class:`RampSVC` without the stream: prefer it when the data are complete
    and will not change. Online and offline end at different stationary points of comparable
    value. It keeps all rows, and each of its outer rounds costs about one SVM training. Several
    classes are learned one against the rest; take ``s=-1.5`` for rare ones.

    Attributes
    ----------
    support_ : row numbers of the support vectors
    support_vectors_, dual_coef_, n_support_, intercept_ : as in :class:`RampSVC`

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
    _solves_calls = True
    partial_fit = Without("it needs all rows at once; RampSVC has it")
    learn_one = Without("it needs all rows at once; RampSVC has it")
    _optimal_after = ("learn",)

    max_rounds: int = count(
        default=50,
        at_least=1,
        doc="At most so many rounds of relocating the examples on the ramp.",
    )
    start: float = number(
        default=1.0,
        above=0,
        below=1,
        also=1.0,
        doc="""The share of the rows, drawn by a fixed seed, with which the first round begins,
        above 0 and at most 1; later rounds take in whoever is inside the ramp. A tenth saves most
        of the first round, a hinge-loss SVM on noisy labels, and may end at another stationary
        point.""",
    )
    classes: Sequence[Any] | None = inherit(
        default=None, doc="The classes, when ``y`` may lack some."
    )

    def _end_call(self, verb: Literal["learn", "unlearn"], changes: int) -> None:
        if verb == "unlearn":
            self._solve()
        super()._end_call(verb, changes)
