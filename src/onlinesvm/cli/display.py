"""How a run looks while it goes on: on a terminal, in a log, as JSON, or not at all."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from time import perf_counter
from typing import Any, Protocol

from rich.console import Console, Group, RenderableType
from rich.filesize import decimal
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from onlinesvm.cli.console import visible
from onlinesvm.stream import Snapshot
from onlinesvm.stream.drift import Drift

__all__ = [
    "Display",
    "JsonDisplay",
    "LineDisplay",
    "LiveDisplay",
    "NoDisplay",
    "drift_in_words",
    "shown_metrics",
]

_MAIN = (
    ("accuracy", "kappa", "f1_macro", "auc"),
    ("mae", "rmse", "r2"),
    ("alarms", "false_alarms", "detections", "auc"),
)
_SHARES = ("accuracy", "balanced_accuracy", "alarms", "false_alarms", "detections")
_NAMES = {"f1_macro": "F1", "auc": "AUC", "mae": "MAE", "rmse": "RMSE", "r2": "R2"}


class Display(Protocol):
    """Whoever shows the moments of a run."""

    def open(self) -> AbstractContextManager[Any]:
        """Begin to show; the end of the context ends it."""
        ...

    def show(self, moment: Any) -> None:
        """Show how the run stands."""
        ...


def shown_metrics(snapshots: Mapping[str, Snapshot]) -> list[str]:
    """The few metrics that tell the most, in order."""
    known = next(iter(snapshots.values())).window
    wanted = next((names for names in _MAIN if names[0] in known), tuple(known))
    first = next(iter(snapshots.values()))
    return [n for n in wanted if n in known and (n == wanted[0] or not math.isnan(first.window[n]))]


def name_of(metric: str) -> str:
    """A metric as people call it."""
    return _NAMES.get(metric, metric.replace("_", " "))


def number(metric: str, value: float | None) -> str:
    """A value of a metric, as short as it can be told."""
    if value is None or math.isnan(value):
        return "-"
    if metric in _SHARES:
        return f"{value:.1%}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def drift_in_words(drift: Drift) -> str:
    """What an alarm says.

    >>> drift_in_words(Drift(2113, 2000, 0.014, 0.62))
    'errors rose from 1.4% to 62.0% since row 2,000'
    """
    return f"errors rose from {drift.before:.1%} to {drift.now:.1%} since row {drift.since:,}"


class NoDisplay:
    """Says nothing."""

    def open(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def show(self, moment: Any) -> None:
        pass


class JsonDisplay:
    """One JSON object a line, for programs."""

    def __init__(self, write: Any) -> None:
        self._write = write

    def open(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def show(self, moment: Any) -> None:
        facts = {
            "event": "moment",
            "seen": moment.seen,
            "bad": moment.bad,
            "done": moment.done,
            "lag": moment.lag,
            "nbytes": moment.nbytes,
            "drifts": [drift.row() for drift in moment.drifts],
            "models": {
                name: {k: _finite(v) for k, v in shot.row().items()}
                for name, shot in moment.snapshots.items()
            },
        }
        self._write(json.dumps(facts, allow_nan=False) + "\n")


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


class LineDisplay:
    """A line now and then, for logs: after 100, 200, 500, 1,000, ... rows."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._series = _one_two_five()
        self._due = next(self._series)

    def open(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def show(self, moment: Any) -> None:
        for drift in moment.drifts:
            line = f"{drift.seen:>9,} rows  drift: {drift_in_words(drift)}"
            self._console.print(line, style="red", soft_wrap=True)
        if moment.seen < self._due:
            return
        while self._due <= moment.seen:
            self._due = next(self._series)
        (model, shot), *others = moment.snapshots.items()
        metrics = shown_metrics(moment.snapshots)
        words = [f"{name_of(m)} {number(m, shot.window.get(m))}" for m in metrics[:2]]
        if metrics:
            words += [f"{n} {number(metrics[0], o.window.get(metrics[0]))}" for n, o in others]
        if shot.support_vectors is not None:
            words.append(f"{shot.support_vectors:,} support vectors")
        if moment.bad:
            words.append(f"{moment.bad:,} bad")
        line = f"{moment.seen:>9,} rows  {model}: {', '.join(words)}"
        self._console.print(visible(line), markup=False, soft_wrap=True)


def _one_two_five() -> Iterator[int]:
    unit = 100
    while True:
        yield from (unit, 2 * unit, 5 * unit)
        unit *= 10


class LiveDisplay:
    """A table that redraws itself in a terminal."""

    def __init__(self, console: Console, source: str) -> None:
        self._source = source
        self._start = perf_counter()
        self._live = Live(
            Text(f"reading {visible(source)} ..."), console=console, refresh_per_second=8
        )
        self._first: int | None = None
        self._drift: Drift | None = None  # the newest

    def open(self) -> AbstractContextManager[Any]:
        return self._live

    def show(self, moment: Any) -> None:
        if self._first is None:
            self._first, self._start = moment.seen, perf_counter()
        seconds = perf_counter() - self._start
        rate = (moment.seen - self._first) / seconds if seconds > 0 else math.nan
        self._drift = moment.drifts[-1] if moment.drifts else self._drift
        self._live.update(board(moment, self._source, rate, self._drift))


def board(moment: Any, source: str, rate: float, drift: Drift | None = None) -> RenderableType:
    """What a terminal shows of a moment."""
    head = Table.grid(padding=(0, 2, 0, 0))
    row: list[RenderableType] = [Text(visible(source), style="bold", overflow="ellipsis")]
    if moment.done is not None:
        row.append(ProgressBar(total=1.0, completed=moment.done, width=24))
        row.append(Text(f"{moment.done:.0%}"))
    row.append(Text(f"{moment.seen:,} rows"))
    if rate > 0:
        row.append(Text(f"{rate:,.0f} a second"))
    head.add_row(*row)
    parts: list[RenderableType] = [
        head,
        Text(""),
        _marks(moment.snapshots),
        Text(""),
        _facts(moment),
    ]
    if drift is not None:
        parts.append(Text(f"drift: {drift_in_words(drift)}", style="red"))
    return Group(*parts)


def _marks(snapshots: Mapping[str, Snapshot]) -> Table:
    metrics = shown_metrics(snapshots)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("", no_wrap=True)
    for metric in metrics:
        table.add_column(f"{name_of(metric)}\nnow", justify="right", no_wrap=True)
        if metric == metrics[0]:
            table.add_column("\nso far", justify="right", no_wrap=True)
    for name, shot in snapshots.items():
        style = "bold" if shot.role == "model" else "dim"
        cells = []
        for metric in metrics:
            cells.append(number(metric, shot.window.get(metric)))
            if metric == metrics[0]:
                cells.append(number(metric, shot.metrics.get(metric)))
        table.add_row(Text(visible(name)), *cells, style=style)
    return table


def _facts(moment: Any) -> Text:
    shot = next(iter(moment.snapshots.values()))
    words = []
    if shot.support_vectors is not None:
        words.append(f"{shot.support_vectors:,} support vectors")
    if moment.nbytes is not None:
        words.append(decimal(moment.nbytes))
    if 0 < shot.labels_used < moment.seen:
        words.append(f"{shot.labels_used:,} labels asked")
    if moment.lag is not None:
        words.append(f"{moment.lag:,.0f} waiting")
    text = Text(", ".join(words))
    if moment.bad:
        text.append(f"{', ' if words else ''}{moment.bad:,} bad rows", style="yellow")
    return text
