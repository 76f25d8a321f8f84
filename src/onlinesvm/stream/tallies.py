"""What is counted of a stream so that metrics can be read off it; all of it merges exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import eq
from typing import Any, ClassVar, Self

import numpy as np

from onlinesvm.stream import plain
from onlinesvm.stream.exact_sum import ExactSum, squares

__all__ = ["Changes", "Confusion", "Errors", "Likelihoods", "Marks", "Ranks", "Tally"]

_SMALLEST_CHANCE = float(np.finfo(np.float64).eps)  # as scikit-learn's log_loss clips


@dataclass(slots=True)
class Marks:
    """Answers beside what was right, column by column; a column that nobody reads stays empty.

    Attributes
    ----------
    truth, guess : list
    before : list
        What was right for the example before; None where there was none.
    score : list of float
        For the second of two classes, or for being usual; nan where a model gave none.
    likelihood : list of float
        The probability that the model gave to the truth.
    """

    truth: list[Any] = field(default_factory=list)
    guess: list[Any] = field(default_factory=list)
    before: list[Any] = field(default_factory=list)
    score: list[float] = field(default_factory=list)
    likelihood: list[float] = field(default_factory=list)

    COLUMNS: ClassVar[tuple[str, ...]] = ("truth", "guess", "before", "score", "likelihood")

    def __len__(self) -> int:
        return len(self.truth)

    def extend(self, others: Marks) -> None:
        """Append the rows of others."""
        for name in self.COLUMNS:
            getattr(self, name).extend(getattr(others, name))

    def keep_last(self, count: int) -> None:
        """Forget all rows but the last ones."""
        for name in self.COLUMNS:
            del getattr(self, name)[:-count]

    def state(self) -> dict[str, list[Any]]:
        """The columns as plain values."""
        return {name: list(getattr(self, name)) for name in self.COLUMNS if getattr(self, name)}

    @staticmethod
    def from_state(state: Any, names: Iterable[str], most: int) -> Marks:
        """At most so many rows of these columns; anything else is refused."""
        if not isinstance(state, Mapping) or (state and state.keys() != set(names)):
            raise ValueError("a saved window has other columns than its metrics read")
        rows = max(
            (len(column) for column in state.values() if isinstance(column, list)), default=0
        )
        if rows > most:
            raise ValueError(f"a saved window has {rows} rows, more than its {most}")
        marks = Marks(**{name: plain.labels(column, rows) for name, column in state.items()})
        for value in (*marks.score, *marks.likelihood):
            plain.number(value)
        return marks


class Tally:
    """Something that is counted along a stream."""

    needs: ClassVar[tuple[str, ...]]
    grows: ClassVar[bool] = False  # with every example, so that it fits a window only

    def update(self, marks: Marks) -> None:
        """Count these rows, which came after all before."""
        raise NotImplementedError

    def merge(self, later: Self) -> None:
        """Count what another one counted, which came later."""
        raise NotImplementedError

    def state(self) -> Any:
        """What was counted, as plain values; only of those that do not grow."""
        raise NotImplementedError

    def load(self, state: Any) -> None:
        """Take up counting where `state` left it; what cannot have been counted is refused."""
        raise NotImplementedError


class Confusion(Tally):
    """How often each truth met each guess; a guess of None is wrong and of no class."""

    needs = ("truth", "guess")

    def __init__(self) -> None:
        self.pairs: Counter[tuple[Any, Any]] = Counter()
        self._sums: dict[str, Counter[Any]] = {}  # of the pairs: several metrics read each

    def update(self, marks: Marks) -> None:
        self.pairs.update(zip(marks.truth, marks.guess, strict=True))
        self._sums.clear()

    def merge(self, later: Self) -> None:
        self.pairs.update(later.pairs)
        self._sums.clear()

    def state(self) -> list[Any]:
        return [[truth, guess, count] for (truth, guess), count in self.pairs.items()]

    def load(self, state: Any) -> None:
        if not isinstance(state, list) or not all(
            isinstance(entry, list) and len(entry) == 3 for entry in state
        ):
            raise ValueError("a saved confusion must be rows of truth, guess and count")
        pairs = {(plain.label(t), plain.label(g)): plain.counts(n)[0] for t, g, n in state}
        if len(pairs) < len(state):
            raise ValueError("a saved confusion has a pair twice")
        self.pairs = Counter(pairs)
        self._sums.clear()

    @property
    def count(self) -> int:
        return self.pairs.total()

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


_NOTHING: Any = object()  # before the first label; no label equals it


class Changes(Tally):
    """How often the guess was right, and how often the label before would have been."""

    needs = ("truth", "guess", "before")

    def __init__(self) -> None:
        self.count = self.right = self.kept = 0
        self._first = self._last = _NOTHING

    def update(self, marks: Marks) -> None:
        if not marks.truth:
            return
        before = marks.before or [self._last, *marks.truth[:-1]]
        if not self.count:
            self._first = _NOTHING if marks.before else marks.truth[0]
        self._last = marks.truth[-1]
        self.count += len(marks.truth)
        self.right += _agreed(marks.truth, marks.guess)
        self.kept += _agreed(marks.truth, before)

    def merge(self, later: Self) -> None:
        if not later.count:
            return
        self.kept += later.kept + int(bool(self._last == later._first))
        if not self.count:
            self._first = later._first
        self._last = later._last
        self.count += later.count
        self.right += later.right

    def state(self) -> dict[str, Any]:
        ends = [[] if end is _NOTHING else [end] for end in (self._first, self._last)]
        return {"count": self.count, "right": self.right, "kept": self.kept, "ends": ends}

    def load(self, state: Any) -> None:
        count, right, kept, ends = plain.members(state, ("count", "right", "kept", "ends"))
        count, right, kept = plain.counts(count, right, kept)
        if max(right, kept) > count or not isinstance(ends, list) or len(ends) != 2:
            raise ValueError("a saved count of changes contradicts itself")
        first, last = (_NOTHING if end == [] else plain.labels(end, 1)[0] for end in ends)
        self.count, self.right, self.kept = count, right, kept
        self._first, self._last = first, last


def _agreed(these: Sequence[Any], those: Sequence[Any]) -> int:
    return sum(map(eq, these, those))


class Errors(Tally):
    """Sums of the errors of a regressor, and of its targets, without rounding."""

    needs = ("truth", "guess")
    _SUMS: ClassVar[tuple[str, ...]] = ("absolute", "squared", "targets", "squared_targets")

    def __init__(self) -> None:
        self.count = 0
        self.absolute, self.squared = ExactSum(), ExactSum()
        self.targets, self.squared_targets = ExactSum(), ExactSum()

    def update(self, marks: Marks) -> None:
        truth = np.asarray(marks.truth, dtype=np.float64)
        error = truth - np.asarray(marks.guess, dtype=np.float64)
        self.count += len(truth)
        self.absolute.add(np.abs(error))
        self.squared.add(squares(error))
        self.targets.add(truth)
        self.squared_targets.add(squares(truth))

    def merge(self, later: Self) -> None:
        self.count += later.count
        self.absolute.merge(later.absolute)
        self.squared.merge(later.squared)
        self.targets.merge(later.targets)
        self.squared_targets.merge(later.squared_targets)

    def state(self) -> dict[str, Any]:
        return {"count": self.count} | {name: getattr(self, name).state() for name in self._SUMS}

    def load(self, state: Any) -> None:
        count, *sums = plain.members(state, ("count", *self._SUMS))
        for name, digits in zip(self._SUMS, sums, strict=True):
            getattr(self, name).load(digits)
        (self.count,) = plain.counts(count)


class Likelihoods(Tally):
    """The sum of the logarithms of what was given to the truth; nan is left out."""

    needs = ("truth", "likelihood")

    def __init__(self) -> None:
        self.count = 0
        self.loss = ExactSum()

    def update(self, marks: Marks) -> None:
        chances = np.asarray(marks.likelihood, dtype=np.float64)
        chances = chances[~np.isnan(chances)]
        self.count += len(chances)
        self.loss.add(-np.log(np.clip(chances, _SMALLEST_CHANCE, 1 - _SMALLEST_CHANCE)))

    def merge(self, later: Self) -> None:
        self.count += later.count
        self.loss.merge(later.loss)

    def state(self) -> dict[str, Any]:
        return {"count": self.count, "loss": self.loss.state()}

    def load(self, state: Any) -> None:
        count, loss = plain.members(state, ("count", "loss"))
        self.loss.load(loss)
        (self.count,) = plain.counts(count)


class Ranks(Tally):
    """Every score beside its truth: an order has no shorter summary."""

    needs = ("truth", "score")
    grows = True

    def __init__(self) -> None:
        self.truth: list[Any] = []
        self.score: list[float] = []

    def update(self, marks: Marks) -> None:
        self.truth += marks.truth
        self.score += marks.score

    def merge(self, later: Self) -> None:
        self.truth += later.truth
        self.score += later.score
