"""Rows and columns in whatever they come: arrays, CSR matrices, data frames, lists of dicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from onlinesvm.data.validation import frame_records

__all__ = ["column", "count_rows", "one_by_one", "records", "rows", "sliceable"]


def count_rows(X: Any) -> int:
    """How many examples X has."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def sliceable(X: Any) -> Any:
    """X in a form whose rows can be cut."""
    if sp.issparse(X):
        return X.tocsr()
    return X if hasattr(X, "shape") else list(X)


def rows(X: Any, start: int, stop: int) -> Any:
    """The examples from start to stop, in the same kind of container."""
    return X.iloc[start:stop] if hasattr(X, "iloc") else X[start:stop]


def one_by_one(X: Any) -> bool:
    """Whether `X[0]` is an example as `learn_one` takes it."""
    return isinstance(X, np.ndarray) or (isinstance(X, list) and isinstance(X[0], Mapping))


def column(name: str, values: Any) -> NDArray[Any]:
    """Labels or targets as one column."""
    array: NDArray[Any] = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one column, got {array.ndim} dimensions; flatten it")
    return array


def records(X: Any) -> list[dict[Any, Any]]:
    """The examples as dicts, columns without names under their numbers."""
    if isinstance(X, list) and X and isinstance(X[0], Mapping):
        return X
    if hasattr(X, "columns"):
        return frame_records(X)
    if sp.issparse(X):
        cut = zip(X.indptr[:-1], X.indptr[1:], strict=True)
        return [
            dict(zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True)) for a, b in cut
        ]
    return [dict(enumerate(row)) for row in np.asarray(X).tolist()]
