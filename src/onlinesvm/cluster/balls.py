"""Balls around the rows of each part, and one around all of them."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..methods.ball.stream_svm import StreamSVC
from .examples import Reading
from .learned import Learned
from .parts import Metered, Part, Parts
from .survey import Survey


def merge_balls(parts: Parts, model: StreamSVC) -> Learned:
    """One pass over every part, then the smallest ball around two balls, until one is left.

    It holds every row of every part. It is no smaller than the ball of one machine need be:
    two balls within a factor r of the smallest around their rows give one within r + 1, so a tree
    over P parts is within 3/2 + ceil(log2(P)); ``radius_bound_`` of the model returned has the
    figure of this one, which is true whatever the cut, and mostly far below.

    Parameters
    ----------
    parts : Parts
        Rows are numbered in the order of the parts, whatever ids these bring.
    model : StreamSVC
        Its parameters; it is not changed. A ``gamma`` by word is settled over all parts first.

    Returns
    -------
    Learned
    """
    if not isinstance(model, StreamSVC):
        raise TypeError(f"balls merge where there are any: StreamSVC, not {type(model).__name__}")
    if model.shape != "ball":
        raise ValueError(f"shape={model.shape!r} cannot be merged; use shape='ball'")
    metered = Metered(parts)
    survey = Survey.of(metered, model)
    fresh = survey.resolved(model)
    balls = metered.map(_ball, _Pass(survey.reading, fresh, survey.classes(fresh)))
    left = [ball for ball in balls if ball is not None]
    while len(left) > 1:
        pairs = [(left[i], left[i + 1]) for i in range(0, len(left) - 1, 2)]
        left = metered.run(_around, pairs) + left[2 * len(pairs) :]
    return Learned(left[0], None, 1, metered.down, metered.up)


@dataclass(frozen=True)
class _Pass:
    reading: Reading
    model: StreamSVC
    classes: NDArray[Any]


def _ball(part: Part, one: _Pass) -> StreamSVC | None:
    """The ball of a part, None of an empty one; rows are numbered from 0 in each."""
    if not len(part):
        return None
    rows = one.reading.all_of(part)
    model = copy.deepcopy(one.model)
    model.partial_fit(rows.X, rows.y, classes=one.classes, sample_weight=_counted(rows.weight))
    return model.flush()


def _counted(weight: NDArray[np.float64]) -> NDArray[np.float64] | None:
    return None if (weight == 1).all() else weight


def _around(pair: tuple[StreamSVC, StreamSVC]) -> StreamSVC:
    one, other = pair
    return copy.deepcopy(one).merge(other)
