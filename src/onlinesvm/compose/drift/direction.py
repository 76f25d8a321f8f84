"""Whether values have risen or fallen, for detectors that ring for both."""

from __future__ import annotations

import numpy as np

_MOST = 5  # sums of one size, before the two oldest become one


class Direction:
    """Sums of the values so far, in runs that double with age: some 5 log2(n) pairs of numbers."""

    def __init__(self) -> None:
        self._sizes: list[list[tuple[int, float]]] = []  # (values, their sum), newest sizes first

    def update(self, x: float) -> None:
        """Take the next value."""
        run, size = (1, x), 0
        while True:
            if size == len(self._sizes):
                self._sizes.append([])
            alike = self._sizes[size]
            alike.append(run)
            if len(alike) <= _MOST:
                return
            (a, b), (c, d), *self._sizes[size] = alike
            run, size = (a + c, b + d), size + 1

    @property
    def is_up(self) -> bool:
        """Whether the mean is higher after the cut between whose sides it differs most surely."""
        runs = [run for alike in reversed(self._sizes) for run in alike]
        if len(runs) < 2:
            return False
        values, sums = np.cumsum(runs, axis=0, dtype=np.float64).T
        old, new = values[:-1], values[-1] - values[:-1]
        rise = (sums[-1] - sums[:-1]) / new - sums[:-1] / old
        sure = rise / np.sqrt(1 / old + 1 / new)
        return bool(sure[np.argmax(np.abs(sure))] > 0)
