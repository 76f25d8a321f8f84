"""Any of our estimators as a river one: dicts in, in pipelines and under river's evaluation.

Install with ``pip install onlinesvm[river]``.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from river import base
from sklearn.base import clone, is_regressor

from .. import (
    FourierFeatures,
    OnlinePipeline,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
)
from ..base import OnlineClassifier, OnlineRegressor, OnlineTransformer
from ..base.validation import frame_records

__all__ = ["RiverClassifier", "RiverRegressor", "RiverTransformer", "to_river"]


def to_river(
    model: OnlineClassifier | OnlineRegressor | OnlineTransformer | OnlinePipeline,
) -> RiverClassifier | RiverRegressor | RiverTransformer:
    """The model as a river classifier, regressor or transformer that starts from nothing.

    Parameters
    ----------
    model : estimator with ``learn_one``, or an :class:`~onlinesvm.OnlinePipeline`
        Its parameters are taken, not what it has learned.

    Examples
    --------
    >>> from onlinesvm import PassiveAggressiveClassifier
    >>> from onlinesvm.faces.river import to_river
    >>> model = to_river(PassiveAggressiveClassifier())
    >>> for _ in range(3):
    ...     model.learn_one({"meeting": 1.0}, "ham")
    ...     model.learn_one({"free": 1.0, "money": 2.0}, "spam")
    >>> model.predict_one({"money": 1.0})
    'spam'
    """
    if isinstance(model, OnlineTransformer):
        return RiverTransformer(model)
    wrapper: Any = RiverRegressor if is_regressor(model) else RiverClassifier
    wrapped: RiverClassifier | RiverRegressor = wrapper(model)
    return wrapped


class _Wrapped:
    """A river estimator around one of ours; features come and go freely."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self._learner = clone(model)

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """Learn one example."""
        self._learner.learn_one(x, y, w)

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """The prediction for one example."""
        return self._learner.predict_one(x)

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learn the rows of a data frame, in order: the same as one by one, but faster."""
        self._learner.partial_fit(frame_records(X), y, sample_weight=w)

    def predict_many(self, X: Any) -> Any:
        """The predictions for the rows of a data frame, as a series of its library."""
        started = self._learner.__sklearn_is_fitted__()
        values = (
            self._learner.predict(frame_records(X))
            if started
            else [self._learner.predict_one({})] * len(X)
        )
        library = importlib.import_module(type(X).__module__.partition(".")[0])
        index = {"index": X.index} if hasattr(X, "index") else {}
        return library.Series(values, **index)


class RiverClassifier(_Wrapped, base.MiniBatchClassifier):
    """One of our classifiers as a river one; its classes may appear at any time.

    There is no ``predict_proba_one``: a margin is not a probability.

    Parameters
    ----------
    model : classifier with ``learn_one``
    """

    def __init__(self, model: OnlineClassifier | OnlinePipeline) -> None:
        super().__init__(model)
        steps = getattr(self._learner, "steps", None)
        last = steps[-1][1] if steps else self._learner
        if last.classes is None:
            last.set_params(classes="open")

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": PassiveAggressiveClassifier()}


class RiverRegressor(_Wrapped, base.MiniBatchRegressor):
    """One of our regressors as a river one.

    Parameters
    ----------
    model : regressor with ``learn_one``
    """

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": PassiveAggressiveRegressor()}


class RiverTransformer(base.Transformer):
    """One of our transformers as a river one; what goes in and comes out are dicts.

    Parameters
    ----------
    model : transformer with ``learn_one``
    """

    def __init__(self, model: OnlineTransformer) -> None:
        self.model = model
        self._learner = clone(model)

    def learn_one(self, x: dict[Any, Any]) -> None:
        """Learn one example."""
        self._learner.learn_one(x)

    def transform_one(self, x: dict[Any, Any]) -> dict[Any, Any]:
        """The features of one example; 0 as long as they are not settled."""
        features: dict[Any, Any] = self._learner.transform_one(x)
        return features

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": FourierFeatures(gamma=1.0)}
