"""Maps from a score to a probability, and how each is fitted to scores and what came of them.

All rise with the score, or stay level: the order of the scores is never reversed. A map takes an
array (:func:`many`) or a number (``one``), and says all it knows as an array.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...core import Parts, levels, mix, mix_pairs, sigmoid, with_a_hit

Floats = NDArray[np.float64]

_STEPS = 100  # of Newton, at most; ten are usual
_FLATTEST = 1e-6  # a temperature of a million


class Map(Protocol):
    """From a score to the probability that the class is the one it speaks for."""

    @property
    def parts(self) -> Parts:
        """The curves that it is the weighted mean of."""

    def one(self, score: float) -> float: ...
    @property
    def nbytes(self) -> int: ...
    def table(self) -> Floats: ...


def many(each: Map, scores: Floats) -> Floats:
    """The probability at each score."""
    return mix(scores, each.parts)


def both(each: Map, scores: Floats) -> Floats:
    """The probability against it and for it at each score, (n, 2)."""
    return mix_pairs(scores, each.parts)


class Drawn:
    """A map whose curve is made when first asked for; copies and pickles make their own."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "parts"}


@dataclass(frozen=True)
class Sigmoid(Drawn):
    """``1 / (1 + exp(-(slope * score + offset)))``."""

    slope: float = 1.0
    offset: float = 0.0

    @cached_property
    def parts(self) -> Parts:
        return ((1.0, sigmoid(self.slope, self.offset)),)

    def one(self, score: float) -> float:
        return 1.0 / (1.0 + math.exp(min(700.0, -(self.slope * score + self.offset))))

    @property
    def nbytes(self) -> int:
        return 16

    def table(self) -> Floats:
        return np.array([[self.slope, self.offset]])

    @staticmethod
    def from_table(table: Floats) -> Sigmoid:
        if table.shape != (1, 2) or not np.isfinite(table).all() or table[0, 0] < 0:
            raise ValueError("a sigmoid of its calibration is damaged")
        return Sigmoid(*table[0].tolist())


@dataclass(frozen=True)
class Steps(Drawn):
    """Level from break to break: ``values[i]`` for a score that has reached i of them."""

    breaks: Floats
    values: Floats

    @cached_property
    def parts(self) -> Parts:
        return ((1.0, levels(self.breaks, self.values)),)

    def one(self, score: float) -> float:
        return float(self.values[self.breaks.searchsorted(score, side="right")])

    @property
    def nbytes(self) -> int:
        return 8 * int(self.values.nbytes)  # with the curve and its cells

    def table(self) -> Floats:
        return np.stack([np.append(self.breaks, math.inf), self.values], axis=1)

    @staticmethod
    def from_table(table: Floats) -> Steps:
        if table.ndim != 2 or table.shape[1] != 2 or not len(table) or table[-1, 0] != math.inf:
            raise ValueError("steps of its calibration are damaged")
        breaks, values = np.ascontiguousarray(table[:-1, 0]), np.ascontiguousarray(table[:, 1])
        _demand_rising(breaks, values)
        return Steps(breaks, values)


def _demand_rising(places: Floats, values: Floats) -> None:
    if not len(values) or not np.isfinite(places).all() or not np.isfinite(values).all():
        raise ValueError("a map of its calibration is damaged")
    if (np.diff(places) <= 0).any() or (np.diff(values) < 0).any():
        raise ValueError("a map of its calibration does not rise")
    if values[0] < 0 or values[-1] > 1:
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
        with np.errstate(over="ignore"):  # then it is 0
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


def fit_venn_abers(scores: Floats, hits: NDArray[np.bool_]) -> Steps:
    """Inductive Venn-Abers: isotonic regression with the new score as a miss, and as a hit.

    Their values p0 <= p1 are computed for all scores beforehand, as Vovk, Petej and Fedorova do
    it; ``p1 / (1 - p0 + p1)`` is the one of least regret.
    """
    knots, count, sums = _by_score(scores, hits)
    as_hit = with_a_hit(count, sums)
    as_miss = 1 - with_a_hit(count[::-1].copy(), (count - sums)[::-1].copy())[::-1]
    low = np.repeat(np.append(0.0, as_miss), 2)[:-1]  # gap i looks back to knot i - 1
    high = np.repeat(np.append(as_hit, 1.0), 2)[:-1]  # and on to knot i
    low[1::2] = as_miss
    values = np.maximum.accumulate(high / (1 - low + high))
    # A knot has a value of its own, and the gap behind it another: they differ at few places.
    breaks = np.stack([knots, np.nextafter(knots, math.inf)], axis=1).reshape(-1)
    rises = np.flatnonzero(np.diff(values))
    return Steps(breaks[rises], np.append(values[0], values[rises + 1]))


#: How a class is told from the rest, by the word for it.
FITS: dict[str, tuple[Callable[[Floats, NDArray[np.bool_]], Map], Callable[[Floats], Map]]] = {
    "platt": (fit_platt, Sigmoid.from_table),
    "venn-abers": (fit_venn_abers, Steps.from_table),
}


# --- all classes together -----------------------------------------------------------------------


def fit_temperature(scores: Floats, codes: NDArray[np.intp]) -> float:
    """The factor for all scores under which the softmax finds the labels most likely.

    Scores are (n, k), NaN where a class was not known; convex in the factor, so Newton finds it.
    """
    known = np.where(np.isnan(scores), -np.inf, scores).T  # reductions run along memory
    scale = float(np.abs(known[np.isfinite(known)]).mean()) or 1.0
    z = np.ascontiguousarray(known) / scale
    truth = z[codes, np.arange(len(codes))]
    finite = np.where(np.isfinite(z), z, 0.0)
    below, squares = z - z.max(axis=0), finite**2
    beta = 1.0
    for _ in range(_STEPS):
        p = np.exp(beta * below)
        p /= p.sum(axis=0)
        mean = (p * finite).sum(axis=0)
        slope = float((mean - truth).sum())
        bend = float(((p * squares).sum(axis=0) - mean**2).sum())
        if abs(slope) < 1e-9 * len(codes) or bend <= 0:
            break
        # Far out the curve is flat and Newton would leap: at most twice, at least a tenth.
        beta = min(2 * beta, max(beta / 10, beta - slope / bend))
        if not _FLATTEST < beta < 1 / _FLATTEST:
            break
    return min(1 / _FLATTEST, max(_FLATTEST, beta)) / scale
