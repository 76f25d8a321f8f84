"""Rows as a caller has them: frames, dicts, arrays; put in order, cut, joined and kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from types import NoneType
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..data.arguments import check_numbers
from ..data.frames import column_of, frame_of
from ..data.keys import Key, Keys, read_keys
from ..data.vocabulary import are_records

Names = list[str] | None  # of the columns, in order; None: they have none, or dicts bring them


@dataclass(frozen=True)
class Named:
    """A table whose columns keep their names."""

    values: NDArray[Any]
    names: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, at: Any) -> Named:
        return Named(self.values[at], self.names)

    @property
    def nbytes(self) -> int:
        return int(self.values.nbytes) * (8 if self.values.dtype == object else 1)


def read_named(X: Any, names: Names, *, fresh: bool) -> tuple[Named, Names]:
    """The rows as a table with names: those of dicts are those of the first, an absent one a gap.

    Columns without names are x0, x1, ...
    """
    if isinstance(X, Named):
        return X, list(X.names)
    if are_records(X):
        names = [str(name) for name in X[0]] if fresh or names is None else names
        for record in X:
            if record and not any(name in record for name in names):
                raise ValueError(
                    f"X has a dict with {next(iter(record))!r:.60} and none of the columns known, "
                    f"{', '.join(map(repr, names))[:100]}; name them as the first rows did"
                )
        rows = _tidy([[record.get(name) for name in names] for record in X])
    else:
        rows, names = read_table(X, names, fresh=fresh)
        if sp.issparse(rows):
            raise ValueError("X is sparse, which has no columns of several kinds; pass a table")
    if names is None:
        names = [f"x{j}" for j in range(rows.shape[1])]
    return Named(rows, tuple(names)), names


def read_table(X: Any, names: Names, *, fresh: bool) -> tuple[Any, Names]:
    """The rows as arrays or dicts, columns in the order of ``names``, and the names in force."""
    frame = frame_of(X)
    if frame is not None:
        found = [str(name) for name in frame.columns]
        if fresh:
            names = found
        elif names is None:
            return _values(frame, list(frame.columns)), None
        columns = dict(zip(found, frame.columns, strict=True))
        _demand_all(names or [], columns)
        return _values(frame, [columns[name] for name in names or []]), names
    if are_records(X):
        if names is None or fresh:
            return list(X), None
        for record in X:
            _demand_all(names, record)
        return _tidy([[record[name] for name in names] for record in X]), names
    if sp.issparse(X):
        return sp.csr_array(X), names
    rows = X if isinstance(X, np.ndarray) else np.asarray(X)
    if rows.ndim != 2 or not len(rows):
        raise ValueError(
            f"X must be 2-D with at least one row, got the shape {rows.shape}. Reshape your data "
            "with X.reshape(1, -1) for one example"
        )
    if not rows.shape[1]:
        raise ValueError(
            f"X is empty: 0 feature(s) (shape={rows.shape}) while a minimum of 1 is required; "
            "pass some columns"
        )
    if rows.dtype.kind == "c":
        raise ValueError("Complex data not supported: X must hold real numbers, text or gaps")
    if names is not None and rows.shape[1] != len(names):
        raise ValueError(
            f"X has {rows.shape[1]} features, but preparation is expecting {len(names)} features "
            "as input; pass as many columns as have names"
        )
    return rows, names


def _demand_all(names: Sequence[str], there: Mapping[Any, Any]) -> None:
    missing = [name for name in names if name not in there]
    if missing:
        raise ValueError(
            f"X lacks the column {missing[0]!r}, which the first rows had; add it, or fit anew"
        )


def _values(frame: Any, columns: list[Any]) -> NDArray[Any]:
    if not columns or not len(frame):
        raise ValueError("X is empty: Found array with 0 sample(s) or feature(s); pass some")
    parts = [column_of(frame, name) for name in columns]
    for name, part in zip(columns, parts, strict=True):
        if part.dtype.kind in "mM":
            raise ValueError(
                f"X has times in the column {name!r}; turn them into numbers or text first"
            )
    if all(part.dtype.kind in "fiub" for part in parts):
        return np.column_stack([part.astype(np.float64) for part in parts])
    table = np.empty((len(parts[0]), len(parts)), dtype=object)
    for j, part in enumerate(parts):
        table[:, j] = part
    return table


def _tidy(rows: list[list[Any]]) -> NDArray[Any]:
    """Numbers as float64, anything else as it is."""
    table = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, row in enumerate(rows):
        table[i] = row
    plain = all(isinstance(v, int | float | np.number | np.bool_) for row in rows for v in row)
    return check_numbers("X", table) if plain else table


def record_of(rows: Any, i: int, names: list[Any]) -> dict[Any, float]:
    """A sparse row as a dict."""
    at = slice(rows.indptr[i], rows.indptr[i + 1])
    pairs = zip(rows.indices[at].tolist(), rows.data[at].tolist(), strict=True)
    return {names[j]: value for j, value in pairs}


def part(rows: Any, start: int, stop: int) -> Any:
    return rows[start:stop]


def copied(rows: Any) -> Any:
    """The same rows, which nobody else can change."""
    if isinstance(rows, list):
        return [dict(record) for record in rows]
    return Named(rows.values.copy(), rows.names) if isinstance(rows, Named) else rows.copy()


def joined(one: Any, other: Any) -> Any:
    """The rows of both, one after the other."""
    if isinstance(one, list):
        if not isinstance(other, list):
            raise ValueError("X must be a list of dicts, since the pipeline was started with dicts")
        return one + other
    if isinstance(one, Named):
        return Named(np.vstack([one.values, other.values]), one.names)
    if isinstance(other, list):
        raise ValueError("X is a list of dicts, but the pipeline was started without names")
    if one.shape[1] != other.shape[1]:
        raise ValueError(
            f"X has {other.shape[1]} features, but OnlinePipeline is expecting {one.shape[1]} "
            "features as input"
        )
    if sp.issparse(one) or sp.issparse(other):
        return sp.csr_array(sp.vstack([sp.csr_array(one), sp.csr_array(other)]))
    return np.vstack([one, other])


@dataclass(frozen=True)
class Held:
    """Examples as they came, with all that was said of them; immutable."""

    rows: Any
    targets: NDArray[Any] | None
    weights: NDArray[np.float64] | None
    ids: NDArray[np.int64]
    keys: Keys | None = None  # no row has one

    @staticmethod
    def nothing() -> Held:
        return Held(None, None, None, np.empty(0, np.int64))

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def counted(self) -> int:
        """Examples that count: those of weight above 0."""
        return len(self) if self.weights is None else int((self.weights > 0).sum())

    def part(self, start: int, stop: int) -> Held:
        at = slice(start, stop)
        return Held(
            part(self.rows, start, stop),
            None if self.targets is None else self.targets[at],
            None if self.weights is None else self.weights[at],
            self.ids[at],
            None if self.keys is None else self.keys[at],
        )

    def split_after(self, counting: int) -> tuple[Held, Held]:
        """Up to so many examples that count, and the rest."""
        n = len(self)
        if self.weights is None:
            cut = min(counting, n)
        else:
            found = np.flatnonzero(self.weights > 0)
            cut = int(found[counting - 1]) + 1 if len(found) >= counting else n
        return self.part(0, cut), self.part(cut, n)

    def and_then(self, more: Held) -> Held:
        """With these after the last; what is kept is a copy, since the caller's may change."""
        more = more._copied()
        if not len(self):
            return more
        return Held(
            joined(self.rows, more.rows),
            _appended(self.targets, more.targets),
            _weights(self, more),
            np.append(self.ids, more.ids),
            None if self.keys is None and more.keys is None else [*self._keys(), *more._keys()],
        )

    def _copied(self) -> Held:
        y, w = (None if a is None else a.copy() for a in (self.targets, self.weights))
        return replace(self, rows=copied(self.rows), targets=y, weights=w)

    def _keys(self) -> Keys:
        return [None] * len(self) if self.keys is None else self.keys

    def ids_of(self, keys: list[Key]) -> NDArray[np.int64]:
        """The examples that bear one of these keys."""
        return self.ids[[key in keys for key in self._keys()]]

    def keys_held(self) -> list[Key]:
        """Every key once."""
        return list(dict.fromkeys(key for key in self._keys() if key is not None))

    def without(self, ids: NDArray[Any]) -> Held:
        """Only the others."""
        stay = np.flatnonzero(~np.isin(self.ids, ids))
        if not len(stay):
            return Held.nothing()
        rows = [self.rows[i] for i in stay] if isinstance(self.rows, list) else self.rows[stay]
        return Held(
            rows,
            None if self.targets is None else self.targets[stay],
            None if self.weights is None else self.weights[stay],
            self.ids[stay],
            None if self.keys is None else [self.keys[i] for i in stay],
        )

    @property
    def nbytes(self) -> int:
        if self.rows is None:
            return 0
        keys = 0 if self.keys is None else 100 * len(self)
        if isinstance(self.rows, list):
            return 100 * sum(len(record) for record in self.rows) + keys
        rows = int(getattr(self.rows, "nbytes", 0) or self.rows.data.nbytes)
        return rows + 24 * len(self) + keys

    # --- persistence --------------------------------------------------------------------------

    def to_facts(self) -> dict[str, Any]:
        rows, y = self.rows, self.targets
        if sp.issparse(rows):  # the same file, however the same numbers came
            rows = sp.csr_array(rows, dtype=np.float64, copy=True)
            rows.sum_duplicates()
            rows = (rows.data, rows.indices, rows.indptr, rows.shape[1])
        elif isinstance(rows, np.ndarray) and rows.dtype.kind in "fiub":
            rows = rows.astype(np.float64)
        elif isinstance(rows, np.ndarray):
            rows = _saved_cells(rows)
        elif isinstance(rows, list):
            rows = [{name: _saved(value) for name, value in record.items()} for record in rows]
        elif isinstance(rows, Named):
            rows = {"names": list(rows.names), "values": _saved_cells(rows.values)}
        if y is not None and y.dtype.kind == "U":
            y = np.array(y.tolist())  # as wide as its longest
        keys = {} if all(key is None for key in self._keys()) else {"keys": self.keys}
        w = self.weights
        w = None if w is None or (w == 1).all() else w  # a cut may leave some that say nothing
        return {"rows": rows, "y": y, "w": w, "ids": self.ids, **keys}

    @staticmethod
    def from_facts(facts: Mapping[str, Any]) -> Held:
        """From a file, which is not to be trusted."""
        rows, y, w = facts["rows"], facts["y"], facts["w"]
        ids = np.asarray(facts["ids"], dtype=np.int64)
        if rows is None and y is None and w is None and not ids.size:
            return Held.nothing()
        if isinstance(rows, tuple):
            data, indices, indptr, width = rows
            rows = sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, width))
            rows.check_format(full_check=True)
        elif isinstance(rows, dict):
            rows = Named(np.asarray(rows["values"]), tuple(map(str, rows["names"])))
            if rows.values.ndim != 2 or len(rows.names) != rows.shape[1]:
                raise ValueError("its held rows do not fit their names")
        elif isinstance(rows, list):
            if not all(isinstance(record, dict) for record in rows):
                raise ValueError("its held rows are no dicts")
        elif not isinstance(rows, np.ndarray) or rows.ndim != 2:
            raise ValueError("its held rows are no table")
        n = len(rows) if isinstance(rows, list) else rows.shape[0]
        if ids.shape != (n,) or len(np.unique(ids)) < n or not n or ids.min() < 0:
            raise ValueError("its held rows have no ids of their own")
        if y is not None and np.shape(y) != (n,):
            raise ValueError("its held rows do not fit their targets")
        if w is not None:
            w = np.asarray(w, dtype=np.float64)
            if w.shape != (n,) or not np.isfinite(w).all() or (w < 0).any():
                raise ValueError("its held rows do not fit their weights")
        keys = facts.get("keys")
        if keys is not None and (not isinstance(keys, list) or read_keys(keys, n) != keys):
            raise ValueError("its held rows do not fit their keys")
        return Held(rows, None if y is None else np.asarray(y), w, ids, keys)


def _saved_cells(table: NDArray[Any]) -> NDArray[Any]:
    if table.dtype != object:
        return table
    cells = np.empty(table.size, dtype=object)
    for i, value in enumerate(table.ravel()):
        cells[i] = _saved(value)
    return cells.reshape(table.shape)


def _saved(value: Any) -> Any:
    """A cell as a file can hold it, which every step reads as the same."""
    if type(value) in (str, float, int, bool, NoneType):
        return value
    if isinstance(value, Decimal | Fraction | np.longdouble):
        return float(value)
    return None if type(value).__name__ == "NAType" else value  # of pandas


def _appended(one: Any, other: Any) -> Any:
    if (one is None) != (other is None):
        raise ValueError("y was passed in one call and not in another; pass it in all or none")
    return None if one is None else np.concatenate([one, other])


def _weights(one: Held, other: Held) -> NDArray[np.float64] | None:
    if one.weights is None and other.weights is None:
        return None
    parts = [np.ones(len(h)) if h.weights is None else h.weights for h in (one, other)]
    return np.concatenate(parts)
