"""What is counted of a stream so that metrics can be read off it, and how labels are coded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from onlinesvm.stream import plain

__all__ = ["Changes", "Codec", "Confusion", "Errors", "Likelihoods", "Ranks", "Tally", "Targets"]

_SMALLEST_CHANCE = float(np.finfo(np.float64).eps)  # as scikit-learn's log_loss clips
Columns = Mapping[str, NDArray[Any]]


class Codec:
    """Labels as small integers, in the order in which they came; 0 is no label at all."""

    nothing: Any = 0

    def __init__(self) -> None:
        self._codes: dict[Any, int] = {None: 0}
        self._labels: list[Any] = [None]

    def encode(self, labels: Sequence[Any]) -> NDArray[Any]:
        """The code of each label."""
        try:
            return np.fromiter(map(self._codes.__getitem__, labels), np.int64, len(labels))
        except KeyError:
            for label in labels:
                if self._codes.setdefault(label, len(self._labels)) == len(self._labels):
                    self._labels.append(label)
            return self.encode(labels)

    def decode(self, codes: NDArray[Any]) -> list[Any]:
        """The label of each code."""
        return [self._labels[code] for code in codes.tolist()]

    def recall(self, values: Any, count: int) -> NDArray[Any]:
        """So many labels from a file."""
        return self.encode(plain.labels(values, count))


class Targets(Codec):
    """The same for regressors, whose targets are numbers already."""

    nothing = float("nan")

    def encode(self, labels: Sequence[Any]) -> NDArray[Any]:
        return np.asarray(labels, dtype=np.float64)

    def decode(self, codes: NDArray[Any]) -> list[Any]:
        decoded: list[Any] = codes.tolist()
        return decoded

    def recall(self, values: Any, count: int) -> NDArray[Any]:
        return numbers(values, count)


def numbers(values: Any, count: int) -> NDArray[np.float64]:
    """So many floats from a file."""
    return np.array([plain.number(value) for value in plain.labels(values, count)], np.float64)


class Tally:
    """Something that is counted along a stream, from columns of answers.

    ``truth``, ``guess`` and ``before`` (what was right for the example before) are codes, or
    numbers of a regressor; ``score`` is for the second of two classes, or for being usual;
    ``likelihood`` is the probability that was given to the truth; nan is none.
    """

    needs: ClassVar[tuple[str, ...]]
    grows: ClassVar[bool] = False  # with every example, so that it fits a window only
    _saved: ClassVar[tuple[str, ...]] = ()
    positive: Any = 1  # the label whose F1 is meant

    def __init__(self) -> None:
        self.count = 0

    def update(self, columns: Columns, codec: Codec) -> None:
        """Count these rows, which came after all before."""
        raise NotImplementedError

    def state(self) -> Any:
        """What was counted, as plain values; only of those that do not grow."""
        return {name: getattr(self, name) for name in self._saved}

    def load(self, state: Any) -> None:
        """Take up counting where `state` left it; what cannot have been counted is refused."""
        for name, value in zip(self._saved, plain.members(state, self._saved), strict=True):
            is_count = isinstance(getattr(self, name), int)
            setattr(self, name, plain.counts(value)[0] if is_count else plain.number(value))


class Confusion(Tally):
    """How often each truth met each guess; a guess of None is wrong and of no class."""

    needs = ("truth", "guess")

    def __init__(self) -> None:
        super().__init__()
        self.pairs: Counter[tuple[Any, Any]] = Counter()
        self._sums: dict[str, Counter[Any]] = {}  # of the pairs: several metrics read each

    def update(self, columns: Columns, codec: Codec) -> None:
        truth, guess = columns["truth"], columns["guess"]
        most = int(guess.max(initial=0)) + 1
        met, often = np.unique(truth * most + guess, return_counts=True)
        pairs = zip(codec.decode(met // most), codec.decode(met % most), strict=True)
        for pair, n in zip(pairs, often.tolist(), strict=True):
            self.pairs[pair] += n
        self.count += len(truth)
        self._sums.clear()

    def state(self) -> list[Any]:
        # In an order that does not hang on which labels came first since the last restart.
        return sorted(([truth, guess, n] for (truth, guess), n in self.pairs.items()), key=repr)

    def load(self, state: Any) -> None:
        if not isinstance(state, list) or not all(
            isinstance(entry, list) and len(entry) == 3 for entry in state
        ):
            raise ValueError("a saved confusion must be rows of truth, guess and count")
        pairs = {(plain.label(t), plain.label(g)): plain.counts(n)[0] for t, g, n in state}
        if len(pairs) < len(state):
            raise ValueError("a saved confusion has a pair twice")
        self.pairs = Counter(pairs)
        self.count = self.pairs.total()
        self._sums.clear()

    def right(self) -> Counter[Any]:
        """Right answers of each class."""
        if "right" not in self._sums:
            right = {t: n for (t, g), n in self.pairs.items() if t == g}
            self._sums["right"] = Counter(right)
        return self._sums["right"]

    def truths(self) -> Counter[Any]:
        """Examples of each class."""
        return self._margin("truths", 0)

    def guesses(self) -> Counter[Any]:
        """Answers of each class."""
        return self._margin("guesses", 1)

    def _margin(self, name: str, side: int) -> Counter[Any]:
        if name not in self._sums:
            sums = self._sums[name] = Counter()
            for pair, count in self.pairs.items():
                if pair[side] is not None:
                    sums[pair[side]] += count
        return self._sums[name]


class Changes(Tally):
    """How often the guess was right, and how often the label before would have been."""

    needs = ("truth", "guess", "before")
    _saved = ("count", "right", "kept")

    def __init__(self) -> None:
        super().__init__()
        self.right = self.kept = 0

    def update(self, columns: Columns, codec: Codec) -> None:
        truth = columns["truth"]
        self.count += len(truth)
        self.right += int(np.count_nonzero(truth == columns["guess"]))
        self.kept += int(np.count_nonzero(truth == columns["before"]))

    def load(self, state: Any) -> None:
        super().load(state)
        if max(self.right, self.kept) > self.count:
            raise ValueError("a saved count of changes contradicts itself")


class Errors(Tally):
    """Sums of the errors of a regressor, and of its targets from the first one on."""

    needs = ("truth", "guess")
    _saved = ("count", "absolute", "squared", "origin", "targets", "squared_targets")

    def __init__(self) -> None:
        super().__init__()
        self.absolute = self.squared = 0.0
        self.origin = self.targets = self.squared_targets = 0.0

    def update(self, columns: Columns, codec: Codec) -> None:
        truth, guess = columns["truth"], columns["guess"]
        if not self.count and len(truth):
            self.origin = float(truth[0])
        self.count += len(truth)
        with np.errstate(over="ignore", invalid="ignore"):
            error, target = truth - guess, truth - self.origin
            self.absolute = _added(self.absolute, np.abs(error))
            self.squared = _added(self.squared, error * error)
            self.targets = _added(self.targets, target)
            self.squared_targets = _added(self.squared_targets, target * target)

    @property
    def spread(self) -> float:
        """The sum of the squared distances of the targets from their mean."""
        return max(0.0, self.squared_targets - self.targets * self.targets / self.count)


class Likelihoods(Tally):
    """The sum of the logarithms of what was given to the truth; nan is left out."""

    needs = ("truth", "likelihood")
    _saved = ("count", "loss")

    def __init__(self) -> None:
        super().__init__()
        self.loss = 0.0

    def update(self, columns: Columns, codec: Codec) -> None:
        chances = columns["likelihood"]
        chances = chances[~np.isnan(chances)]
        self.count += len(chances)
        clipped = np.clip(chances, _SMALLEST_CHANCE, 1 - _SMALLEST_CHANCE)
        self.loss = _added(self.loss, -np.log(clipped))


def _added(total: float, values: NDArray[np.float64]) -> float:
    """One after the other, so that no cut into lessons changes a bit."""
    return float(np.add.accumulate(np.concatenate(([total], values)))[-1])


class Ranks(Tally):
    """Every score beside its truth: an order has no shorter summary, so a window alone has one."""

    needs = ("truth", "score")
    grows = True

    def update(self, columns: Columns, codec: Codec) -> None:
        self.count = len(columns["truth"])
        self.score, self._truth, self._codec = columns["score"], columns["truth"], codec

    def second(self, known: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
        """Which of these rows are of the second of two classes; None if there are not two."""
        truth = self._truth[known]
        codes = np.unique(truth)
        labels = self._codec.decode(codes)
        if len(labels) != 2 or None in labels:
            return None
        positive: NDArray[np.bool_] = truth == codes[labels.index(max(labels))]
        return positive
