"""The learn loop, which all algorithms share: a batch in row order, slab by slab."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core import Core, Floats, create
from ..data.arguments import threads
from ..data.batch import Batch
from ..data.rows import Columns, Rows, SparseRows, as_rows
from ..data.validation import core_looks_first
from ..data.vocabulary import Vocabulary
from ..unlearn.settled import IdRuns
from ..unlearn.unlearning import note_keys, strike_out
from .gamma import holding, settles_gamma, spread_of, warm_up
from .progress import Progress
from .state import State

# A slab is what is learned between two chances to report or to let a signal in. It is short
# enough for its small arrays to be allocated without asking the system for pages.
_SLAB_ROWS = 1024
SLAB_ROWS_WATCHED = 16  # rows are tested before their slab is learned: the first must be short
_SLAB_ROWS_MOST = 16384
# Every slab remembers the weights it found, to be taken back to: so many of them cost as much as
# learning a row.
_WEIGHTS_PER_ROW = 4
_SLAB_ROWS_OF_WEIGHTS_MOST = 1 << 18
_SLAB_SECONDS = 0.1
_ONES = np.ones(_SLAB_ROWS_MOST)
_ONES.flags.writeable = False
# Weights and targets beyond which a call is followed by a look at some scores; at how many, and how
# large they may be.
_FAR = 1e12
_ASKED, _LARGEST_SCORE = 32, 1e150


# --- beginnings -----------------------------------------------------------------------------------


def begun(model: Any, batch: Batch) -> State:
    """The state of a model that stands ready for the first example of ``batch``."""
    settings = model._core_params(batch.columns.at_start)
    if settings.get("budget_bytes") and batch.columns.newcomers is not None:
        raise ValueError(
            "budget in bytes cannot hold the names of dicts, which may never end; hash them "
            "(OnlineHashing), pass arrays, or give a number of examples"
        )
    spread = spread_of(batch) if settles_gamma(model, settings) else None
    if spread is not None:
        settings["kernel"]["gamma"] = spread.gamma(model.gamma)
    name = model._stem_for(batch) + model.dtype.removeprefix("float")
    core, ids = create(name, settings), batch.ids
    by = IdRuns.first(len(batch.rows)) if ids is None else IdRuns.of(ids)
    return with_columns(
        State(
            core,
            name,
            settings,
            model.get_params(deep=False),
            sparsely=isinstance(batch.rows, SparseRows),
            spread=spread,
            settled_by=by,
        ),
        batch.columns,
    )


def with_columns(state: State, columns: Columns) -> State:
    """The state once these columns are known."""
    if columns.newcomers is None:
        return state.but(columns=Columns(columns.count, columns.count, columns.names))
    vocabulary = Vocabulary() if state.vocabulary is None else state.vocabulary
    vocabulary.extend(columns.newcomers)
    vocabulary.warn_if_endless()
    return state if vocabulary is state.vocabulary else state.but(vocabulary=vocabulary)


# --- learning -------------------------------------------------------------------------------------


def learn(model: Any, batch: Batch) -> None:
    """Learn a batch in row order; a signal between two slabs does no harm."""
    held = model._state.held
    waits = (
        model._collects_one or len(batch.targets) > 1 or bool(batch.arrivals) or held is not None
    )
    if held is not None:
        batch = warm_up(model, batch, held)
    n = len(batch.targets)
    core: Core = model._state.core
    core.threads = 1 if model.n_jobs is None else threads(model.n_jobs)
    if n <= SLAB_ROWS_WATCHED and not batch.arrivals and not model.verbose:
        if n:
            model._learn_part(batch, 0, n, _SILENT)
    else:
        _in_slabs(model, batch)
    if waits and model._solves_calls:
        model._solve()  # until then the core has only taken the rows in
    model._end_call("learn", n)


_SILENT = Progress()


def _in_slabs(model: Any, batch: Batch) -> None:
    n, start = len(batch.targets), 0
    progress = model._progress(n) if model.verbose else nullcontext(_SILENT)
    try:
        with progress as progress:
            first = model._first_slab(n, progress)
            for start, stop in _slabs(n, batch.arrivals, first, progress.watching):
                model._admit_labels(batch, start, publish=progress.watching)
                model._learn_part(batch, start, stop, progress)
    finally:
        model._admit_labels(batch, start, publish=True)


def learn_part(model: Any, batch: Batch, start: int, stop: int, progress: Progress) -> None:
    """Learn some rows of a batch, as one verb of the core."""
    rows, register = batch.rows, model._register
    if stop - start < len(batch.targets):
        rows = rows.part(start, stop)
    y = np.ascontiguousarray(batch.targets[start:stop], dtype=np.float64)
    w = None if batch.weights is None else batch.weights[start:stop]
    ids = model._ids_of(batch, start, stop)
    tally = model._tally(rows, y) if progress.watching else 0.0  # before it learns
    before = model._state
    core, numbers, changes = before.core, (register.next, register.gap), before.core.changes
    noted = 0 if before.keys is None else before.keys.mark()
    try:  # noted before they are learned: Ctrl-C must not give a number twice
        if before.held is not None:
            counted = np.flatnonzero(np.ones(len(y)) if w is None else w > 0)
            model._held = holding(model, before.held, batch, start + counted, ids[counted])
        model._count_in(ids, None if batch.keys is None else batch.keys_of(start, stop))
        model._learn_slab(rows, y, w, ids)
    except BaseException:
        if core.changes == changes:  # they were not learned
            register.next, register.gap = numbers
            model._held = before.held
            if model._keys is not None:
                model._keys.back_to(noted)
        raise
    keys = model._state.keys
    if keys is not None and keys.is_due:
        strike_out(model)
    if batch.counts_classes:
        model._count_classes(batch, start, stop)
    if progress.watching:
        progress.advance(stop - start, tally, getattr(model, "support_", None))


def learn_slab(model: Any, rows: Rows, y: Floats, w: Floats | None, ids: NDArray[np.int64]) -> None:
    """Learn those of the rows that count."""
    if w is None:
        w = _ONES[: len(y)] if len(y) <= len(_ONES) else np.ones(len(y))
    elif not (counts := w > 0).all():
        if core_looks_first(model):
            model._demand_numbers(rows)  # also of those that do not count
        counted = np.flatnonzero(counts)
        rows, y, w, ids = rows.picked(counted), y[counted], w[counted], ids[counted]
    if len(y):
        rows.learn(model._state.core, y, w, ids)


def count_in(model: Any, ids: NDArray[np.int64], keys: Any = None) -> None:
    """Count examples in that bear these ids, and note their keys."""
    if keys is not None:
        note_keys(model, ids, keys)
    register = model._register
    seen = register.next - register.gap + len(ids)
    register.next = max(register.next, int(ids.max()) + 1)
    register.gap = register.next - seen


def slab_rows(model: Any) -> int:
    """Rows of the first slab where nobody watches: more for weights of many features.

    The core lets signals and readers in by itself, so a slab of short steps may be long.
    """
    if not model._learns_weights():
        return _SLAB_ROWS
    state = model.__dict__.get("_state")
    rows = 0 if state is None else state.n_features // _WEIGHTS_PER_ROW
    return max(_SLAB_ROWS, min(rows, _SLAB_ROWS_OF_WEIGHTS_MOST))


def _slabs(n: int, cuts: Sequence[int], first: int, watching: bool) -> Iterator[tuple[int, int]]:
    """Consecutive (start, stop) over n rows that begin anew at every cut.

    They grow from ``first`` rows while they take less than 0.1 s and, where progress is shown,
    are a small part of what has passed.
    """
    size, start, most = first, 0, max(first, _SLAB_ROWS_MOST)
    for end in (*cuts, n):
        while start < end:
            stop = min(end, start + size)
            began = time.perf_counter()
            yield start, stop
            if stop - start == size and time.perf_counter() - began < _SLAB_SECONDS / 2:
                size = min(2 * size, max(first, stop // 8 if watching else stop), most)
            start = stop


# --- numbers that remain numbers ------------------------------------------------------------------


def demand_scores(model: Any, batch: Batch) -> None:
    """A ValueError if rows far beyond all others have left a model without finite scores."""
    if model._is_pairwise():
        return
    asked = [batch.rows.picked(_spread_out(len(batch.rows)))]
    keeps_rows = hasattr(model._core, "support") and not model._learns_weights()
    if keeps_rows and len(model._core.support()["ids"]):
        vectors = model.support_vectors_
        asked.append(as_rows(vectors[_spread_out(vectors.shape[0])]))
    for rows in asked:
        try:
            fine = np.abs(rows.score(model._core)).max(initial=0.0) < _LARGEST_SCORE
        except ValueError:  # one is no number
            fine = False
        if not fine:
            raise ValueError(
                "X, y, sample_weight: after these rows scores would be too large for numbers; "
                "scale the features and the weights"
            )


def goes_far(model: Any, batch: Batch) -> bool:
    """Whether weights, targets or values are so large that sums of products may overflow."""
    y, weights, far = batch.targets, batch.weights, model._far.get(model.dtype, np.inf)
    if weights is not None and weights.max(initial=0.0) > _FAR:
        return True
    if y.dtype.kind == "f" and np.abs(y).max(initial=0.0) > _FAR:  # numbers of classes are small
        return True
    return bool(far < np.inf and batch.rows.reach_beyond(far))


def _spread_out(n: int) -> NDArray[np.int64]:
    """A few of n places, the last among them."""
    return np.unique(np.linspace(0, n - 1, _ASKED).astype(np.int64))
