"""How a run learns, looks and writes; settled when it begins, kept in its folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from onlinesvm.data.arguments import check_count, check_number, check_word
from onlinesvm.files.json_values import from_json, to_json
from onlinesvm.stream.metrics import METRICS

__all__ = ["FSYNC", "RunOptions"]

FSYNC = ("always", "interval", "never")
_SHORTEST, _LONGEST = 100, 10_000  # stretches between two snapshots
_SHARE_OF_STRETCH, _SHARE_OF_LESSON = 20, 8


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run learns, looks and writes.

    Parameters
    ----------
    lesson : int, default=1024
        The most rows that are predicted before they are learned. The first lessons are shorter, an
        eighth of what was learned before, so that short streams are tested, too.
    every : int, optional
        Examples between two snapshots. By default a twentieth of what was seen, at least 100 and at
        most 10,000: as many as a curve needs.
    window : int, default=1000
        Examples over which metrics are taken besides over all.
    metrics, baselines : tuple of names, optional
        As for `prequential`; by default all that the model can have, and all there are.
    classes : tuple of labels, optional
        All that may come, for classifiers that have to be told.
    fsync : {"interval", "always", "never"}
        When the log reaches the disk. What a `Moment` has told is kept, whatever kills the
        process; what a power failure may take of it:
        ``"always"`` nothing, for one wait for the disk before each moment;
        ``"interval"`` the last second, for a thread that waits in your place;
        ``"never"`` what the system had not written by itself, some 30 seconds on Linux, but
        nothing that was in a checkpoint.
        Sources that can be read again lose no example in any of these cases.
    checkpoint_seconds : float, default=30
        Time between two checkpoints, or as long as makes them a twentieth of the time. 0: after
        every block.
    silence : {"wait", "end"}
        What to do when a live source has nothing more to say.
    max_bad : float, default=1
        The share of rows that may be bad: beyond it, once ten are, the run stops with an error, for
        then mostly something else is wrong than a few rows. 1: it never does; `onlinesvm learn` has
        0.1.
    """

    lesson: int = 1024
    every: int | None = None
    window: int = 1000
    metrics: tuple[str, ...] | None = None
    baselines: tuple[str, ...] | None = None
    classes: tuple[Any, ...] | None = None
    fsync: Literal["interval", "always", "never"] = "interval"
    checkpoint_seconds: float = 30.0
    silence: Literal["wait", "end"] = "wait"
    max_bad: float = 1.0

    def __post_init__(self) -> None:
        check_count("lesson", self.lesson, at_least=1)
        if self.every is not None:
            check_count("every", self.every, at_least=1)
        check_count("window", self.window, at_least=1)
        check_number("checkpoint_seconds", self.checkpoint_seconds, at_least=0)
        check_number("max_bad", self.max_bad, at_least=0)
        check_word("fsync", self.fsync, FSYNC)
        check_word("silence", self.silence, ("wait", "end"))
        for name in ("metrics", "baselines", "classes"):
            object.__setattr__(self, name, _several(name, getattr(self, name)))
        for word in self.metrics or ():
            check_word("metrics", word, METRICS)
        if self.classes is not None:
            to_json("classes", self.classes)  # labels that no file can hold are refused here

    def next_lesson(self, taken: int) -> int:
        """The length of the lesson behind so many rows."""
        return min(self.lesson, max(1, taken // _SHARE_OF_LESSON))

    def next_snapshot(self, seen: int) -> int:
        """The number of examples after which the one behind `seen` is due."""
        if self.every is not None:
            return seen - seen % self.every + self.every
        return seen + min(max(seen // _SHARE_OF_STRETCH, _SHORTEST), _LONGEST)

    def to_json(self) -> dict[str, Any]:
        """As a run stores it."""
        return {name: to_json(name, value) for name, value in asdict(self).items()}

    @staticmethod
    def from_json(facts: Any) -> RunOptions:
        """From a file."""
        known = {field.name for field in fields(RunOptions)}
        if not isinstance(facts, Mapping) or known - {"max_bad"} != facts.keys() - {"max_bad"}:
            raise ValueError("options must have the names of RunOptions")
        return RunOptions(**{name: from_json(value) for name, value in facts.items()})


def _several(name: str, values: Any) -> tuple[Any, ...] | None:
    if values is None:
        return None
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise ValueError(f"{name} must be a list, got {values!r:.60}; put [ ] around it")
    return tuple(v.item() if hasattr(v, "item") else v for v in values)
