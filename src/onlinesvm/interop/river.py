"""Any of our estimators as a river one: dicts in, in pipelines and under river's evaluation.

In a checkout: ``pip install ".[river]"``.
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Iterator
from typing import Any

from river import base
from sklearn.base import clone, is_outlier_detector, is_regressor

from .. import (
    CalibratedOnline,
    FourierFeatures,
    NormaOneClassSVM,
    OnlinePipeline,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
)
from ..data.validation import frame_records
from ..model.classifier import OnlineClassifier
from ..model.outlier import OnlineOutlierDetector
from ..model.regressor import OnlineRegressor
from ..model.transformer import OnlineTransformer
from ..model.wrapping import last_of

__all__ = [
    "RiverClassifier",
    "RiverDetector",
    "RiverProbabilities",
    "RiverRegressor",
    "RiverTransformer",
    "to_river",
]


def to_river(
    model: OnlineClassifier
    | OnlineRegressor
    | OnlineOutlierDetector
    | OnlineTransformer
    | OnlinePipeline,
) -> RiverClassifier | RiverRegressor | RiverDetector | RiverTransformer:
    """The model as a river classifier, regressor, anomaly detector or transformer.

    Parameters
    ----------
    model : estimator with ``learn_one``, or an :class:`~onlinesvm.OnlinePipeline`
        What it has learned goes along, in a copy; river's ``clone`` begins anew. A classifier that
        has learned nothing yet takes classes as they appear, one that has keeps to those it knows.

    Examples
    --------
    >>> from onlinesvm import PassiveAggressiveClassifier
    >>> from onlinesvm.interop.river import to_river
    >>> model = to_river(PassiveAggressiveClassifier())
    >>> for _ in range(3):
    ...     model.learn_one({"meeting": 1.0}, "ham")
    ...     model.learn_one({"free": 1.0, "money": 2.0}, "spam")
    >>> model.predict_one({"money": 1.0})
    'spam'
    """
    wrapped: RiverClassifier | RiverRegressor | RiverDetector | RiverTransformer
    wrapped = _kind(model)(model)
    if model.__sklearn_is_fitted__():
        wrapped._learner = copy.deepcopy(model)
    return wrapped


def _kind(model: Any) -> Any:
    if isinstance(model, OnlineTransformer):
        return RiverTransformer
    if is_outlier_detector(model):
        return RiverDetector
    if is_regressor(model):
        return RiverRegressor
    return RiverProbabilities if hasattr(model, "predict_proba_one") else RiverClassifier


class _Holds:
    """A river estimator around one of ours; features come and go freely."""

    def __init__(self, model: Any) -> None:
        self.model = clone(model)  # what river's clone begins with
        self._learner = clone(model)


class _Wrapped(_Holds):
    """One that learns targets."""

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

    ``predict_proba_one``, which metrics such as ``ROCAUC`` ask for, says that there are no
    probabilities: a margin is none, unless :class:`~onlinesvm.CalibratedOnline` has made it one.

    Parameters
    ----------
    model : classifier with ``learn_one``
    """

    def __init__(self, model: OnlineClassifier | OnlinePipeline) -> None:
        super().__init__(model)
        last = last_of(self._learner)
        if last.classes is None:
            last.set_params(classes="open")

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """A NotImplementedError, as river's protocol has it, that says what to do."""
        name = type(last_of(self._learner)).__name__
        raise NotImplementedError(
            f"{name} has no probabilities, which this metric or method needs; use "
            f"to_river(CalibratedOnline({name}(...)))"
        )

    @property
    def _multiclass(self) -> bool:
        return True

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": PassiveAggressiveClassifier()}


class RiverProbabilities(RiverClassifier):
    """A classifier with probabilities as a river one.

    Parameters
    ----------
    model : :class:`~onlinesvm.CalibratedOnline`, or a :class:`~onlinesvm.DriftAware` around one
    """

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """The probability of each label for one example."""
        chances: dict[Any, float] = self._learner.predict_proba_one(x)
        return chances

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": CalibratedOnline(PassiveAggressiveClassifier())}


class RiverRegressor(_Wrapped, base.MiniBatchRegressor):
    """One of our regressors as a river one.

    Parameters
    ----------
    model : regressor with ``learn_one``
    """

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": PassiveAggressiveRegressor()}


class RiverDetector(_Holds, base.AnomalyDetector):
    """One of our detectors as a river one; its scores are greater for what is less usual.

    Scores lie between 0 and 1, as river's metrics take for granted. Above 1/2 is an outlier by the
    model's own threshold: ``ThresholdFilter(model, threshold=0.5)``.

    Parameters
    ----------
    model : detector with ``learn_one``
    """

    def learn_one(self, x: dict[Any, Any]) -> None:
        """Learn one example, as one that is usual."""
        self._learner.learn_one(x)

    def score_one(self, x: dict[Any, Any]) -> float:
        """How unusual an example is, from 0 to 1; 1/2 before anything was learned.

        ``(1 - d / (|d| + |offset_|)) / 2`` of the decision d, which is measured by the threshold.
        """
        if not self._learner.__sklearn_is_fitted__():
            return 0.5
        d = float(self._learner.decide_one(x))
        unit = abs(last_of(self._learner).offset_)
        return 0.5 * (1.0 - d / (abs(d) + unit)) if d else 0.5

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"model": NormaOneClassSVM()}


class RiverTransformer(_Holds, base.Transformer):
    """One of our transformers as a river one; what goes in and comes out are dicts.

    Parameters
    ----------
    model : transformer with ``learn_one``
    """

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
