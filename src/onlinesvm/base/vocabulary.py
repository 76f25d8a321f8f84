"""Examples as dicts: feature names to column numbers, open for names not seen before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .rows import SparseRows


class Vocabulary:
    """Feature names in order of arrival. Reading an example never changes it; ``extend`` does."""

    __slots__ = ("columns",)

    def __init__(self, names: Iterable[Any] = ()) -> None:
        self.columns: dict[Any, int] = {name: j for j, name in enumerate(names)}

    def __len__(self) -> int:
        return len(self.columns)

    def __copy__(self) -> Vocabulary:
        return Vocabulary(self.columns)

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


def _number(name: Any, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"x[{name!r}] must be a number, got {value!r}; encode it first") from None
