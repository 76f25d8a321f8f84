"""An online estimator that turns examples into features for another."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from ..data import validation
from ..data.batch import Batch
from ..data.rows import Columns, Rows
from ..data.sklearn_types import TransformerMixin
from .estimator import OnlineEstimator
from .gamma import WARM_UP
from .groups import WithGamma
from .parameters import count, group, inherit


class Kind:
    """What transformers of a kind have in common; each holds one. Of numbers, it makes numbers."""

    def read_rows(self, model: Any, X: Any, *, fresh: bool, learning: bool) -> tuple[Rows, Columns]:
        """X as rows for the core."""
        return validation.read_rows(model, X, fresh=fresh, learning=learning)

    def fit(self, model: Any, batch: Batch) -> None:
        """Forget everything and learn all there is."""
        OnlineEstimator._fit(model, batch)

    def features(self, model: Any, X: Any) -> Any:
        """What ``transform`` gives."""
        rows, _ = model._read_rows(X, fresh=False, learning=False)
        return rows.score(model._state.core)

    def warn(self, model: Any) -> None:
        """Say so where features are not settled yet."""

    def transform_one(self, model: Any, x: Any) -> Any:
        """The features of one example."""
        raise NotImplementedError

    def names_out(self, model: Any) -> list[Any]:
        """The names of the features of dicts."""
        return list(model.get_feature_names_out())

    def feature_names_out(self, model: Any, given: Any) -> NDArray[Any]:
        """The names of the features."""
        return np.asarray(_check_feature_names_in(model, given))

    def warm_up_rows(self, model: Any) -> int:
        """How many examples settle what the features mean."""
        return 0

    def moves(self, model: Any) -> bool:
        """Whether learning an example may change the features of those before it."""
        return False

    def done(self, model: Any) -> bool:
        """Whether there is nothing left to learn from any example."""
        return False

    def core_target(self) -> Callable[[Any], float | None] | None:
        """What gives the core's number for a target; None where the core has no faster way."""
        return None

    def outputs(self, model: Any) -> int:
        """How many scores the core has to have."""
        return 1

    def tag(self, tags: Tags) -> None:
        """Say what it takes."""


class OnlineTransformer(TransformerMixin, OnlineEstimator):
    """An :class:`OnlineEstimator` whose scores are features.

    A model that learns from the features wants each of them to keep its meaning. What a transformer
    can promise of that it says by ``_warm_up_rows`` and ``_moves``, which :class:`OnlinePipeline`
    asks.
    """

    _kind: ClassVar[Kind] = Kind()
    _measure = "squared length"
    _centres: ClassVar[bool] = False  # dense rows are moved, and sparse ones are not
    _passes: ClassVar[bool] = False  # values are handed on before anything was learned

    def transform(self, X: Any) -> Any:
        """The features of the rows of ``X``; learns nothing.

        A row has the same features, bit for bit, alone and among others.

        Parameters
        ----------
        X : array, sparse matrix, data frame or list of dicts, n rows

        Returns
        -------
        array or sparse matrix, n rows
            Of type ``dtype``.
        """
        check_is_fitted(self)
        features = self._features(X)
        self._kind.warn(self)
        return features

    def transform_one(self, x: Any) -> Any:
        """The features of one example: an array of a 1-D array, a dict by name of a dict.

        Before anything was learned all are 0, or there are none.
        """
        return self._kind.transform_one(self, x)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the features."""
        check_is_fitted(self)
        return self._kind.feature_names_out(self, input_features)

    def _names_out(self) -> list[Any]:
        return self._kind.names_out(self)

    def _features(self, X: Any) -> Any:
        """What :meth:`transform` gives, without a word about features that are not settled yet."""
        return self._kind.features(self, X)

    def _read_rows(self, X: Any, *, fresh: bool, learning: bool = True) -> tuple[Rows, Columns]:
        return self._kind.read_rows(self, X, fresh=fresh, learning=learning)

    def _fit(self, batch: Batch) -> None:
        self._kind.fit(self, batch)

    @property
    def _warm_up_rows(self) -> int:
        """How many examples settle what the features mean; 0: they mean it from the first on."""
        return self._kind.warm_up_rows(self)

    @property
    def _moves(self) -> bool:
        """Whether learning an example may change the features of those before it."""
        return self._kind.moves(self)

    @property
    def _done(self) -> bool:
        """Whether there is nothing left to learn from any example."""
        return self._kind.done(self)

    @property
    def _settles(self) -> bool:
        """Whether what it makes of a row depends on other rows."""
        return True

    def _core_target(self) -> Callable[[Any], float | None] | None:
        return self._kind.core_target()

    def _goes_far(self, batch: Batch) -> bool:
        return False  # features may be as large as the rows are

    def _outputs(self) -> int:
        return self._kind.outputs(self)

    def _tally(self, rows: Rows, targets: NDArray[np.float64]) -> float:
        return float((rows.score(self._core).astype(np.float64) ** 2).sum())

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []  # features are of the type that dtype says
        self._kind.tag(tags)
        return tags


@group
class KernelFeatures(WithGamma):
    """Features that stand for a kernel, as many as ``n_components`` says.

    Every column is there from the first call on, is 0 until it is settled, and keeps its meaning
    from then on: a weight behind a column that is 0 stays as it is.
    """

    n_components: int = count(
        default=100, at_least=1, kw_only=False, doc="Features, the columns of the output."
    )
    gamma: float | Literal["scale", "auto"] = inherit(
        default="scale",
        doc="""The words are scikit-learn's: ``1 / (n_features X.var())`` and ``1 / n_features``.
        ``fit`` takes them from its rows. A stream settles them on its first 256 examples; until
        then all features are 0, and :meth:`transform` says so. Where the scale of the rows is known
        beforehand, a number serves from the first example on.""",
    )
    dtype: Literal["float32", "float64"] = inherit(
        default="float32", doc="Type of the features, and of the arithmetic that makes them."
    )
    n_jobs: int | None = inherit(
        default=None,
        doc="""Threads for transforming; None is one, -1 all processors. The results are the same
        bits.""",
    )


class OfKernel(Kind):
    """The kind that lists :class:`KernelFeatures`."""

    def features(self, model: Any, X: Any) -> Any:
        rows, _ = model._read_rows(X, fresh=False, learning=False)
        if model._held is not None:
            return np.zeros((len(rows), self.outputs(model)), dtype=model.dtype)
        model._use_threads()
        return rows.score(model._core)

    def warn(self, model: Any) -> None:
        held = model._held
        if held is not None:
            warnings.warn(
                f"gamma={model.gamma!r} is settled by the first {WARM_UP} examples, of which "
                f"{held.arrived} have come: all features are 0 until then; go on with partial_fit, "
                "or set gamma to a number",
                UserWarning,
                stacklevel=4,
            )

    def transform_one(self, model: Any, x: Any) -> Any:
        if not model.__sklearn_is_fitted__() or model._held is not None:
            values: Any = np.zeros(model.n_components, dtype=model.dtype)
        else:
            values = np.array(model._scores_one(x), dtype=model.dtype)
        if isinstance(x, Mapping):
            return dict(zip(self.names_out(model), values.tolist(), strict=True))
        return values

    def names_out(self, model: Any) -> list[Any]:
        return [f"{type(model).__name__.lower()}{i}" for i in range(model.n_components)]

    def feature_names_out(self, model: Any, given: Any) -> NDArray[Any]:
        return np.array(self.names_out(model), dtype=object)

    def warm_up_rows(self, model: Any) -> int:
        return WARM_UP if isinstance(model.gamma, str) else 0

    def core_target(self) -> Callable[[Any], float | None]:
        return _no_target

    def outputs(self, model: Any) -> int:
        return int(model._core_settings["n_components"])


def _no_target(y: Any) -> float:
    return 0.0
