"""Validation of what a call is given; nothing is changed here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.validation import validate_data

from ..kernels import PRECOMPUTED
from .arguments import check_numbers
from .frames import column_of, frame_of
from .rows import Columns, DenseRows, Rows, SparseRows, as_rows, is_plain, sound
from .sklearn_types import BaseEstimator
from .vocabulary import Vocabulary, are_records, named_rows

MAX_ID = int(np.iinfo(np.int64).max)
_FLOAT32_COLUMNS = 1 << 24  # beyond, their numbers are not exact


def read_rows(model: Any, X: Any, *, fresh: bool, learning: bool = True) -> tuple[Rows, Columns]:
    """X as rows for the core; ``fresh`` means its columns are not known yet."""
    state = None if fresh else model._state
    rows: Rows
    if (
        type(X) is np.ndarray
        and state is not None
        and not state.sparsely
        and X.ndim == 2
        and X.shape[1] == state.columns.count
        and X.shape[0]
        and X.dtype in _FLOATS
        and X.flags.c_contiguous
        and state.columns.names is None
    ):  # as streams bring it, thousands of times
        rows, columns = DenseRows(X), state.columns
    elif are_records(X):
        rows, columns = model._read_records(X, fresh=fresh, learning=learning)
    elif state is not None and state.vocabulary is not None:
        rows, columns = model._read_records(frame_records(X), fresh=False, learning=learning)
    else:
        rows, columns = _read_array(model, X, fresh=fresh)
    if not (learning and core_looks_first(model)) and not model._are_numbers(rows):
        model._demand_numbers(rows, columns.names)
    model._check_kernel_takes(rows)
    if state is not None and state.sparsely is not isinstance(rows, SparseRows):
        rows = rows.stored(state.sparsely)
    return rows, columns


_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def core_looks_first(model: Any) -> bool:
    """Whether the core looks at each block of rows just before it learns them.

    Rows are then read from memory once; what was learned of the call is taken back. Who watches
    scores the rows before they are learned.
    """
    return not model.verbose and bool(model._learns_weights())


def demand_numbers(model: Any, rows: Rows, names: NDArray[Any] | None = None) -> None:
    """A ValueError unless every value can be learned from."""
    if not model._are_numbers(rows):
        beyond = rows.first_beyond(model._largest.get(model.dtype, np.inf), names)
        raise ValueError(
            f"Input X contains NaN or infinity (or a value too large for dtype){beyond}; drop "
            "those rows, or fill the values with OnlineImputer"
        )


def check_kernel_takes(model: Any, rows: Rows) -> None:
    """A ValueError for rows that the kernel of the model has no value for."""
    kernel = getattr(model, "kernel", "linear")
    if type(kernel) is str and kernel not in _PARTICULAR:
        return
    if kernel == "chi2" and rows.smallest() < 0:
        raise ValueError(
            "Negative values in data: X must be >= 0 for kernel='chi2'; "
            "shift the features or choose another kernel"
        )
    if callable(kernel) and isinstance(rows, SparseRows):
        raise ValueError("X is sparse, which a kernel function cannot take; pass dense rows")
    if model._is_pairwise() and isinstance(rows, SparseRows):
        raise ValueError(
            "X is sparse or of dicts, which kernel='precomputed' cannot take; pass an array of "
            "kernel values with a column for each example"
        )


_PARTICULAR = ("chi2", PRECOMPUTED)


def demand_columns(
    model: Any, rows: Rows, ids: NDArray[np.int64] | None, *, fresh: bool, whole: bool
) -> None:
    """Where rows are kernel values: a ValueError unless each example has a column."""
    n, columns = len(rows), rows.columns()
    if whole and n != columns:
        raise ValueError(
            f"X must be a square matrix with kernel='precomputed', got {n} x {columns}; pass "
            "k(x_i, x_j) of all examples, or rows and their ids to partial_fit"
        )
    if columns > _FLOAT32_COLUMNS and model.dtype == "float32":
        raise ValueError(
            f"X has {columns} columns, more than numbers in float32; set dtype='float64'"
        )
    first = 0 if fresh else model._next_id
    last = first + n - 1 if ids is None else int(ids.max())
    if last >= columns:
        raise ValueError(
            f"ids reach {last}, but X has the kernel values with the examples 0 to "
            f"{columns - 1}; pass rows with a column for each example there will be, or its "
            "column as its id"
        )


def _read_array(model: Any, X: Any, *, fresh: bool) -> tuple[Rows, Columns]:
    known = None if fresh else model.n_features_in_
    named = not fresh and model._feature_names is not None
    if is_plain(X) and not named and X.shape[1] == (known or X.shape[1] or -1):
        return as_rows(sound(X)), Columns(X.shape[1], X.shape[1])
    demand_table(X)
    demand_no_dates(X, frame_of(X))
    valid, names = validated(
        model,
        sound(X),
        fresh=fresh,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        order="C",
    )
    return as_rows(valid), Columns(valid.shape[1], valid.shape[1], names)


def validated(model: Any, X: Any, *, fresh: bool, **how: Any) -> tuple[Any, NDArray[Any] | None]:
    """A table by scikit-learn's checks, gaps allowed, and the names of its columns."""
    # A stand-in takes the notes that validate_data makes before it has looked at the values.
    stand_in = _stand_in_of(type(model).__name__)()
    stand_in.model = model
    if not fresh:
        stand_in.n_features_in_ = model.n_features_in_
        if model._feature_names is not None:
            stand_in.feature_names_in_ = model._feature_names
    try:
        table = validate_data(stand_in, X, reset=fresh, ensure_all_finite=False, **how)
    except OverflowError:
        raise ValueError("X has an integer too large for a float; scale or drop it") from None
    except ValueError as error:
        if how["dtype"] is not None:
            demand_no_text(X)
        raise error
    return table, getattr(stand_in, "feature_names_in_", None)


@cache
def _stand_in_of(name: str) -> type:
    """A class of this name, since messages name it."""
    tags = {"__sklearn_tags__": lambda self: self.model.__sklearn_tags__()}
    return type(name, (BaseEstimator,), tags)


def read_records(model: Any, X: Any, *, fresh: bool, learning: bool) -> tuple[Rows, Columns]:
    """Rows of dicts."""
    known = None if fresh else model._vocabulary
    if not fresh and known is None:
        names = model._feature_names
        if names is None:
            raise ValueError(
                "x is a dict, but the model was started with arrays; pass an array of "
                f"{model.n_features_in_} values"
            )
        return DenseRows(named_rows(X, names)), Columns(len(names), len(names), names)
    rows, newcomers = (known or Vocabulary()).read(X, learning=learning)
    return rows, Columns(rows.columns(), len(X[0]), newcomers=tuple(newcomers))


def read_weights(sample_weight: Any, n: int, *, some: bool = False) -> NDArray[np.float64] | None:
    """One weight per row, None for all 1; ``some`` of them must count."""
    if sample_weight is None:
        return None
    weights = check_numbers("sample_weight", sample_weight)
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar; flatten sample_weight")
    if len(weights) != n:
        raise ValueError(
            f"sample_weight.shape == {weights.shape}, expected {(n,)}! "
            "Pass one weight for each row of X"
        )
    if (weights < 0).any():
        raise ValueError("sample_weight has a negative value; use 0 to skip an example")
    if not np.isfinite(weights).all():
        raise ValueError("sample_weight contains NaN or infinity; use 0 to skip an example")
    if some and not weights.any():
        raise ValueError("sample_weight is zero everywhere; fit needs an example that counts")
    return np.ascontiguousarray(weights)


def read_ids(model: Any, ids: Any, n: int, *, fresh: bool) -> NDArray[np.int64] | None:
    """The caller's ids; None for the next n numbers."""
    if ids is None:
        if not fresh and model._next_id + n - 1 > MAX_ID:
            raise ValueError(f"ids after {MAX_ID} do not exist; give ids of your own")
        return None
    given = np.asarray(ids)
    if given.ndim != 1 or len(given) != n or given.dtype.kind not in "iu":
        raise ValueError(f"ids must be {n} integers, one for each row of X")
    if given.min() < 0 or given.max() > MAX_ID:
        raise ValueError(f"ids must lie between 0 and {MAX_ID}")
    given = np.ascontiguousarray(given, dtype=np.int64)
    if len(np.unique(given)) < n:
        raise ValueError("ids has duplicates; give every example an id of its own")
    if not fresh and hasattr(model._core, "holds") and model._core.holds(given):
        raise ValueError(
            "ids has one that an example in the model bears already; "
            "unlearn that example first, or choose other ids"
        )
    return given


def read_column(model: Any, y: Any, n: int) -> NDArray[Any]:
    """y as one column of n entries, of whatever kind."""
    if y is None:
        raise ValueError(
            f"{type(model).__name__} requires y to be passed, but the target y is None; "
            "pass one entry per row of X"
        )
    is_column = type(y) is np.ndarray and y.ndim == 1  # as streams bring it, thousands of times
    column: NDArray[Any] = y if is_column else column_or_1d(y, warn=True)
    if len(column) != n:
        raise ValueError(
            f"y has {len(column)} entries for {n} rows of X "
            "(inconsistent numbers of samples); pass one for each row"
        )
    if column.dtype.kind == "c":
        raise ValueError("Complex data not supported: y must be labels or real numbers")
    return column


def demand_table(X: Any) -> None:
    """A ValueError in one line for what scikit-learn would need several for."""
    if isinstance(X, np.ndarray | list | tuple) and np.ndim(X) == 1:
        raise ValueError(
            f"X must be 2-D, got 1-D of length {len(X)}. Reshape your data with "
            "X.reshape(1, -1) for one example or X.reshape(-1, 1) for one feature"
        )
    if isinstance(X, np.ndarray) and X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X must hold real numbers")


def demand_no_dates(X: Any, frame: Any) -> None:
    """A ValueError that names the first column of dates, which would turn into huge numbers."""
    kinds = getattr(frame, "schema", None)
    if kinds is not None:
        dates = [repr(name) for name, kind in kinds.items() if kind.is_temporal()]
    else:
        kind = X.dtype.kind if isinstance(X, np.ndarray) else ""
        dates = ["0"] if kind and kind in "mM" else []
    if dates:
        raise ValueError(
            f"column {dates[0]} holds dates: use OnlineColumns with OnlineDates, or pass numbers"
        )


def demand_no_text(X: Any) -> None:
    """A ValueError that names the first column with text, if there is one."""
    frame = frame_of(X)
    if frame is None:
        table = np.asarray(X, dtype=object)
        columns = enumerate(table.T) if table.ndim == 2 else iter(())
    else:
        columns = ((name, column_of(frame, name)) for name in frame.columns)
    for name, column in columns:
        if any(isinstance(value, str | bytes) for value in column):
            raise ValueError(f"column {name!r} holds text: encode it, or use OnlineColumns")


def one_row(x: Any) -> Any:
    """One example, dict or array, as a batch of one."""
    if isinstance(x, Mapping):
        return [x]
    row = np.asarray(x)
    if row.ndim != 1:
        raise ValueError(f"x must be a dict or a 1-D array, got {row.ndim} dimensions")
    return row.reshape(1, -1)


def frame_records(X: Any) -> list[dict[Any, Any]]:
    """A data frame as dicts, for a model that was started with dicts."""
    frame = frame_of(X)
    if frame is None:
        raise ValueError(
            "X must be a list of dicts or a data frame, since the model was started with dicts"
        )
    records = list(X.to_dicts() if hasattr(X, "to_dicts") else frame.rows(named=True))
    if not records:
        raise ValueError("X is empty: Found array with 0 sample(s); pass at least one example")
    return records
