"""The examples of one call, validated, with everything that is said about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .keys import Keys
from .labels import NO_LABELS, Labels
from .rows import Columns, Rows


@dataclass(frozen=True)
class Batch:
    """A call that has been validated completely and may now be learned."""

    rows: Rows
    columns: Columns
    targets: NDArray[Any]  # class numbers or real targets
    weights: NDArray[np.float64] | None = None  # all 1
    ids: NDArray[np.int64] | None = None  # the next numbers
    labels: Labels = NO_LABELS  # as known when the batch ends
    arrivals: Sequence[int] = ()  # the rows where each of the last of them was first met
    keys: Keys | None = None  # nothing to be noted
    counts_classes: bool = False  # as they are learned, for class_weight="balanced" of a stream

    @property
    def known(self) -> Labels:
        """The labels known when the batch begins."""
        return self.labels.first(len(self.labels) - len(self.arrivals))

    def counting(self) -> NDArray[np.intp]:
        """The rows of weight above 0."""
        return np.arange(len(self.rows)) if self.weights is None else np.flatnonzero(self.weights)

    def keys_of(self, start: int, stop: int) -> Keys | None:
        return None if self.keys is None else self.keys[start:stop]

    def after(self, row: int) -> Batch:
        """What is left from this row on."""
        return replace(
            self,
            rows=self.rows.part(row, len(self.rows)),
            targets=self.targets[row:],
            weights=None if self.weights is None else self.weights[row:],
            ids=None if self.ids is None else self.ids[row:],
            arrivals=[arrival - row for arrival in self.arrivals if arrival >= row],
            keys=None if self.keys is None else self.keys[row:],
        )

    def reordered(self, order: NDArray[np.intp]) -> Batch:
        """The same rows under the same ids, in another order, no label of theirs unknown."""
        return replace(
            self,
            rows=self.rows.picked(order),
            targets=self.targets[order],
            weights=None if self.weights is None else self.weights[order],
            ids=order.astype(np.int64),
            arrivals=(),
            keys=None if self.keys is None else [self.keys[i] for i in order],
        )
