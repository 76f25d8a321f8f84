"""An online estimator that learns what is usual, without labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..data.rows import Rows
from ..data.sklearn_types import OutlierMixin
from .estimator import OnlineEstimator


class OnlineOutlierDetector(OutlierMixin, OnlineEstimator):
    """An :class:`OnlineEstimator` without labels: +1 for what is usual, -1 for what is not.

    The core's one output is the decision; its ``level`` is the ``offset_`` taken from the scores.
    """

    _attributes: ClassVar[Mapping[str, str]] = {
        "offset_": "float, the threshold rho: ``decision_function = score_samples - offset_``",
    }
    _measure = "share of inliers"

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

    def _core_target(self) -> Callable[[Any], float | None]:
        return _no_target

    def _tally(self, rows: Rows, targets: NDArray[np.float64]) -> float:
        return float((rows.score(self._core)[:, 0] >= 0).sum())


def _no_target(y: Any) -> float:
    return 0.0
