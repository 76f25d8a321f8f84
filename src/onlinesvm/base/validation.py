"""Validation of what a call is given; nothing is changed here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.validation import validate_data

from ..kernels import PRECOMPUTED
from ..params import check_numbers
from .frames import column_of, frame_of
from .rows import DenseRows, Rows, SparseRows, as_rows, is_plain, sound
from .state import ModelState
from .vocabulary import Vocabulary, are_records, named_rows

MAX_ID = int(np.iinfo(np.int64).max)
_FLOAT64_MAX = float(np.finfo(np.float64).max)
_FLOAT32_MAX = float(np.finfo(np.float32).max)
_FLOAT32_COLUMNS = 1 << 24  # beyond, their numbers are not exact


@dataclass(frozen=True)
class Columns:
    """What a batch says about its features."""

    count: int
    at_start: int  # of the first example alone, so that what it fixes depends on no batch
    names: NDArray[Any] | None = None  # of a data frame: fixed from now on
    newcomers: tuple[Any, ...] | None = None  # of dicts: to be added to the vocabulary


class InputValidation(ModelState):
    """How an estimator reads ``X``, ``y``, ``sample_weight`` and ``ids``."""

    def _read_rows(self, X: Any, *, fresh: bool, learning: bool = True) -> tuple[Rows, Columns]:
        """X as rows for the core; ``fresh`` means its columns are not known yet."""
        if are_records(X):
            rows, columns = self._read_records(X, fresh=fresh, learning=learning)
        elif not fresh and self._vocabulary is not None:
            rows, columns = self._read_records(frame_records(X), fresh=False, learning=learning)
        else:
            rows, columns = self._read_array(X, fresh=fresh)
        if not (learning and self._core_looks_first()):
            self._demand_numbers(rows, columns.names)
        self._check_kernel_takes(rows)
        return rows if fresh else rows.stored(self._sparsely), columns

    def _core_looks_first(self) -> bool:
        """Whether the core looks at each block of rows just before it learns them.

        Rows are then read from memory once; what was learned of the call is taken back.
        """
        return False

    def _demand_numbers(self, rows: Rows, names: NDArray[Any] | None = None) -> None:
        if not self._are_numbers(rows):
            raise ValueError(
                "Input X contains NaN or infinity (or a value too large for dtype)"
                f"{rows.first_beyond(self._limit(), names)}; drop those rows, or fill the values "
                "with OnlineImputer"
            )

    def _are_numbers(self, rows: Rows) -> bool:
        """Whether every value can be learned from."""
        return rows.within(self._limit())

    def _limit(self) -> float:
        """The largest magnitude of a value that is kept."""
        return _FLOAT32_MAX if self.dtype == "float32" else np.inf

    def _check_kernel_takes(self, rows: Rows) -> None:
        kernel = getattr(self, "kernel", "linear")
        if kernel == "chi2" and rows.smallest() < 0:
            raise ValueError(
                "Negative values in data: X must be >= 0 for kernel='chi2'; "
                "shift the features or choose another kernel"
            )
        if callable(kernel) and isinstance(rows, SparseRows):
            raise ValueError("X is sparse, which a kernel function cannot take; pass dense rows")
        if self._is_pairwise() and isinstance(rows, SparseRows):
            raise ValueError(
                "X is sparse or of dicts, which kernel='precomputed' cannot take; pass an array of "
                "kernel values with a column for each example"
            )

    def _is_pairwise(self) -> bool:
        """Whether rows are kernel values with the examples by id, in place of features."""
        return isinstance(kernel := getattr(self, "kernel", None), str) and kernel == PRECOMPUTED

    def _demand_columns(
        self, rows: Rows, ids: NDArray[np.int64] | None, *, fresh: bool, whole: bool
    ) -> None:
        """Where rows are kernel values: a ValueError unless each example has a column."""
        if not self._is_pairwise():
            return
        n, columns = len(rows), rows.columns()
        if whole and n != columns:
            raise ValueError(
                f"X must be a square matrix with kernel='precomputed', got {n} x {columns}; pass "
                "k(x_i, x_j) of all examples, or rows and their ids to partial_fit"
            )
        if columns > _FLOAT32_COLUMNS and self.dtype == "float32":
            raise ValueError(
                f"X has {columns} columns, more than numbers in float32; set dtype='float64'"
            )
        first = 0 if fresh else self._next_id
        last = first + n - 1 if ids is None else int(ids.max())
        if last >= columns:
            raise ValueError(
                f"ids reach {last}, but X has the kernel values with the examples 0 to "
                f"{columns - 1}; pass rows with a column for each example there will be, or its "
                "column as its id"
            )

    def _read_array(self, X: Any, *, fresh: bool) -> tuple[Rows, Columns]:
        known = None if fresh else self.n_features_in_
        named = not fresh and hasattr(self, "feature_names_in_")
        if is_plain(X) and not named and X.shape[1] == (known or X.shape[1] or -1):
            return as_rows(sound(X)), Columns(X.shape[1], X.shape[1])
        demand_table(X)
        demand_no_dates(X, frame_of(X))
        X = sound(X)
        # A stand-in takes the notes that validate_data makes before it has looked at the values.
        stand_in = object.__new__(type(self))
        stand_in.__dict__.update(self.__dict__)
        if fresh:
            for name in ("n_features_in_", "feature_names_in_"):
                stand_in.__dict__.pop(name, None)
        try:
            valid = validate_data(
                stand_in,
                X,
                reset=fresh,
                accept_sparse="csr",
                dtype=[np.float64, np.float32],
                order="C",
                ensure_all_finite=False,
            )
        except OverflowError:
            raise ValueError("X has an integer too large for a float; scale or drop it") from None
        except ValueError as error:
            demand_no_text(X)
            raise error
        names = getattr(stand_in, "feature_names_in_", None)
        return as_rows(valid), Columns(valid.shape[1], valid.shape[1], names)

    def _read_records(self, X: Any, *, fresh: bool, learning: bool) -> tuple[Rows, Columns]:
        if not fresh and self._vocabulary is None:
            names = getattr(self, "feature_names_in_", None)
            if names is None:
                raise ValueError(
                    "x is a dict, but the model was started with arrays; pass an array of "
                    f"{self.n_features_in_} values"
                )
            return DenseRows(named_rows(X, names)), Columns(len(names), len(names), names)
        vocabulary = Vocabulary() if fresh or self._vocabulary is None else self._vocabulary
        rows, newcomers = vocabulary.read(X, learning=learning)
        return rows, Columns(rows.columns(), len(X[0]), newcomers=tuple(newcomers))

    @staticmethod
    def _read_weights(
        sample_weight: Any, n: int, *, some: bool = False
    ) -> NDArray[np.float64] | None:
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

    def _read_ids(self, ids: Any, n: int, *, fresh: bool) -> NDArray[np.int64] | None:
        """The caller's ids; None for the next n numbers."""
        if ids is None:
            if not fresh and self._next_id + n - 1 > MAX_ID:
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
        if not fresh and hasattr(self._core, "holds") and self._core.holds(given):
            raise ValueError(
                "ids has one that an example in the model bears already; "
                "unlearn that example first, or choose other ids"
            )
        return given

    def _read_column(self, y: Any, n: int) -> NDArray[Any]:
        """y as one column of n entries, of whatever kind."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None; "
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
