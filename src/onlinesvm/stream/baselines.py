"""Predictors that look at no feature: what a model must beat before it has learned anything.

They hear each label before the next example, even where the models are asked lesson by lesson, so
their marks do not depend on how the stream is cut.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from onlinesvm.stream import plain

__all__ = ["BASELINES", "Baseline", "LastLabel", "Majority", "RunningMean"]


class Baseline:
    """Answers from the labels before, of which the last `delay` are not known yet."""

    def __init__(self, delay: int = 0) -> None:
        self._delay = delay
        self._coming: deque[Any] = deque()

    def answers(self, labels: Sequence[Any]) -> list[Any]:
        """The answer to each of these examples, given before its label is heard."""
        coming = [*self._coming, *labels]
        silent = min(len(labels), self._delay + 1 - len(self._coming))
        known = len(coming) - self._delay - 1  # labels that are heard before the last answer
        first = [self.answer()] * silent
        self._coming = deque(coming[max(known, 0) :])
        return first + self.hear_all(coming[:known]) if known > 0 else first

    def state(self) -> dict[str, Any]:
        """What it has heard, as plain values."""
        return {"coming": list(self._coming)} | self._heard_state()

    def load(self, state: Any) -> None:
        """Go on where `state` left it; what cannot have been heard is refused."""
        coming, *heard = plain.members(state, ("coming", *self._heard_state()))
        if not isinstance(coming, list) or len(coming) > self._delay + 1:
            raise ValueError("a saved baseline waits for more labels than are under way")
        self._load_heard(*heard)
        self._coming = deque(plain.labels(coming, len(coming)))

    def _heard_state(self) -> dict[str, Any]:
        raise NotImplementedError

    def _load_heard(self, *heard: Any) -> None:
        raise NotImplementedError

    def hear_all(self, labels: list[Any]) -> list[Any]:
        """Take notice of labels, one by one; gives the answer behind each."""
        raise NotImplementedError

    def answer(self) -> Any:
        """The answer to whatever comes next; None before any label."""
        raise NotImplementedError


class LastLabel(Baseline):
    """No change: the last label, or value, again."""

    _last: Any = None

    def hear_all(self, labels: list[Any]) -> list[Any]:
        self._last = labels[-1]
        return labels

    def answer(self) -> Any:
        return self._last

    def _heard_state(self) -> dict[str, Any]:
        return {"last": self._last}

    def _load_heard(self, *heard: Any) -> None:
        (self._last,) = plain.labels(list(heard), 1)


class Majority(Baseline):
    """The label heard most often so far; of several, the one that was there first."""

    def __init__(self, delay: int = 0) -> None:
        super().__init__(delay)
        self._heard: Counter[Any] = Counter()
        self._most: Any = None

    def hear_all(self, labels: list[Any]) -> list[Any]:
        ahead, *others = [*(n for _, n in self._heard.most_common(2)), 0, 0][:2]
        if ahead - max(others) > len(labels):  # nobody can catch up
            self._heard.update(labels)
            return [self._most] * len(labels)
        given = []
        for label in labels:
            self._heard[label] += 1
            if self._heard[label] > self._heard[self._most]:
                self._most = label
            given.append(self._most)
        return given

    def answer(self) -> Any:
        return self._most

    def _heard_state(self) -> dict[str, Any]:
        return {"heard": [list(pair) for pair in self._heard.items()], "most": self._most}

    def _load_heard(self, *heard: Any) -> None:
        pairs, most = heard
        if not isinstance(pairs, list) or not all(
            isinstance(pair, list) and len(pair) == 2 for pair in pairs
        ):
            raise ValueError("a saved majority must be pairs of label and count")
        counted = Counter({plain.label(name): plain.counts(n)[0] for name, n in pairs})
        if plain.label(most) not in counted and (most is not None or counted):
            raise ValueError("a saved majority is for a label that was never heard")
        self._heard, self._most = counted, most


class RunningMean(Baseline):
    """The mean of the targets so far."""

    _sum = 0.0
    _count = 0

    def hear_all(self, labels: list[Any]) -> list[Any]:
        sums = np.add.accumulate([self._sum, *labels], dtype=np.float64)[1:]
        means = sums / np.arange(self._count + 1, self._count + 1 + len(labels))
        self._sum, self._count = float(sums[-1]), self._count + len(labels)
        given: list[Any] = means.tolist()
        return given

    def answer(self) -> Any:
        return self._sum / self._count if self._count else None

    def _heard_state(self) -> dict[str, Any]:
        return {"sum": self._sum, "count": self._count}

    def _load_heard(self, *heard: Any) -> None:
        total, count = heard
        self._sum, (self._count,) = plain.number(total), plain.counts(count)


# By the kind of the models, under the names that a curve of theirs bears.
BASELINES: Mapping[str, Mapping[str, type[Baseline]]] = {
    "classifier": {"no-change": LastLabel, "majority": Majority},
    "regressor": {"last value": LastLabel, "running mean": RunningMean},
    "detector": {},
}
