"""The incremental and decremental SVM: exact after every example, and after every removal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core import revive
from ...data.arguments import check_number, check_numbers
from ...model.classifier import OnlineClassifier
from ...model.groups import Multiclass, Settling
from ...model.parameters import count, inherit
from ...model.reconfiguring import move_C
from ...unlearn.certificate import EXACT

_EXACT = {"float32": 1e-6, "float64": 1e-9}  # what "exact" means, by dtype


@dataclass(frozen=True)
class LeaveOneOut:
    """How each example fares with the model that never saw it.

    Attributes
    ----------
    ids : array of int, the examples held, ascending
    labels, predictions : arrays of labels, the true ones and those of the model without it
    scores : array of shape (n, outputs), the decision values of the model without it
    """

    ids: NDArray[np.int64]
    labels: NDArray[Any]
    predictions: NDArray[Any]
    scores: NDArray[np.float64]

    @property
    def correct(self) -> NDArray[np.bool_]:
        """The verdict on each example."""
        return np.asarray(self.labels == self.predictions)

    @property
    def error(self) -> float:
        """Share of examples that are wrong without themselves: an honest estimate of the error."""
        return float(np.mean(~self.correct)) if len(self.ids) else 0.0


class IncrementalSVC(Settling, Multiclass, OnlineClassifier):
    """Incremental SVM (Cauwenberghs & Poggio): always the solution ``SVC`` would find, and exact
    unlearning.

    After every call the model is the optimum of the soft-margin SVM with a free bias over all
    examples held: what a batch solver at tight tolerance returns, whatever the order of arrival.
    :meth:`unlearn` goes the way back, to the model that never saw the example. Prefer it where an
    exact and reversible model is worth its price; for noisy streams :class:`RampSVC` is smaller
    and faster.

    After :meth:`unlearn` the solution, the examples held and the kernel values are those of a model
    that never saw the examples. What remains: how many examples arrived (``n_seen_``) and the
    highest id, which :meth:`forget_ids` removes; and what they helped to settle, which a warning
    and the certificate name: a ``gamma`` by word, the weights of ``class_weight="balanced"``,
    classes and names of features that no other example has.

    The price: all examples are kept, and an update costs time in proportion to the examples times
    the support vectors on the margin; memory grows with the square of the latter. Where nearly all
    multipliers are free, one pass takes several times as long as fitting ``SVC`` once; a ``tol`` of
    1e-3 saves a part of it, and ``dtype="float32"`` another. ``settle="example"``, exact after
    every row of a call as the paper has it, costs several times as much. Whatever ``tol`` is,
    :meth:`leave_one_out`, :meth:`set_C` and certificates speak of the exact solution, and
    :meth:`polish` goes there.

    Attributes
    ----------
    intercept_ : array, the bias of each output; the middle of its interval where no support
        vector lies on the margin

    References
    ----------
    G. Cauwenberghs, T. Poggio: Incremental and Decremental Support Vector Machine Learning.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import IncrementalSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] + rng.normal(0, 0.3, 200) > 0, 1, -1)
    >>> model = IncrementalSVC(C=10, gamma=0.5).fit(X, y)
    >>> print(f"{model.score(X, y):.2f}")
    0.86
    >>> never_seen = IncrementalSVC(C=10, gamma=0.5).fit(X[20:], y[20:])
    >>> model.unlearn(range(20))
    IncrementalSVC(C=10, gamma=0.5)
    >>> bool(np.allclose(model.decision_function(X), never_seen.decision_function(X), atol=1e-6))
    True
    """

    _stem = "Incremental"
    _collects_one = False
    _claim = EXACT
    _optimal_after = ("learn", "unlearn")
    _taken_up = ("cache_bytes", "settle")  # the problem over the examples held is the same

    tol: float = inherit(default=1e-8)
    max_rounds: int = count(
        default=1000,
        at_least=1,
        doc="""Rounds of corrections after one change. Where they do not suffice, a
        ``ConvergenceWarning`` says so, and the model is valid but less exact.""",
    )
    dtype: Literal["float32", "float64"] = inherit(default="float64")

    @property
    def _solves_calls(self) -> bool:  # type: ignore[override]
        return bool(self.settle == "call")

    @property
    def _any_cut_gives(self) -> Literal["bits", "solution", "optimum"]:  # type: ignore[override]
        return "solution" if self._solves_calls else "bits"

    def _carried_over(self, state: dict[str, Any]) -> dict[str, Any]:
        counts = self.settle == "call" and not self._core.has_pairs
        waiting = {"unsettled": np.array(0)} if counts else {}  # none between calls
        return {name: value for name, value in state.items() if name != "unsettled"} | waiting

    # --- from within tol to exact ---------------------------------------------------------------

    def polish(self, tol: float | None = None) -> Self:
        """Go from a solution within ``tol`` to the exact one, once, where that is worth its price.

        What was learned at ``tol=1e-3`` is within it; this goes on to the optimum, and the stream
        may continue at its own ``tol``. :meth:`leave_one_out`, :meth:`set_C` and
        ``unlearn(ids, certificate=True)`` go there by themselves. Costs a few times as much as an
        update that moves the margin.

        Parameters
        ----------
        tol : float, default 1e-9, or the model's own ``tol`` if that is smaller. With float32 it is
            1e-6 and of kernel values in float32; :meth:`kkt_residual`, in double, sees more.

        Returns
        -------
        self

        Examples
        --------
        >>> import numpy as np
        >>> from onlinesvm import IncrementalSVC
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(200, 2))
        >>> y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
        >>> model = IncrementalSVC(C=10, gamma=0.5, tol=1e-3).fit(X, y)
        >>> model.polish().kkt_residual() < 1e-9
        True
        """
        polish = self._verb("polish")
        self._ready()
        exact = min(self.tol, _EXACT[self.dtype])
        goal = exact if tol is None else check_number("tol", tol, above=0)
        polish(goal)
        self._warn_if_capped()
        if self.dtype == "float64":  # kernel values in float32 are further from those in double
            self._check_tol(tol=goal)
        return self

    def _polish(self) -> None:
        self.polish()

    # --- the way back -------------------------------------------------------------------------

    def forget_ids(self, ids: ArrayLike) -> Self:
        """Forget that examples ever arrived: what :meth:`unlearn` leaves on record goes, too.

        An id may tell who somebody is, and the highest one lives on in the count from which the
        next is taken. Afterwards ``n_seen_`` is the number of examples held and the next id
        follows the highest held, as if no other example had come; numbers of forgotten examples
        may be handed out again.

        Parameters
        ----------
        ids : int or array of int
            Examples unlearned before; one that is still held is a ValueError.

        Returns
        -------
        self
        """
        self._verb("unlearn")
        held = np.asarray(self._core.labels()[0])
        still = np.intersect1d(held, np.asarray(ids))
        if len(still):
            raise ValueError(f"ids has {still[0]}, which the model still holds; unlearn it first")
        self._next_id = int(held.max(initial=-1)) + 1
        self._id_gap = self._next_id - len(held)
        self._strike_out()
        return self

    def leave_one_out(self) -> LeaveOneOut:
        """Predict every example held by the exact model without it; changes nothing.

        Exact whatever ``tol`` is: a copy is polished first.

        Examples that support nothing cost nothing. The others are taken away and brought back,
        one by one, each for about the price of unlearning it twice.

        Returns
        -------
        LeaveOneOut
            With the verdicts ``correct`` by ids and the error estimate ``error``.
        """
        self._verb("leave_one_out")
        copy = revive(self._core_name, self._core_settings, self._core.state())
        left = copy.leave_one_out()
        scores = self._by_output(np.asarray(left["scores"]))
        return LeaveOneOut(
            np.asarray(left["ids"]),
            self._labels.arrived()[np.asarray(left["labels"])],
            self._labels.decode(scores),
            scores,
        )

    # --- along the path -----------------------------------------------------------------------

    def set_C(self, C: float) -> Self:
        """Go to the exact solution for another ``C`` from the one at hand, without refitting.

        Returns
        -------
        self
        """
        self._verb("set_C")
        self._ready()
        move_C(self, C)
        return self

    def reweight(self, ids: ArrayLike, weights: ArrayLike) -> Self:
        """Give examples another sample weight, as if they had been learned with it.

        Parameters
        ----------
        ids : int or array of int, examples held
        weights : float or array of numbers >= 0
            ``C_i = C * weight``, times ``class_weight`` of its class. 0 takes an example's
            influence, but keeps it for a later weight.

        Returns
        -------
        self
        """
        move = self._verb("reweight")
        self._ready()
        names = np.atleast_1d(np.asarray(ids))
        if names.ndim != 1 or names.dtype.kind not in "iu" or len(np.unique(names)) != len(names):
            raise ValueError("ids must be an integer or an array of distinct integers")
        values = np.atleast_1d(check_numbers("weights", weights))
        if values.ndim != 1 or len(values) not in (1, len(names)):
            raise ValueError("weights must be one number, or one for each of ids")
        if not np.isfinite(values).all() or (values < 0).any():
            raise ValueError("weights must be finite and >= 0")
        names, changed = names.astype(np.int64), values * self._factors_of(names)
        self._weights_lost |= self._class_counts is not None
        move(names, changed)
        if self._held is not None:
            self._held = self._held.reweighted(names, changed)
        self._warn_if_capped()
        return self

    def _factors_of(self, ids: NDArray[Any]) -> NDArray[np.float64]:
        """The class weight of each of these examples; 1 of those that are not held."""
        factors = np.ones(len(ids))
        if self._class_factors is not None:
            held, labels = map(np.asarray, self._core.labels())
            order = np.argsort(held)
            at = np.minimum(np.searchsorted(held, ids, sorter=order), len(held) - 1)
            known = held[order[at]] == ids if len(held) else np.zeros(len(ids), dtype=bool)
            factors[known] = self._class_factors[labels[order[at[known]]]]
        return factors
