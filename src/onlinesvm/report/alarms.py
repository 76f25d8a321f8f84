"""Where a model's errors rose by more than chance: alarms read off a finished run."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from onlinesvm.report.history import snapshot_row

__all__ = ["drift_alarms"]

_STRETCHES = 10  # between snapshots, that the newest one is compared with
_FEWEST = 30  # examples, before which an error rate says nothing
_DEVIATIONS = 4.0  # of the difference: by chance, once in some 30,000 snapshots


def drift_alarms(history: Iterable[Mapping[str, Any]], model: str) -> list[int]:
    """After how many examples the errors of a classifier rose above what chance explains.

    Compares the error rate since the snapshot before with that of the ten stretches before it, by
    the usual test of two proportions; after an alarm all is compared anew. Coarser than a detector
    that sees every example, and it changes nothing in the run. Regressors raise none.

    Parameters
    ----------
    history : iterable of dict of str to Snapshot
    model : str
        Whose errors count.

    Returns
    -------
    list of int
    """
    alarms: list[int] = []
    past: deque[tuple[int, float]] = deque(maxlen=_STRETCHES)
    before = 0
    for shots in history:
        row = snapshot_row(shots[model])
        count, right = row["seen"] - before, row.get("recent_accuracy")
        before = row["seen"]
        if right is None or math.isnan(right):
            continue
        wrong = count * (1 - right)
        if _rose(past, count, wrong):
            alarms.append(before)
            past.clear()
        past.append((count, wrong))
    return alarms


def _rose(past: Iterable[tuple[int, float]], count: int, wrong: float) -> bool:
    then, wrong_then = (sum(column) for column in zip((0, 0.0), *past, strict=True))
    if then < _FEWEST or count < _FEWEST:
        return False
    rate = (wrong + wrong_then) / (count + then)
    deviation = math.sqrt(rate * (1 - rate) * (1 / count + 1 / then))
    return bool(wrong / count - wrong_then / then > _DEVIATIONS * deviation > 0)
