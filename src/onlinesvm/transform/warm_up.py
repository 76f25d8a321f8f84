"""What columns are like, taken from the first rows of a stream, from all of them or the latest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..data.batch import Batch
from ..data.rows import DenseRows, Rows, SparseRows
from ..model.numpy_core import NumpyCore
from ..model.parameters import Parameters, count, group, inherit, word
from ..model.transformer import Kind, OnlineTransformer
from .moments import Floats, Moments, quantiles

#: Rows that are summed up together, so that how a stream is cut changes no bit.
BLOCK = 256
#: The largest magnitude of a value: its square, summed over many rows, is a number still.
MOST = 1e145
#: Columns at most: some numbers are kept for each, whether rows have a value there or not.
MOST_COLUMNS = 10_000_000
_ROW_PARTS = ("values", "data", "indices", "indptr")


def _none() -> Floats:
    return np.empty(0)


@dataclass(frozen=True)
class ColumnFacts:
    """What is known of the columns: settled for good, or blocks summed up and rows that wait."""

    settled: bool = False
    centre: Floats = field(default_factory=_none)  # once settled, and the next
    scale: Floats = field(default_factory=_none)
    past: Moments = field(default_factory=Moments)  # of the blocks that are full
    past_weight: float = 0.0
    recent: Rows | None = None  # rows after those
    weights: Floats = field(default_factory=_none)  # of these
    arrived: int = 0  # rows taken so far

    def with_rows(self, rows: Rows, w: Floats) -> ColumnFacts:
        kept = rows.kept()
        recent = kept if self.recent is None else self.recent.joined([kept])
        weights = np.append(self.weights, w)
        return replace(self, recent=recent, weights=weights, arrived=self.arrived + len(rows))

    def latest(self, n: int) -> ColumnFacts:
        """Without all but the latest n rows."""
        if self.recent is None or len(self.recent) <= n:
            return self
        first = len(self.recent) - n
        recent = self.recent.part(first, len(self.recent))
        return replace(self, recent=recent, weights=self.weights[first:])

    def summed_up(self) -> ColumnFacts:
        """Full blocks of rows summed up, the others left as they are."""
        if self.recent is None or len(self.recent) < BLOCK:
            return self
        past, weight, done = self.past, self.past_weight, 0
        while len(self.recent) - done >= BLOCK:
            past, weight = self._and_then(past, weight, done, done + BLOCK)
            done += BLOCK
        recent = self.recent.part(done, len(self.recent))
        return replace(
            self,
            past=past,
            past_weight=weight,
            recent=recent if len(recent) else None,
            weights=self.weights[done:],
        )

    def _and_then(
        self, past: Moments, weight: float, start: int, stop: int
    ) -> tuple[Moments, float]:
        assert self.recent is not None
        w = self.weights[start:stop]
        more = Moments.of(self.recent.part(start, stop), w)
        width = max(len(more.mean), len(past.mean))
        more = more.widened(width, float(w.sum()))
        if not weight:
            return more, float(w.sum())
        return past.widened(width, weight).and_then(more), weight + float(w.sum())

    @cached_property
    def moments(self) -> Moments:
        """Of all rows that count."""
        if self.recent is None:
            return self.past
        return self._and_then(self.past, self.past_weight, 0, len(self.recent))[0]

    @cached_property
    def quartiles(self) -> NDArray[np.float64]:
        if self.recent is None:
            return np.zeros((3, 0))
        return quantiles(self.recent, self.weights, (0.25, 0.5, 0.75))

    @property
    def width(self) -> int:
        recent = 0 if self.recent is None else self.recent.columns()
        return max(recent, len(self.past.mean), len(self.centre))


class ColumnCore(NumpyCore):
    """Keeps :class:`ColumnFacts` by the words ``statistic`` and ``after``."""

    known: ColumnFacts

    def _nothing(self) -> ColumnFacts:
        return ColumnFacts()

    def _learned(self, rows: Rows, weights: Floats) -> ColumnFacts:
        if rows.columns() > MOST_COLUMNS:
            raise ValueError(
                f"X has {rows.columns():,} columns, more than {MOST_COLUMNS:,}; hash them first"
            )
        known, most = self.known, self.settings["warm_up"]
        if (weights != 1).any():  # sums must not turn out too large when somebody looks
            self._measured(ColumnFacts().with_rows(rows, weights))
        match self.settings["after"]:
            case "freeze":
                if known.settled:
                    return known
                take = min(len(rows), most - known.arrived)
                known = self._with(known, rows.part(0, take), weights[:take])
                return self._settled(known) if known.arrived == most else known
            case "forget":
                return known.with_rows(rows, weights).latest(most)
        return self._with(known, rows, weights)

    def _with(self, known: ColumnFacts, rows: Rows, weights: Floats) -> ColumnFacts:
        known = known.with_rows(rows, weights)
        return known.summed_up() if self.settings["statistic"] == "moments" else known

    def _settled(self, known: ColumnFacts) -> ColumnFacts:
        centre, scale = self._measured(known)
        return ColumnFacts(True, centre, scale, arrived=known.arrived)

    def fit_rows(self, rows: Rows, weights: Floats) -> None:
        """Learn all rows there are, and settle where that is the word."""
        if self.settings["after"] != "freeze":
            self._take(rows, weights)
            return
        known = self._with(self.known, rows, weights)
        self.known, self.changes = self._settled(known), self.changes + 1

    def finish(self) -> None:
        """Settle now, with the rows so far."""
        if self.settings["after"] == "freeze" and not self.known.settled:
            self.known, self.changes = self._settled(self.known), self.changes + 1

    def columns(self, width: int) -> tuple[Floats, Floats]:
        """Centre and scale of so many columns; one that never came has 0 and 1."""
        known = self.known
        centre, scale = (known.centre, known.scale) if known.settled else self._measured(known)
        if width == len(centre):
            return centre, scale
        more = max(0, width - len(centre))
        return np.append(centre, np.zeros(more))[:width], np.append(scale, np.ones(more))[:width]

    def _measured(self, known: ColumnFacts) -> tuple[Floats, Floats]:
        """Centre and scale of the columns by the rows that count; a scale of 0 is 1."""
        if self.settings["statistic"] == "moments":
            centre, scale = known.moments.mean, known.moments.deviation()
        else:
            low, centre, high = known.quartiles
            scale = high - low
        return centre, np.where(scale > 0, scale, 1.0)

    # --- persistence --------------------------------------------------------------------------

    def _state(self) -> dict[str, Any]:
        known = self.known
        rows = {} if known.recent is None else known.recent.to_facts()
        return {
            "width": known.width,
            "settled": np.asarray(int(known.settled)),
            "arrived": known.arrived,
            "centre": known.centre,
            "scale": known.scale,
            "past_weight": known.past_weight,
            "past_weights": known.past.weight,
            "past_mean": known.past.mean,
            "past_squares": known.past.squares,
            "weights": known.weights,
            "values": rows.get("values", np.empty((0, 0))),
            "data": rows.get("data", np.empty(0)),
            "indices": rows.get("indices", np.empty(0, np.int32)),
            "indptr": rows.get("indptr", np.empty(0, np.int64)),
        }

    def _from_state(self, state: Mapping[str, NDArray[Any]], width: int) -> ColumnFacts:
        if width > MOST_COLUMNS:
            raise ValueError("its state has more columns than can be")
        settled, arrived = int(state["settled"]), int(state["arrived"])
        centre, scale = (np.array(state[name]) for name in ("centre", "scale"))
        past = Moments(
            *(np.array(state[f"past_{name}"]) for name in ("weights", "mean", "squares"))
        )
        weights, past_weight = np.array(state["weights"]), float(state["past_weight"])
        recent = self._rows_from(state, width)
        every = (centre, scale, past.weight, past.mean, past.squares, weights)
        if not all(np.isfinite(array).all() for array in every) or not np.isfinite(past_weight):
            raise ValueError("its state has numbers that are not finite")
        signs = (scale <= 0).any(), (past.weight < 0).any(), (past.squares < 0).any()
        if any(signs) or (weights <= 0).any() or past_weight < 0 or arrived < 0:
            raise ValueError("its state has a number of the wrong sign")
        shapes = {len(past.weight), len(past.mean), len(past.squares)}
        if len(shapes) > 1 or len(centre) != len(scale) or len(weights) != _count(recent):
            raise ValueError("its state has arrays that do not fit together")
        known = ColumnFacts(
            bool(settled), centre, scale, past, past_weight, recent, weights, arrived
        )
        self._demand_possible(known, settled, width)
        return known

    def _rows_from(self, state: Mapping[str, NDArray[Any]], width: int) -> Rows | None:
        dense = state["values"].size
        sparse = any(state[name].size for name in ("data", "indices", "indptr"))
        if dense and sparse:
            raise ValueError("its state has rows of two kinds")
        if not dense and not sparse:
            if state["values"].shape != (0, 0):
                raise ValueError("its state has rows of no kind")
            return None
        kind = DenseRows if dense else SparseRows
        rows: Rows = kind.from_facts({name: np.array(state[name]) for name in _ROW_PARTS}, width)
        if not len(rows) or np.isinf(rows.values()).any():
            raise ValueError("its state has numbers that are not finite")
        return rows

    def _demand_possible(self, known: ColumnFacts, settled: int, width: int) -> None:
        """A ValueError unless learning could have led here."""
        after, most, n = self.settings["after"], self.settings["warm_up"], _count(known.recent)
        by_blocks = self.settings["statistic"] == "moments" and after != "forget"
        possible = (
            known.width == width
            and settled in (0, 1)
            and (not settled or (after == "freeze" and n == 0 and not len(known.past.mean)))
            and (bool(settled) or not len(known.centre))
            and (known.past_weight > 0) == (len(known.past.mean) > 0)
            and n <= known.arrived
            and (n < BLOCK if by_blocks else n <= most and not len(known.past.mean))
            and (after != "freeze" or bool(settled) or known.arrived < most)
        )
        if not possible:
            raise ValueError("its state is none that learning leads to")


def _count(rows: Rows | None) -> int:
    return 0 if rows is None else len(rows)


@group
class WarmingUp(Parameters):
    """Takes what columns are like from the first rows, and then keeps to it."""

    warm_up: int = count(
        default=256,
        at_least=1,
        doc="""Rows that settle the statistics of a stream; with ``after="forget"`` the rows that
        they are over. Those of weight 0 do not count. ``fit`` takes all its rows.""",
    )
    after: Literal["freeze", "move", "forget"] = word(
        default="freeze",
        words=("freeze", "move", "forget"),
        doc="""What becomes of the statistics after the warm-up. ``"freeze"``: they stay, so that
        a feature keeps its meaning for the model behind. ``"move"``: they are those of all rows
        so far. ``"forget"``: those of the latest ``warm_up`` rows. A model that keeps examples
        should stand behind a frozen one; one that takes steps can follow a slow movement.""",
    )
    dtype: Literal["float32", "float64"] = inherit(
        default="float64", doc="Type of the features; the statistics are float64 throughout."
    )
    # No thread is of use here, and nothing takes long enough to be watched.
    _fixed: ClassVar[Mapping[str, Any]] = {"n_jobs": None, "verbose": False}

    _attributes: ClassVar[Mapping[str, str]] = {
        "settled_": "bool, whether the statistics stay as they are from now on",
    }

    def finish(self) -> Any:
        """End the warm-up now, with the rows so far, where ``after="freeze"``."""
        self._fitted_core("settled_").finish()
        return self

    @property
    def settled_(self) -> bool:
        """Whether the statistics stay as they are from now on."""
        return bool(self._fitted_core("settled_").known.settled)


class OfColumns(Kind):
    """The kind that lists :class:`WarmingUp`; its core is a :class:`ColumnCore`."""

    def fit(self, model: Any, batch: Batch) -> None:
        model._begin(batch)
        counting = batch.counting()
        w = np.ones(len(batch.rows)) if batch.weights is None else batch.weights
        model._core.fit_rows(batch.rows.picked(counting), w[counting])
        model._count_in(model._ids_of(batch, 0, len(batch.rows)))

    def transform_one(self, model: Any, x: Any) -> Any:
        named = isinstance(x, Mapping)
        if not model.__sklearn_is_fitted__():
            return dict.fromkeys(x, 0.0) if named else np.zeros(len(x), dtype=model.dtype)
        row = model._features([x] if named else np.asarray(x).reshape(1, -1))
        values = np.asarray(row.toarray() if hasattr(row, "toarray") else row)[0]
        if not named:
            return values
        pairs = zip(model._names_out(), values.tolist(), strict=True)
        if model._vocabulary is None:
            return dict(pairs)
        return {name: value for name, value in pairs if value or name in x}

    def names_out(self, model: Any) -> list[Any]:
        if model._vocabulary is not None:
            names: list[Any] = model._vocabulary.names()
            return names
        return list(model.get_feature_names_out())

    def warm_up_rows(self, model: Any) -> int:
        return int(model.warm_up) if model.after == "freeze" else 0

    def moves(self, model: Any) -> bool:
        return bool(model.after != "freeze")

    def done(self, model: Any) -> bool:
        state = model._state
        return state.vocabulary is None and bool(state.core.known.settled)  # dicts may bring names


#: Values that are kept, by dtype: their squares are summed up.
LARGEST = {"float32": OnlineTransformer._largest["float32"], "float64": MOST}
