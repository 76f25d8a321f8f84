"""Predictors that look at no feature: what a model must beat before it has learned anything.

They hear each label before the next example, even where the models are asked lesson by lesson, so
their marks do not depend on how the stream is cut.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["BASELINES", "Baseline", "LastLabel", "Majority", "RunningMean"]


class Baseline:
    """Answers from the labels before, of which the last `delay` are not known yet."""

    def __init__(self, delay: int = 0) -> None:
        self._delay = delay
        self._coming: deque[Any] = deque()

    def answers(self, labels: Iterable[Any]) -> list[Any]:
        """The answer to each of these examples, given before its label is heard."""
        given = []
        for label in labels:
            if len(self._coming) > self._delay:
                self.hear(self._coming.popleft())
            given.append(self.answer())
            self._coming.append(label)
        return given

    def hear(self, label: Any) -> None:
        """Take notice of a label."""
        raise NotImplementedError

    def answer(self) -> Any:
        """The answer to whatever comes next; None before any label."""
        raise NotImplementedError


class LastLabel(Baseline):
    """No change: the last label, or value, again."""

    _last: Any = None

    def hear(self, label: Any) -> None:
        self._last = label

    def answer(self) -> Any:
        return self._last


class Majority(Baseline):
    """The label heard most often so far; of several, the one that was there first."""

    def __init__(self, delay: int = 0) -> None:
        super().__init__(delay)
        self._heard: Counter[Any] = Counter()
        self._most: Any = None

    def hear(self, label: Any) -> None:
        self._heard[label] += 1
        if self._heard[label] > self._heard[self._most]:
            self._most = label

    def answer(self) -> Any:
        return self._most


class RunningMean(Baseline):
    """The mean of the targets so far."""

    _sum = 0.0
    _count = 0

    def hear(self, label: Any) -> None:
        self._sum += label
        self._count += 1

    def answer(self) -> Any:
        return self._sum / self._count if self._count else None


# By the kind of the models, under the names that a curve of theirs bears.
BASELINES: Mapping[str, Mapping[str, type[Baseline]]] = {
    "classifier": {"no-change": LastLabel, "majority": Majority},
    "regressor": {"last value": LastLabel, "running mean": RunningMean},
    "detector": {},
}
