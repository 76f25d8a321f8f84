"""One example at a time: straight to the core, where nothing has to be validated first."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .state import ModelState
from .validation import one_row


class FastPath(ModelState):
    """Learns and scores one example without the cost of validating a batch."""

    # Whether examples are collected and solved when a call ends.
    _solves_calls: ClassVar[bool] = False
    # Whether a call of one is collected as well.
    _collects_one: ClassVar[bool] = True
    # Gives the core's number for a target, None for a bad one; None while the path is closed.
    _direct_target: Callable[[Any], float | None] | None = None
    _row_width: int = -1  # of a dense row that may go straight to the core; -1: none may
    # Learns an example (x, y) of weight 1 without another line of Python, or says False.
    _straight: Callable[[Any, Any], bool] | None = None

    def _set_fast_path(self) -> None:
        """Open or close the way straight to the core; nothing else decides it."""
        closed = (
            self._altered  # parameters changed: they have to be looked at first
            or self._held is not None  # the example has to be kept, too
            or (self._solves_calls and self._collects_one)
            or self._compression is not None  # it learns no more
            or self._core_settings.get("kernel", {}).get("name") == "chi2"  # negative values
        )
        self._direct_target = None if closed else self._core_target()
        self._core.longest = min(self._far_value() ** 2, sys.float_info.max)
        self.__dict__.pop("_straight", None)  # opened by the first example that may go that way

    def _core_target(self) -> Callable[[Any], float | None] | None:
        """What gives the core's number for a target, None for a bad one; None if nothing does."""
        raise NotImplementedError

    def _far_value(self) -> float:
        """Values up to here leave finite scores; longer rows take the way that looks."""
        raise NotImplementedError

    def _one_target(self, y: Any) -> Any:
        """One target as a batch of one."""
        return [y]

    def _said_of_one(self) -> dict[str, Any]:
        """What ``partial_fit`` is told besides, where examples come one by one."""
        return {}

    def _open_straight(self) -> None:
        """Let the examples to come go to the core in one call."""
        straight = getattr(self._core, "straight", None)
        if straight is None or self._core_settings.get("kernel", {}).get("name") == "function":
            return
        with self._register:  # no verb may bring another core meanwhile
            target = self._direct_target
            if target is None:
                return
            width = sys.maxsize if self._row_width < 0 else self._row_width
            columns = None if self._vocabulary is None else self._vocabulary.columns
            self.__dict__["_straight"] = straight(
                self._core, target, width, columns, self._register
            )
            if self._direct_target is not target:  # parameters changed meanwhile
                self.__dict__.pop("_straight", None)

    def _learn_record(self, x: dict[Any, Any], target: float) -> bool:
        """Hand a dict of weight 1 to the core as it is; False: it has to be validated first."""
        if self._vocabulary is None:
            try:
                row = self._row_of(x) if x.keys() <= self._names.keys() else None
            except (TypeError, ValueError, OverflowError):  # validation says what is wrong
                row = None
            return row is not None and self._core.learn_next(row, target, 1.0, self._register)
        self._vocabulary.warn_if_endless()
        columns = self._vocabulary.columns
        with self._register:  # a copy made between the two would not fit together
            learned = self._core.learn_next_dict(x, columns, target, 1.0, self._register)
            self.__dict__["n_features_in_"] = len(columns)
        return learned

    def _row_of(self, x: dict[Any, Any]) -> NDArray[np.float64]:
        """A record as a row of a model whose columns have names; an absent name is 0."""
        return np.array([x.get(name, 0.0) for name in self._names], dtype=np.float64)

    def _scores_one(self, x: Any) -> tuple[float, ...]:
        """The core's scores of one example, by the fastest way its type allows."""
        try:
            if type(x) is np.ndarray and len(x) == self._row_width:
                return self._core.score_one(x)
            if type(x) is dict and self._vocabulary is not None:
                return self._core.score_one_dict(x, self._vocabulary.columns)
            if type(x) is dict and x.keys() <= self._names.keys():
                return self._core.score_one(self._row_of(x))
        except (TypeError, ValueError, OverflowError):  # validation converts it or complains
            pass
        rows, _ = self._read_rows(one_row(x), fresh=False, learning=False)
        return tuple(rows.score(self._core)[0].tolist())


class OneByOne(FastPath):
    """An estimator that goes on learning, one example at a time."""

    def learn_one(self, x: Any, y: Any = None, w: float = 1.0, key: Any = None) -> Self:
        """Learn one example: ``partial_fit`` of one row without its validation cost.

        Parameters
        ----------
        x : 1-D array or dict
            A dict maps feature names to numbers; absent names are 0. A model started with dicts
            takes new names at any time.
        y : label or number
            The target; outlier detectors ignore it. A classifier that was told nothing of its
            classes takes them as they come, as with ``classes="open"``.
        w : float, default=1.0
            Sample weight.
        key : int, str or tuple of these, optional
            Whom the example belongs to, as ``keys`` of ``partial_fit``.

        Returns
        -------
        self
        """
        straight = self._straight
        if straight is not None and w == 1.0 and key is None and straight(x, y):
            return self
        direct = self._direct_target
        if direct is not None and w == 1.0 and key is None:
            try:
                target = direct(y)
            except TypeError:  # no target at all: validation says so
                target = None
            if type(x) is np.ndarray:
                learned = (
                    target is not None
                    and x.size == self._row_width
                    and self._core.learn_next(x, target, 1.0, self._register)
                )
            else:
                learned = type(x) is dict and target is not None and self._learn_record(x, target)
            if learned:
                if straight is None:
                    self._open_straight()
                return self
        if key is not None and self.__sklearn_is_fitted__():
            return self._learn_bearing(key, x, y, w)  # type: ignore[no-any-return]
        keys = None if key is None else [key]
        more = {"sample_weight": w, "keys": keys, **self._said_of_one()}
        return self.partial_fit(one_row(x), self._one_target(y), **more)  # type: ignore[no-any-return]
