"""One example at a time: straight to the core, where nothing has to be validated first."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.validation import one_row


class Door:
    """The way of ``learn_one`` straight to the core, opened and shut by :func:`set_door` alone."""

    __slots__ = ("straight", "target", "width")

    def __init__(self, target: Callable[[Any], float | None] | None, width: int) -> None:
        self.target = target  # the core's number for a target, None for a bad one; None: shut
        self.width = width  # of a dense row that may be scored as it is; -1: none may
        # Learns (x, y) of weight 1 without another line of Python, or says False.
        self.straight: Callable[[Any, Any], bool] | None = None


SHUT: Door = Door(None, -1)


def set_door(model: Any) -> None:
    """Open or shut the way straight to the core; nothing else decides it."""
    state = model._state
    closed = (
        state.altered  # parameters changed: they have to be looked at first
        or state.held is not None  # the example has to be kept, too
        or (model._solves_calls and model._collects_one)
        or state.compression is not None  # it learns no more
        or state.core_settings.get("kernel", {}).get("name") == "chi2"  # negative values
    )
    state.core.longest = min(model._far.get(model.dtype, np.inf) ** 2, sys.float_info.max)
    model._door = Door(None if closed else model._core_target(), state.row_width)


def learn_plain(model: Any, x: Any, y: Any) -> bool:
    """Learn one example of weight 1 as it is; False: it has to be validated first."""
    door = model._door
    if door.target is None:
        return False
    try:
        target = door.target(y)
    except TypeError:  # no target at all: validation says so
        return False
    if target is None:
        return False
    if type(x) is np.ndarray:
        fits = x.size == door.width
        learned = fits and model._state.core.learn_next(x, target, 1.0, model._register)
    else:
        learned = type(x) is dict and _learn_record(model, x, target)
    if learned and door.straight is None:
        _open(model, door)
    return bool(learned)


def _open(model: Any, door: Door) -> None:
    """Let the examples to come go to the core in one call."""
    core = model._state.core
    straight = getattr(core, "straight", None)
    if straight is None or model._state.core_settings.get("kernel", {}).get("name") == "function":
        return
    with model._register:  # no verb may bring another core meanwhile
        if model._door is not door or model._state.core is not core:
            return
        width = sys.maxsize if door.width < 0 else door.width
        vocabulary = model._state.vocabulary
        columns = None if vocabulary is None else vocabulary.columns
        door.straight = straight(core, door.target, width, columns, model._register)


def _learn_record(model: Any, x: dict[Any, Any], target: float) -> bool:
    """Hand a dict of weight 1 to the core as it is; False: it has to be validated first."""
    state = model._state
    vocabulary = state.vocabulary
    if vocabulary is None:
        names = state.columns.places
        try:
            row = _row_of(names, x) if x.keys() <= names.keys() else None
        except (TypeError, ValueError, OverflowError):  # validation says what is wrong
            row = None
        return row is not None and state.core.learn_next(row, target, 1.0, model._register)
    vocabulary.warn_if_endless()
    with model._register:  # a copy made between the name and the row would not fit together
        columns, register = vocabulary.columns, model._register
        learned: bool = state.core.learn_next_dict(x, columns, target, 1.0, register)
    return learned


def _row_of(names: Any, x: dict[Any, Any]) -> NDArray[np.float64]:
    """A record as a row of a model whose columns have names; an absent name is 0."""
    return np.array([x.get(name, 0.0) for name in names], dtype=np.float64)


def scores_one(model: Any, x: Any) -> tuple[float, ...]:
    """The core's scores of one example, by the fastest way its type allows."""
    state = model._state
    core = state.core
    try:
        if type(x) is np.ndarray and len(x) == model._door.width:
            return core.score_one(x)  # type: ignore[no-any-return]
        if type(x) is dict:
            if state.vocabulary is not None:
                return core.score_one_dict(x, state.vocabulary.columns)  # type: ignore[no-any-return]
            if x.keys() <= (names := state.columns.places).keys():
                return core.score_one(_row_of(names, x))  # type: ignore[no-any-return]
    except (TypeError, ValueError, OverflowError):  # validation converts it or complains
        pass
    rows, _ = model._read_rows(one_row(x), fresh=False, learning=False)
    return tuple(rows.score(core)[0].tolist())
