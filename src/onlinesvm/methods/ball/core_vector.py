"""The core vector machine: an SVM from the few examples on the rim of a ball."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ...model.classifier import OnlineClassifier
from ...model.groups import KernelBias, SoftMargin
from ...model.parameters import count


class CoreVectorSVC(SoftMargin, KernelBias, OnlineClassifier):
    """The core vector machine (Tsang, Kwok & Cheung): a big SVM from a small core, with a bound.

    The SVM with squared slack is the smallest ball around the examples, and that ball is decided by
    few of them. The core starts with two; the farthest example outside its ball enters, and the
    ball around the core is made anew, until no example is farther away than 1 + ``tol`` times its
    radius (epsilon of the paper). How far the model is from the optimum is known, and so is how
    often all examples had to be looked at (``passes_``).

    Prefer it where all examples are at hand and only some of them matter: every example is kept,
    but kernel values are computed against the core alone. It solves every call of ``partial_fit``
    as a whole, going on from the core it has, so that cutting a stream otherwise gives the same
    solution within ``tol``, not the same bits; :meth:`learn_one` is dear. :meth:`unlearn` drops
    examples and goes on, too. Each round costs one kernel value for each candidate and member of
    the core; squared slack makes many members, so where data are noisy :class:`LASVC` is faster,
    and :class:`StreamSVC` is the one-pass ball. More than two classes are learned one against the
    rest, over one core.

    Attributes
    ----------
    passes_ : int, passes over all examples in the last search, the most of any output
    radius_ : array, the radius of each output's ball: no more than that of the smallest
    support_ : ids of the core
    support_vectors_, dual_coef_ : the core and its signed coefficients

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
    _optimal_after = ("learn", "unlearn")
    _solves_calls = True

    sample: int | Literal["all"] = count(
        default=59,
        at_least=1,
        words={"all": 0},
        doc="""A round looks at so many random candidates and takes the farthest: among 59 there is
        one of the farthest 5 % with probability 0.95. When none is outside, a pass over all
        examples either proves that none is, or brings as many of the farthest into the core. With
        ``"all"`` every round is such a pass, and takes the farthest of all.""",
    )
    random_state: int = count(default=0, doc="Seed of the candidates.")

    @property
    def passes_(self) -> int:
        """Passes over all examples in the last search; the most of any output."""
        return int(self._fitted_core("passes_").passes)

    @property
    def radius_(self) -> NDArray[np.float64]:
        """The radius of each output's ball: no more than that of the smallest around all."""
        return self._labels.columns(np.asarray(self._fitted_core("radius_").radius()))
