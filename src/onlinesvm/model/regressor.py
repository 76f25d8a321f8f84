"""An online estimator for real targets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.labels import NO_LABELS, Labels
from ..data.rows import Rows
from ..data.sklearn_types import RegressorMixin
from .estimator import OnlineEstimator


class OnlineRegressor(RegressorMixin, OnlineEstimator):
    """An :class:`OnlineEstimator` for real targets."""

    _measure = "mean absolute error"

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The expected target of each row of ``X``; learns nothing."""
        return self._scores(X)[:, 0]

    def predict_one(self, x: Any) -> float:
        """The expected target of one 1-D array or dict; 0.0 before anything was learned."""
        return self._scores_one(x)[0] if self.__sklearn_is_fitted__() else 0.0

    def _read_targets(
        self, y: Any, n: int, classes: Any, *, fresh: bool, whole: bool
    ) -> tuple[NDArray[Any], Labels, Sequence[int]]:
        column = self._read_column(y, n)
        try:
            targets = np.ascontiguousarray(column, dtype=np.float64)
        except OverflowError:
            raise ValueError("y has an integer too large for a float; scale it") from None
        except (TypeError, ValueError):
            raise ValueError("y must hold real numbers; encode or drop other entries") from None
        if not np.isfinite(targets).all():
            raise ValueError("Input y contains NaN or infinity; drop those examples")
        return targets, NO_LABELS, ()

    def _core_target(self) -> Callable[[Any], float | None]:
        return _finite_target

    def _tally(self, rows: Rows, targets: NDArray[np.float64]) -> float:
        return float(np.abs(rows.score(self._core)[:, 0] - targets).sum())


_MOST = float(np.finfo(np.float64).max)  # integers may be larger


def _finite_target(y: Any) -> float | None:
    return y if abs(y) <= _MOST else None
