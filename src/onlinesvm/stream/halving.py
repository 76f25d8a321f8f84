"""Successive halving: many candidates on few rows, few candidates on many."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Candidate", "Ranking", "Trial", "candidates", "halving", "rungs"]

CUT = 3  # of so many candidates one goes on, on so many times the rows

# Where parameters are drawn from: exponents of ten. Rows are scaled, so gamma needs no scale.
_POWERS = {"C": (-2.0, 3.0), "alpha": (-7.0, -2.0), "gamma": (-3.0, 1.0), "lam": (-6.0, -1.0)}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A method and its parameters."""

    method: str
    params: Mapping[str, Any]

    @property
    def key(self) -> str:
        """What tells it from others, in a file, too."""
        return json.dumps([self.method, dict(self.params)], sort_keys=True)


@dataclass(frozen=True, slots=True)
class Trial:
    """A candidate on the first rows of a stream."""

    candidate: Candidate
    rows: int

    @property
    def key(self) -> tuple[str, int]:
        """What tells it from others."""
        return self.candidate.key, self.rows


# A candidate, the most rows it has seen, and its score on them.
Ranking = list[tuple[Candidate, int, float]]


def candidates(
    methods: Mapping[str, dict[str, Any]], fixed: dict[str, Any], count: int, seed: int
) -> list[Candidate]:
    """So many candidates: every method with its defaults first, then parameters drawn at random.

    Parameters
    ----------
    methods : dict of str to dict
        The parameters of each method, with their defaults.
    fixed : dict
        Parameters that all candidates have.
    count : int
    seed : int
        The same seed draws the same candidates.
    """
    rng = np.random.default_rng(seed)
    found = {c.key: c for c in (Candidate(name, dict(fixed)) for name in methods)}
    names = list(methods)
    tries = 0
    while len(found) < count and tries < 50 * count:
        name = names[tries % len(names)]
        tries += 1
        drawn = {
            p: float(f"{10 ** rng.uniform(*_POWERS[p]):.3g}")
            for p in _POWERS
            if p in methods[name] and p not in fixed and _matters(p, methods[name] | fixed)
        }
        if drawn:
            candidate = Candidate(name, {**drawn, **fixed})
            found.setdefault(candidate.key, candidate)
    return list(found.values())[: max(count, len(names))]


def _matters(parameter: str, params: Mapping[str, Any]) -> bool:
    return parameter != "gamma" or params.get("kernel") != "linear"


def rungs(count: int, rows: int, least: int = 200) -> list[tuple[int, int]]:
    """How many candidates see how many rows, the last few all of them.

    >>> rungs(27, 9000)
    [(27, 1000), (9, 3000), (3, 9000)]
    """
    steps = max(1, min(round(math.log(count, CUT)), 1 + int(math.log(max(rows / least, 1), CUT))))
    return [
        (max(1, round(count / CUT**k)), max(1, rows // CUT ** (steps - 1 - k)))
        for k in range(steps)
    ]


Score = Callable[[Sequence[Trial]], Sequence[float]]


def halving(field: Sequence[Candidate], steps: Sequence[tuple[int, int]], score: Score) -> Ranking:
    """Rank candidates: those that went furthest first, and among them the best.

    Parameters
    ----------
    field : sequence of Candidate
    steps : sequence of (candidates, rows)
        From `rungs`.
    score : callable
        Scores of trials, larger is better; nan is the worst.
    """
    ranking: Ranking = []
    left = list(field)
    for count, rows in steps:
        left = left[:count]
        marks = score([Trial(candidate, rows) for candidate in left])
        order = sorted(range(len(left)), key=lambda i: (-_or_worst(marks[i]), i))
        ranked = [(left[i], rows, float(marks[i])) for i in order]
        known = {candidate.key for candidate in left}
        ranking = ranked + [entry for entry in ranking if entry[0].key not in known]
        left = [left[i] for i in order]
    return ranking


def _or_worst(score: float) -> float:
    return -math.inf if math.isnan(score) else score
