"""An online estimator that turns examples into features for another."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .batch import Batch
from .estimator import OnlineLearner
from .gamma import WARM_UP
from .kernel_method import WithGamma
from .parameters import count, inherit
from .rows import Rows
from .sklearn_types import TransformerMixin


class OnlineTransformer(TransformerMixin, OnlineLearner):
    """An :class:`OnlineEstimator` whose scores are features.

    A model that learns from the features wants each of them to keep its meaning. What a transformer
    can promise of that it says by ``_warm_up_rows`` and ``_moves``, which :class:`OnlinePipeline`
    asks.
    """

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
        return self._features(X)

    def transform_one(self, x: Any) -> Any:
        """The features of one example: an array of a 1-D array, a dict by name of a dict."""
        raise NotImplementedError

    def _features(self, X: Any) -> Any:
        """What :meth:`transform` gives, without a word about features that are not settled yet."""
        rows, _ = self._read_rows(X, fresh=False, learning=False)
        return rows.score(self._core)

    @property
    def _warm_up_rows(self) -> int:
        """How many examples settle what the features mean; 0: they mean it from the first on."""
        return 0

    @property
    def _moves(self) -> bool:
        """Whether learning an example may change the features of those before it."""
        return False

    @property
    def _done(self) -> bool:
        """Whether there is nothing left to learn from any example."""
        return False

    @property
    def _settles(self) -> bool:
        """Whether what it makes of a row depends on other rows."""
        return True

    def _core_target(self) -> Callable[[Any], float | None] | None:
        return _no_target

    def _goes_far(self, batch: Batch) -> bool:
        return False  # features may be as large as the rows are

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []  # features are of the type that dtype says
        return tags


class KernelFeatures(WithGamma, OnlineTransformer):
    """A transformer whose features stand for a kernel, as many as ``n_components`` says.

    Every column is there from the first call on, is 0 until it is settled, and keeps its meaning
    from then on: a weight behind a column that is 0 stays as it is.
    """

    _attributes: ClassVar[Mapping[str, str]] = {}
    _measure = "squared length"

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

    def transform(self, X: Any) -> Any:
        """The features of the rows of ``X``; learns nothing.

        A row has the same features, bit for bit, alone and among others.

        Parameters
        ----------
        X : array, sparse matrix, data frame or list of dicts, n rows

        Returns
        -------
        array of shape (n, n_components)
            Of type ``dtype``.
        """
        check_is_fitted(self)
        held, features = self._held, self._features(X)
        if held is not None:
            warnings.warn(
                f"gamma={self.gamma!r} is settled by the first {WARM_UP} examples, of which "
                f"{held.arrived} have come: all features are 0 until then; go on with partial_fit, "
                "or set gamma to a number",
                UserWarning,
                stacklevel=3,
            )
        return features

    def _features(self, X: Any) -> Any:
        rows, _ = self._read_rows(X, fresh=False, learning=False)
        if self._held is not None:
            return np.zeros((len(rows), self._outputs()), dtype=self.dtype)
        self._use_threads()
        return rows.score(self._core)

    @property
    def _warm_up_rows(self) -> int:
        return WARM_UP if isinstance(self.gamma, str) else 0

    def transform_one(self, x: Any) -> Any:
        """The features of one example: an array of a 1-D array, a dict by name of a dict.

        All are 0 before anything was learned, and until ``gamma`` is settled.
        """
        if not self.__sklearn_is_fitted__() or self._held is not None:
            values: Any = np.zeros(self.n_components, dtype=self.dtype)
        else:
            values = np.array(self._scores_one(x), dtype=self.dtype)
        if isinstance(x, Mapping):
            return dict(zip(self._names_out(), values.tolist(), strict=True))
        return values

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the features: that of the class, and a number."""
        check_is_fitted(self)
        return np.array(self._names_out(), dtype=object)

    def _names_out(self) -> list[str]:
        return [f"{type(self).__name__.lower()}{i}" for i in range(self.n_components)]

    def _outputs(self) -> int:
        return int(self._core_settings["n_components"])

    def _tally(self, rows: Rows, targets: NDArray[np.float64]) -> float:
        return float((rows.score(self._core).astype(np.float64) ** 2).sum())


def _no_target(y: Any) -> float:
    return 0.0
