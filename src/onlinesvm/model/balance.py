"""``class_weight="balanced"`` of a stream: from the classes met so far, as each example arrives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_FEW = 16  # classes that are counted sooner one by one


@dataclass(frozen=True)
class ClassCounts:
    """How many examples of each class were learned, by the number of the class.

    Of ``n`` examples of ``k`` classes met, a class with ``n_c`` of them weighs ``n / (k n_c)``.
    """

    counts: NDArray[np.int64]

    def factors(self, classes: int) -> NDArray[np.float64]:
        """The weight of each of so many classes now; 1 of those not met."""
        counts = self._room_for(classes)
        met = counts > 0
        return np.where(met, counts.sum() / (max(1, met.sum()) * np.maximum(counts, 1)), 1.0)

    def running(self, codes: NDArray[np.intp]) -> NDArray[np.float64]:
        """The weight of each of these examples when it comes, itself counted in."""
        n = len(codes)
        before = self._room_for(int(codes.max(initial=-1)) + 1)
        order = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[order], codes, side="left")
        place = np.empty(n, dtype=np.int64)
        place[order] = np.arange(n)
        of_class = before[codes] + place - starts + 1
        met = (before > 0).sum() + np.cumsum(of_class == 1)
        factors: NDArray[np.float64] = (before.sum() + np.arange(1, n + 1)) / (met * of_class)
        return factors

    def and_then(self, codes: NDArray[np.intp]) -> ClassCounts:
        """The counts after these examples."""
        classes = max(len(self.counts), int(codes.max(initial=-1)) + 1)
        more = (
            np.array([np.count_nonzero(codes == code) for code in range(classes)], dtype=np.int64)
            if classes <= _FEW
            else np.bincount(codes, minlength=classes)
        )
        return ClassCounts(self._room_for(classes) + more)

    def _room_for(self, classes: int) -> NDArray[np.int64]:
        missing = max(0, classes - len(self.counts))
        return np.concatenate([self.counts, np.zeros(missing, dtype=np.int64)])
