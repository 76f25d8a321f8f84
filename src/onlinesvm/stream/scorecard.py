"""The metrics of one model along a stream: over all of it, and over a window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinesvm.stream import plain
from onlinesvm.stream.metrics import METRICS
from onlinesvm.stream.tallies import Codec, Tally, numbers

__all__ = ["Scorecard"]

_MOST_UNCOUNTED = 4096
_CODED = ("truth", "guess", "before")


class Scorecard:
    """Collects answers, which is cheap, and counts them in blocks.

    Metrics that read the same tally share it. Those whose tally grows with the stream are known for
    the window only.

    Parameters
    ----------
    metrics : names
    window : int
    codec : Codec
        Of the labels.
    positive : label
        The class whose F1 is meant by ``"f1"``.
    """

    def __init__(
        self, metrics: Sequence[str], window: int, codec: Codec, positive: Any = None
    ) -> None:
        self._metrics = {name: METRICS[name] for name in metrics}
        self._window, self._codec, self._positive = window, codec, positive
        self._kinds = {metric.counts for metric in self._metrics.values()}
        self.needs = {name for kind in self._kinds for name in kind.needs}
        self._totals = {kind: self._tally(kind) for kind in self._kinds if not kind.grows}
        self._new: list[Mapping[str, NDArray[Any]]] = []
        self._waiting = 0
        self._last: dict[str, NDArray[Any]] = {}

    def _tally(self, kind: type[Tally]) -> Tally:
        tally = kind()
        tally.positive = self._positive
        return tally

    def mark(self, columns: Mapping[str, NDArray[Any]]) -> None:
        """Note answers beside what was right; columns that nobody reads may be there."""
        if not self._metrics:
            return
        self._new.append(columns)
        self._waiting += len(columns["truth"])
        if self._waiting >= _MOST_UNCOUNTED:
            self._count()

    def overall(self) -> dict[str, float]:
        """Each metric over all of the stream, but for those that only a window can have."""
        self._count()
        return {
            name: metric.read(self._totals[metric.counts])
            for name, metric in self._metrics.items()
            if metric.counts in self._totals
        }

    def windowed(self) -> dict[str, float]:
        """Each metric over the last answers."""
        self._count()
        if not self._last:
            return dict.fromkeys(self._metrics, float("nan"))
        tallies = {kind: self._tally(kind) for kind in self._kinds}
        for tally in tallies.values():
            tally.update(self._last, self._codec)
        return {name: metric.read(tallies[metric.counts]) for name, metric in self._metrics.items()}

    def state(self) -> dict[str, Any]:
        """All that was counted, as plain values."""
        self._count()
        totals = {kind.__name__: tally.state() for kind, tally in self._totals.items()}
        window = {
            name: self._codec.decode(column) if name in _CODED else column.tolist()
            for name, column in self._last.items()
        }
        return {"totals": dict(sorted(totals.items())), "window": window}

    def load(self, state: Any) -> None:
        """Take up counting where `state` left it; what cannot be of these metrics is refused."""
        totals, window = plain.members(state, ("totals", "window"))
        kinds = {kind.__name__: kind for kind in self._totals}
        for name, tally in zip(kinds, plain.members(totals, list(kinds)), strict=True):
            self._totals[kinds[name]].load(tally)
        if not isinstance(window, Mapping) or (window and window.keys() != self.needs):
            raise ValueError("a saved window has other columns than its metrics read")
        rows = len(next(iter(window.values()), ()))
        if rows > self._window:
            raise ValueError(f"a saved window has {rows} rows, more than its {self._window}")
        self._last = {
            name: (self._codec.recall if name in _CODED else numbers)(column, rows)
            for name, column in window.items()
        }
        try:
            self.overall(), self.windowed()
        except (TypeError, ArithmeticError):
            raise ValueError("a saved window has answers that its metrics cannot read") from None

    def _count(self) -> None:
        if not self._waiting:
            return
        new = {
            name: np.concatenate([columns[name] for columns in self._new]) for name in self.needs
        }
        self._new, self._waiting = [], 0
        for tally in self._totals.values():
            tally.update(new, self._codec)
        self._last = {
            name: _tail(self._last.get(name), column, self._window) for name, column in new.items()
        }


def _tail(before: NDArray[Any] | None, column: NDArray[Any], count: int) -> NDArray[Any]:
    """The last ones of both; a copy, so that the rest can go."""
    both = column if before is None else np.concatenate((before, column))
    return both[-count:].copy()
