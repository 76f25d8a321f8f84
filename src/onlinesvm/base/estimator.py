"""The one learn loop and the one score loop; every algorithm is a face over them.

An algorithm's face names its core (``_stem``) and maps its constructor to the core's parameters
(``_core_params``). Everything else is here, in two steps that are kept apart on purpose: first
the whole call is *read* (validated, touching nothing), then it is *learned*. A complaint can
therefore never leave half a change behind.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self, overload

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from onlinesvm import _core

from .. import kernels
from ..params import count, flag, number, threads, word
from .certificate import Certificate, Evidence, issue
from .labels import NO_LABELS, Labels
from .persistence import ASK_ALL, Persistent, revive
from .progress import LiveBar, Progress, Silence
from .reading import MAX_ID, Columns, Reader, one_row
from .rows import Rows, SparseRows
from .settling import FAR, WARM_UP, Held, Spread, runs
from .turns import TakesTurns
from .vocabulary import Vocabulary

# A slab is what is learned between two chances to report or to let a signal in. It is short
# enough for its small arrays to be allocated without asking the system for pages.
_SLAB_ROWS = 1024
_SLAB_ROWS_WATCHED = 16  # rows are tested before their slab is learned: the first must be short
_SLAB_ROWS_MOST = 16384
_SLAB_SECONDS = 0.1
_CHECK_ROWS_MOST = 65536
_ONES = np.ones(_SLAB_ROWS_MOST)
_ONES.flags.writeable = False


@dataclass(frozen=True)
class Batch:
    """A call that has been read completely and may now be learned."""

    rows: Rows
    columns: Columns
    targets: NDArray[Any]  # class numbers or real targets
    weights: NDArray[np.float64] | None = None  # all 1
    ids: NDArray[np.int64] | None = None  # the next numbers
    labels: Labels = NO_LABELS  # as known when the batch ends
    arrivals: Sequence[int] = ()  # the rows where each of the last of them was first met

    @property
    def known(self) -> Labels:
        """The labels known when the batch begins."""
        return self.labels.first(len(self.labels) - len(self.arrivals))

    def counting(self) -> NDArray[np.intp]:
        """The rows of weight above 0."""
        return np.arange(len(self.rows)) if self.weights is None else np.flatnonzero(self.weights)

    def after(self, row: int) -> Batch:
        """What is left from this row on."""
        return replace(
            self,
            rows=self.rows.part(row, len(self.rows)),
            targets=self.targets[row:],
            weights=None if self.weights is None else self.weights[row:],
            ids=None if self.ids is None else self.ids[row:],
            arrivals=[arrival - row for arrival in self.arrivals if arrival >= row],
        )


#: The statement of methods whose solution is one: whatever the order, whatever was learned before.
EXACT = (
    "f* is the exact solution over the examples held: that of a model trained without the examples "
    "removed. decision_function(x) is within distance * sqrt(k(x, x)) + bias_distance of f*(x)."
)


class OnlineEstimator(TakesTurns, Persistent, Reader, BaseEstimator):
    """Learns from a stream: ``partial_fit`` and ``learn_one`` give the same bits for any cut.

    A face states ``_stem`` (``"Ramp"`` for ``_core.Ramp32`` and ``_core.Ramp64``) and
    ``_core_params``; its constructor has a parameter ``dtype``.
    """

    _stem: ClassVar[str]
    _measure: ClassVar[str]  # what the progress bar counts
    # What cutting a stream otherwise gives: the same bits or, where every call is solved as a
    # whole, the same solution within tol.
    _any_cut_gives: ClassVar[Literal["bits", "solution"]] = "bits"
    # The verbs of the core that leave every optimality condition within tol; checked now and then.
    _optimal_after: ClassVar[tuple[Literal["learn", "unlearn"], ...]] = ()
    # What a certificate of unlearning is about; None: there is none.
    _statement: ClassVar[str | None] = None
    _checked: float = 0  # changes up to the last check
    _unchecked: float = 0  # and since

    # A single row may go straight to the core: for learning whether, and of which width (-1: none).
    _short: bool = False
    _short_width: int = -1
    _begun: Mapping[str, Any] = {}  # the parameters that the model in hand was begun with
    _altered: bool = False  # some were set since
    _sparsely: bool = False  # how the examples are kept: as the first one came
    _vocabulary: Vocabulary | None = None
    _names: Mapping[Any, None] = {}  # those of the columns, in order; none for a vocabulary
    _held: Held | None = None  # the first examples of a stream that settles gamma
    _spread: Spread | None = None  # of the rows so far, where gamma hangs on it
    _far: bool = False  # they turned out to be far from what settled it, and it was said

    def _core_params(self, n_features: int) -> dict[str, Any]:
        """The constructor's parameters as the core wants them; a bad one is a ValueError.

        ``n_features`` counts those of the first example.
        """
        raise NotImplementedError

    # --- learning -----------------------------------------------------------------------------

    @contextmanager
    def _all_or_nothing(
        self, ahead: Literal["a new core", "one step", "several steps"]
    ) -> Iterator[None]:
        """Whatever fails inside, the model is as it was.

        One step is undone by Ctrl-C, too; a new core or one that took several steps keeps those
        that were finished, and can go on.
        """
        facts = dict(self.__dict__)
        names = 0 if self._vocabulary is None else len(self._vocabulary)
        numbers = self._next_id, self._id_gap
        core: Any = facts.get("_core")
        state = core.state() if ahead == "several steps" else {}
        risky = state and self._core_settings.get("kernel", {}).get("name") == "function"
        if risky:  # what failed once may fail again: the way back must not call it
            self._core = revive(self._core_name, self._core_settings, state)
        changes = core.changes if core is not None else 0
        try:
            if ahead == "one step":
                core.begin()
            yield
            if ahead == "one step":
                core.commit()
        except BaseException as failure:
            if ahead == "one step":
                core.rollback()
                if core.changes != changes:  # too late: it stands
                    raise
            elif not isinstance(failure, Exception):
                raise
            self.__dict__.update(facts)  # first: threads that look on never see half a model
            for name in self.__dict__.keys() - facts.keys():
                del self.__dict__[name]
            self._next_id, self._id_gap = numbers
            if self._vocabulary is not None:
                self._vocabulary.shorten(names)
            if state and not risky:
                self._core.load(state)
            raise

    def _go_on(self, batch: Batch, *, fresh: bool) -> None:
        """Learn what has been read after what was learned before."""
        several = self._takes_several_verbs(batch)
        with self._all_or_nothing(
            "a new core" if fresh else "several steps" if several else "one step"
        ):
            if fresh:
                self._begin(batch)
                self._held = None if self._spread is None else Held()
            else:
                self._note(batch)
            batch = self._weighted(batch)
            self._learn(batch)
            if self._spread is not None and not fresh:
                self._watch(self._spread_of(batch))

    def _takes_several_verbs(self, batch: Batch) -> bool:
        """Whether one call of the core is not enough for a batch."""
        watched = bool(getattr(self, "verbose", False))
        return len(batch.rows) > (_SLAB_ROWS_WATCHED if watched else _SLAB_ROWS)

    def _weighted(self, batch: Batch) -> Batch:
        """The batch with the weight of each example as the core is to see it."""
        return batch

    def _begin(self, batch: Batch) -> None:
        """Forget everything and stand ready for the first example of ``batch``."""
        settings = self._core_params(batch.columns.at_start)
        spread = self._spread_of(batch) if self._settles_gamma(settings) else None
        if spread is not None:
            settings["kernel"]["gamma"] = spread.gamma(self.gamma)
        bits = {"float32": "32", "float64": "64"}
        name = self._stem + bits[word("dtype", self.dtype, bits)]
        core = getattr(_core, name)(settings)
        threads(getattr(self, "n_jobs", None))
        for stale in (
            "feature_names_in_",
            "_names",
            "_vocabulary",
            "_checked",
            "_unchecked",
        ):
            self.__dict__.pop(stale, None)
        self._next_id = self._id_gap = 0
        self._held, self._spread, self._far = None, spread, False
        self._begun, self._altered = self.get_params(deep=False), False
        self._core_name, self._core_settings = name, settings
        self._sparsely = isinstance(batch.rows, SparseRows)
        self._install(core)
        self._note_columns(batch.columns)

    def _fit(self, batch: Batch) -> None:
        """Forget everything and learn a batch that holds all there is."""
        self._begin(batch)
        self._learn(self._weighted(batch))

    def _note(self, batch: Batch) -> None:
        """Remember what a batch says besides its examples."""
        self._note_columns(batch.columns)

    def _note_columns(self, columns: Columns) -> None:
        if columns.newcomers is not None:
            if self._vocabulary is None:
                self._vocabulary = Vocabulary()
            self._vocabulary.extend(columns.newcomers)
        elif columns.names is not None:
            self.feature_names_in_ = columns.names
            self._names = dict.fromkeys(columns.names.tolist())
        self.n_features_in_ = columns.count
        self._short_width = -1 if self._sparsely else columns.count

    def _learn(self, batch: Batch) -> None:
        """Learn a batch in row order, slab by slab; a signal between two slabs does no harm."""
        if self._held is not None:
            batch = self._warm_up(batch, self._held)
        self._use_threads()
        start = 0
        try:
            with self._progress(len(batch.rows)) as progress:
                first = self._first_slab(len(batch.rows), progress)
                for start, stop in _slabs(
                    len(batch.rows), batch.arrivals, first, progress.watching
                ):
                    self._meet(batch, start, told=progress.watching)
                    self._learn_part(batch, start, stop, progress)
        finally:
            self._meet(batch, start, told=True)
        self._warn_if_capped()
        if "learn" in self._optimal_after:
            self._check_tol(len(batch.rows))

    def _learn_at_once(self, x: Any, target: float) -> bool:
        """Hand one example of weight 1 to the core as it is; False: it has to be read first."""
        if type(x) is np.ndarray:
            if x.size != self._short_width:
                return False
            return self._core.learn_next(x, target, 1.0, self._register)  # type: ignore[no-any-return]
        if type(x) is not dict:
            return False
        if self._vocabulary is None:
            try:
                row = self._row_of(x) if x.keys() <= self._names.keys() else None
            except (TypeError, ValueError):  # what is wrong with it is said when it is read
                row = None
            return row is not None and self._learn_at_once(row, target)
        columns = self._vocabulary.columns
        with self._register:  # a copy made between the two would not fit together
            learned = self._core.learn_next_dict(x, columns, target, 1.0, self._register)
            self.__dict__["n_features_in_"] = len(columns)
        return learned  # type: ignore[no-any-return]

    def _learn_part(self, batch: Batch, start: int, stop: int, progress: Progress) -> None:
        part = slice(start, stop)
        rows = batch.rows.part(start, stop)
        y = np.ascontiguousarray(batch.targets[part], dtype=np.float64)
        w = _ones(stop - start) if batch.weights is None else batch.weights[part]
        ids = self._next_id + np.arange(stop - start) if batch.ids is None else batch.ids[part]
        tally = self._tally(rows, y) if progress.watching else 0.0  # before it learns
        before, changes = (self._next_id, self._id_gap, self._held), self._core.changes
        try:  # noted before they are learned: Ctrl-C must not give a number twice
            if self._held is not None:
                counted = np.flatnonzero(w > 0)
                self._held = self._holding(self._held, batch, start + counted, ids[counted])
            self._take(ids)
            self._learn_slab(rows, y, w, ids)
        except BaseException:
            if self._core.changes == changes:  # they were not learned
                self._next_id, self._id_gap, self._held = before
            raise
        if progress.watching:
            progress.advance(stop - start, tally, getattr(self, "support_", None))

    def _first_slab(self, n: int, progress: Progress) -> int:
        """Rows learned before the first chance to report; all n where a call is one step."""
        return _SLAB_ROWS_WATCHED if progress.watching else _SLAB_ROWS

    def _warn_if_capped(self) -> None:
        """Say so when the solver stopped short; the model is valid, only less exact."""
        if getattr(self._core, "capped", False):
            warnings.warn(
                f"{type(self).__name__} stopped before it reached tol={self.tol:g}; "
                "scale the features, lower C, or raise tol",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _check_tol(self, changes: float = np.inf, tol: float | None = None) -> None:
        """Warn if some conditions, computed in double, are violated by more than ``tol``.

        A check costs 64 predictions in double. So it comes when there were a quarter more changes
        than at the last one, or 65,536 more; without a number, now.
        """
        self._unchecked += min(changes, _CHECK_ROWS_MOST)
        if self._core.capped or self._unchecked < min(self._checked / 4, _CHECK_ROWS_MOST):
            return
        self._checked, self._unchecked = self._checked + self._unchecked, 0
        residual, tol = self._core.spot_check(), self.tol if tol is None else tol
        if not residual <= tol:
            finer = "use dtype='float64', " if self.dtype == "float32" else ""
            warnings.warn(
                f"{type(self).__name__} violates its optimality conditions by {residual:.2g}, more "
                f"than tol={tol:g}; {finer}scale the features, lower C, or raise tol",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _learn_slab(
        self,
        rows: Rows,
        y: NDArray[np.float64],
        w: NDArray[np.float64],
        ids: NDArray[np.int64],
    ) -> None:
        counted = np.flatnonzero(w > 0)
        if len(counted) < len(w):
            rows, y, w, ids = rows.picked(counted), y[counted], w[counted], ids[counted]
        if len(rows):
            rows.learn(self._core, y, w, ids)

    def _take(self, ids: NDArray[np.int64]) -> None:
        """Count examples in that bear these ids."""
        seen = self._next_id - self._id_gap + len(ids)
        self._next_id = max(self._next_id, int(ids.max()) + 1)
        self._id_gap = self._next_id - seen

    def _meet(self, batch: Batch, row: int, *, told: bool) -> None:
        """Make room for the labels that come up to this row; ``told``: show them to the world."""

    # --- gamma by word ------------------------------------------------------------------------

    def _settles_gamma(self, settings: Mapping[str, Any]) -> bool:
        """Whether a word stands for gamma, and the kernel uses it."""
        kernel = settings.get("kernel", {}).get("name")
        return isinstance(getattr(self, "gamma", None), str) and kernel in kernels.WITH_GAMMA

    def _spread_of(self, batch: Batch) -> Spread:
        rows = batch.rows if batch.weights is None else batch.rows.picked(batch.counting())
        return Spread.of(rows, named=batch.columns.newcomers is not None)

    def _warm_up(self, batch: Batch, held: Held) -> Batch:
        """Hold the first examples of a stream; at the 1st, 2nd, 4th, ... learn all so far afresh.

        Gamma is taken from the examples so far each time, so the model is always ready, and how
        the stream is cut does not matter. Returns what is left to learn as usual.
        """
        counting = batch.counting()
        look = held.next_look(len(counting))
        if not look:
            return batch
        counting, last = counting[:look], int(counting[look - 1])
        ids = self._next_id + np.arange(last + 1) if batch.ids is None else batch.ids[: last + 1]
        held = self._holding(held, batch, counting, ids[counting])
        done = held.arrived == WARM_UP
        core, settings = self._learned_afresh(held, self._classes_at(batch, last), done=done)
        self._core_settings, self._held = settings, None if done else held
        self._install(core)
        self._take(ids)
        self._meet(batch, last, told=True)
        return batch.after(last + 1)

    def _holding(
        self, held: Held, batch: Batch, numbers: NDArray[np.intp], ids: NDArray[np.int64]
    ) -> Held:
        """Hold these rows of the batch, too."""
        classes = [self._classes_at(batch, int(i)) for i in numbers]
        weights = _ones(len(batch.rows)) if batch.weights is None else batch.weights
        return held.and_then(
            batch.rows.picked(numbers).stored(self._sparsely),
            batch.targets[numbers],
            weights[numbers],
            ids,
            np.array(classes, dtype=np.int64),
        )

    def _classes_at(self, batch: Batch, row: int) -> int:
        """How many classes are known when a row of the batch comes; 0 where there are none."""
        return 0

    def _learned_afresh(
        self, held: Held, classes: int, *, done: bool
    ) -> tuple[Any, dict[str, Any]]:
        """A core that learned the held examples with the gamma they give, and its settings."""
        told = self._settings_with({})
        gamma = self._core_settings["kernel"]["gamma"]
        if len(held):
            rows = held.rows()
            gamma = Spread.of(rows, named=self._vocabulary is not None).gamma(self.gamma)
        told["kernel"]["gamma"] = gamma
        # Learning again may ask other labels than before: until gamma is settled, all are used.
        asking = {**told, **{name: all_ for name, all_ in ASK_ALL.items() if name in told}}
        core = getattr(_core, self._core_name)(asking)
        core.threads = threads(getattr(self, "n_jobs", None))
        for start, stop in runs(held.classes) if len(held) else ():
            self._grow(core, int(held.classes[start]))
            part = slice(start, stop)
            ids, y, w = held.ids[part], held.targets[part], held.weights[part]
            rows.part(start, stop).learn(core, y, w, ids)
        self._grow(core, classes)
        if not done:
            return core, asking
        return (core if asking == told else revive(self._core_name, told, core.state())), told

    def _grow(self, core: Any, classes: int) -> None:
        """Let a core know how many classes there are."""

    def _watch(self, more: Spread) -> None:
        """Say once when the rows so far are far from those that settled gamma."""
        assert self._spread is not None
        self._spread = self._spread.and_then(more)
        if self._far or self._held is not None or self._spread.rows < WARM_UP:
            return
        now = self._spread.gamma(self.gamma)
        if not 1 / FAR < now / self.gamma_ < FAR:
            self._far = True
            warnings.warn(
                f"gamma={self.gamma!r} was settled at {self.gamma_:.3g} by the first rows, but the "
                f"rows so far would give {now:.3g}; scale the features, or set gamma to a number",
                UserWarning,
                stacklevel=4,
            )

    @property
    def gamma_(self) -> float:
        """The value of ``gamma`` in use."""
        self._fitted_core("gamma_")
        kernel = self._core_settings.get("kernel", {})
        if kernel.get("name") not in kernels.WITH_GAMMA:
            raise AttributeError(f"{type(self).__name__} has no gamma_: its kernel does not use it")
        return float(kernel["gamma"])

    def _tally(self, rows: Rows, targets: NDArray[np.float64]) -> float:
        """How well the rows are predicted now, summed over them; for the progress bar."""
        raise NotImplementedError

    def _progress(self, total: int) -> Progress:
        if not getattr(self, "verbose", False):
            return Silence()
        return LiveBar(type(self).__name__, total, self._measure)

    # --- scoring ------------------------------------------------------------------------------

    def _scores(self, X: Any) -> NDArray[np.float64]:
        """Scores of shape (n, outputs); changes nothing."""
        check_is_fitted(self)
        rows, _ = self._read_rows(X, fresh=False, learning=False)
        self._use_threads()
        return self._by_output(rows.score(self._core))

    def _by_output(self, values: NDArray[Any], axis: int = -1) -> NDArray[Any]:
        """What the core gives for each output, as the world is to see it."""
        return values

    def _row_of(self, x: dict[Any, Any]) -> NDArray[np.float64]:
        """A record as a row of a model whose columns have names; an absent name is 0."""
        return np.array([x.get(name, 0.0) for name in self._names], dtype=np.float64)

    def _use_threads(self) -> None:
        """As many as ``n_jobs`` says, where a class has it; the results are the same bits."""
        if hasattr(self, "n_jobs"):
            self._core.threads = threads(self.n_jobs)

    def _scores_one(self, x: Any) -> tuple[float, ...]:
        """The core's scores of one example, by as short a way as its type allows."""
        try:
            if type(x) is np.ndarray and len(x) == self._short_width:
                return self._core.score_one(x)  # type: ignore[no-any-return]
            if type(x) is dict and self._vocabulary is not None:
                return self._core.score_one_dict(x, self._vocabulary.columns)  # type: ignore[no-any-return]
            if type(x) is dict and x.keys() <= self._names.keys():
                return self._core.score_one(self._row_of(x))  # type: ignore[no-any-return]
        except (TypeError, ValueError):  # the long way converts it or says what is wrong
            pass
        rows, _ = self._read_rows(one_row(x), fresh=False, learning=False)
        return tuple(rows.score(self._core)[0].tolist())

    # --- what the core offers -----------------------------------------------------------------

    @overload
    def unlearn(self, ids: ArrayLike, *, certificate: Literal[False] = False) -> Self: ...
    @overload
    def unlearn(self, ids: ArrayLike, *, certificate: Literal[True]) -> Certificate: ...
    def unlearn(self, ids: ArrayLike, *, certificate: bool = False) -> Self | Certificate:
        """Forget examples, as if they had never been learned.

        The exact, dual and core vector machines go to the solution without them. NORMA drops their
        own terms; what later examples did because of them stays.

        Parameters
        ----------
        ids : int or array of int
            The ids given to ``partial_fit``, or the numbers 0, 1, 2, ... in order of arrival.
            An example the model no longer holds has no influence left: its id is passed over,
            so a request may safely be repeated.
        certificate : bool, default=False
            Return evidence instead of the model: a :class:`Certificate`, which
            :func:`onlinesvm.verify` checks. It costs as much as predicting every example held.

        Returns
        -------
        self, or with ``certificate=True`` a Certificate
        """
        self._verb("unlearn")
        self._ready()
        wanted = self._read_gone(ids)
        if not certificate:
            self._forget(wanted)
            return self
        if self._statement is None:
            able = [c.__name__ for c in concrete(OnlineEstimator) if c._statement is not None]
            raise NotImplementedError(
                f"{type(self).__name__} has no certificate: it does not keep all examples that "
                f"its solution depends on; {', '.join(able)} can."
            )
        gone = [i for i in wanted.tolist() if self._core.holds(np.array([i]))]
        before = Evidence.of(self).solution_hash()
        self._forget(wanted)
        return issue(self, self._statement, gone, before)

    def _read_gone(self, ids: ArrayLike) -> NDArray[np.int64]:
        """The ids to unlearn, each once."""
        wanted = np.atleast_1d(np.asarray(ids))
        if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
            raise ValueError("ids must be an integer or a one-dimensional array of integers")
        for odd in wanted[(wanted < 0) | (wanted >= self._next_id)]:
            raise ValueError(
                f"ids has {odd}, which no example bears; those learned so far have ids "
                f"from 0 to {self._next_id - 1}"
            )
        return np.unique(wanted.astype(np.int64))

    def _forget(self, ids: NDArray[np.int64]) -> None:
        self._core.unlearn(ids)
        if self._held is not None:
            self._held = self._held.without(ids)
        if "unlearn" in self._optimal_after:
            self._check_tol(len(ids))

    def kkt_residual(self) -> float:
        """How far the solution is from optimal: the largest violation of the KKT conditions.

        Over all examples the model holds, in double whatever ``dtype`` is: kernel values anew
        from the stored examples, times the stored coefficients. Costs as much as predicting them.
        """
        return float(self._verb("kkt_residual")())

    def objective(self) -> float:
        """The value of the problem the method solves, at the current solution; in double."""
        return float(self._verb("objective")())

    @classmethod
    def can(cls, verb: str) -> bool:
        """Whether this class offers ``"unlearn"``, ``"kkt_residual"`` or ``"objective"``."""
        return hasattr(getattr(_core, f"{cls._stem}64", None), verb)

    def _verb(self, name: str) -> Any:
        """The core's method of that name; where there is none, say which class has it."""
        if not self.can(name):
            able = ", ".join(c.__name__ for c in concrete(OnlineEstimator) if c.can(name))
            raise NotImplementedError(
                f"{type(self).__name__} has no {name}(): it keeps a summary of the stream, not "
                f"the problem it solved; {able or 'no class of this version'} can."
            )
        check_is_fitted(self)
        return getattr(self._core, name)

    # --- what it knows ------------------------------------------------------------------------

    @property
    def n_seen_(self) -> int:
        """Examples that arrived, those of weight 0 included; unlearning does not lower it."""
        self._fitted_core("n_seen_")
        return self._next_id - self._id_gap

    @property
    def nbytes_(self) -> int:
        """Bytes held by the core, and by examples that wait for gamma to be settled."""
        held = 0 if self._held is None else self._held.nbytes
        return int(self._fitted_core("nbytes_").nbytes) + held

    @property
    def support_(self) -> NDArray[np.int64]:
        """Ids of the support vectors."""
        return np.asarray(self._support("support_")["ids"])

    @property
    def support_vectors_(self) -> Any:
        """The support vectors, one per row; sparse when the model learned from sparse rows."""
        support = self._support("support_vectors_")
        if "vectors" in support:
            return np.asarray(support["vectors"])
        parts = (support["data"], support["indices"], support["indptr"])
        return sp.csr_array(parts, shape=(len(support["ids"]), support["width"]))

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """Signed coefficients of the support vectors, one row per output."""
        return self._by_output(np.asarray(self._support("dual_coef_")["coef"]), axis=0)

    @property
    def labels_used_(self) -> int:
        """Labels the model has asked for so far."""
        return int(self._offered("labels_used", "labels_used_", "it asks for every label"))

    def _support(self, attribute: str) -> dict[str, Any]:
        support: dict[str, Any] = self._offered("support", attribute, "it keeps no examples")()
        return support

    def _offered(self, name: str, attribute: str, reason: str) -> Any:
        core = self._fitted_core(attribute)
        if not hasattr(core, name):
            raise AttributeError(f"{type(self).__name__} has no {attribute}: {reason}")
        return getattr(core, name)

    def _fitted_core(self, attribute: str) -> Any:
        if not self.__sklearn_is_fitted__():
            raise AttributeError(
                f"{type(self).__name__} has no {attribute} yet; call fit or partial_fit first"
            )
        return self._core

    def __sklearn_is_fitted__(self) -> bool:
        return "_core" in self.__dict__

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        kernel = getattr(self, "kernel", "linear")
        tags.input_tags.sparse = not callable(kernel)
        tags.input_tags.positive_only = kernel == "chi2"
        return tags

    # --- persistence --------------------------------------------------------------------------

    def _install(self, core: Any) -> None:
        self._core = core
        self._open_short_way()

    def _open_short_way(self) -> None:
        self._short = not self._altered and self._learns_at_once()

    def _learns_at_once(self) -> bool:
        """Whether one example is one call of the core that checks all there is to check."""
        chi2 = self._core_settings.get("kernel", {}).get("name") == "chi2"
        return self._held is None and not chi2

    # --- parameters ---------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name[0] != "_" and name[-1] != "_" and "_core" in self.__dict__:
            self._altered = True
            self._open_short_way()

    def _ready(self) -> None:
        """Take up parameters that were set since the model was begun, or say which cannot be."""
        if not self._altered:
            return
        now, changed = self.get_params(deep=False), self._changed()
        fixed = [name for name in changed if not self._can_change(name, now[name])]
        if fixed:
            name = fixed[0]
            raise ValueError(
                f"{name}={now[name]!r} differs from {name}={self._begun.get(name)!r}, with which "
                f"this {type(self).__name__} was begun; set it back, or fit again from the start"
            )
        if "cache_bytes" in changed:
            self._core_settings = {**self._core_settings, "cache_bytes": self.cache_bytes}
            self._core = revive(self._core_name, self._core_settings, self._core.state())
        if "C" in changed:
            self._move_C(now["C"])
        self._begun, self._altered = now, False
        self._open_short_way()

    def _changed(self) -> list[str]:
        """The parameters that are not what they were when the model was begun."""
        if not self._altered:
            return []
        now = self.get_params(deep=False)
        return [name for name in now if not _same(now[name], self._begun.get(name))]

    def _can_change(self, name: str, value: Any) -> bool:
        """Whether the model in hand can go on with another value of this parameter."""
        if name in ("dtype", "classes", "class_weight"):
            return False
        if name == "cache_bytes":
            return True
        if name == "C" and self.can("set_C"):
            return True
        return self._settings_with({}) == self._settings_with({name: value})

    def _move_C(self, C: Any) -> None:
        """Go to the solution for another ``C``, where the core has ``set_C``."""
        value = number("C", C, above=0)
        self._core.set_C(value)
        self._core_settings = {**self._core_settings, "C": value}
        self._begun = {**self._begun, "C": C}
        self.C = C
        self._warn_if_capped()

    def _settings_with(self, other: Mapping[str, Any]) -> dict[str, Any]:
        """What the core would be told by the parameters it was begun with, or others."""
        twin = object.__new__(type(self))
        twin.__dict__.update({**self._begun, **other})
        return twin._core_params(self.n_features_in_)

    def _facts(self) -> dict[str, Any]:
        return {
            "n_features_in": self.n_features_in_,
            "feature_names": getattr(self, "feature_names_in_", None),
            "vocabulary": None if self._vocabulary is None else self._vocabulary.names(),
            "sparsely": self._sparsely,
            "next_id": self._next_id,
            "id_gap": self._id_gap,
            "begun": dict(self._begun) if self._changed() else None,
            "held": None if self._held is None else self._held.to_facts(),
        }

    def _recall(self, facts: dict[str, Any]) -> None:
        self.n_features_in_ = count("n_features_in", facts["n_features_in"])
        names, vocabulary = facts["feature_names"], facts["vocabulary"]
        if names is not None:
            if np.shape(names) != (self.n_features_in_,) or vocabulary is not None:
                raise ValueError("its feature names do not fit its features")
            self.feature_names_in_ = np.asarray(names)
            self._names = dict.fromkeys(self.feature_names_in_.tolist())
        self._sparsely = flag("sparsely", facts["sparsely"])
        if vocabulary is not None:
            self._vocabulary = Vocabulary(vocabulary)
            if len(vocabulary) != len(self._vocabulary) or not self._sparsely:
                raise ValueError("its vocabulary has a name twice, or no sparse rows")
            if len(vocabulary) != self.n_features_in_:
                raise ValueError("its vocabulary does not fit its features")
        self._short_width = -1 if self._sparsely else self.n_features_in_
        self._next_id = count("next_id", facts["next_id"])
        self._id_gap = count("id_gap", facts["id_gap"])
        if self._id_gap > self._next_id or self._next_id > MAX_ID + 1:
            raise ValueError("its ids are out of range")
        self._begun = facts["begun"] or self.get_params(deep=False)
        self._altered = facts["begun"] is not None
        if self._settles_gamma(self._core_settings):
            self._spread = Spread()
        if facts["held"] is not None:
            by_word = isinstance(self._begun.get("gamma"), str)
            if not by_word or self._core_settings["kernel"]["name"] not in kernels.WITH_GAMMA:
                raise ValueError("it holds examples that settle a gamma which is a number")
            width, sparsely = self.n_features_in_, self._sparsely
            self._held = Held.from_facts(facts["held"], width, sparsely=sparsely)
        self._open_short_way()

    def _outputs(self) -> int:
        """How many scores the core has to have."""
        return 1

    def _demand_fits(self, state: Mapping[str, NDArray[Any]]) -> None:
        width = state["width"].tolist()
        # Examples of weight 0 are counted but never reach the core.
        least = 0 if self._sparsely or not width else self.n_features_in_
        if not least <= width <= self.n_features_in_:
            raise ValueError("its examples are not as wide as its features are many")
        if self._held is not None:
            self._demand_known(self._held)
        held = {} if self._held is None else {"ids": self._held.ids}
        for name, ids in (*state.items(), *held.items()):
            if name.rpartition(".")[2] in ("id", "ids") and ids.max(initial=-1) >= self._next_id:
                raise ValueError("an example has an id that was never given")

    def _demand_known(self, held: Held) -> None:
        """A ValueError if the first examples are of classes that the model does not know."""
        if held.classes.any():
            raise ValueError("its first examples have classes")


def concrete(root: type[OnlineEstimator]) -> Iterator[type[OnlineEstimator]]:
    """Every finished class below ``root``: those that name a core."""
    for cls in root.__subclasses__():
        if "_stem" in cls.__dict__:
            yield cls
        yield from concrete(cls)


def _same(one: Any, other: Any) -> bool:
    try:
        return one is other or bool(one == other)
    except ValueError:  # arrays
        return bool(np.array_equal(one, other))


def _ones(n: int) -> NDArray[np.float64]:
    return _ONES[:n] if n <= len(_ONES) else np.ones(n)


def _slabs(n: int, cuts: Sequence[int], first: int, watching: bool) -> Iterator[tuple[int, int]]:
    """Consecutive (start, stop) over n rows that begin anew at every cut.

    They grow from ``first`` rows while they take less than 0.1 s and, where somebody watches, are
    a small part of what has passed.
    """
    size, start = first, 0
    for end in (*cuts, n):
        while start < end:
            stop = min(end, start + size)
            began = time.perf_counter()
            yield start, stop
            if stop - start == size and time.perf_counter() - began < _SLAB_SECONDS / 2:
                size = min(2 * size, max(first, stop // 8 if watching else stop), _SLAB_ROWS_MOST)
            start = stop
