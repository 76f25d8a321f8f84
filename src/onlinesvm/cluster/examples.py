"""Rows on their way between machines, and how they are read from a part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..data.keys import Key, read_keys
from .parts import Part

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Examples:
    """Rows with all that is said of them."""

    X: Any
    y: NDArray[Any]
    weight: Floats
    ids: Ids
    keys: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def picked(self, which: NDArray[Any]) -> Self:
        """Only these, by number or by mask."""
        columns = {name: getattr(self, name)[which] for name in ("X", "y", "weight", "ids")}
        return replace(self, **columns, keys=None if self.keys is None else self.keys[which])

    def without(self, ids: Ids) -> Self:
        """Only those that bear none of these ids."""
        return self.picked(~np.isin(self.ids, ids))

    @staticmethod
    def joined(several: Sequence[Examples]) -> Examples:
        """All of them, each id once, by ascending ids: whatever the order they came in."""
        full = [some for some in several if len(some)] or list(several[:1])
        if len(full) == 1:
            return full[0]
        stack = sp.vstack if sp.issparse(full[0].X) else np.concatenate
        keyed = [_keys_or_none(some) for some in full]
        together = Examples(
            X=stack([some.X for some in full]),
            y=np.concatenate([some.y for some in full]),
            weight=np.concatenate([some.weight for some in full]),
            ids=np.concatenate([some.ids for some in full]),
            keys=None if all(some.keys is None for some in full) else np.concatenate(keyed),
        )
        if sp.issparse(together.X):
            together = replace(together, X=together.X.tocsr())
        return together.picked(np.unique(together.ids, return_index=True)[1])


@dataclass(frozen=True)
class Reading:
    """How rows are read from a part: in which type, under which ids, and which are left out.

    Rows of weight 0 and those to be forgotten are left out, and nobody's id changes by it.
    """

    dtype: str
    offsets: tuple[int, ...] | None = None  # the first id of each part; None: each begins at 0
    keys_gone: frozenset[Key] = frozenset()
    ids_gone: Ids = field(default_factory=lambda: np.zeros(0, np.int64))

    def of(self, part: Part) -> Examples:
        """The rows of a part that count."""
        rows = self.all_of(part)
        counts = (rows.weight > 0) & ~self.leaving(rows)
        return rows if counts.all() else rows.picked(counts)

    def all_of(self, part: Part) -> Examples:
        """The rows of a part, those included that do not count."""
        n = len(part)
        first = 0 if self.offsets is None else self.offsets[part.number]
        ids = first + np.arange(n) if part.ids is None else part.ids
        weight = np.ones(n) if part.sample_weight is None else part.sample_weight
        X = part.X if sp.issparse(part.X) else np.ascontiguousarray(part.X)
        return Examples(
            X=X.astype(self.dtype, copy=False),
            y=np.asarray(part.y),
            weight=np.asarray(weight, dtype=np.float64),
            ids=np.asarray(ids, dtype=np.int64),
            keys=None if part.keys is None else as_keys(part.keys),
        )

    def leaving(self, rows: Examples) -> NDArray[np.bool_]:
        """Which of the rows are to be forgotten."""
        leaving = np.isin(rows.ids, self.ids_gone)
        if self.keys_gone and rows.keys is not None and len(rows):
            keys = read_keys(rows.keys, len(rows)) or []
            leaving |= np.array([key in self.keys_gone for key in keys] or False, dtype=bool)
        return leaving


def as_keys(keys: Any) -> NDArray[Any]:
    """Keys as an array of objects: tuples stay tuples."""
    column = np.empty(len(keys), dtype=object)
    column[:] = keys.tolist() if isinstance(keys, np.ndarray) else list(keys)
    return column


def _keys_or_none(some: Examples) -> NDArray[Any]:
    return np.full(len(some), None, dtype=object) if some.keys is None else some.keys
