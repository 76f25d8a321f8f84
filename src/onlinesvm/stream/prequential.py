"""Test-then-train: every example is first an exam, then a lesson."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Lesson", "Snapshot", "lessons", "prequential"]


class Lesson(NamedTuple):
    """A few examples that arrive together.

    Attributes
    ----------
    X : array of shape (n, d)
    y : array of shape (n,)
        The labels as they arrive, noise and all: what the models learn.
    truth : array of shape (n,), optional
        The labels as they should have been, where somebody knows; only ever used to score.
    """

    X: Any
    y: Any
    truth: Any = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """How one model stands after `seen` examples.

    Attributes
    ----------
    seen : int
        Examples that went by.
    accuracy : float
        Share of them whose label the model told before it learnt it; nan before the first test.
    clean_accuracy : float or None
        The same against the true labels; None for a stream that does not know them.
    recent_accuracy : float
        Since the snapshot before this one; against the true labels where the stream knows them.
    support_vectors : int or None
        None for a model that keeps no examples.
    labels_used : int
        Labels the model asked for; the rest cost nothing.
    seconds : float
        Time spent inside the model, tests included.
    """

    seen: int
    accuracy: float
    clean_accuracy: float | None
    recent_accuracy: float
    support_vectors: int | None
    labels_used: int
    seconds: float

    @property
    def examples_per_second(self) -> float:
        return self.seen / self.seconds if self.seconds > 0 else float("nan")


def lessons(X: Any, y: Any, truth: Any = None, *, size: int = 1) -> Iterator[Lesson]:
    """Cut arrays into lessons of `size` rows, in row order."""
    if size < 1:
        raise ValueError(f"size must be a positive number of rows, got {size!r}")
    n = X.shape[0]
    if len(y) != n or (truth is not None and len(truth) != n):
        raise ValueError(f"y and truth need one label for each of the {n} rows of X")
    for start in range(0, n, size):
        rows = slice(start, start + size)
        yield Lesson(X[rows], y[rows], None if truth is None else truth[rows])


def prequential(
    models: Mapping[str, Any],
    stream: Iterable[Lesson | tuple[Any, ...]],
    *,
    classes: Sequence[Any] | NDArray[Any],
    every: int = 500,
) -> Iterator[dict[str, Snapshot]]:
    """Run models side by side over one stream and report how each one fares.

    Each lesson is predicted before it is learnt, so every example is an unseen one and no data
    has to be held back. Lessons of one row go through `predict_one` and `learn_one` where a model
    has them; longer ones through `decision_function` and `partial_fit`. The very first lesson only
    trains, because before it no model knows anything.

    Parameters
    ----------
    models : dict of str to classifier
        Fresh or already trained; they learn in place.
    stream : iterable of Lesson
        Or of plain tuples ``(X, y)`` and ``(X, y, truth)``; `lessons` makes one from arrays.
    classes : sequence
        All labels that may come.
    every : int, default=500
        Examples between two snapshots. A last one closes the stream.

    Yields
    ------
    dict of str to Snapshot
        One for each model, in the order of `models`.

    Notes
    -----
    Costs one prediction and one update per model and example, and holds one lesson at a time.

    Examples
    --------
    >>> from onlinesvm import RampSVC
    >>> from onlinesvm.datasets import make_checkerboard
    >>> from onlinesvm.stream import lessons, prequential
    >>> X, y = make_checkerboard(600, random_state=0)
    >>> *_, last = prequential({"ramp": RampSVC(C=10, gamma=4)}, lessons(X, y), classes=[-1, 1])
    >>> last["ramp"].seen
    600
    """
    if not models:
        raise ValueError("models is empty: give at least one, as {'name': model}")
    if every < 1:
        raise ValueError(f"every must be a positive number of examples, got {every!r}")
    runners = {name: _Runner(model, np.asarray(classes)) for name, model in models.items()}
    seen, due = 0, every
    for item in stream:
        lesson = Lesson(*item)
        for runner in runners.values():
            runner.take(lesson)
        seen += len(lesson.y)
        if seen >= due:
            due = seen - seen % every + every
            yield {name: runner.snapshot(seen) for name, runner in runners.items()}
    if seen and seen > due - every:
        yield {name: runner.snapshot(seen) for name, runner in runners.items()}


class _Tally:
    """Right answers out of answers given, over all and since the last look."""

    def __init__(self) -> None:
        self.right = self.asked = 0
        self._right_then = self._asked_then = 0

    def mark(self, guesses: NDArray[Any], labels: Any) -> None:
        self.right += int(np.count_nonzero(guesses == labels))
        self.asked += len(guesses)

    @property
    def share(self) -> float:
        return self.right / self.asked if self.asked else float("nan")

    def recent_share(self) -> float:
        """Share since the last call; calling it starts the next stretch."""
        right, asked = self.right - self._right_then, self.asked - self._asked_then
        self._right_then, self._asked_then = self.right, self.asked
        return right / asked if asked else float("nan")


class _Runner:
    """One model on the stream, with its marks and its stopwatch."""

    def __init__(self, model: Any, classes: NDArray[Any]) -> None:
        self.model = model
        self.classes = classes
        self.labels = _Tally()
        self.truths: _Tally | None = None
        self.seconds = 0.0
        self._started = False
        self._one_by_one = hasattr(model, "learn_one") and hasattr(model, "predict_one")

    def take(self, lesson: Lesson) -> None:
        start = perf_counter()
        guesses = self._test(lesson.X) if self._started else None
        self._train(lesson.X, lesson.y)
        self.seconds += perf_counter() - start
        if lesson.truth is not None and self.truths is None:
            self.truths = _Tally()
        if guesses is None:
            return
        self.labels.mark(guesses, lesson.y)
        if lesson.truth is not None and self.truths is not None:
            self.truths.mark(guesses, lesson.truth)

    def snapshot(self, seen: int) -> Snapshot:
        support = getattr(self.model, "support_", None)
        marked = self.labels if self.truths is None else self.truths
        return Snapshot(
            seen=seen,
            accuracy=self.labels.share,
            clean_accuracy=None if self.truths is None else self.truths.share,
            recent_accuracy=marked.recent_share(),
            support_vectors=len(support) if support is not None else None,
            labels_used=int(getattr(self.model, "labels_used_", seen)),
            seconds=self.seconds,
        )

    def _test(self, X: Any) -> NDArray[Any]:
        if self._one_by_one and X.shape[0] == 1:
            return np.asarray([self.model.predict_one(X[0])])
        f = self.model.decision_function(X)
        winners = (f > 0).astype(np.intp) if f.ndim == 1 else f.argmax(axis=1)
        labels: NDArray[Any] = self.model.classes_[winners]
        return labels

    def _train(self, X: Any, y: Any) -> None:
        if not self._started:
            self.model.partial_fit(X, y, classes=self.classes)
            self._started = True
        elif self._one_by_one and X.shape[0] == 1:
            self.model.learn_one(X[0], y[0])
        else:
            self.model.partial_fit(X, y)
