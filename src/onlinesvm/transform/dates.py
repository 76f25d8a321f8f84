"""Dates: when something was, and what returns every day, week and year."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.rows import Rows
from ..model.numpy_core import NumpyCore
from ..model.transformer import OnlineTransformer
from .categories import OfObjects, ReadsObjects

_DAY = 86_400.0
# What returns, and how long it takes, in days; the first of 1970 was a Thursday.
_ROUNDS = {"day": 1.0, "week": 7.0, "year": 365.2425}
_PARTS = ("days", *(f"{wave}_of_{name}" for name in _ROUNDS for wave in ("sin", "cos")))
_LATEST = 1e15  # seconds: thirty million years; beyond, a day is lost in the digits


class _DatesCore(NumpyCore, stem="Dates"):
    known: int  # the columns of the input, which is all there is to know

    def _nothing(self) -> int:
        return 0

    def _learned(self, rows: Rows, weights: NDArray[np.float64]) -> int:
        _seconds(rows)
        return rows.columns()

    def _scored(self, rows: Rows) -> Any:
        days = _seconds(rows) / _DAY
        there = ~np.isnan(days)
        features = np.zeros((*days.shape, len(_PARTS)))
        features[..., 0] = days
        for k, period in enumerate(_ROUNDS.values()):
            angle = np.where(there, 2 * np.pi * (days % period) / period, 0.0)
            features[..., 1 + 2 * k] = np.sin(angle)
            features[..., 2 + 2 * k] = np.where(there, np.cos(angle), 0.0)
        return features.reshape(len(days), -1)

    def _state(self) -> dict[str, Any]:
        return {"width": self.known}

    def _from_state(self, state: Mapping[str, NDArray[Any]], width: int) -> int:
        return width


def _seconds(rows: Rows) -> NDArray[np.float64]:
    """The times as float64, gaps as nan."""
    values = rows.X
    for value in values.ravel():
        if isinstance(value, str):
            raise ValueError(f"X has {value!r:.40}, which is no time; pass seconds since 1970")
    seconds: NDArray[np.float64] = np.array(
        [[np.nan if value is None else float(value) for value in row] for row in values],
        dtype=np.float64,
    ).reshape(values.shape)
    if (np.abs(seconds) > _LATEST).any():
        raise ValueError(f"X has a time beyond {_LATEST:g} seconds; pass seconds since 1970")
    return seconds


class OnlineDates(ReadsObjects, OnlineTransformer):
    """Times as features: how long ago, and where in the day, the week and the year.

    For columns of seconds since 1970. Each becomes seven: the days since then, and a sine and a
    cosine of the day, the week and the year, so that 23:59 is near 0:01. Nothing is learned and
    nothing kept; put an imputer and a scaler behind it, since days are large numbers. A gap stays a
    gap in the days and is 0, no time at all, in the others. Costs a few microseconds a value.

    Examples
    --------
    >>> from onlinesvm import OnlineDates
    >>> dates = OnlineDates().partial_fit([[0.0]])
    >>> print(dates.transform([[6 * 3600.0], [18 * 3600.0]])[:, :3].round(2))
    [[ 0.25  1.    0.  ]
     [ 0.75 -1.   -0.  ]]
    >>> dates.get_feature_names_out(["sent"])[:3].tolist()
    ['sent_days', 'sent_sin_of_day', 'sent_cos_of_day']
    """

    _stem = "Dates"
    _kind = OfObjects()
    _passes = True

    @property
    def _done(self) -> bool:
        return True

    @property
    def _settles(self) -> bool:
        return False

    def _names_from(self, names: list[str]) -> list[str]:
        return [f"{name}_{part}" for name in names for part in _PARTS]
