"""scikit-activeml both ways: our classifiers in its loops, its stream strategies at our desk.

Install with ``pip install scikit-activeml``.
"""

from __future__ import annotations

import inspect
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from skactiveml.base import SkactivemlClassifier
from skactiveml.utils import MISSING_LABEL, is_labeled
from sklearn.base import clone

from ...queries import All, Look, belief
from .desk import LabelDesk
from .looks import margins

__all__ = ["ActiveClassifier", "StrategyDesk"]


class ActiveClassifier(SkactivemlClassifier):
    """A classifier of this library as scikit-activeml wants one: missing labels, probabilities.

    Rows without a label are passed over. Probabilities are the model's belief,
    ``exp(-hinge loss)`` shared out over the classes: in the order of the scores, calibrated by
    nothing. ``partial_fit`` goes on learning, at the cost of the model's own.

    Parameters
    ----------
    model : classifier or pipeline of this library
        Its parameters are taken, not what it has learned.
    classes : array of labels
    missing_label, cost_matrix, random_state : as in scikit-activeml

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import RampSVC
    >>> from onlinesvm.compose.labelling.skactiveml import ActiveClassifier
    >>> model = ActiveClassifier(RampSVC(gamma=1.0), classes=[0, 1])
    >>> model = model.partial_fit([[0.0], [1.0], [2.0]], [0, np.nan, 1])
    >>> model.predict([[0.1], [1.9]])
    array([0, 1])
    """

    def __init__(
        self,
        model: Any,
        classes: Any = None,
        missing_label: Any = MISSING_LABEL,
        cost_matrix: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(classes, missing_label, cost_matrix, random_state)
        self.model = model

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, then learn the rows that have a label."""
        self.model_ = clone(self.model)
        return self._learn(X, y, sample_weight, reset=True)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Go on learning with the rows that have a label."""
        if not hasattr(self, "model_"):
            return self.fit(X, y, sample_weight)
        return self._learn(X, y, sample_weight, reset=False)

    def _learn(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Self:
        X, y, w = self._validate_data(X, y, sample_weight, reset=reset)
        known = is_labeled(y, missing_label=-1)  # as they are numbered now
        if known.any():
            labels = self._le.inverse_transform(y[known].astype(np.int64))
            w = None if w is None else w[known]
            self.model_.partial_fit(X[known], labels, classes=self.classes_, sample_weight=w)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """How likely each class is to the model; all alike before it has learned."""
        if not self.model_.__sklearn_is_fitted__():
            return np.full((len(X), len(self.classes_)), 1.0 / len(self.classes_))
        return belief(margins(self.model_, np.asarray(X)))

    @classmethod
    def around(cls, model: Any) -> Self:
        """The classifier that has learned what this very model has, and goes on as it does."""
        words = model.classes_.dtype.kind in "OU"  # among which nan cannot stand
        missing = None if words else MISSING_LABEL
        twin = cls(model, classes=model.classes_.tolist(), missing_label=missing)
        twin.fit(np.empty((0, 0)), [])
        twin.model_ = model
        return twin


class StrategyDesk(LabelDesk):
    """A desk that asks by a stream strategy of scikit-activeml, under that strategy's own budget.

    Everything else is as at any :class:`~onlinesvm.LabelDesk`: answers may come late, and none is
    lost. Before the model has learned anything, each row is asked about. No file without code can
    hold a strategy, so :meth:`save` and :meth:`keep` refuse; pickle the desk.

    Parameters
    ----------
    model : classifier or pipeline of this library
        Rows must be arrays.
    strategy : stream strategy of scikit-activeml
    max_open : int, default=1000

    Examples
    --------
    >>> import numpy as np
    >>> from skactiveml.stream import PeriodicSampling
    >>> from onlinesvm import RampSVC
    >>> from onlinesvm.compose.labelling.skactiveml import StrategyDesk
    >>> model = RampSVC(gamma=1.0, classes=[0, 1])
    >>> desk = StrategyDesk(model, PeriodicSampling(budget=0.25))
    >>> for x in np.random.default_rng(0).normal(size=(40, 2)):
    ...     ticket = desk.ask(x)
    ...     if ticket is not None:
    ...         desk.answer(ticket, int(x[0] > 0))
    >>> desk.spent
    10
    """

    def __init__(self, model: Any, strategy: Any, *, max_open: int = 1000) -> None:
        super().__init__(model, All(), max_open=max_open)
        self.strategy = strategy

    def _is_wanted(self, row: Any, look: Look, worth: float) -> bool:
        if not isinstance(row, np.ndarray):
            raise ValueError("x must be a 1-D array for a strategy of scikit-activeml")
        if not self._has_room():
            return False
        if not self.model.__sklearn_is_fitted__():
            return True
        given: dict[str, Any] = {"candidates": row[None], "return_utilities": True}
        takes = inspect.signature(self.strategy.query).parameters
        if "clf" in takes:
            given["clf"] = ActiveClassifier.around(self.model)
        if "fit_clf" in takes:
            given["fit_clf"] = False
        chosen, utilities = self.strategy.query(**given)
        told: dict[str, Any] = {"candidates": row[None], "queried_indices": chosen}
        if "budget_manager_param_dict" in inspect.signature(self.strategy.update).parameters:
            told["budget_manager_param_dict"] = {"utilities": utilities}
        self.strategy.update(**told)
        return len(chosen) > 0

    def _pack(self, length: int = 0) -> bytes:
        raise ValueError("strategy cannot be saved without code; pickle the desk")
