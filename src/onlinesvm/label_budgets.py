"""How many labels may be asked for: small value objects, printable, comparable, hashable.

What is counted is a label asked for, whether its answer has come or not; a row that is looked at
and not asked about costs nothing. A :class:`~onlinesvm.LabelDesk` keeps the count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .data.arguments import check_count, check_number


@dataclass(frozen=True)
class LabelShare:
    """At most this share of the rows, from the first one on, and never more than one ahead.

    Parameters
    ----------
    share : float
        In (0, 1]: 0.1 is one label in ten rows. What was not spent may be spent later.
    """

    share: float

    def __post_init__(self) -> None:
        if check_number("share", self.share, above=0) > 1:
            raise ValueError(f"share must be at most 1, got {self.share!r}; 0.1 is one in ten")

    @property
    def rate(self) -> float:
        return float(self.share)

    @property
    def remembers(self) -> int:
        """How many of the rows last asked about it has to know."""
        return 0

    def affords(self, seen: int, spent: int, asked: Sequence[int]) -> bool:
        """Whether the newest of ``seen`` rows may be asked about, after ``spent`` others.

        ``asked`` has the numbers of the last ``remembers`` of these.
        """
        return spent <= self.rate * seen


@dataclass(frozen=True)
class LabelsPerWindow:
    """At most ``count`` labels in any ``window`` rows on end: what annotators can keep up with.

    Parameters
    ----------
    count, window : int
        What was not spent in a window is gone.
    """

    count: int
    window: int

    def __post_init__(self) -> None:
        count = check_count("count", self.count, at_least=1)
        check_count("window", self.window, at_least=count)

    @property
    def rate(self) -> float:
        return self.count / self.window

    @property
    def remembers(self) -> int:
        return self.count

    def affords(self, seen: int, spent: int, asked: Sequence[int]) -> bool:
        return len(asked) < self.count or seen - asked[-self.count] >= self.window


LabelBudget = LabelShare | LabelsPerWindow
