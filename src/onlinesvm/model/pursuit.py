"""Orthogonal matching pursuit among kernel functions: which few of them say nearly what all say.

Functions f_o = sum_j a_oj k(x_j, .) are projected onto the span of some of the k(x_j, .), one more
at a time: the one that takes most from what is left, in the norm of the kernel's space. The chosen
ones are made orthonormal as they come (Cholesky), so a step costs one pass over those before it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

Floats = NDArray[np.float64]
Columns = Callable[[NDArray[np.intp]], Floats]

_ROOM = 64  # directions; doubled when they are all taken
_AHEAD, _KEPT = 24, 256  # columns that are computed together, and kept for later
_NEW = 1e-8  # share of k(x, x) that must lie outside the span for a function to be of use


class Pursuit:
    """The best few of n functions for some sums of them, and the values of what is left.

    Parameters
    ----------
    columns : callable
        Kernel values of some of the first n points against all points, a line for each.
    own : array of n
        k(x, x) of the first n points.
    values : array, outputs x points
        The functions at all points: the n examples first, then any others to be watched.
    norms : array of outputs
        Their squared norms.
    """

    def __init__(
        self,
        columns: Callable[[NDArray[np.intp]], Floats],
        own: Floats,
        values: Floats,
        norms: Floats,
    ) -> None:
        self.left = values.copy()
        self.distances2 = norms.copy()
        self.chosen: list[int] = []
        self._columns, self._own = columns, own
        self._beyond = own.copy()  # squared distance of each function to the span
        self._directions = np.empty((_ROOM, values.shape[1]))
        self._along: list[Floats] = []
        self._ahead: dict[int, tuple[Floats, int]] = {}  # and how many directions they lack

    @property
    def distance(self) -> float:
        """How far the projections are, of the output where they are farthest; by recurrence."""
        return float(np.sqrt(max(0.0, self.distances2.max())))

    def step(self) -> bool:
        """Take one function more; False: none is left that would help."""
        n, t = len(self._own), len(self.chosen)
        while True:
            useful = self._beyond > _NEW * self._own
            gain = np.square(self.left[:, :n]).sum(axis=0) / np.where(useful, self._beyond, 1.0)
            gain[~useful] = 0.0
            best = int(gain.argmax())
            if not gain[best] > 0:
                return False
            column = self._column(best, gain)
            if column[best] > _NEW * self._own[best]:
                break
            self._beyond[best] = 0.0  # rounding had hidden that it lies in the span
        if t == len(self._directions):
            more = np.empty((2 * t, self._directions.shape[1]))
            more[:t] = self._directions
            self._directions = more
        length = np.sqrt(column[best])
        self._directions[t] = direction = column / length
        along = self.left[:, best] / length
        self.left -= np.outer(along, direction)
        self.distances2 -= np.square(along)
        self._beyond -= np.square(direction[:n])
        self._beyond[best] = 0.0
        self.chosen.append(best)
        self._along.append(along)
        return True

    def _column(self, best: int, gain: Floats) -> Floats:
        """What one function has outside the span, at all points.

        Those that are likely to be next come along: a pass over the directions serves all of them.
        """
        t = len(self.chosen)
        if best not in self._ahead:
            likely = np.argpartition(gain, -_AHEAD)[-_AHEAD:] if len(gain) > _AHEAD else [best]
            numbers = np.array([best, *(i for i in likely if i != best and i not in self._ahead)])
            columns = self._columns(numbers)
            columns -= self._directions[:t, numbers].T @ self._directions[:t]
            if len(self._ahead) >= _KEPT:
                self._ahead.clear()
            for number, column in zip(numbers.tolist(), columns, strict=True):
                self._ahead[number] = column, t
        column, known = self._ahead.pop(best)
        return column - self._directions[known:t, best] @ self._directions[known:t]

    def coefficients(self) -> Floats:
        """Those of the chosen functions in the projections, outputs x chosen."""
        if not self.chosen:
            return np.zeros((len(self.left), 0))
        triangle = self._directions[: len(self.chosen), self.chosen]
        return np.asarray(solve_triangular(triangle, np.array(self._along)).T)
