"""Examples as dicts: feature names to column numbers, open for names not seen before."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .rows import SparseRows

_MANY = 100_000
_NUMBER = 32  # bytes of an int


class Vocabulary:
    """Feature names in order of arrival. Reading an example never changes it; ``extend`` does."""

    __slots__ = ("_sized", "_warned", "columns")

    def __init__(self, names: Iterable[Any] = ()) -> None:
        self.columns: dict[Any, int] = {name: j for j, name in enumerate(names)}
        self._sized = 0, 0  # how many names have been looked at, and their bytes
        self._warned = max(_MANY, 2 * len(self.columns))

    def __len__(self) -> int:
        return len(self.columns)

    def __copy__(self) -> Vocabulary:
        return Vocabulary(self.columns)

    @property
    def nbytes(self) -> int:
        """Bytes of the names and their numbers."""
        names, (known, held) = list(self.columns), self._sized  # in one step: others may add some
        if known > len(names):
            known = held = 0
        held += sum(map(sys.getsizeof, names[known:]))
        self._sized = len(names), held
        return held + sys.getsizeof(self.columns) + _NUMBER * len(names)

    def warn_if_endless(self) -> None:
        """Say that names take memory, when there are very many, and at each doubling."""
        if len(self.columns) < self._warned:
            return
        self._warned = 2 * len(self.columns)
        warnings.warn(
            f"{len(self.columns):,} names of features so far, in {self.nbytes / 1e6:.0f} MB: each "
            "new one takes memory for good; hash them (OnlineHashing) where they never end",
            UserWarning,
            stacklevel=2,
        )

    def names(self) -> list[Any]:
        return list(self.columns)

    def extend(self, names: Iterable[Any]) -> None:
        """Give each new name the next column."""
        for name in names:
            self.columns.setdefault(name, len(self.columns))

    def shorten(self, n: int) -> None:
        """Give up all but the first n names."""
        while len(self.columns) > n:
            self.columns.popitem()
            self._sized = 0, 0

    def read(
        self, records: Sequence[Mapping[Any, Any]], *, learning: bool
    ) -> tuple[SparseRows, list[Any]]:
        """Sparse rows of the records, and the names that are new in them.

        New names take the columns after the last, in order of arrival, as ``extend`` would give
        them; when not learning they are passed over.
        """
        columns = self.columns
        newcomers: dict[Any, int] = {}
        values: list[float] = []
        indices: list[int] = []
        indptr = [0]
        for record in records:
            for name, value in record.items():
                column = columns.get(name, -1)
                if column < 0:
                    if not learning:
                        continue
                    column = newcomers.setdefault(name, len(columns) + len(newcomers))
                indices.append(column)
                values.append(_number(name, value))
            indptr.append(len(indices))
        width = len(columns) + len(newcomers)
        matrix = sp.csr_array(
            (np.asarray(values, dtype=np.float64), np.asarray(indices, dtype=np.int32), indptr),
            shape=(len(indptr) - 1, width),
        )
        matrix.sort_indices()
        return SparseRows(matrix), list(newcomers)


def named_rows(records: Sequence[Mapping[Any, Any]], names: NDArray[Any]) -> NDArray[np.float64]:
    """Dense rows of the records for a model whose columns are fixed; an absent name is 0."""
    columns = {name: j for j, name in enumerate(names.tolist())}
    rows = []
    for record in records:
        row = np.zeros(len(columns))
        for name, value in record.items():
            if name not in columns:
                raise ValueError(
                    f"x has the feature {name!r}, but the model was started with the columns "
                    f"{', '.join(map(repr, columns))}; drop it or start a model with dicts"
                )
            row[columns[name]] = _number(name, value)
        rows.append(row)
    return np.asarray(rows)


def are_records(X: Any) -> bool:
    """Whether X is a list of dicts; a ValueError where only some of its rows are."""
    if not isinstance(X, list | tuple) or not X or not isinstance(X[0], Mapping):
        return False
    for i, row in enumerate(X):
        if type(row) is not dict and not isinstance(row, Mapping):
            raise ValueError(
                f"X has a {type(row).__name__} in row {i} among dicts; pass dicts alone"
            )
    return True


def _number(name: Any, value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"x[{name!r}] is too large for a float; scale or drop it") from None
    except (TypeError, ValueError):
        raise ValueError(
            f"x[{name!r}] must be a number, got {value!r}; encode it, or use OnlineColumns"
        ) from None
