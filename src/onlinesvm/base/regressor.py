"""An online estimator for real targets."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from .estimator import Batch, OnlineEstimator
from .reading import one_row
from .rows import Rows


class OnlineRegressor(RegressorMixin, OnlineEstimator):
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
        batch = self._read(X, y, sample_weight, None, fresh=True, some=True)
        with self._all_or_nothing("a new core"):  # the core before is kept until this one is
            self._fit(batch)
        return self

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
        fresh = not self.__sklearn_is_fitted__()
        self._ready()
        batch = self._read(X, y, sample_weight, ids, fresh=fresh)
        self._go_on(batch, fresh=fresh)
        return self

    def learn_one(self, x: Any, y: float, w: float = 1.0) -> Self:
        """Learn one example: ``partial_fit`` of one row without its validation cost.

        Parameters
        ----------
        x : 1-D array or dict
        y : float
        w : float, default=1.0
            Sample weight.

        Returns
        -------
        self
        """
        if w == 1.0 and self._short and abs(y) < np.inf and self._learn_at_once(x, y):
            return self
        return self.partial_fit(one_row(x), [y], sample_weight=w)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The expected target of each row of ``X``; learns nothing."""
        return self._scores(X)[:, 0]

    def predict_one(self, x: Any) -> float:
        """The expected target of one 1-D array or dict; 0.0 before anything was learned."""
        return self._scores_one(x)[0] if self.__sklearn_is_fitted__() else 0.0

    def _read(
        self, X: Any, y: Any, sample_weight: Any, ids: Any, *, fresh: bool, some: bool = False
    ) -> Batch:
        rows, columns = self._read_rows(X, fresh=fresh)
        column = self._read_column(y, len(rows))
        try:
            targets = np.ascontiguousarray(column, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError("y must hold real numbers; encode or drop other entries") from None
        if not np.isfinite(targets).all():
            raise ValueError("Input y contains NaN or infinity; drop those examples")
        weights = self._read_weights(sample_weight, len(rows), some=some)
        given = self._read_ids(ids, len(rows), fresh=fresh)
        return Batch(rows, columns, targets, weights, given)

    def _tally(self, rows: Rows, targets: NDArray[np.float64]) -> float:
        return float(np.abs(rows.score(self._core)[:, 0] - targets).sum())
