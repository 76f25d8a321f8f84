"""A live line for long fits. Silent unless asked, and silent for work that ends at once."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sized
from typing import Any, Self

# Work shorter than this many seconds shows nothing.
_PATIENCE = 0.5


class Progress:
    """What the learn loop and the solvers report to; this one shows nothing."""

    watching = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def advance(self, rows: int, good: float, support: Sized | None) -> None:
        """``rows`` more were learned, ``good`` the measure summed over them."""

    def narrow(self, gap: float, steps: int) -> None:
        """A round of steps is over, the worst violation is ``gap``."""


class _Late(Progress):
    """A rich bar on standard error that appears once the work takes long."""

    watching = True

    def __init__(self, title: str, total: float, *columns: str) -> None:
        self._title, self._total, self._columns = title, total, columns
        self._began = time.perf_counter()
        self._bar: Any = None
        self._told = False
        self._task: Any = None

    def __exit__(self, *_: Any) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _elapsed(self) -> float:
        return time.perf_counter() - self._began

    def _update(self, completed: float, **fields: str) -> None:
        if self._bar is None and self._elapsed() > _PATIENCE:
            self._show()
        if self._bar is not None:
            self._bar.update(self._task, completed=completed, **fields)

    def _show(self) -> None:
        try:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar
        except ImportError:
            if not self._told:
                print(f"{self._title} ... (a bar needs rich)", file=sys.stderr)
            self._told = True
            return

        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            *([MofNCompleteColumn()] if isinstance(self._total, int) else []),
            *(TextColumn(f"{{task.fields[{name}]}}") for name in self._columns),
            TimeRemainingColumn(),
            console=Console(file=sys.stderr),
        )
        blank = dict.fromkeys(self._columns, "")
        self._task = self._bar.add_task(self._title, total=self._total, **blank)
        self._bar.start()


class LiveBar(_Late):
    """How a stream is learned: examples/s, support vectors, accuracy so far."""

    def __init__(self, title: str, total: int, measure: str) -> None:
        super().__init__(title, total, "rate", "support", "good")
        self._measure = measure
        self._seen = 0
        self._good = 0.0

    def advance(self, rows: int, good: float, support: Sized | None) -> None:
        self._seen += rows
        self._good += good
        self._update(
            self._seen,
            rate=f"{self._seen / self._elapsed():,.0f}/s",
            good=f"{self._measure} {self._good / self._seen:.3f}",
            support="" if support is None else f"{len(support):,} support vectors",
        )


class LiveGap(_Late):
    """How a solver closes in on its tolerance: the violation left, on a logarithmic bar."""

    def __init__(self, title: str, tol: float) -> None:
        super().__init__(title, 1.0, "gap", "steps")
        self._tol = tol
        self._widest = tol

    def narrow(self, gap: float, steps: int) -> None:
        self._widest = max(self._widest, gap)
        way = math.log(self._widest / self._tol) or 1.0
        done = 1.0 - math.log(max(gap, self._tol) / self._tol) / way
        self._update(done, gap=f"violation {gap:.2g}, tol {self._tol:g}", steps=f"{steps:,} steps")


class Rounds(_Late):
    """How many rounds of so many are done, where somebody wants to know."""

    def __init__(self, title: str, total: int, *, watched: bool) -> None:
        super().__init__(title, total)
        self._done, self._watched = 0, watched

    def advance(self) -> None:  # type: ignore[override]
        self._done += 1
        if self._watched:
            self._update(self._done)
