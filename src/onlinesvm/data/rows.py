"""A batch of examples ready for the core: contiguous, typed, finite; dense or sparse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..core import Core, all_finite


@dataclass(frozen=True)
class Columns:
    """What rows are known to have for features."""

    count: int
    at_start: int  # of the first example alone, so that what it fixes depends on no batch
    names: NDArray[Any] | None = None  # of a data frame: fixed from now on
    newcomers: tuple[Any, ...] | None = None  # of dicts: to be added to the vocabulary

    @cached_property
    def places(self) -> dict[Any, None]:
        """The names, to look them up."""
        return {} if self.names is None else dict.fromkeys(self.names.tolist())


_FEW, _BIG = 64, 1e30
_MOST = {"f": float(np.finfo(np.float32).max), "d": float(np.finfo(np.float64).max)}


@dataclass(frozen=True)
class Rows:
    """What the learn loop and the score loop ask of a batch, in whatever container it came."""

    X: Any

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def columns(self) -> int:
        """How many features a row has."""
        return int(self.X.shape[1])

    def part(self, start: int, stop: int) -> Self:
        """The rows from start to stop."""
        everything = start == 0 and stop >= len(self)  # SciPy would copy it
        return self if everything else type(self)(self.X[start:stop])

    def picked(self, numbers: NDArray[np.intp]) -> Self:
        """The rows of these numbers, in this order."""
        return type(self)(self.X[numbers])

    def kept(self) -> Self:
        """A copy in float64 that lives on after the call."""
        return type(self)(self.X.astype(np.float64, copy=True))

    def reach_beyond(self, limit: float) -> bool:
        """Whether some value is larger than that in magnitude; no look is taken where none can."""
        values = self.values()
        if (
            not values.size
            or _far_below(values, limit)
            or limit >= _MOST.get(values.dtype.char, np.inf)
        ):
            return False
        most, least = np.maximum.reduce(values, axis=None), np.minimum.reduce(values, axis=None)
        return bool(most > limit or least < -limit)

    def within(self, limit: float) -> bool:
        """Whether every value is a number of at most that magnitude; infinity is never one."""
        values = self.values()
        if not values.size or _far_below(values, limit):
            return True
        if limit >= _MOST.get(values.dtype.char, np.inf):
            return all_finite(values)
        least, most = np.minimum.reduce(values, axis=None), np.maximum.reduce(values, axis=None)
        return bool(-limit <= least and most <= limit)  # false for NaN

    def first_beyond(self, limit: float, names: NDArray[Any] | None = None) -> str:
        """Where the first value is that is no number of at most that magnitude, in words."""
        values = self.X.tocoo() if sp.issparse(self.X) else self.X
        data = values.data if sp.issparse(values) else values
        bad = np.argwhere(~(np.abs(np.asarray(data)) <= min(limit, np.finfo(np.float64).max)))
        if not len(bad):
            return ""
        at = bad[0] if not sp.issparse(values) else [c[bad[0][0]] for c in values.coords]
        column = int(at[1]) if names is None else repr(names[at[1]])
        return f" in row {int(at[0])}, column {column}"

    def nbytes(self) -> int:
        """Bytes of memory."""
        return sum(int(array.nbytes) for array in self.to_facts().values())

    def values(self) -> NDArray[Any]:
        """The values that are stored."""
        raise NotImplementedError

    def stored(self, sparsely: bool) -> Rows:
        """The rows as a model keeps them: a store is sparse or dense, as its first row was."""
        raise NotImplementedError

    def learn(self, core: Core, y: Any, w: Any, ids: Any) -> None:
        """Let the core learn these rows in order."""
        raise NotImplementedError

    def score(self, core: Core) -> NDArray[np.float64]:
        """The core's scores of these rows."""
        raise NotImplementedError

    def score_pairs(self, core: Core) -> NDArray[np.float64]:
        """The same for each pair of classes, where the core has them."""
        raise NotImplementedError

    def smallest(self) -> float:
        """The smallest value."""
        raise NotImplementedError

    def columns_met(self) -> int:
        """How many features occur in any of these rows."""
        raise NotImplementedError

    def moments(self, n: int) -> tuple[float, float]:
        """Mean and variance of n values: the stored ones, and zeros."""
        raise NotImplementedError

    def joined(self, others: Sequence[Rows]) -> Rows:
        """These rows and all others after them; the last ones may be wider."""
        raise NotImplementedError

    def to_facts(self) -> dict[str, NDArray[Any]]:
        """The rows as plain arrays."""
        raise NotImplementedError


def _far_below(values: NDArray[Any], limit: float) -> bool:
    """Whether a few values are surely within a limit, by their squares; False says nothing."""
    return values.size <= _FEW and limit >= 1 and bool(np.vdot(values, values) <= min(limit, _BIG))


class DenseRows(Rows):
    """Rows of a C-contiguous float32 or float64 array."""

    def values(self) -> NDArray[Any]:
        return np.asarray(self.X)

    def stored(self, sparsely: bool) -> Rows:
        return SparseRows.of(sp.csr_array(self.X)) if sparsely else self

    def learn(self, core: Core, y: Any, w: Any, ids: Any) -> None:
        core.learn_dense(self.X, y, w, ids)

    def score(self, core: Core) -> NDArray[np.float64]:
        return core.score_dense(self.X)

    def score_pairs(self, core: Core) -> NDArray[np.float64]:
        return np.asarray(core.score_pairs_dense(self.X))

    def smallest(self) -> float:
        return float(self.X.min())

    def columns_met(self) -> int:
        return self.columns()

    def moments(self, n: int) -> tuple[float, float]:
        values = np.asarray(self.X, dtype=np.float64)
        return float(values.mean()), float(values.var())

    def joined(self, others: Sequence[Rows]) -> Rows:
        return DenseRows(np.vstack([self.X, *(rows.X for rows in others)]))

    def to_facts(self) -> dict[str, NDArray[Any]]:
        return {"values": self.X}

    @staticmethod
    def from_facts(facts: Mapping[str, Any], width: int) -> DenseRows:
        values = np.ascontiguousarray(facts["values"], dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != width:
            raise ValueError("its first examples have another width")
        return DenseRows(values)


class SparseRows(Rows):
    """Rows of a CSR array with ascending int32 column numbers."""

    @staticmethod
    def of(matrix: Any) -> SparseRows:
        """A CSR matrix brought into canonical form without touching the caller's."""
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        return SparseRows(matrix)

    def values(self) -> NDArray[Any]:
        return np.asarray(self.X.data)

    def stored(self, sparsely: bool) -> Rows:
        return self if sparsely else DenseRows(self.X.toarray())

    def learn(self, core: Core, y: Any, w: Any, ids: Any) -> None:
        core.learn_sparse(*self._parts(), self.columns(), y, w, ids)

    def score(self, core: Core) -> NDArray[np.float64]:
        return core.score_sparse(*self._parts(), self.columns())

    def score_pairs(self, core: Core) -> NDArray[np.float64]:
        return np.asarray(core.score_pairs_sparse(*self._parts(), self.columns()))

    def smallest(self) -> float:
        return float(self.X.data.min(initial=0.0))

    def columns_met(self) -> int:
        return len(np.unique(self.X.indices))

    def moments(self, n: int) -> tuple[float, float]:
        values = np.sort(np.asarray(self.X.data, dtype=np.float64))  # names have no order
        mean = float(values.sum() / n)
        squares = float(((values - mean) ** 2).sum()) + (n - len(values)) * (mean * mean)
        return mean, squares / n

    def joined(self, others: Sequence[Any]) -> Rows:
        every = [self, *others]
        parts = [rows._parts() for rows in every]
        starts = np.cumsum([0, *(len(data) for data, _, _ in parts)])
        ends = [indptr[1:] + start for (_, _, indptr), start in zip(parts, starts, strict=False)]
        data, indices = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
        shape = sum(len(rows) for rows in every), max(rows.columns() for rows in every)
        indptr = np.concatenate([[0], *ends])
        return SparseRows(sp.csr_array((data, indices, indptr), shape=shape))

    def to_facts(self) -> dict[str, NDArray[Any]]:
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
        return SparseRows(matrix)

    def _parts(self) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int64]]:
        m, used = self.X, self.X.indptr[-1]  # there may be room for more
        indices = m.indices[:used].astype(np.int32, copy=False)
        return m.data[:used], indices, m.indptr.astype(np.int64, copy=False)


def is_plain(X: Any) -> bool:
    """Whether X, if it is ``sound``, can go to the core without scikit-learn's looking at it."""
    return (
        type(X) in (np.ndarray, sp.csr_array, sp.csr_matrix)
        and X.ndim == 2
        and X.shape[0] > 0
        and (X.dtype == np.float64 or X.dtype == np.float32)
        and (type(X) is not np.ndarray or X.flags.c_contiguous)
    )


def sound(X: Any) -> Any:
    """X, whose members fit each other if it is sparse; SciPy's own loops believe them unseen.

    They need not fit where a file or a later assignment brought them.
    """
    if not sp.issparse(X):
        return X
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
