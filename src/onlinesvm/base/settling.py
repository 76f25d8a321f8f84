"""``gamma`` by word in a stream: settled on its first examples, which are held until then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rows import DenseRows, Rows, SparseRows

#: So many examples settle gamma; after 1, 2, 4, ... of them it is taken anew.
WARM_UP = 256
#: Rows whose own gamma differs by this factor from the one in use are worth a warning.
FAR = 10.0


@dataclass(frozen=True)
class Spread:
    """How many values passed, of how many features, their mean and their variance."""

    rows: int = 0
    features: int = 0
    mean: float = 0.0
    variance: float = 0.0

    @staticmethod
    def of(rows: Rows, *, named: bool) -> Spread:
        """Of all values of the rows, zeros of sparse ones included, as scikit-learn takes it.

        ``named``: features are those that occur, since no matrix says how many there are.
        """
        if not len(rows):
            return Spread()
        features = rows.columns_met() if named else rows.columns()
        return Spread(len(rows), features, *rows.moments(max(1, len(rows) * features)))

    def and_then(self, more: Spread) -> Spread:
        """Of both together; features may have been added since."""
        features = max(self.features, more.features, 1)
        n = max(1, (self.rows + more.rows) * features)
        parts = [(part.rows * part.features, part) for part in (self, more)]
        mean = sum(m * part.mean for m, part in parts) / n
        squares = sum(m * (part.variance + part.mean**2) for m, part in parts) / n
        return Spread(self.rows + more.rows, features, mean, max(0.0, squares - mean**2))

    def gamma(self, word: str) -> float:
        """What the word means for these values: ``"auto"`` or ``"scale"``."""
        gamma = 1.0 / max(1, self.features)
        if word == "scale":
            gamma = gamma / self.variance if self.variance else 1.0
        return float(np.clip(gamma, 1e-37, 1e37))  # what float32 can hold


@dataclass(frozen=True)
class Held:
    """The first examples of a stream; immutable, so that a failed call changes nothing."""

    arrived: int = 0  # examples that counted so far, those unlearned included
    pieces: tuple[Rows, ...] = ()
    targets: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    weights: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    ids: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    classes: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))  # known then

    def __len__(self) -> int:
        return len(self.ids)

    def next_look(self, coming: int) -> int:
        """After how many of the coming examples gamma is taken for the last time; 0: not yet."""
        total = min(self.arrived + coming, WARM_UP)
        last = 1 << (total.bit_length() - 1) if total else 0
        return max(0, last - self.arrived)

    def and_then(self, rows: Rows, targets: Any, weights: Any, ids: Any, classes: Any) -> Held:
        """With these examples after the last."""
        if not len(ids):
            return self
        return Held(
            self.arrived + len(rows),
            (*self.pieces, rows.kept()),
            np.concatenate([self.targets, targets]),
            np.concatenate([self.weights, weights]),
            np.concatenate([self.ids, ids]),
            np.concatenate([self.classes, classes]),
        )

    def rows(self) -> Rows:
        return self.pieces[0].joined(self.pieces[1:])

    def without(self, ids: NDArray[np.int64]) -> Held:
        """Only the others; what was unlearned is not learned again."""
        stay = np.flatnonzero(~np.isin(self.ids, ids))
        if len(stay) == len(self):
            return self
        return Held(
            self.arrived,
            (self.rows().picked(stay),) if len(stay) else (),
            self.targets[stay],
            self.weights[stay],
            self.ids[stay],
            self.classes[stay],
        )

    def reweighted(self, ids: NDArray[np.int64], weights: NDArray[np.float64]) -> Held:
        changed = self.weights.copy()
        for i, w in zip(ids, weights, strict=True):
            changed[self.ids == i] = w
        return replace(self, weights=changed)

    @property
    def nbytes(self) -> int:
        return sum(piece.nbytes() for piece in self.pieces) + 32 * len(self)

    # --- persistence --------------------------------------------------------------------------

    def to_facts(self) -> dict[str, Any]:
        facts = {
            "arrived": self.arrived,
            "targets": self.targets,
            "weights": self.weights,
            "ids": self.ids,
            "classes": self.classes,
        }
        return facts | (self.rows().to_facts() if self.pieces else {})

    @staticmethod
    def from_facts(facts: Mapping[str, Any], width: int, *, sparsely: bool) -> Held:
        """Held examples from a file, which is not to be trusted."""
        targets, weights = (np.asarray(facts[name], np.float64) for name in ("targets", "weights"))
        ids, classes = (np.asarray(facts[name], np.int64) for name in ("ids", "classes"))
        n, arrived = len(targets), int(facts["arrived"])
        columns = (targets, weights, ids, classes)
        if any(column.shape != (n,) or not np.isfinite(column).all() for column in columns):
            raise ValueError("its first examples do not fit together")
        in_order = n <= arrived < WARM_UP and not (np.diff(classes) < 0).any()
        if not in_order or len(np.unique(ids)) < n or (weights <= 0).any():
            raise ValueError("its first examples are out of order")
        if not n:
            return Held(arrived)
        rows: Rows = (SparseRows if sparsely else DenseRows).from_facts(facts, width)
        if len(rows) != n or not rows.within(np.inf):
            raise ValueError("its first examples are damaged")
        return Held(arrived, (rows,), targets, weights, ids, classes)


def runs(classes: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Where the number of known classes stays the same: consecutive (start, stop)."""
    cuts = [0, *(np.flatnonzero(np.diff(classes)) + 1).tolist(), len(classes)]
    return list(pairwise(cuts))
