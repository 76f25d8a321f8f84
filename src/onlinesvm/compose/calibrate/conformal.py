"""Adaptive conformal inference (Gibbs & Candes 2021): a level that moves with its own mistakes."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class AdaptiveSets:
    """How unlikely a class may be and still belong to the set, for each of some ``alphas``.

    A label is as strange as its probability lacks of 1. A set takes the classes that are no
    stranger than a quantile of the labels of late, at a level that moves: up by
    ``step * alpha`` with each label that was in its set, down by ``step * (1 - alpha)`` with each
    that was not. At a level of 0 the set is full and at 1 it is empty, so the level never leaves
    ``[-step, 1 + step]``, and the share of misses in any T examples in a row is within
    ``(1 + step) / (step T)`` of alpha, whatever the stream does.
    """

    def __init__(self, alphas: Sequence[float], step: float, window: int) -> None:
        self.alphas, self.step = tuple(alphas), step
        self.levels = list(self.alphas)
        self._late: deque[float] = deque(maxlen=window)
        self._sorted: list[float] = []

    def limit(self, alpha: float) -> float:
        """The strangeness up to which a class belongs to the set; a bad alpha is a ValueError."""
        if alpha not in self.alphas:
            known = ", ".join(f"{a:g}" for a in self.alphas) or "none"
            raise ValueError(
                f"alpha={alpha!r} was not followed along the stream ({known} was); "
                "name it in alphas before learning"
            )
        return self._quantile(self.levels[self.alphas.index(alpha)])

    def _quantile(self, level: float) -> float:
        held = len(self._sorted)
        rank = math.ceil((1 - level) * (held + 1))
        if level <= 0 or rank > held:
            return math.inf
        return self._sorted[rank - 1] if rank > 0 else -math.inf

    def learn(self, strangeness: float) -> None:
        """Take how strange the label was; infinite if no set could have held it."""
        for i, alpha in enumerate(self.alphas):
            limit = self._quantile(self.levels[i])
            missed = strangeness > limit or strangeness == math.inf
            self.levels[i] += self.step * (alpha - missed)
        if len(self._late) == self._late.maxlen:
            del self._sorted[bisect_left(self._sorted, self._late[0])]
        self._late.append(min(strangeness, 1.0))
        insort(self._sorted, self._late[-1])

    @property
    def nbytes(self) -> int:
        return 64 * len(self._late) + 64 * len(self.levels)

    def state(self) -> dict[str, NDArray[Any]]:
        return {"levels": np.array(self.levels, dtype=np.float64), "late": np.array(self._late)}

    def load(self, levels: NDArray[Any], late: NDArray[Any]) -> None:
        """Go on where ``state`` left it; what cannot be is a ValueError."""
        if levels.shape != (len(self.alphas),) or not np.isfinite(levels).all():
            raise ValueError("its levels do not fit its alphas")
        if (levels < -self.step).any() or (levels > 1 + self.step).any():
            raise ValueError("its levels are where no step leads")
        window = self._late.maxlen or 0
        if late.ndim != 1 or len(late) > window or not ((late >= 0) & (late <= 1)).all():
            raise ValueError("its late labels are no strangeness from 0 to 1")
        self.levels = levels.tolist()
        self._late = deque(late.tolist(), maxlen=window)
        self._sorted = sorted(self._late)
