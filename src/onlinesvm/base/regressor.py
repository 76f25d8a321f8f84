"""An online estimator for real targets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .estimator import OnlineEstimator
from .fast_path import OneByOne
from .labels import NO_LABELS, Labels
from .rows import Rows
from .sklearn_types import RegressorMixin


class OnlineRegressor(RegressorMixin, OnlineEstimator, OneByOne):
    """An :class:`OnlineEstimator` for real targets."""

    _measure = "mean absolute error"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn the rows of ``X``.

        Parameters
        ----------
        X : array, sparse matrix, data frame or list of dicts, n rows
        y : array of n numbers
        sample_weight : array of n numbers >= 0, optional
            0 skips an example.

        Returns
        -------
        self
        """
        return self._fit_all(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, ids: Any = None) -> Self:
        """Go on learning with the rows of ``X``, in order.

        Cutting a stream into other batches gives the same model, bit for bit; a class that solves
        every call as a whole says so, and gives the same solution within ``tol``.

        Parameters
        ----------
        X : array, sparse matrix, data frame or list of dicts, n rows
        y : array of n numbers
        sample_weight : array of n numbers >= 0, optional
            0 skips an example.
        ids : array of n integers >= 0, optional
            Names for the examples; default 0, 1, 2, ... in order of arrival.

        Returns
        -------
        self
        """
        return self._go_on(X, y, sample_weight, ids)

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
        except (TypeError, ValueError):
            raise ValueError("y must hold real numbers; encode or drop other entries") from None
        if not np.isfinite(targets).all():
            raise ValueError("Input y contains NaN or infinity; drop those examples")
        return targets, NO_LABELS, ()

    def _core_target(self) -> Callable[[Any], float | None]:
        return _finite_target

    def _tally(self, rows: Rows, targets: NDArray[np.float64]) -> float:
        return float(np.abs(rows.score(self._core)[:, 0] - targets).sum())


def _finite_target(y: Any) -> float | None:
    return y if abs(y) < np.inf else None
