"""How a run stands: what a display shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from onlinesvm.stream.drift import Drift
from onlinesvm.stream.snapshot import Snapshot

__all__ = ["Moment"]


@dataclass(frozen=True, slots=True)
class Moment:
    """How a run stands; all examples it tells of are acknowledged.

    Attributes
    ----------
    seen : int
        Examples that were tested and learned, since the run began.
    bad : int
        Rows in ``dead_letters.jsonl``.
    snapshots : dict of str to Snapshot
        The model, then each baseline. Support vectors, memory and labels used are in the first.
    done : float or None
        Share of the source that lies behind, where it has an end.
    lag : float or None
        What waits in a live source, if it knows: its attribute `lag`.
    nbytes : int or None
        Memory of the model with its preparation.
    drifts : tuple of Drift
        Where the errors of a classifier rose, those that no moment has told before.
    """

    seen: int
    bad: int
    snapshots: Mapping[str, Snapshot]
    done: float | None = None
    lag: float | None = None
    nbytes: int | None = None
    drifts: tuple[Drift, ...] = ()
