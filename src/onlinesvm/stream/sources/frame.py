"""A table of named columns of unlike types: no number is boxed to stand beside a word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Frame"]


class Frame:
    """Columns by name, rows by slice: the least that the library takes for a data frame.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm.stream.sources import Frame
    >>> frame = Frame({"age": np.array([20.0, 40.0]), "town": np.array(["Rom", None], object)})
    >>> frame.shape, frame["town"][0], frame[1:]["age"]
    ((2, 2), 'Rom', array([40.]))
    """

    def __init__(self, columns: Mapping[str, NDArray[Any]]) -> None:
        self._columns = dict(columns)

    @property
    def columns(self) -> list[str]:
        """The names, in order."""
        return list(self._columns)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self), len(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()))) if self._columns else 0

    def __getitem__(self, at: Any) -> Any:
        """A column by its name, or some rows of all columns."""
        if isinstance(at, str):
            return self._columns[at]
        return Frame({name: values[at] for name, values in self._columns.items()})

    def get_column(self, name: str) -> NDArray[Any]:
        """The column of this name."""
        return self._columns[name]

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as dicts."""
        lists = [values.tolist() for values in self._columns.values()]
        return [dict(zip(self._columns, row, strict=True)) for row in zip(*lists, strict=True)]

    def __eq__(self, other: object) -> bool:
        """Equal names, equal values, a gap equal to a gap."""
        if not isinstance(other, Frame) or self.columns != other.columns:
            return NotImplemented if not isinstance(other, Frame) else False
        return all(_same(self[name], other[name]) for name in self.columns)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        n, d = self.shape
        return f"Frame({n} rows, {d} columns: {', '.join(self.columns[:6])})"


def _same(one: NDArray[Any], other: NDArray[Any]) -> bool:
    return np.array_equal(one, other, equal_nan=one.dtype.kind == other.dtype.kind == "f")
