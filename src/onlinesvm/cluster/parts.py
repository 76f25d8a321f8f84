"""The parts of a data set, and how a function is called on each of them where it lies."""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Self, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

S = TypeVar("S")
T = TypeVar("T")


@dataclass(frozen=True)
class Part:
    """The rows of one part, as arrays.

    Attributes
    ----------
    X : array of shape (n, d) or scipy CSR array
    y : array of n labels
    sample_weight : array of n numbers >= 0, or None
    ids : array of n integers >= 0, distinct over all parts, or None
    keys : list or array of n keys, or None
    number : int, its place among the parts
    """

    X: Any
    y: NDArray[Any]
    sample_weight: NDArray[np.float64] | None = None
    ids: NDArray[np.int64] | None = None
    keys: Sequence[Any] | NDArray[Any] | None = None
    number: int = 0

    def __len__(self) -> int:
        return int(self.X.shape[0])


class Parts(ABC):
    """So many parts of a data set; the package's docstring has the contract."""

    @abstractmethod
    def __len__(self) -> int:
        """How many parts there are, empty ones included."""

    @abstractmethod
    def map(self, function: Callable[[Part, S], T], shared: S) -> list[T]:
        """``function(part, shared)`` of every part, in order."""

    def run(self, function: Callable[[S], T], items: Sequence[S]) -> list[T]:
        """``function(item)`` of every item, on any machine, in order."""
        return [function(item) for item in items]


class LocalParts(Parts):
    """Parts in the memory of this process, one after the other: to try things out, and for tests.

    Parameters
    ----------
    parts : iterable of Part

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm.cluster import LocalParts
    >>> parts = LocalParts.cut(np.zeros((10, 2)), np.arange(10) % 2, 3)
    >>> parts.map(lambda part, least: len(part) > least, 3)
    [True, False, False]
    """

    def __init__(self, parts: Iterable[Part]) -> None:
        self._parts = [replace(part, number=number) for number, part in enumerate(parts)]

    @classmethod
    def cut(cls, X: Any, y: Any, parts: int | Sequence[Any], **columns: Any) -> Self:
        """Rows cut into so many parts of about equal size, or at the row numbers of each part.

        Parameters
        ----------
        X, y : the rows and their labels
        parts : int, or a list of arrays of row numbers
        columns : ``sample_weight``, ``ids`` or ``keys``
        """
        rows = np.arange(X.shape[0])
        chosen = np.array_split(rows, parts) if isinstance(parts, int) else parts
        columns = {"y": y} | {name: c for name, c in columns.items() if c is not None}
        arrays = {name: _column(values) for name, values in columns.items()}
        return cls(
            Part(X=X[which], **{name: values[which] for name, values in arrays.items()})
            for which in map(np.asarray, chosen)
        )

    def __len__(self) -> int:
        return len(self._parts)

    def __getitem__(self, number: int) -> Part:
        return self._parts[number]

    def map(self, function: Callable[[Part, S], T], shared: S) -> list[T]:
        return [function(part, shared) for part in self._parts]


class Metered(Parts):
    """The same parts, and how many bytes travel to them and from them.

    ``shared`` counts once for every part, as where every part lies on a machine of its own.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.down = self.up = 0

    def __len__(self) -> int:
        return len(self._parts)

    def map(self, function: Callable[[Part, S], T], shared: S) -> list[T]:
        self.down += len(self) * _size(shared)
        results = self._parts.map(function, shared)
        self.up += sum(map(_size, results))
        return results

    def run(self, function: Callable[[S], T], items: Sequence[S]) -> list[T]:
        self.down += sum(map(_size, items))
        results = self._parts.run(function, items)
        self.up += sum(map(_size, results))
        return results


def _size(thing: Any) -> int:
    """Bytes of the arrays in it, and what pickle makes of the rest: the same wherever it was."""
    if isinstance(thing, np.ndarray) and thing.dtype.kind != "O":
        return int(thing.nbytes)
    if sp.issparse(thing):
        return sum(map(_size, (thing.data, thing.indices, thing.indptr)))
    if isinstance(thing, Mapping):
        return sum(_size(value) for value in thing.values())
    if isinstance(thing, list | tuple):
        return sum(map(_size, thing))
    if is_dataclass(thing):
        return sum(_size(getattr(thing, field.name)) for field in fields(thing))
    return len(pickle.dumps(thing, protocol=5))


def _column(values: Any) -> NDArray[Any]:
    """One entry for each row; tuples stay tuples."""
    if isinstance(values, np.ndarray):
        return values
    if any(isinstance(value, tuple) or value is None for value in values):
        column = np.empty(len(values), dtype=object)
        column[:] = values
        return column
    return np.asarray(values)
