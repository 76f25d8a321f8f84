"""What was settled on rows of the data, and whether rows removed since had a part in it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]


class SettledWarning(UserWarning):
    """Rows were removed that had settled something, such as ``gamma``, which stays."""


@dataclass(frozen=True)
class IdRuns:
    """Ids as runs of consecutive ones: all rows of a ``fit`` are two numbers."""

    runs: Ids  # of shape (k, 2): start and stop, ascending and apart

    @staticmethod
    def of(ids: Ids) -> IdRuns:
        """These ids, in any order."""
        held = np.unique(np.asarray(ids, dtype=np.int64))
        cuts = np.flatnonzero(np.diff(held) > 1)
        starts = held[np.concatenate([[0], cuts + 1])] if len(held) else held
        stops = held[np.concatenate([cuts, [len(held) - 1]])] + 1 if len(held) else held
        return IdRuns(np.column_stack([starts, stops]))

    @staticmethod
    def first(n: int) -> IdRuns:
        """0, 1, ..., n - 1."""
        return IdRuns(np.array([[0, n]] if n else np.zeros((0, 2)), dtype=np.int64))

    def include(self, ids: Ids) -> NDArray[np.bool_]:
        """Which of these ids are among them."""
        if not len(self.runs):
            return np.zeros(len(ids), dtype=bool)
        at = np.searchsorted(self.runs[:, 0], ids, side="right") - 1
        return np.asarray((at >= 0) & (ids < self.runs[at, 1]))

    def meet(self, ids: Ids) -> bool:
        """Whether any of these ids is among them."""
        return bool(self.include(ids).any())

    def without(self, ids: Ids) -> IdRuns:
        """These runs, cut where an id is removed, so that no file keeps it."""
        gone = np.unique(ids[self.include(ids)])
        starts = np.sort(np.concatenate([self.runs[:, 0], gone + 1]))
        stops = np.sort(np.concatenate([self.runs[:, 1], gone]))
        return IdRuns(np.column_stack([starts, stops])[starts < stops])

    @staticmethod
    def from_fact(fact: Any) -> IdRuns | None:
        """From a file, which is not to be trusted; None where it does not say."""
        if fact is None:
            return None
        runs = np.asarray(fact)
        if runs.dtype != np.int64 or runs.ndim != 2 or runs.shape[1] != 2:
            raise ValueError("the rows that settled it are no runs of ids")
        if (np.diff(runs.ravel()) <= 0).any() or runs.min(initial=0) < 0:
            raise ValueError("the rows that settled it are out of order")
        return IdRuns(runs)


def listed(settled: Mapping[str, Any]) -> str:
    """Settled values in words: ``gamma = 0.0107 and step 'scale' (OnlineScaler)``."""
    words = [
        f"{name} = {value:.3g}" if isinstance(value, float) else f"{name} ({value})"
        for name, value in settled.items()
    ]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def explained(settled: Mapping[str, Any]) -> str:
    """The same, and why they are named."""
    were = "was" if len(settled) == 1 else "were"
    return f"{listed(settled)}, which {were} settled on rows that include removed ones"


def staying(settled: Mapping[str, Any]) -> str:
    """The same as a note: what stays, and what helps."""
    stays, them = ("stays", "it") if len(settled) == 1 else ("stay", "them")
    return (
        f"{explained(settled)}, {stays}, and certificates say so; unlearn(..., scope='all') "
        f"settles {them} anew"
    )


def warn_of(settled: Mapping[str, Any]) -> None:
    """Say that these stay although rows were removed that had settled them."""
    if settled:
        warnings.warn(staying(settled), SettledWarning, stacklevel=_first_outside())


def _first_outside() -> int:
    """How many frames up from the caller the first one outside this package is."""
    frame, level = sys._getframe(1), 1
    package = __name__.partition(".")[0]
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(package):
        frame, level = frame.f_back, level + 1
    return level
