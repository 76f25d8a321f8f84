"""What arrives at once, and arrays cut into such parts."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from onlinesvm.data.arguments import check_count
from onlinesvm.data.validation import one_row
from onlinesvm.stream.containers import column, count_rows, rows, sliceable

__all__ = ["Late", "Lesson", "lessons", "read_lesson"]


class Lesson(NamedTuple):
    """A few examples that arrive together.

    Attributes
    ----------
    X : array of shape (n, d), CSR matrix, data frame or list of n dicts
    y : array of shape (n,)
        The labels as they arrive, noise and all: what the models learn. None for detectors, where
        nobody knows.
    truth : array of shape (n,), optional
        The labels as they should have been, where somebody knows; only ever used to score.
    """

    X: Any
    y: Any = None
    truth: Any = None

    def part(self, start: int, stop: int) -> Lesson:
        """The examples from start to stop."""
        y, truth = (None if c is None else c[start:stop] for c in (self.y, self.truth))
        return Lesson(rows(self.X, start, stop), y, truth)


def lessons(X: Any, y: Any = None, truth: Any = None, *, size: int = 1) -> Iterator[Lesson]:
    """Cut examples into lessons of `size` rows, in row order."""
    if size < 1:
        raise ValueError(f"size must be a positive number of rows, got {size!r}")
    X = sliceable(X)
    n = count_rows(X)
    if any(labels is not None and len(labels) != n for labels in (y, truth)):
        raise ValueError(f"y and truth need one label for each of the {n} rows of X")
    columns = {"y": y, "truth": truth}
    whole = Lesson(X, **{k: None if c is None else column(k, c) for k, c in columns.items()})
    for start in range(0, n, size):
        yield whole.part(start, start + size)


def read_lesson(item: Any) -> Lesson:
    """One item of a stream, which may be a single example such as river's, as a lesson."""
    if not isinstance(item, tuple | list) or not 1 <= len(item) <= 3:
        raise ValueError(
            "stream must give lessons, (X, y) or (X, y, truth); use lessons(X, y) for arrays"
        )
    X, y, truth = Lesson(*item)
    if isinstance(X, Mapping) or (isinstance(X, np.ndarray) and X.ndim == 1):
        X = one_row(X)
        y, truth = ([label] if label is not None else None for label in (y, truth))
    X = sliceable(X)
    n = count_rows(X)
    for name, labels in (("y", y), ("truth", truth)):
        if labels is not None and len(labels) != n:
            raise ValueError(f"{name} of a lesson has {len(labels)} labels for {n} rows of X")
    y, truth = (
        None if labels is None else column(name, labels)
        for name, labels in (("y", y), ("truth", truth))
    )
    return Lesson(X, y, truth)


class Late:
    """Labels under way: each arrives once `delay` more examples have come."""

    def __init__(self, delay: int) -> None:
        self.delay = check_count("delay", delay)
        self._waiting: deque[Lesson] = deque()
        self._count = 0

    def pass_on(self, lesson: Lesson) -> Iterator[Lesson]:
        """Let a lesson come; gives what is due now."""
        self._waiting.append(lesson)
        self._count += count_rows(lesson.X)
        yield from self._leave(self._count - self.delay)

    def rest(self) -> Iterator[Lesson]:
        """What is still under way when the stream ends."""
        yield from self._leave(self._count)

    def _leave(self, due: int) -> Iterator[Lesson]:
        while due > 0:
            oldest = self._waiting.popleft()
            n = count_rows(oldest.X)
            leaving = min(n, due)
            if leaving < n:
                self._waiting.appendleft(oldest.part(leaving, n))
                oldest = oldest.part(0, leaving)
            due -= leaving
            self._count -= leaving
            yield oldest
