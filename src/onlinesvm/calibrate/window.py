"""The latest scores and what came of them, and the map that they give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .maps import FITS, Floats, Map, Sigmoid, fit_temperature

METHODS = (*FITS, "temperature")
_FEWEST = 20  # examples, below which a map would be a guess: until then the raw sigmoid
_NEWS = 16  # a map is fitted anew when this fraction of what is held is new


class Calibration:
    """Scores given before their labels were known, the last ``window`` of them, and their map.

    A score of two classes is one number, for the second; of more, one for each. The map is fitted
    from scratch to all that is held, whenever a sixteenth of it is new: it hangs on the order of
    the examples and on nothing else.
    """

    def __init__(self, method: str, window: int) -> None:
        self.method, self.window = method, window
        self.labels: tuple[Any, ...] = ()
        self.seen = 0  # examples that came
        self.fitted = 0  # how many had come when the maps were fitted
        self.scores: Floats = np.zeros((0, 1))  # a ring, NaN where a class was not known
        self.codes: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self.factor = 1.0  # of all scores, by temperature
        self.maps: tuple[Map, ...] = (Sigmoid(),)  # one for each output

    # --- learning -----------------------------------------------------------------------------

    def know(self, labels: Sequence[Any]) -> None:
        """These are the classes now, in order: scores of the others stay, in their new columns."""
        before, self.labels = self.labels, tuple(labels)
        places = {label: j for j, label in enumerate(before)}
        old, maps = self.scores, self.maps
        if len(before) == 2 and len(labels) > 2:  # one number for two becomes one for each
            old, maps = np.concatenate([-old, old], axis=1), (Sigmoid(), Sigmoid())
        width = len(labels) if len(labels) > 2 else 1
        self.scores = np.full((len(old), width), np.nan)
        if width > 1 and before:
            for j, label in enumerate(labels):
                if label in places:
                    self.scores[:, j] = old[:, places[label]]
            new_place = {label: j for j, label in enumerate(labels)}
            self.codes = np.array([new_place[before[c]] for c in self.codes], dtype=np.int64)
            self.maps = tuple(maps[places[n]] if n in places else Sigmoid() for n in labels)
        else:
            self.scores, self.codes = np.zeros((0, width)), np.zeros(0, dtype=np.int64)
            self.seen, self.fitted = 0, 0
            self.maps, self.factor = (Sigmoid(),) * width, 1.0

    def learn(self, scores: Sequence[float], code: int) -> None:
        """Take the scores of an example and the number of its class."""
        row = np.asarray(scores, dtype=np.float64)
        if len(self.codes) < self.window:
            if self.seen == len(self.scores):  # room for as many again
                more = min(self.window, max(64, 2 * len(self.scores))) - len(self.scores)
                room = np.full((more, self.scores.shape[1]), np.nan)
                self.scores = np.concatenate([self.scores, room])
            self.codes = np.append(self.codes, code)
        else:
            self.codes[self.seen % self.window] = code
        self.scores[self.seen % self.window] = row
        self.seen += 1
        held = len(self.codes)
        if held >= _FEWEST and self.seen - self.fitted >= max(1, held // _NEWS):
            self._fit(self.scores[:held])
            self.fitted = self.seen

    def _fit(self, scores: Floats) -> None:
        if self.method == "temperature":
            if scores.shape[1] == 1:  # half of it for each: their difference is the score
                scores = np.concatenate([-scores / 2, scores / 2], axis=1)
            rows = np.isfinite(scores[np.arange(len(scores)), self.codes])
            if rows.any():
                self.factor = fit_temperature(scores[rows], self.codes[rows])
            return
        fit, _ = FITS[self.method]
        if scores.shape[1] == 1:
            self.maps = (fit(scores[:, 0], self.codes == 1),)
            return
        maps = list(self.maps)
        for j in range(scores.shape[1]):
            known = np.isfinite(scores[:, j])
            if known.sum() >= _FEWEST:
                maps[j] = fit(scores[known, j], self.codes[known] == j)
        self.maps = tuple(maps)

    # --- asking -------------------------------------------------------------------------------

    def many(self, scores: Floats) -> Floats:
        """The probabilities of rows, (n, k), from their scores, (n,) or (n, k)."""
        if len(self.labels) == 1:
            return np.ones((len(scores), 1))
        if scores.ndim == 1:
            second = self._only.many(scores)
            both = np.empty((len(scores), 2))
            both[:, 1] = second
            np.subtract(1.0, second, out=both[:, 0])
            return both
        if self.method == "temperature":
            odds = np.exp(self.factor * (scores - scores.max(axis=1, keepdims=True)))
        else:
            odds = np.stack([m.many(scores[:, j]) for j, m in enumerate(self.maps)], axis=1)
        total: Floats = odds.sum(axis=1, keepdims=True)
        even = total[:, 0] == 0  # no class is likely at all
        odds[even], total[even] = 1.0, odds.shape[1]
        return np.asarray(odds / total)

    def one(self, scores: Sequence[float]) -> list[float]:
        """The same of one row, in plain numbers."""
        if len(self.labels) == 1:
            return [1.0]
        if len(scores) == 1:
            second = self._only.one(scores[0])
            return [1.0 - second, second]
        if self.method == "temperature":
            most = max(scores)
            odds = [math.exp(self.factor * (score - most)) for score in scores]
        else:
            odds = [m.one(score) for m, score in zip(self.maps, scores, strict=True)]
        total = sum(odds)
        return [p / total for p in odds] if total else [1 / len(odds)] * len(odds)

    @property
    def _only(self) -> Map:
        return Sigmoid(self.factor) if self.method == "temperature" else self.maps[0]

    # --- persistence --------------------------------------------------------------------------

    @property
    def nbytes(self) -> int:
        maps = sum(m.table().nbytes for m in self.maps)
        return self.scores.nbytes + self.codes.nbytes + maps

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        facts: dict[str, Any] = {"seen": self.seen, "fitted": self.fitted, "factor": self.factor}
        held = len(self.codes)
        arrays: dict[str, NDArray[Any]] = {"scores": self.scores[:held], "codes": self.codes}
        tables = [m.table() for m in self.maps]
        if self.fitted and self.method != "temperature":
            raw = [isinstance(m, Sigmoid) for m in self.maps]  # those that wait for examples
            facts["raw"] = raw
            arrays |= {f"map{j}": table for j, table in enumerate(tables)}
        return facts, arrays

    def load(
        self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]], labels: Sequence[Any]
    ) -> None:
        """Go on where ``state`` left it; what cannot be is a ValueError."""
        self.know(labels)
        width = self.scores.shape[1]
        scores, codes = arrays.pop("scores"), arrays.pop("codes")
        seen, fitted, factor = int(facts["seen"]), int(facts["fitted"]), float(facts["factor"])
        held = min(seen, self.window)
        if scores.shape != (held, width) or scores.dtype != np.float64 or np.isinf(scores).any():
            raise ValueError("its calibration has other scores than it should")
        if codes.shape != (held,) or codes.dtype != np.int64:
            raise ValueError("its calibration has other classes than scores")
        if ((codes < 0) | (codes >= max(2, len(labels)))).any():
            raise ValueError("its calibration has classes that it does not know")
        if not 0 <= fitted <= seen or not 0 < factor < math.inf:
            raise ValueError("its calibration was fitted to nothing")
        room = min(self.window, 64)
        while room < held:
            room = min(self.window, 2 * room)
        self.scores = np.full((room if held else 0, width), np.nan)
        self.scores[:held] = scores
        self.codes, self.seen, self.fitted, self.factor = codes.copy(), seen, fitted, factor
        if fitted and self.method != "temperature":
            read, raw = FITS[self.method][1], facts["raw"]
            if len(raw) != width:
                raise ValueError("its calibration has other maps than classes")
            tables = [np.asarray(arrays.pop(f"map{j}"), dtype=np.float64) for j in range(width)]
            self.maps = tuple(
                (Sigmoid.from_table if plain else read)(table)
                for table, plain in zip(tables, raw, strict=True)
            )
        if arrays:
            raise ValueError("its calibration has arrays that it should not have")
