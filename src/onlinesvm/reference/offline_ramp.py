"""The ramp-loss SVM trained offline, by a concave-convex procedure (Collobert et al. 2006)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onlinesvm.reference.kernels import Array
from onlinesvm.reference.ramp import Example, Ramp


class OfflineRamp(Ramp):
    """Ramp-loss SVM of a whole data set at once, the batch counterpart of `Ramp`.

    Round one is a plain hinge-loss SVM on everything; each later round drops who ended up below the
    ramp (z < s), takes back who rose above, and solves again from where it stands. The objective
    never rises: on V the hinge, off V the constant 1 - s, is an upper bound of the ramp that
    touches it at the present w. (The paper calls this round the CCCP step, equations 9 and 11; it
    is another bound of the same kind, tighter where z > 1.)

    Parameters are those of `Ramp`, without queries; here any s < 1 makes sense.

    Attributes
    ----------
    rounds : list of float
        The ramp objective after each round.

    Examples
    --------
    >>> from onlinesvm.reference import Kernel, OfflineRamp
    >>> X = [[1.0], [1.2], [1.4], [-1.0], [-1.2], [3.0]]
    >>> model = OfflineRamp(Kernel("linear"), C=1.0).fit(X, [1, 1, 1, -1, -1, -1])
    >>> [round(p, 4) for p in model.rounds]
    [2.6806, 2.5]
    """

    rounds: list[float]

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        weight: ArrayLike = 1.0,
        start: NDArray[np.bool_] | None = None,
    ) -> OfflineRamp:
        """Forget, then train on all rows; the first round is on those of ``start``, or on all."""
        rows = np.asarray(X, dtype=np.float64)
        self._delete(np.arange(len(self.X)))
        self.n_seen = len(rows)
        for i, (x, y_i, w_i) in enumerate(zip(rows, *np.broadcast_arrays(y, weight), strict=True)):
            if w_i > 0.0:
                self._add(Example(x, float(y_i), float(w_i), i))
        self.V = np.ones(len(self.X), dtype=bool) if start is None else start
        self._settle()
        return self

    def _settle(self) -> None:
        self._optimise()
        self.rounds = [self.objective()]
        for _ in range(self.max_rounds):
            V = self._inside_ramp()
            if np.array_equal(V, self.V) or self._loses_a_class(V):
                break
            self._relocate(V)
            self._optimise()
            self.rounds.append(self.objective())

    def _loses_a_class(self, V: NDArray[np.bool_]) -> bool:
        y: Array = self.y
        return len(set(y[V])) < len(set(y[self.V]))
