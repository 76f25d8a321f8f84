"""scikit-learn's base classes, with the types that it does not ship.

Below a base class without types, type checkers would let any argument of a constructor pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.utils import Tags

    class BaseEstimator:
        """See :class:`sklearn.base.BaseEstimator`."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def __sklearn_tags__(self) -> Tags: ...
        def __setstate__(self, state: dict[str, Any]) -> None: ...
        def __getattr__(self, name: str) -> Any: ...  # what the other base classes bring

    class ClassifierMixin:
        """See :class:`sklearn.base.ClassifierMixin`."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

    class RegressorMixin:
        """See :class:`sklearn.base.RegressorMixin`."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

    class OutlierMixin:
        """See :class:`sklearn.base.OutlierMixin`."""

        def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> NDArray[Any]: ...

    class TransformerMixin:
        """See :class:`sklearn.base.TransformerMixin`."""

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any: ...
        def set_output(self, *, transform: Any = None) -> Self: ...

else:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        OutlierMixin,
        RegressorMixin,
        TransformerMixin,
    )

__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "OutlierMixin",
    "RegressorMixin",
    "TransformerMixin",
]
