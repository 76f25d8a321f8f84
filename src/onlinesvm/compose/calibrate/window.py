"""The latest scores and what came of them, and the method that is fitted to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .maps import Floats, both
from .methods import FEWEST, method_of

_NEWS = 16  # a method is fitted anew when this fraction of what is held is new


class Calibration:
    """Scores given before their labels were known, the last ``window`` of them, and their method.

    A score of two classes is one number, for the second; of more, one for each. Each part of the
    method is fitted from scratch to the latest examples of its span, whenever a sixteenth of them
    is new: it hangs on the order of the examples and on nothing else.
    """

    def __init__(self, method: str, window: int) -> None:
        self.word, self.window = method, window
        self.labels: tuple[Any, ...] = ()
        self._begin(width=1)

    def _begin(self, width: int) -> None:
        self.method = method_of(self.word, self.window)
        self.method.know((None,) * width)
        self.seen = 0  # examples that came
        self.fitted = [0] * len(self.method.spans)  # how many had come when each was fitted
        self.scores: Floats = np.zeros((0, width))  # a ring, NaN where a class was not known
        self.codes: NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    @property
    def width(self) -> int:
        """Scores of an example."""
        return int(self.scores.shape[1])

    # --- learning -----------------------------------------------------------------------------

    def know(self, labels: Sequence[Any]) -> None:
        """These are the classes now, in order: scores of the others stay, in their new columns."""
        before, self.labels = self.labels, tuple(labels)
        if len(labels) < 3 or not before:
            return self._begin(width=len(labels) if len(labels) > 2 else 1)
        first = {label: j for j, label in enumerate(before)}
        places = [first.get(label) for label in labels]
        old = self.scores
        if len(before) == 2:  # one number for two becomes one for each, and its map one for none
            old = np.concatenate([-old, old], axis=1)
            self.method.know((None,) * len(labels))
        else:
            self.method.know(places)
        self.scores = np.full((len(old), len(labels)), np.nan)
        for j, place in enumerate(places):
            if place is not None:
                self.scores[:, j] = old[:, place]
        new_place = {label: j for j, label in enumerate(labels)}
        self.codes = np.array([new_place[before[c]] for c in self.codes], dtype=np.int64)
        return None

    def learn(self, scores: Sequence[float], code: int) -> None:
        """Take the scores of an example and the number of its class."""
        self.method.hear(scores, code)
        row = np.asarray(scores, dtype=np.float64)
        if len(self.codes) < self.window:
            if self.seen == len(self.scores):  # room for as many again
                more = min(self.window, max(64, 2 * len(self.scores))) - len(self.scores)
                room = np.full((more, self.width), np.nan)
                self.scores = np.concatenate([self.scores, room])
            self.codes = np.append(self.codes, code)
        else:
            self.codes[self.seen % self.window] = code
        self.scores[self.seen % self.window] = row
        self.seen += 1
        for i, span in enumerate(self.method.spans):
            held = min(span, len(self.codes))
            if held >= FEWEST and self.seen - self.fitted[i] >= max(1, held // _NEWS):
                self.method.fit(*self._latest(held), span)
                self.fitted[i] = self.seen

    def _latest(self, n: int) -> tuple[Floats, NDArray[np.int64]]:
        """The latest scores and classes; all of them in the order of the ring."""
        if n == len(self.codes):
            return self.scores[:n], self.codes
        at = np.arange(self.seen - n, self.seen) % self.window
        return self.scores[at], self.codes[at]

    # --- asking -------------------------------------------------------------------------------

    def many(self, scores: Floats) -> Floats:
        """The probabilities of rows, (n, k), from their scores, (n,) or (n, k)."""
        if len(self.labels) == 1:
            return np.ones((len(scores), 1))
        if scores.ndim > 1:
            return self.method.several(scores)
        return both(self.method.only, scores)

    def one(self, scores: Sequence[float]) -> list[float]:
        """The same of one row, in plain numbers."""
        if len(self.labels) == 1:
            return [1.0]
        if len(scores) > 1:
            return self.method.several_one(scores)
        second = self.method.only.one(scores[0])
        return [1.0 - second, second]

    # --- persistence --------------------------------------------------------------------------

    @property
    def nbytes(self) -> int:
        return self.scores.nbytes + self.codes.nbytes + self.method.nbytes

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        held = len(self.codes)
        arrays = {"scores": self.scores[:held], "codes": self.codes, **self.method.state()}
        return {"seen": self.seen, "fitted": list(self.fitted)}, arrays

    def load(
        self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]], labels: Sequence[Any]
    ) -> None:
        """Go on where ``state`` left it; what cannot be is a ValueError."""
        self.know(labels)
        width = self.width
        scores, codes = arrays.pop("scores"), arrays.pop("codes")
        seen, fitted = int(facts["seen"]), [int(n) for n in facts["fitted"]]
        held = min(seen, self.window)
        if scores.shape != (held, width) or scores.dtype != np.float64 or np.isinf(scores).any():
            raise ValueError("its calibration has other scores than it should")
        if codes.shape != (held,) or codes.dtype != np.int64:
            raise ValueError("its calibration has other classes than scores")
        if ((codes < 0) | (codes >= max(2, len(labels)))).any():
            raise ValueError("its calibration has classes that it does not know")
        if len(fitted) != len(self.fitted) or not all(0 <= n <= seen for n in fitted):
            raise ValueError("its calibration was fitted to nothing")
        room = min(self.window, 64)
        while room < held:
            room = min(self.window, 2 * room)
        self.scores = np.full((room if held else 0, width), np.nan)
        self.scores[:held] = scores
        self.codes, self.seen, self.fitted = codes.copy(), seen, fitted
        self.method.load(arrays)
        if arrays:
            raise ValueError("its calibration has arrays that it should not have")
