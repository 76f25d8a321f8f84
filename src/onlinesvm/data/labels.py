"""Class labels: ascending for the user, numbered in order of arrival for the core."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Up to this many classes, comparing against each is faster than sorting the labels.
_FEW = 16


class Labels:
    """An immutable set of classes, given in order of arrival.

    The core knows a class by the number it got when it came, which never changes. The user sees
    them ascending, in ``names``; ``columns`` and ``signed`` bring what the core gives by output
    into that order. Labels of kinds that cannot be compared are ordered by the name of their type
    first; those that cannot be compared at all stay in order of arrival.
    """

    __slots__ = ("_names", "_numbers", "codes", "is_open", "names")

    def __init__(self, arrived: Iterable[Any], *, is_open: bool) -> None:
        by_number = arrived if isinstance(arrived, np.ndarray) else _as_array(list(arrived))
        items = by_number.tolist()
        order = _ascending(items)
        in_order = order == list(range(len(items)))
        self.is_open = is_open
        self.codes: dict[Any, int] = dict(zip(items, range(len(items)), strict=True))
        self._numbers: NDArray[np.intp] | None = None if in_order else np.array(order, np.intp)
        self.names = by_number if in_order else by_number[self._numbers]
        self._names: list[Any] = self.names.tolist()

    def __len__(self) -> int:
        return len(self.codes)

    def arrived(self) -> NDArray[Any]:
        """The labels by number."""
        if self._numbers is None:
            return self.names
        by_number = np.empty_like(self.names)
        by_number[self._numbers] = self.names
        return by_number

    def extended(self, newcomers: Iterable[Any]) -> Labels:
        """The same classes and the newcomers after them."""
        return Labels([*self.codes, *newcomers], is_open=self.is_open)

    def first(self, n: int) -> Labels:
        """Only the n classes that came first."""
        if n == len(self):
            return self
        return Labels(list(self.codes)[:n], is_open=self.is_open)

    # --- from labels to numbers ---------------------------------------------------------------

    def encode(self, y: NDArray[Any]) -> NDArray[np.int32]:
        """The number of each label, -1 for a label that is not known."""
        if len(y) == 1 and y.dtype.kind in "biuU":
            return np.array([self.codes.get(y.item(), -1)], np.int32)
        if len(self) > _FEW:
            try:
                seen, inverse = np.unique(y, return_inverse=True)
            except TypeError:  # labels of several kinds
                return np.array([self.codes.get(label, -1) for label in y.tolist()], np.int32)
            numbers = [self.codes.get(label, -1) for label in seen.tolist()]
            return np.asarray(numbers, dtype=np.int32)[inverse]
        codes = np.full(len(y), -1, dtype=np.int8)
        for number, name in enumerate(self.arrived()):
            codes += np.multiply(y == name, number + 1, dtype=np.int8)  # no branches
        return codes.astype(np.int32)

    def newcomers(self, y: NDArray[Any], codes: NDArray[np.int32]) -> dict[int, Any]:
        """Where in ``y`` each unknown label appears first."""
        strangers = np.flatnonzero(codes < 0)
        if not strangers.size:
            return {}
        try:
            labels, first = np.unique(y[strangers], return_index=True)
        except TypeError:  # labels of several kinds
            met: dict[Any, int] = {}
            for place, label in zip(strangers.tolist(), y[strangers].tolist(), strict=True):
                met.setdefault(label, place)
            return {place: label for label, place in met.items()}
        order = np.argsort(first)
        return dict(zip(strangers[first[order]].tolist(), labels[order].tolist(), strict=True))

    # --- from outputs to labels ---------------------------------------------------------------

    def columns(self, values: NDArray[Any], axis: int = -1) -> NDArray[Any]:
        """What belongs to each output, in ascending order of the classes."""
        if self._numbers is None or values.shape[axis] == 1:
            return values
        return values.take(self._numbers, axis)

    def signed(self, values: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
        """The same where a sign speaks: a single output is positive for the greater label."""
        if self._numbers is None or values.shape[axis] != 1:
            return self.columns(values, axis)
        return 0.0 - values  # zero stays without a sign

    def signed_one(self, scores: tuple[float, ...]) -> tuple[float, ...]:
        """``signed`` for one row of scores."""
        if self._numbers is None:
            return scores
        if len(scores) == 1:
            return (0.0 - scores[0],)
        return tuple(scores[number] for number in self._numbers)

    def places(self) -> NDArray[np.intp]:
        """By number, where each class stands in ascending order."""
        return np.arange(len(self)) if self._numbers is None else np.argsort(self._numbers)

    def pairs(self) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Where the core has each pair of classes (0, 1), (0, 2), ..., (1, 2), ... of ``names``.

        And the sign that makes its decision value positive for the first of the two: the core has
        it positive for the one that came later.
        """
        firsts, seconds = np.triu_indices(len(self), 1)
        numbers = np.arange(len(self)) if self._numbers is None else self._numbers
        a, b = numbers[firsts], numbers[seconds]
        later = np.maximum(a, b)
        return later * (later - 1) // 2 + np.minimum(a, b), np.where(a > b, 1.0, -1.0)

    def decode(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """The label of each row of signed scores: by sign of one column, by the largest of many."""
        if not len(self):
            raise ValueError("no class has been seen yet; learn at least one labelled example")
        if scores.shape[0] == 1:
            own = scores[0, : len(self)]
            place = int(own[0] > 0) if scores.shape[1] == 1 else int(own.argmax())
            place = min(place, len(self) - 1)
            return self.names[place : place + 1].copy()
        if scores.shape[1] == 1:
            places = (scores[:, 0] > 0).astype(np.intp)
        else:
            places = scores[:, : len(self)].argmax(axis=1)
        return self.names[np.minimum(places, len(self) - 1)]

    def decode_one(self, scores: tuple[float, ...]) -> Any:
        """The label of one row of the core's scores; ``None`` before any class is known."""
        if len(scores) == 1 and len(self._names) == 2:  # every word counts here
            return self._names[scores[0] > 0 if self._numbers is None else scores[0] < 0]
        if not self._names:
            return None
        if len(scores) == 1:
            return self._names[0]
        scores = self.signed_one(scores)
        return self._names[max(range(len(self._names)), key=scores.__getitem__)]


def _ascending(names: list[Any]) -> list[int]:
    """The places of the names in ascending order."""
    places = range(len(names))
    try:
        return sorted(places, key=names.__getitem__)
    except TypeError:  # labels of several kinds
        pass
    try:
        return sorted(places, key=lambda i: (type(names[i]).__name__, names[i]))
    except TypeError:  # labels without an order
        return list(places)


def _as_array(names: Sequence[Any]) -> NDArray[Any]:
    """Labels as an array; labels of several kinds stay the objects they are."""
    kinds = set(map(type, names))
    if kinds <= {str} or kinds <= {int} or (len(kinds) <= 1 and not any(map(np.ndim, names))):
        return np.asarray(names)
    mixed = np.empty(len(names), dtype=object)
    mixed[:] = names
    return mixed


NO_LABELS = Labels([], is_open=True)
