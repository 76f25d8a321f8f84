"""Maps from a score to a probability, and how each is fitted to scores and what came of them.

All rise with the score, or stay level: the order of the scores is never reversed. A map takes an
array (``many``) or a number (``one``), and says all it knows as an array.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

Floats = NDArray[np.float64]

_STEPS = 100  # of Newton, at most; ten are usual
_FLATTEST = 1e-6  # a temperature of a million


class Map(Protocol):
    """From a score to the probability that the class is the one it speaks for."""

    def many(self, scores: Floats) -> Floats: ...
    def one(self, score: float) -> float: ...
    def table(self) -> Floats: ...


@dataclass(frozen=True)
class Sigmoid:
    """``1 / (1 + exp(-(slope * score + offset)))``."""

    slope: float = 1.0
    offset: float = 0.0

    def many(self, scores: Floats) -> Floats:
        odds = scores * -self.slope
        if self.offset:
            odds -= self.offset
        np.minimum(odds, 700.0, out=odds)
        np.exp(odds, out=odds)
        odds += 1.0
        return np.divide(1.0, odds, out=odds)

    def one(self, score: float) -> float:
        return 1.0 / (1.0 + math.exp(min(700.0, -(self.slope * score + self.offset))))

    def table(self) -> Floats:
        return np.array([[self.slope, self.offset]])

    @staticmethod
    def from_table(table: Floats) -> Sigmoid:
        if table.shape != (1, 2) or not np.isfinite(table).all() or table[0, 0] < 0:
            raise ValueError("a sigmoid of its calibration is damaged")
        return Sigmoid(*table[0].tolist())


@dataclass(frozen=True)
class Line:
    """Straight from knot to knot, level beyond the first and the last."""

    knots: Floats
    values: Floats

    def many(self, scores: Floats) -> Floats:
        return np.interp(scores, self.knots, self.values)

    def one(self, score: float) -> float:
        return float(np.interp(score, self.knots, self.values))

    def table(self) -> Floats:
        return np.stack([self.knots, self.values], axis=1)

    @staticmethod
    def from_table(table: Floats) -> Line:
        _demand_rising(table)
        return Line(np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1]))


@dataclass(frozen=True)
class Stairs:
    """A value at each knot i, ``values[2 i + 1]``, and one in each gap, the even ones."""

    knots: Floats
    values: Floats

    def many(self, scores: Floats) -> Floats:
        place = self.knots.searchsorted(scores) + self.knots.searchsorted(scores, side="right")
        values: Floats = self.values[place]
        return values

    def one(self, score: float) -> float:
        place = bisect_left(self.knots, score) + bisect_right(self.knots, score)
        return float(self.values[place])

    def table(self) -> Floats:
        rest = np.append(self.knots, math.inf)
        return np.stack([rest, self.values[::2], np.append(self.values[1::2], 1.0)], axis=1)

    @staticmethod
    def from_table(table: Floats) -> Stairs:
        if table.ndim != 2 or table.shape[1] != 3 or len(table) < 2 or table[-1, 0] != math.inf:
            raise ValueError("stairs of its calibration are damaged")
        values = table[:, 1:].reshape(-1)[:-1]
        knots = np.ascontiguousarray(table[:-1, 0])
        _demand_rising(np.stack([knots, values[1::2]], axis=1))
        if (np.diff(values) < 0).any() or values.min() < 0 or values.max() > 1:
            raise ValueError("stairs of its calibration do not rise from 0 to 1")
        return Stairs(knots, values)


def _demand_rising(table: Floats) -> None:
    if table.ndim != 2 or table.shape[1] != 2 or not len(table) or not np.isfinite(table).all():
        raise ValueError("a map of its calibration is damaged")
    knots, values = table.T
    if (np.diff(knots) <= 0).any() or (np.diff(values) < 0).any():
        raise ValueError("a map of its calibration does not rise")
    if values.min() < 0 or values.max() > 1:
        raise ValueError("a map of its calibration leaves 0 to 1")


# --- one class against the rest -----------------------------------------------------------------


def fit_platt(scores: Floats, hits: NDArray[np.bool_]) -> Sigmoid:
    """Platt's sigmoid: logistic regression on the score, with his targets that are never certain.

    By Newton's method with halved steps, as Lin, Lin and Weng do it; convex, so it is the optimum.
    """
    positive = int(hits.sum())
    high, low = (positive + 1) / (positive + 2), 1 / (len(hits) - positive + 2)
    targets = np.where(hits, high, low)
    centre, scale = float(scores.mean()), float(scores.std()) or 1.0
    z = (scores - centre) / scale
    a, b = 0.0, math.log((positive + 1) / (len(hits) - positive + 1))
    loss = _logistic_loss(a * z + b, targets)
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-(a * z + b)))
        off, w = p - targets, p * (1 - p)
        g_a, g_b = float(off @ z), float(off.sum())
        if max(abs(g_a), abs(g_b)) < 1e-9 * len(z):
            break
        h_aa, h_ab, h_bb = float(w @ (z * z)) + 1e-9, float(w @ z), float(w.sum()) + 1e-9
        det = h_aa * h_bb - h_ab * h_ab
        d_a, d_b = (h_bb * g_a - h_ab * g_b) / det, (h_aa * g_b - h_ab * g_a) / det
        step = 1.0
        while step > 1e-9:
            trial = _logistic_loss((a - step * d_a) * z + (b - step * d_b), targets)
            if trial < loss:
                break
            step /= 2
        else:
            break
        a, b, loss = a - step * d_a, b - step * d_b, trial
    if a <= 0:  # the score says nothing: as often as it comes
        return Sigmoid(0.0, math.log((positive + 1) / (len(hits) - positive + 1)))
    return Sigmoid(a / scale, b - a * centre / scale)


def _logistic_loss(f: Floats, targets: Floats) -> float:
    return float((np.logaddexp(0.0, f) - targets * f).sum())


def _by_score(scores: Floats, hits: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
    """The distinct scores, how often each came, and how often with a hit."""
    knots, places = np.unique(scores, return_inverse=True)
    count = np.bincount(places).astype(np.float64)
    return knots, count, np.bincount(places, weights=hits).astype(np.float64)


def fit_isotonic(scores: Floats, hits: NDArray[np.bool_]) -> Line:
    """The rising map of least squares (Zadrozny & Elkan); nothing is ever certain."""
    knots, count, sums = _by_score(scores, hits)
    values = isotonic_regression(sums / count, sample_weight=count)
    least = 1 / (len(scores) + 2)
    values = np.clip(values, least, 1 - least)
    # Of a level stretch, its two ends say all.
    ends = np.ones(len(knots), dtype=bool)
    ends[1:-1] = (values[1:-1] != values[:-2]) | (values[1:-1] != values[2:])
    return Line(knots[ends], np.asarray(values[ends], dtype=np.float64))


def fit_venn_abers(scores: Floats, hits: NDArray[np.bool_]) -> Stairs:
    """Inductive Venn-Abers: isotonic regression with the new score as a miss, and as a hit.

    Their values p0 <= p1 are computed for all scores beforehand, as Vovk, Petej and Fedorova do
    it; ``p1 / (1 - p0 + p1)`` is the one of least regret.
    """
    knots, count, sums = _by_score(scores, hits)
    as_hit = _with_a_hit(count, sums)
    as_miss = 1 - _with_a_hit(count[::-1], (count - sums)[::-1])[::-1]
    low = np.repeat(np.append(0.0, as_miss), 2)[:-1]  # gap i looks back to knot i - 1
    high = np.repeat(np.append(as_hit, 1.0), 2)[:-1]  # and on to knot i
    low[1::2] = as_miss
    values = high / (1 - low + high)
    return Stairs(knots, np.maximum.accumulate(values))


def _with_a_hit(count: Floats, sums: Floats) -> Floats:
    """The isotonic value at each knot if one more hit came there.

    It is the slope of the greatest convex minorant of the path of sums at the extra step (1, 1),
    which moves along the path from knot to knot; the corners are a stack, its top at the left.
    """
    steps = list(zip(count.tolist(), sums.tolist(), strict=True))
    xs, ys = [-1.0, 0.0], [-1.0, 0.0]
    for w, s in steps:
        xs.append(xs[-1] + w)
        ys.append(ys[-1] + s)
    corners: list[tuple[float, float]] = []
    for point in zip(reversed(xs), reversed(ys), strict=True):
        _push(corners, point)
    values, (x, y) = [], (-1.0, -1.0)
    for w, s in steps:
        (x0, y0), (x1, y1) = corners[-1], corners[-2]
        values.append((y1 - y0) / (x1 - x0))
        x, y = x + w, y + s  # this knot now comes before the extra step
        if (y - y0) * (x1 - x0) < (y1 - y0) * (x - x0):
            corners.pop()
            _push(corners, (x, y))
    return np.array(values)


def _push(corners: list[tuple[float, float]], point: tuple[float, float]) -> None:
    """Put a point at the left of a convex path, and drop what is no corner of it any more."""
    x, y = point
    while len(corners) > 1:
        (x0, y0), (x1, y1) = corners[-1], corners[-2]
        if (y0 - y) * (x1 - x) < (y1 - y) * (x0 - x):  # a corner: below the line past it
            break
        corners.pop()
    corners.append(point)


#: How a class is told from the rest, by the word for it.
FITS: dict[str, tuple[Callable[[Floats, NDArray[np.bool_]], Map], Callable[[Floats], Map]]] = {
    "platt": (fit_platt, Sigmoid.from_table),
    "isotonic": (fit_isotonic, Line.from_table),
    "venn-abers": (fit_venn_abers, Stairs.from_table),
}


# --- all classes together -----------------------------------------------------------------------


def fit_temperature(scores: Floats, codes: NDArray[np.intp]) -> float:
    """The factor for all scores under which the softmax finds the labels most likely.

    Scores are (n, k), NaN where a class was not known; convex in the factor, so Newton finds it.
    """
    known = np.where(np.isnan(scores), -np.inf, scores)
    scale = float(np.abs(scores[np.isfinite(known)]).mean()) or 1.0
    z = known / scale
    truth = z[np.arange(len(z)), codes]
    finite = np.where(np.isfinite(z), z, 0.0)
    beta = 1.0
    for _ in range(_STEPS):
        e = np.exp(beta * (z - z.max(axis=1, keepdims=True)))
        p = e / e.sum(axis=1, keepdims=True)
        mean = (p * finite).sum(axis=1)
        slope = float((mean - truth).sum())
        bend = float(((p * finite**2).sum(axis=1) - mean**2).sum())
        if abs(slope) < 1e-9 * len(z) or bend <= 0:
            break
        # Far out the curve is flat and Newton would leap: at most twice, at least a tenth.
        beta = min(2 * beta, max(beta / 10, beta - slope / bend))
        if not _FLATTEST < beta < 1 / _FLATTEST:
            break
    return min(1 / _FLATTEST, max(_FLATTEST, beta)) / scale
