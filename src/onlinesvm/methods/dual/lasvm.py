"""LASVM: nearly the accuracy of a batch SVM after one pass over the stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ... import queries
from ...model.classifier import OnlineClassifier
from ...model.groups import Multiclass, TowardsOptimum
from ...model.parameters import count, inherit, word


@dataclass(frozen=True)
class _AutoActive:
    """One label in ``pool`` rows, or for the first ``enough`` rows within ``width``."""

    pool: int
    width: float
    enough: int = 5

    def mask(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        nearest = np.abs(scores).min(axis=1)
        chosen, start, near = np.zeros(len(nearest), dtype=bool), 0, 0
        for end, distance in enumerate(nearest, 1):
            near += distance < self.width
            if near == self.enough or end - start == self.pool or end == len(nearest):
                chosen[start + int(nearest[start:end].argmin())] = True
                start, near = end, 0
        return chosen


class LASVC(Multiclass, TowardsOptimum, OnlineClassifier):
    """LASVM (Bordes et al.): near-SVM accuracy after one pass, at a fraction of a batch fit.

    Each example that passes takes at most one step into the model and lets ``reprocess`` others
    correct themselves; what supports nothing leaves again. Memory is the support vectors and their
    kernel values, never the stream. It solves the same problem as scikit-learn's ``SVC``, free bias
    included: :meth:`fit` makes passes, each ended by :meth:`finish`, until none violates, which
    is the solution of ``SVC`` itself. A stream is one pass, near it, and :meth:`finish` makes the
    model optimal over the examples it still holds.

    The price: one kernel row against the support vectors per example, and after one pass a model
    that is close to the optimum rather than at it: what was dropped in passing does not come back.
    For a model that is optimal after every example, or labels that lie, take :class:`RampSVC`.

    Attributes
    ----------
    violation_ : float, by how much the worst pair held violates now; above 1, half the width of the
        margin, call :meth:`finish` before the model is used
    labels_used_ : int, labels the query asked for

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

    _not_of_pairs: ClassVar[Mapping[str, Any]] = {"query": "all"}

    tol: float = inherit(
        default=1e-3,
        doc="""Pairs whose gradients differ by no more are left alone (tau of the paper).
        :meth:`finish` checks that in double, and warns where it is not kept. :meth:`kkt_residual`
        runs over the examples held, which are not all that were seen.""",
    )
    reprocess: int | Literal["auto"] = count(
        default="auto",
        words={"auto": -1},
        doc="""Correction steps after each example; 1 is the paper's. ``"auto"`` takes one, and more
        (up to 100) while the worst pair still violates by more than half the margin's width: on
        streams that shift or are noisy it keeps the model closer to the optimum, on others it costs
        nothing.""",
    )
    query: Literal["all", "margin", "greedy", "autoactive", "gradient"] = word(
        default="all",
        words=("all", "margin", "greedy", "autoactive", "gradient"),
        doc="""``"all"`` learns every example, in the order of the stream. ``"margin"`` asks for
        labels of examples with ``|f(x)| < 1 + delta / 2``: beyond, a right label would change
        nothing. ``"greedy"`` and ``"gradient"`` learn one of every ``pool`` examples, the one with
        the smallest ``|f(x)|`` (its label alone is used) or the smallest ``y f(x)``.
        ``"autoactive"`` is ``"greedy"`` that stops looking once five examples lie within
        ``1 + delta / 2``: it asks more often where much is in doubt. While a ``gamma`` by word
        settles, every label that comes is used.""",
    )
    pool: int = count(
        default=50,
        at_least=1,
        doc="""Examples that ``"greedy"`` and ``"gradient"`` choose from, and ``"autoactive"`` at
        most; the paper has 50, and 100 for the last.""",
    )
    seed_per_class: int = count(
        default=5, at_least=1, doc="Examples kept while the stream has shown one class only."
    )

    @property
    def violation_(self) -> float:
        """By how much the worst pair held violates; :meth:`finish` brings it below ``tol``."""
        return float(self._fitted_core("violation_").violation)

    @property
    def labels_used_(self) -> int:
        """Labels the query has asked for so far; a row's label counts once."""
        return min(super().labels_used_, self.n_seen_)

    def _asks(self) -> Any:
        if self.query == "greedy":
            return queries.Greedy(self.pool)
        if self.query == "autoactive":
            fitted = self.__sklearn_is_fitted__()
            return _AutoActive(self.pool, 1.0 + self.violation_ / 2 if fitted else np.inf)
        return queries.Margin() if self.query == "margin" else queries.All()

    def _criterion(self, n: int) -> Callable[[float], bool]:
        if self.query != "all":  # a label is asked for once
            return lambda violators: True
        return super()._criterion(n)
