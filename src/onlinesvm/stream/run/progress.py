"""How much of a source is learned, told by rows and not by blocks."""

from __future__ import annotations

__all__ = ["Progress"]


class Progress:
    """The share of a source that lies behind; between the ends of blocks it is counted by rows.

    >>> progress = Progress(0.0)
    >>> progress.arrive(0.5, waiting=0, rows=1000)
    >>> progress.share(waiting=1000), progress.share(waiting=250)
    (0.0, 0.375)
    """

    def __init__(self, start: float | None) -> None:
        self._start = start  # None: where a run goes on, the first block will tell
        self._end: float | None = start
        self._rows = 0

    def arrive(self, done: float | None, waiting: int, rows: int) -> None:
        """A block of rows has come, behind which that share lies; others may be waiting."""
        self._start, self._end = self.share(waiting), done
        self._rows = waiting + rows

    def share(self, waiting: int) -> float | None:
        """What is learned while so many rows wait; None where the source has no end."""
        if self._start is None or self._end is None or not self._rows:
            return self._end
        return self._end - (self._end - self._start) * min(waiting / self._rows, 1.0)
