"""Arrow batches, as Spark hands them out, read as rows for a model. Nothing here needs Spark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from ...data.arguments import check_word
from ...stream.sources.frame import Frame

__all__ = ["Columns", "Rows", "read_keys", "read_labels"]

_VECTOR = ["type", "size", "indices", "values"]  # how Spark's vectors lie in Arrow
_DENSE = 1


class Rows(NamedTuple):
    """A batch as a model takes it.

    Attributes
    ----------
    X : array of shape (n, d), CSR matrix, or Frame where a feature is no number
    y : array of shape (n,) or None
    weight : float64 array of shape (n,) or None
    keys : int64 array, array of strings, or None
    """

    X: Any
    y: NDArray[Any] | None = None
    weight: NDArray[np.float64] | None = None
    keys: NDArray[Any] | None = None


@dataclass(frozen=True)
class Columns:
    """Which columns of a DataFrame are features, label, weight and key, and how to read them.

    Parameters
    ----------
    features : str or list of str
        One column of vectors (`pyspark.ml`) or of arrays of numbers; or several columns. All
        numbers become an array, as rows in memory; a column of words makes them a table with
        names, which is for a pipeline that prepares its columns.
    label, weight, key : str, optional
    nulls : {"refuse", "keep"}, default="refuse"
        Whether a feature may be null. Kept, it is nan, or None among words, for a pipeline that
        knows what to do with it. Vectors and arrays have no nulls in either case, nor have labels,
        weights and keys.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from onlinesvm.cluster.spark.rows import Columns
    >>> batch = pa.record_batch({"a": [1, 2], "b": [0.5, 1.5], "sold": ["yes", "no"]})
    >>> rows = Columns(["a", "b"], label="sold").read(batch)
    >>> rows.X.tolist(), rows.y.tolist()
    ([[1.0, 0.5], [2.0, 1.5]], ['yes', 'no'])
    """

    features: str | Sequence[str]
    label: str | None = None
    weight: str | None = None
    key: str | None = None
    nulls: Literal["refuse", "keep"] = "refuse"

    def __post_init__(self) -> None:
        check_word("nulls", self.nulls, ("refuse", "keep"))
        if not isinstance(self.features, str):
            object.__setattr__(self, "features", tuple(self.features))
        if not self.features:
            raise ValueError("features is empty; name a column of vectors, or several of numbers")

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The columns of the features, in order."""
        return (self.features,) if isinstance(self.features, str) else tuple(self.features)

    @property
    def names(self) -> list[str]:
        """Every column that is read, once."""
        others = (name for name in (self.label, self.weight, self.key) if name is not None)
        return list(dict.fromkeys((*self.feature_names, *others)))

    def demand_in(self, names: Sequence[str]) -> None:
        """A ValueError if a DataFrame with these columns lacks one of them."""
        for name in self.names:
            if name not in names:
                shown = ", ".join(names[:8])
                raise ValueError(f"there is no column {name!r}; the DataFrame has {shown}")

    def read(self, batch: Any) -> Rows:
        """A record batch or table as rows; a ValueError in one line names what cannot be read."""
        return Rows(
            self.read_features(batch),
            None if self.label is None else read_labels(_column(batch, self.label), self.label),
            None if self.weight is None else _weights(_column(batch, self.weight), self.weight),
            None if self.key is None else read_keys(_column(batch, self.key), self.key),
        )

    def read_features(self, batch: Any) -> Any:
        """The features alone: an array, a CSR matrix, or a Frame."""
        columns = {name: _column(batch, name) for name in self.feature_names}
        first, *more = columns
        if not more and _is_vector(columns[first].type):
            return _vectors(columns[first], first)
        if not more and _is_list(columns[first].type):
            return _lists(columns[first], first)
        if self.nulls == "refuse":
            for name, column in columns.items():
                _demand_whole(column, name)
        if all(_is_number(column.type) for column in columns.values()):
            return _matrix(columns)
        return Frame({name: _plain(column, name) for name, column in columns.items()})

    def faults(self, batch: Any) -> NDArray[np.object_]:
        """For each row the reason why it cannot be read, None where it can."""
        told = np.full(batch.num_rows, None, dtype=object)
        kept = self.feature_names if self.nulls == "keep" else ()
        for name in reversed(self.names):
            column = _column(batch, name)
            if name in kept and not (_is_vector(column.type) or _is_list(column.type)):
                continue
            gaps = _gaps(column)
            if gaps.any():
                told[gaps] = f"column {name!r} is null"
        return told


# --- labels, keys -----------------------------------------------------------------------------


def read_labels(column: Any, name: str) -> NDArray[Any]:
    """Labels or targets: numbers, flags or words, each as its own type."""
    _demand_whole(column, name)
    kind = column.type
    if pa.types.is_boolean(kind):
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.bool_)
    if pa.types.is_integer(kind):
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.int64)
    if _is_number(kind):
        return _numbers(column, name).astype(np.float64)
    if _is_text(kind):
        words: NDArray[Any] = np.array(column.to_pylist(), dtype=str)
        return words
    raise ValueError(f"column {name!r} is of type {kind}; a label is a number, a flag or a word")


def read_keys(column: Any, name: str) -> NDArray[Any]:
    """Keys: whole numbers as int64, words as objects."""
    _demand_whole(column, name)
    if pa.types.is_integer(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.int64)
    if _is_text(column.type):
        words = np.empty(len(column), dtype=object)
        words[:] = column.to_pylist()
        return words
    raise ValueError(f"column {name!r} is of type {column.type}; a key is a whole number or a word")


def _weights(column: Any, name: str) -> NDArray[np.float64]:
    _demand_whole(column, name)
    return _numbers(column, name, np.float64)


# --- features ---------------------------------------------------------------------------------


def _column(batch: Any, name: str) -> Any:
    """A column as one array."""
    if name not in batch.schema.names:
        raise ValueError(f"there is no column {name!r}; the rows have {batch.schema.names}")
    column = batch.column(name)
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _is_number(kind: Any) -> bool:
    types = pa.types
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
    )


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_list(kind: Any) -> bool:
    types = pa.types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _is_vector(kind: Any) -> bool:
    return bool(pa.types.is_struct(kind)) and [field.name for field in kind] == _VECTOR


def _gaps(column: Any) -> NDArray[np.bool_]:
    """Which rows are null, or have a null within."""
    gaps = np.asarray(column.is_null().to_numpy(zero_copy_only=False), dtype=np.bool_)
    if _is_list(column.type):
        inside = column.flatten()
        if inside.null_count:
            holes = pc.list_parent_indices(column).to_numpy()[
                inside.is_null().to_numpy(zero_copy_only=False)
            ]
            gaps = gaps.copy()
            gaps[holes] = True
    return gaps


def _demand_whole(column: Any, name: str) -> None:
    if column.null_count:
        gaps = _gaps(column)
        raise ValueError(
            f"column {name!r} has {int(gaps.sum())} nulls among {len(column)} rows; "
            "fill or drop them first"
        )


def _numbers(column: Any, name: str, dtype: Any = None) -> NDArray[Any]:
    """A column of numbers; a null is nan."""
    if not _is_number(column.type):
        raise ValueError(f"column {name!r} is of type {column.type}; it must hold numbers")
    single = pa.types.is_float32(column.type) and dtype != np.float64
    wide = column if single else column.cast(pa.float64(), safe=False)
    return np.asarray(wide.to_numpy(zero_copy_only=False), dtype=dtype)


def _matrix(columns: dict[str, Any]) -> NDArray[Any]:
    """Columns of numbers as rows in memory."""
    single = all(pa.types.is_float32(column.type) for column in columns.values())
    dtype = np.float32 if single else np.float64
    n = len(next(iter(columns.values())))
    upright = np.empty((len(columns), n), dtype=dtype)
    for j, (name, column) in enumerate(columns.items()):
        upright[j] = _numbers(column, name, dtype)
    return np.ascontiguousarray(upright.T)


def _plain(column: Any, name: str) -> NDArray[Any]:
    """A column of a table of unlike ones: numbers with gaps nan, words with gaps None."""
    if _is_number(column.type):
        return _numbers(column, name, np.float64)
    if _is_text(column.type):
        words = np.empty(len(column), dtype=object)
        words[:] = column.to_pylist()
        return words
    raise ValueError(
        f"column {name!r} is of type {column.type}; a feature is a number, a flag, a word, "
        "or alone a vector or an array of numbers"
    )


def _lists(column: Any, name: str) -> NDArray[Any]:
    """Arrays of numbers, all of one length."""
    gaps = int(_gaps(column).sum())
    if gaps:
        raise ValueError(
            f"column {name!r} has nulls in {gaps} of {len(column)} rows; fill or drop them first"
        )
    values = _numbers(column.flatten(), name)
    return _cut(values, column, name)


def _cut(values: NDArray[Any], lists: Any, name: str) -> NDArray[Any]:
    n = len(lists)
    lengths = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
    width = int(lengths[0]) if n else 0
    if n and (lengths != width).any():
        odd = int(lengths[lengths != width][0])
        raise ValueError(f"column {name!r} has rows of {width} and of {odd} numbers; all need one")
    return np.ascontiguousarray(values.reshape(n, width))


def _vectors(column: Any, name: str) -> Any:
    """Vectors of pyspark.ml: an array where all are dense, else a CSR matrix."""
    _demand_whole(column, name)
    kinds, sizes, indices, values = (column.field(part) for part in _VECTOR)
    dense = kinds.to_numpy(zero_copy_only=False) == _DENSE
    if dense.all():
        return _cut(_numbers(values.flatten(), name, np.float64), values, name)
    counts = pc.list_value_length(values).to_numpy(zero_copy_only=False).astype(np.int64)
    starts = np.concatenate(([0], np.cumsum(counts)))
    widths = np.where(dense, counts, sizes.fill_null(0).to_numpy(zero_copy_only=False))
    width = int(widths[0])
    if (widths != width).any():
        odd = int(widths[widths != width][0])
        raise ValueError(f"column {name!r} has vectors of {width} and of {odd} numbers")
    places = np.empty(starts[-1], dtype=np.int64)
    is_dense = np.repeat(dense, counts)
    places[is_dense] = np.tile(np.arange(width), int(dense.sum()))
    places[~is_dense] = indices.flatten().to_numpy(zero_copy_only=False)
    data = _numbers(values.flatten(), name, np.float64)
    return sp.csr_array((data, places, starts), shape=(len(column), width))
