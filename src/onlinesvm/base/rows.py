"""A batch of examples ready for the core: contiguous, typed, finite; dense or sparse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .core import Core, all_finite


class Rows(Protocol):
    """What the learn loop and the score loop ask of a batch."""

    def __len__(self) -> int: ...

    def stored(self, sparsely: bool) -> Rows:
        """The rows as a model keeps them: a store is sparse or dense, as its first row was."""

    def part(self, start: int, stop: int) -> Rows:
        """The rows from start to stop."""

    def picked(self, numbers: NDArray[np.intp]) -> Rows:
        """The rows of these numbers, in this order."""

    def learn(self, core: Core, y: Any, w: Any, ids: Any) -> None:
        """Let the core learn these rows in order."""

    def score(self, core: Core) -> NDArray[np.float64]:
        """The core's scores of these rows."""

    def within(self, limit: float) -> bool:
        """Whether every value is a number of at most that magnitude; infinity is never one."""

    def smallest(self) -> float:
        """The smallest stored value."""

    def columns(self) -> int:
        """How many features a row has."""

    def columns_met(self) -> int:
        """How many features occur in any of these rows."""

    def moments(self, n: int) -> tuple[float, float]:
        """Mean and variance of n values: the stored ones, and zeros."""

    def kept(self) -> Rows:
        """A copy in float64 that lives on after the call."""

    def joined(self, others: Sequence[Rows]) -> Rows:
        """These rows and all others after them; the last ones may be wider."""

    def nbytes(self) -> int:
        """Bytes of memory."""

    def to_facts(self) -> dict[str, Any]:
        """The rows as plain arrays."""


@dataclass(frozen=True)
class DenseRows:
    """Rows of a C-contiguous float32 or float64 array."""

    values: NDArray[Any]

    def __len__(self) -> int:
        return len(self.values)

    def stored(self, sparsely: bool) -> Rows:
        return SparseRows.of(sp.csr_array(self.values)) if sparsely else self

    def part(self, start: int, stop: int) -> DenseRows:
        return DenseRows(self.values[start:stop])

    def picked(self, numbers: NDArray[np.intp]) -> DenseRows:
        return DenseRows(self.values[numbers])

    def learn(self, core: Core, y: Any, w: Any, ids: Any) -> None:
        core.learn_dense(self.values, y, w, ids)

    def score(self, core: Core) -> NDArray[np.float64]:
        return core.score_dense(self.values)

    def within(self, limit: float) -> bool:
        return _within(self.values, limit)

    def smallest(self) -> float:
        return float(self.values.min())

    def columns(self) -> int:
        return int(self.values.shape[1])

    def columns_met(self) -> int:
        return self.columns()

    def moments(self, n: int) -> tuple[float, float]:
        values = np.asarray(self.values, dtype=np.float64)
        return float(values.mean()), float(values.var())

    def kept(self) -> DenseRows:
        return DenseRows(self.values.astype(np.float64))

    def joined(self, others: Sequence[Any]) -> DenseRows:
        return DenseRows(np.vstack([self.values, *(rows.values for rows in others)]))

    def nbytes(self) -> int:
        return int(self.values.nbytes)

    def to_facts(self) -> dict[str, Any]:
        return {"values": self.values}

    @staticmethod
    def from_facts(facts: Mapping[str, Any], width: int) -> DenseRows:
        values = np.ascontiguousarray(facts["values"], dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != width:
            raise ValueError("its first examples have another width")
        return DenseRows(values)


@dataclass(frozen=True)
class SparseRows:
    """Rows of a CSR array with ascending int32 column numbers."""

    matrix: Any
    width: int

    @staticmethod
    def of(matrix: Any) -> SparseRows:
        """A CSR matrix brought into canonical form without touching the caller's."""
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        return SparseRows(matrix, matrix.shape[1])

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def stored(self, sparsely: bool) -> Rows:
        return self if sparsely else DenseRows(self.matrix.toarray())

    def part(self, start: int, stop: int) -> SparseRows:
        return SparseRows(self.matrix[start:stop], self.width)

    def picked(self, numbers: NDArray[np.intp]) -> SparseRows:
        return SparseRows(self.matrix[numbers], self.width)

    def learn(self, core: Core, y: Any, w: Any, ids: Any) -> None:
        core.learn_sparse(*self._parts(), self.width, y, w, ids)

    def score(self, core: Core) -> NDArray[np.float64]:
        return core.score_sparse(*self._parts(), self.width)

    def within(self, limit: float) -> bool:
        return _within(self.matrix.data, limit)

    def smallest(self) -> float:
        return float(self.matrix.data.min(initial=0.0))

    def columns(self) -> int:
        return self.width

    def columns_met(self) -> int:
        return len(np.unique(self.matrix.indices))

    def moments(self, n: int) -> tuple[float, float]:
        values = np.sort(np.asarray(self.matrix.data, dtype=np.float64))  # names have no order
        mean = float(values.sum() / n)
        squares = float(((values - mean) ** 2).sum()) + (n - len(values)) * mean**2
        return mean, squares / n

    def kept(self) -> SparseRows:
        return SparseRows(self.matrix.astype(np.float64, copy=True), self.width)

    def joined(self, others: Sequence[Any]) -> SparseRows:
        every = [self, *others]
        parts = [rows._parts() for rows in every]
        starts = np.cumsum([0, *(len(data) for data, _, _ in parts)])
        ends = [indptr[1:] + start for (_, _, indptr), start in zip(parts, starts, strict=False)]
        data, indices = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
        width, n = max(rows.width for rows in every), sum(len(rows) for rows in every)
        indptr = np.concatenate([[0], *ends])
        return SparseRows(sp.csr_array((data, indices, indptr), shape=(n, width)), width)

    def nbytes(self) -> int:
        return int(self.matrix.data.nbytes + self.matrix.indices.nbytes + self.matrix.indptr.nbytes)

    def to_facts(self) -> dict[str, Any]:
        return dict(zip(("data", "indices", "indptr"), self._parts(), strict=True))

    @staticmethod
    def from_facts(facts: Mapping[str, Any], width: int) -> SparseRows:
        data = np.asarray(facts["data"], dtype=np.float64)
        indices = np.asarray(facts["indices"], dtype=np.int32)
        indptr = np.asarray(facts["indptr"], dtype=np.int64)
        matrix = sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, width))
        matrix.check_format(full_check=True)
        if not matrix.has_canonical_format:
            raise ValueError("its first examples are not in order")
        return SparseRows(matrix, width)

    def _parts(self) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int64]]:
        m, used = self.matrix, self.matrix.indptr[-1]  # there may be room for more
        indices = m.indices[:used].astype(np.int32, copy=False)
        return m.data[:used], indices, m.indptr.astype(np.int64, copy=False)


def _within(values: NDArray[Any], limit: float) -> bool:
    if not values.size:
        return True
    if values.dtype == np.float32 or limit == np.inf:
        return all_finite(values)
    return bool(-limit <= values.min() and values.max() <= limit)  # false for NaN


def is_plain(X: Any) -> bool:
    """Whether X can go to the core as it is."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.shape[0] > 0
        and (X.dtype == np.float64 or X.dtype == np.float32)
        and X.flags.c_contiguous
    )


def sound(X: Any) -> Any:
    """A sparse matrix whose members fit each other; SciPy's own loops believe them unseen.

    They need not fit where a file or a later assignment brought them.
    """
    if X.format in ("csr", "csc", "bsr"):
        _check_compressed(X)
        return X
    if X.format != "coo":
        X = X.tocoo()
    for axis, numbers in enumerate((X.row, X.col)):
        if len(numbers) != len(X.data) or _outside(numbers, X.shape[axis]):
            raise ValueError(_BROKEN)
    return X


_BROKEN = (
    "X is a broken sparse matrix: its row starts or column numbers lie outside it; "
    "build it anew from its entries"
)


def _check_compressed(X: Any) -> None:
    tall, wide = X.blocksize if X.format == "bsr" else (1, 1)
    rows, columns = X.shape[0] // tall, X.shape[1] // wide
    if X.format == "csc":
        rows, columns = columns, rows
    indptr, indices = X.indptr, X.indices
    fits = (
        indptr.ndim == 1
        and len(indptr) == rows + 1
        and indptr[0] == 0
        and indptr[-1] <= min(len(indices), len(X.data))
        and not (np.diff(indptr) < 0).any()
        and not _outside(indices[: indptr[-1]], columns)
    )
    if not fits:
        raise ValueError(_BROKEN)


def _outside(numbers: NDArray[Any], limit: int) -> bool:
    return bool(numbers.size and (numbers.min() < 0 or numbers.max() >= limit))


def as_rows(X: Any) -> Rows:
    """Rows of what scikit-learn's validation let through."""
    return SparseRows.of(X) if sp.issparse(X) else DenseRows(X)
