"""The main job in half a minute: three machines learn a noisy stream side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from onlinesvm.cli.console import plain
from onlinesvm.stream import Snapshot, lessons, prequential

__all__ = ["Board", "contestants", "run_demo"]

RAMP, ASKING, HINGE = "ramp", "ramp, asking", "hinge"
BOARD = 4
NOISE = 0.15
SNAPSHOTS = 100

Snapshots = Mapping[str, Snapshot]


@dataclass(frozen=True, slots=True)
class Board:
    """A noisy checkerboard on unit scale, its true colours, and clean squares to test on."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    truth: NDArray[np.int64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int64]

    @classmethod
    def draw(cls, rows: int, seed: int, *, test_rows: int = 10_000) -> Board:
        from onlinesvm.datasets import make_checkerboard

        # The same seed moves no point: once with the noise, once without.
        X, y = make_checkerboard(rows, noise=NOISE, random_state=seed)
        _, truth = make_checkerboard(rows, random_state=seed)
        X_test, y_test = make_checkerboard(test_rows, random_state=seed + 1)
        return cls(_standardised(X), y, truth, _standardised(X_test), y_test)


def _standardised(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Unit scale by the known law of the squares, since a stream has no mean to look up."""
    return (X - BOARD / 2) / (BOARD / math.sqrt(12))


def contestants() -> dict[str, Any]:
    """The three machines: they differ in the loss, and in whom they ask."""
    from onlinesvm import RampSVC

    return {
        RAMP: RampSVC(C=50, gamma=4),
        ASKING: RampSVC(C=50, gamma=4, query="margin"),
        HINGE: RampSVC(C=50, gamma=4, s=-np.inf),
    }


def run_demo(console: Console, *, rows: int, seed: int, out: Path, live: bool) -> None:
    """Learn, show, draw, and say what came out."""
    from onlinesvm.cli.picture import check_picture, draw_contest

    check_picture("--out", out)
    board = Board.draw(rows, seed)
    models = contestants()
    view = LiveView(console, rows) if live else PlainView(console, rows)
    stream = lessons(board.X, board.y, board.truth)
    history: list[Snapshots] = []
    with view.open():
        for snapshots in prequential(
            models, stream, classes=[-1, 1], every=max(1, rows // SNAPSHOTS)
        ):
            history.append(snapshots)
            view.show(snapshots)
    accuracy = {
        name: float(np.mean(model.predict(board.X_test) == board.y_test))
        for name, model in models.items()
    }
    with console.status("drawing the picture"):
        draw_contest(out, models, board, history, accuracy)
    for line in _findings(history[-1], accuracy):
        console.print(line)
    console.print(f"\npicture: [bold]{plain(out)}[/]", soft_wrap=True)


def _findings(last: Snapshots, accuracy: Mapping[str, float]) -> Iterator[str]:
    ramp, asking, hinge = last[RAMP], last[ASKING], last[HINGE]
    yield "\nOn fresh squares with clean labels:"
    for name, who in (
        (RAMP, "RampSVC"),
        (ASKING, 'RampSVC(query="margin")'),
        (HINGE, "the hinge SVM"),
    ):
        yield f"  {accuracy[name]:6.1%}  {who}, {last[name].support_vectors:,} support vectors"
    yield (
        f"The ramp lets go of wrong labels: {_times(hinge.support_vectors, ramp.support_vectors)}"
        f" fewer support vectors than the hinge."
    )
    share = asking.labels_used / asking.seen
    yield f"Asking only inside the margin took {share:.0%} of the labels."


def _times(many: int | None, few: int | None) -> str:
    return f"{many / few:.1f}x" if many and few else "no"


class LiveView:
    """A table that redraws itself in a terminal."""

    def __init__(self, console: Console, rows: int) -> None:
        self._rows = rows
        self._live = Live(Text(_headline(rows)), console=console, refresh_per_second=8)

    def open(self) -> AbstractContextManager[Any]:
        return self._live

    def show(self, snapshots: Snapshots) -> None:
        self._live.update(scoreboard(snapshots, self._rows))


class PlainView:
    """A line now and then, for logs."""

    def __init__(self, console: Console, rows: int, *, lines: int = 10) -> None:
        self._console = console
        self._rows = rows
        self._every = max(1, rows // lines)
        self._due = self._every

    def open(self) -> AbstractContextManager[Any]:
        self._console.print(_headline(self._rows))
        return nullcontext()

    def show(self, snapshots: Snapshots) -> None:
        seen = next(iter(snapshots.values())).seen
        if seen < min(self._due, self._rows):
            return
        self._due += self._every
        marks = " | ".join(f"{name}: {_short(snapshot)}" for name, snapshot in snapshots.items())
        self._console.print(f"{seen:>7,} rows | {marks}", soft_wrap=True)


def _short(snapshot: Snapshot) -> str:
    words = f"{_percent(snapshot.clean_accuracy)} right, {snapshot.support_vectors:,} SVs"
    if snapshot.labels_used < snapshot.seen:
        words += f", {snapshot.labels_used:,} labels"
    return words


def _percent(share: float | None) -> str:
    return "-" if share is None or math.isnan(share) else f"{share:.1%}"


def _headline(rows: int) -> str:
    return (
        f"A checkerboard arrives, {rows:,} examples one by one, {NOISE:.0%} of them mislabelled.\n"
        "Each is predicted first and learnt afterwards."
    )


def scoreboard(snapshots: Snapshots, rows: int) -> RenderableType:
    """The live table and the bar below it."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("", no_wrap=True)
    for heading in (
        "right on\ntrue labels",
        "right on\nnoisy labels",
        "support\nvectors",
        "labels\nused",
        "examples\nper second",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, snapshot in snapshots.items():
        table.add_row(
            f"[bold]{name}[/]",
            f"[bold green]{_percent(snapshot.clean_accuracy)}[/]",
            f"{_percent(snapshot.accuracy)}",
            f"[cyan]{snapshot.support_vectors:,}[/]",
            f"[magenta]{snapshot.labels_used:,}[/]",
            f"{snapshot.examples_per_second:,.0f}",
        )
    seen = next(iter(snapshots.values())).seen
    progress = Table.grid(padding=(0, 2, 0, 0))
    progress.add_row(
        ProgressBar(total=rows, completed=seen, width=40), Text(f"{seen:,} of {rows:,} examples")
    )
    return Group(Text(_headline(rows)), Padding(table, (1, 0)), progress)
