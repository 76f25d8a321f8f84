"""An online estimator that learns what is usual, without labels."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin

from .estimator import Batch, OnlineEstimator
from .reading import one_row
from .rows import Rows


class OnlineOutlierDetector(OutlierMixin, OnlineEstimator):
    """An :class:`OnlineEstimator` without labels: +1 for what is usual, -1 for what is not.

    The core's one output is the decision; its ``level`` is the ``offset_`` taken from the scores.
    """

    _measure = "share of inliers"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Forget everything, then learn the rows of ``X``.

        Parameters
        ----------
        X : array, sparse matrix, data frame or list of dicts, n rows
        y : ignored
        sample_weight : array of n numbers >= 0, optional
            0 skips an example.

        Returns
        -------
        self
        """
        batch = self._read(X, sample_weight, None, fresh=True, some=True)
        with self._all_or_nothing("a new core"):  # the core before is kept until this one is
            self._fit(batch)
        return self

    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, ids: Any = None
    ) -> Self:
        """Go on learning with the rows of ``X``, in order.

        Cutting a stream into other batches gives the same model, bit for bit; a class that solves
        every call as a whole says so, and gives the same solution within ``tol``.

        Parameters
        ----------
        X : array, sparse matrix, data frame or list of dicts, n rows
        y : ignored
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
        batch = self._read(X, sample_weight, ids, fresh=fresh)
        self._go_on(batch, fresh=fresh)
        return self

    def learn_one(self, x: Any, y: Any = None, w: float = 1.0) -> Self:
        """Learn one example: ``partial_fit`` of one row without its validation cost.

        Parameters
        ----------
        x : 1-D array or dict
        y : ignored
        w : float, default=1.0
            Sample weight.

        Returns
        -------
        self
        """
        if w == 1.0 and self._short and self._learn_at_once(x, 0.0):
            return self
        return self.partial_fit(one_row(x), sample_weight=w)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """How usual the rows of ``X`` are, negative for outliers; learns nothing."""
        return self._scores(X)[:, 0]

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """``decision_function`` before ``offset_`` is taken away."""
        return np.asarray(self.decision_function(X) + self.offset_)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """+1 for what is usual, -1 for outliers; learns nothing."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def decide_one(self, x: Any) -> float:
        """``decision_function`` of one 1-D array or dict; 0.0 before anything was learned."""
        return self._scores_one(x)[0] if self.__sklearn_is_fitted__() else 0.0

    def predict_one(self, x: Any) -> int | None:
        """+1 or -1 for one 1-D array or dict; ``None`` before anything was learned."""
        if not self.__sklearn_is_fitted__():
            return None
        return -1 if self.decide_one(x) < 0 else 1

    @property
    def offset_(self) -> float:
        """The score below which an example is an outlier."""
        return float(self._fitted_core("offset_").level)

    def _read(
        self, X: Any, sample_weight: Any, ids: Any, *, fresh: bool, some: bool = False
    ) -> Batch:
        rows, columns = self._read_rows(X, fresh=fresh)
        weights = self._read_weights(sample_weight, len(rows), some=some)
        given = self._read_ids(ids, len(rows), fresh=fresh)
        return Batch(rows, columns, np.zeros(len(rows)), weights, given)

    def _tally(self, rows: Rows, targets: NDArray[np.float64]) -> float:
        return float((rows.score(self._core)[:, 0] >= 0).sum())
