"""Predictors that look at no feature: what a model must beat before it has learned anything.

They hear each label before the next example, even where the models are asked lesson by lesson, so
their marks do not depend on how the stream is cut.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinesvm.stream import plain
from onlinesvm.stream.tallies import Codec

__all__ = ["BASELINES", "Baseline", "LastLabel", "Majority", "RunningMean"]


class Baseline:
    """Answers from the labels before, of which the last `delay` are not known yet.

    Labels are what the codec makes of them.
    """

    def __init__(self, codec: Codec, delay: int = 0) -> None:
        self._codec, self._delay = codec, delay
        self._coming = codec.encode([])

    def answers(self, labels: NDArray[Any]) -> NDArray[Any]:
        """The answer to each of these examples, given before its label is heard."""
        coming = np.concatenate((self._coming, labels))
        silent = min(len(labels), self._delay + 1 - len(self._coming))
        known = len(coming) - self._delay - 1  # labels that are heard before the last answer
        first = np.full(silent, self.answer(), labels.dtype)
        self._coming = coming[max(known, 0) :].copy()
        return np.concatenate((first, self.hear_all(coming[:known]))) if known > 0 else first

    def state(self) -> dict[str, Any]:
        """What it has heard, as plain values."""
        return {"coming": self._codec.decode(self._coming)} | self._heard_state()

    def load(self, state: Any) -> None:
        """Go on where `state` left it; what cannot have been heard is refused."""
        coming, *heard = plain.members(state, ("coming", *self._heard_state()))
        if not isinstance(coming, list) or len(coming) > self._delay + 1:
            raise ValueError("a saved baseline waits for more labels than are under way")
        self._load_heard(*heard)
        self._coming = self._codec.recall(coming, len(coming))

    def _heard_state(self) -> dict[str, Any]:
        raise NotImplementedError

    def _load_heard(self, *heard: Any) -> None:
        raise NotImplementedError

    def hear_all(self, labels: NDArray[Any]) -> NDArray[Any]:
        """Take notice of labels, one by one; gives the answer behind each."""
        raise NotImplementedError

    def answer(self) -> Any:
        """The answer to whatever comes next; the codec's nothing before any label."""
        raise NotImplementedError


class LastLabel(Baseline):
    """No change: the last label, or value, again."""

    def __init__(self, codec: Codec, delay: int = 0) -> None:
        super().__init__(codec, delay)
        self._last = codec.nothing

    def hear_all(self, labels: NDArray[Any]) -> NDArray[Any]:
        self._last = labels[-1]
        return labels

    def answer(self) -> Any:
        return self._last

    def _heard_state(self) -> dict[str, Any]:
        return {"last": self._codec.decode(np.array([self._last]))[0]}

    def _load_heard(self, *heard: Any) -> None:
        self._last = self._codec.recall(list(heard), 1)[0]


class Majority(Baseline):
    """The label heard most often so far; of several, the one that was there first."""

    def __init__(self, codec: Codec, delay: int = 0) -> None:
        super().__init__(codec, delay)
        self._heard: Counter[int] = Counter()
        self._most: int = codec.nothing

    def hear_all(self, labels: NDArray[Any]) -> NDArray[Any]:
        ahead, *others = [*(n for _, n in self._heard.most_common(2)), 0, 0][:2]
        if ahead - max(others) > len(labels):  # nobody can catch up
            met, often = np.unique(labels, return_counts=True)
            self._heard.update(dict(zip(met.tolist(), often.tolist(), strict=True)))
            return np.full(len(labels), self._most)
        given, heard, most = [], self._heard, self._most
        for label in labels.tolist():
            heard[label] += 1
            if heard[label] > heard[most]:
                most = label
            given.append(most)
        self._most = most
        return np.array(given)

    def answer(self) -> Any:
        return self._most

    def _heard_state(self) -> dict[str, Any]:
        names = self._codec.decode(np.array([*self._heard, self._most]))
        heard = [list(pair) for pair in zip(names[:-1], self._heard.values(), strict=True)]
        return {"heard": sorted(heard, key=repr), "most": names[-1]}

    def _load_heard(self, *heard: Any) -> None:
        pairs, most = heard
        if not isinstance(pairs, list) or not all(
            isinstance(pair, list) and len(pair) == 2 for pair in pairs
        ):
            raise ValueError("a saved majority must be pairs of label and count")
        names = self._codec.recall([name for name, _ in pairs], len(pairs)).tolist()
        counted = Counter(dict(zip(names, plain.counts(*(n for _, n in pairs)), strict=True)))
        leader = int(self._codec.recall([most], 1)[0])
        if leader not in counted and (most is not None or counted):
            raise ValueError("a saved majority is for a label that was never heard")
        self._heard, self._most = counted, leader


class RunningMean(Baseline):
    """The mean of the targets so far."""

    _sum = 0.0
    _count = 0

    def hear_all(self, labels: NDArray[Any]) -> NDArray[Any]:
        sums = np.add.accumulate(np.concatenate(([self._sum], labels)))[1:]
        means: NDArray[Any] = sums / np.arange(self._count + 1, self._count + 1 + len(labels))
        self._sum, self._count = float(sums[-1]), self._count + len(labels)
        return means

    def answer(self) -> Any:
        return self._sum / self._count if self._count else self._codec.nothing

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
