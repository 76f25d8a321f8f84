"""A live line for long fits. Silent unless asked, and silent for work that ends at once."""

from __future__ import annotations

import sys
import time
from collections.abc import Sized
from types import TracebackType
from typing import Any, Protocol, Self

# Work shorter than this many seconds shows nothing.
_PATIENCE = 0.5


class Progress(Protocol):
    """What the learn loop tells its listener."""

    watching: bool

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: Any) -> None: ...

    def advance(self, rows: int, good: float, support: Sized | None) -> None:
        """``rows`` more were learned, ``good`` the measure summed over them."""


class Silence:
    """Nobody is listening."""

    watching = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def advance(self, rows: int, good: float, support: Sized | None) -> None:
        pass


class LiveBar:
    """A rich progress bar on standard error: examples/s, support vectors, accuracy so far."""

    watching = True

    def __init__(self, title: str, total: int, measure: str) -> None:
        self._title, self._total, self._measure = title, total, measure
        self._seen = 0
        self._good = 0.0
        self._began = time.perf_counter()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, rows: int, good: float, support: Sized | None) -> None:
        self._seen += rows
        self._good += good
        elapsed = time.perf_counter() - self._began
        if self._bar is None and elapsed > _PATIENCE:
            self._show()
        if self._bar is not None:
            self._bar.update(
                self._task,
                completed=self._seen,
                rate=f"{self._seen / elapsed:,.0f}/s",
                good=f"{self._measure} {self._good / self._seen:.3f}",
                support="" if support is None else f"{len(support):,} support vectors",
            )

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TextColumn("{task.fields[support]}"),
            TextColumn("{task.fields[good]}"),
            TimeRemainingColumn(),
            console=Console(file=sys.stderr),
        )
        self._task = self._bar.add_task(
            self._title, total=self._total, rate="", support="", good=""
        )
        self._bar.start()
