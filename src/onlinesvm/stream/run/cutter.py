"""Lessons cut from blocks by number of rows, so that the borders of blocks do not matter."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from onlinesvm.stream.run.rows import joined, part
from onlinesvm.stream.sources import Examples

__all__ = ["Cutter"]


class Cutter:
    """Holds the rows that have come and are no lesson yet.

    Attributes
    ----------
    taken : int
        Rows that have left as lessons.

    Parameters
    ----------
    length : function of int to int
        The length of a lesson, given the rows before it.
    cuts : iterable of int
        Where earlier silence has ended a lesson, in rows, ascending.
    """

    def __init__(
        self, length: Callable[[int], int], taken: int = 0, cuts: Iterable[int] = ()
    ) -> None:
        self._length = length
        self.taken = taken
        self._cuts = deque(cut for cut in cuts if cut > taken)
        self._waiting: deque[Examples] = deque()
        self.waiting = 0

    def add(self, examples: Examples) -> None:
        """Let rows come."""
        if len(examples):
            self._waiting.append(examples)
            self.waiting += len(examples)

    def lesson(self) -> Examples | None:
        """The next lesson, if all its rows are there."""
        length = self._length(self.taken)
        if self._cuts:
            length = min(length, self._cuts[0] - self.taken)
        return self._leave(length) if length <= self.waiting else None

    def rest(self) -> Examples | None:
        """A last lesson of whatever is there."""
        return self._leave(self.waiting) if self.waiting else None

    def cuts(self) -> list[int]:
        """Where lessons still to come have been cut before."""
        return list(self._cuts)

    def held(self) -> list[Examples]:
        """The rows that are no lesson yet."""
        return list(self._waiting)

    def _leave(self, count: int) -> Examples:
        self.taken += count
        self.waiting -= count
        while self._cuts and self._cuts[0] <= self.taken:
            self._cuts.popleft()
        parts = []
        while count:
            first = self._waiting.popleft()
            if len(first) > count:
                self._waiting.appendleft(part(first, count, len(first)))
                first = part(first, 0, count)
            parts.append(first)
            count -= len(first)
        return joined(parts)
