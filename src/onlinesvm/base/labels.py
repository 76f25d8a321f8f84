"""Class labels: names to numbers and back, in an order that never changes once handed out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Up to this many classes, comparing against each is faster than sorting the labels.
_FEW = 16


class Labels:
    """An immutable list of classes; the position of a class is the number the core knows it by."""

    __slots__ = ("_names", "codes", "is_open", "names")

    def __init__(self, names: Sequence[Any] | NDArray[Any], *, is_open: bool) -> None:
        self.names = _as_array(names)
        self.is_open = is_open
        self._names: list[Any] = self.names.tolist()
        self.codes: dict[Any, int] = {name: i for i, name in enumerate(self._names)}

    def __len__(self) -> int:
        return len(self.names)

    def extended(self, newcomers: Iterable[Any]) -> Labels:
        """The same classes followed by the newcomers."""
        return Labels([*self.names.tolist(), *newcomers], is_open=self.is_open)

    def encode(self, y: NDArray[Any]) -> NDArray[np.int32]:
        """The number of each label, -1 for a label that is not known."""
        if len(self) > _FEW:
            seen, inverse = np.unique(y, return_inverse=True)
            numbers = [self.codes.get(label, -1) for label in seen.tolist()]
            return np.asarray(numbers, dtype=np.int32)[inverse]
        codes = np.full(len(y), -1, dtype=np.int32)
        for i, name in enumerate(self.names):
            codes += np.multiply(y == name, i + 1, dtype=np.int32)  # no branches: labels alternate
        return codes

    def newcomers(self, y: NDArray[Any], codes: NDArray[np.int32]) -> dict[int, Any]:
        """Where in ``y`` each unknown label appears first."""
        strangers = np.flatnonzero(codes < 0)
        if not strangers.size:
            return {}
        labels, first = np.unique(y[strangers], return_index=True)
        arrivals = sorted(zip(strangers[first].tolist(), labels.tolist(), strict=True))
        return dict(arrivals)

    def decode(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """The label of each row of scores: by sign for one column, by the largest for several."""
        if not len(self):
            raise ValueError("no class has been seen yet; learn at least one labelled example")
        if scores.shape[1] == 1:
            codes = (scores[:, 0] > 0).astype(np.intp)
        else:
            codes = scores[:, : len(self)].argmax(axis=1)
        return self.names[np.minimum(codes, len(self) - 1)]

    def decode_one(self, scores: tuple[float, ...]) -> Any:
        """The label of one row of scores; ``None`` before any class is known."""
        if not self._names:
            return None
        if len(scores) == 1:
            code = int(scores[0] > 0)
        else:
            code = max(range(len(scores)), key=scores.__getitem__)
        return self._names[min(code, len(self._names) - 1)]


def _as_array(names: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """Labels as an array; labels of several kinds stay the objects they are."""
    kinds = {type(name) for name in names}
    if len(kinds) <= 1 and isinstance(names, np.ndarray):
        return names
    if len(kinds) <= 1 and all(np.ndim(name) == 0 for name in names):
        return np.asarray(names)
    mixed = np.empty(len(names), dtype=object)
    mixed[:] = names
    return mixed


NO_LABELS = Labels([], is_open=True)
