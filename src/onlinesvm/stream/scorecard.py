"""The metrics of one model along a stream: over all of it, and over a window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onlinesvm.stream import plain
from onlinesvm.stream.metrics import Metric
from onlinesvm.stream.tallies import Marks

__all__ = ["Scorecard"]

_MOST_UNCOUNTED = 4096


class Scorecard:
    """Collects answers, which is cheap, and counts them when somebody looks.

    Metrics that read the same tally share it. Those whose tally grows with the stream are known for
    the window only.
    """

    def __init__(self, metrics: Sequence[Metric], window: int) -> None:
        self._metrics = metrics
        self._window = window
        kinds = {metric.counts for metric in metrics}
        self.needs = {name for kind in kinds for name in kind.needs}
        self._totals = {kind: kind() for kind in kinds if not kind.grows}
        self._kinds = kinds
        self._new, self._last = Marks(), Marks()

    def mark(self, marks: Marks) -> None:
        """Note answers beside what was right."""
        if not self._metrics:
            return
        for name in self.needs:
            getattr(self._new, name).extend(getattr(marks, name))
        if len(self._new) >= _MOST_UNCOUNTED:
            self._count()

    def overall(self) -> dict[str, float]:
        """Each metric over all of the stream, but for those that only a window can have."""
        self._count()
        return {
            metric.name: metric.read(self._totals[metric.counts])
            for metric in self._metrics
            if metric.counts in self._totals
        }

    def windowed(self) -> dict[str, float]:
        """Each metric over the last answers."""
        self._count()
        tallies = {kind: kind() for kind in self._kinds}
        for tally in tallies.values():
            tally.update(self._last)
        return {metric.name: metric.read(tallies[metric.counts]) for metric in self._metrics}

    def state(self) -> dict[str, Any]:
        """All that was counted, as plain values."""
        self._count()
        totals = {kind.__name__: tally.state() for kind, tally in self._totals.items()}
        return {"totals": dict(sorted(totals.items())), "window": self._last.state()}

    def load(self, state: Any) -> None:
        """Take up counting where `state` left it; what cannot be of these metrics is refused."""
        totals, window = plain.members(state, ("totals", "window"))
        saved = plain.members(totals, sorted(kind.__name__ for kind in self._totals))
        ordered = sorted(self._totals, key=lambda kind: kind.__name__)
        for kind, tally in zip(ordered, saved, strict=True):
            self._totals[kind].load(tally)
        self._last = Marks.from_state(window, self.needs, self._window)
        try:
            self.overall(), self.windowed()
        except (TypeError, ArithmeticError):
            raise ValueError("a saved window has answers that its metrics cannot read") from None

    def _count(self) -> None:
        if not len(self._new):
            return
        for tally in self._totals.values():
            tally.update(self._new)
        self._last.extend(self._new)
        self._last.keep_last(self._window)
        self._new = Marks()
