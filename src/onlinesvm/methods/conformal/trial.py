"""What an exact machine would decide, had it learned one row more."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import Core, offers, revive
from ...data.rows import Rows

Floats = NDArray[np.float64]

#: Scores that differ by less count as equal: support vectors on the margin share one score, up to
#: the rounding of the solver.
TIE = 1e-6
_EXACT = 1e-8


class Trial:
    """A copy of a model's core that learns a row, is read, and unlearns the row again.

    The model itself is never touched: after any number of questions it has the same bits.
    """

    def __init__(self, model: Any) -> None:
        state = dict(model._core.state())
        state.pop("unsettled", None)
        settings = dict(model._core_settings)
        settings["tol"] = min(float(settings["tol"]), _EXACT)
        if "settle" in settings:
            settings["settle"] = "example"
        self._core: Core = revive(model._core_name, settings, state)
        if hasattr(self._core, "polish"):
            self._core.polish(settings["tol"])
        ids, labels = map(np.asarray, self._core.labels())
        order = np.argsort(ids)
        self.ids: NDArray[np.int64] = ids[order]
        self.labels: NDArray[np.int64] = labels[order]
        self._targets: Floats | None = None
        self._next = np.array([int(self.ids.max(initial=-1)) + 1], dtype=np.int64)

    def decisions(self) -> Floats:
        """The decision values of the rows held, in ascending order of ids."""
        return np.asarray(self._core.decisions())

    def targets(self) -> Floats:
        """The targets of the rows held, by id, of a regression."""
        if self._targets is None:
            self._targets = self.targets_of(self._core)
        return self._targets

    @staticmethod
    def targets_of(core: Core) -> Floats:
        """A row's two variables stand half a tube above and below its target."""
        base: Floats = np.asarray(core.evidence()["base"])
        return np.asarray(base[0].mean(axis=1))

    def decisions_with(self, row: Rows, target: float, weight: float = 1.0) -> Floats:
        """The same once the row is learned, too; its own come last."""
        row.learn(self._core, np.array([target]), np.array([weight]), self._next)
        try:
            return self.decisions()
        finally:
            self._core.unlearn(self._next)


def demand_exact(model: Any, stems: tuple[str, ...]) -> None:
    """A ValueError unless the model keeps its exact solution, as row by row conformity asks."""
    stem = getattr(type(model), "_stem", "")
    if stem not in stems or not offers(stem, "decisions"):
        raise ValueError(
            f"model must be {' or '.join(_NAMES[stem] for stem in stems)}, which add and remove a "
            f"row exactly, got {model!r:.60}"
        )


_NAMES = {
    "Incremental": "IncrementalSVC",
    "PokerClassifier": "PokerSVC",
    "PokerRegressor": "PokerSVR",
    "PokerOneClass": "PokerOneClassSVM",
}


def p_value(scores: Floats, tau: float | None) -> float:
    """The share of scores at least as strange as the last; ``tau`` weighs ties."""
    last = scores[-1]
    more = int((scores > last + TIE).sum())
    equal = int((np.abs(scores - last) <= TIE).sum())  # itself included
    return (more + (equal if tau is None else tau * equal)) / len(scores)


def draw(seed: int, row: Rows, number: int = 0) -> float:
    """A number between 0 and 1 that looks random and is the same for the same row."""
    digest = hashlib.blake2b(digest_size=8, key=f"{seed} {number}".encode())
    for values in row.to_facts().values():
        digest.update(np.ascontiguousarray(values).tobytes())
    return int.from_bytes(digest.digest(), "little") / 2.0**64
