"""The errors of a model along a stream, and where they rose by more than chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinesvm.stream import plain

__all__ = ["Drift", "DriftWatch"]

_DELTA = 0.002  # as in the paper: chance of a false alarm at any one look
_STRETCH = 32  # examples that are counted together
_MOST = 5  # stretches of one size, before the two oldest become one
_DEEPEST = 64  # sizes double: no stream has more


@dataclass(frozen=True, slots=True)
class Drift:
    """Errors that rose: what was learned holds no more.

    Attributes
    ----------
    seen : int
        Examples after which that was sure.
    since : int
        Examples after which it began, as far as can be told.
    before, now : float
        Share of errors before and since.
    """

    seen: int
    since: int
    before: float
    now: float

    def row(self) -> dict[str, Any]:
        """As a run writes it down."""
        return asdict(self)


class DriftWatch:
    """Hears which answers were wrong, and tells when their share has risen.

    ADWIN (Bifet and Gavaldà, SDM 2007): of all ways to cut what was heard in two, is there one
    whose halves differ by more than epsilon_cut, their equation 3.1 in the form for many
    examples? Then what lies before the best such cut is forgotten. Where the paper lets go of the
    oldest part only, this goes to the cut at once, which also says where the change began; a share
    that fell forgets as well, and is no alarm. Memory is a few hundred numbers, however long the
    stream.
    """

    def __init__(self) -> None:
        self._sizes: list[list[tuple[int, int]]] = []  # (asked, wrong), newest sizes first
        self._asked = self._wrong = 0  # since the last stretch

    def hear(self, seen: int, wrong: Sequence[bool] | NDArray[np.bool_]) -> Drift | None:
        """Which of the latest answers were wrong, up to that of the example `seen`."""
        flags, first = np.asarray(wrong, dtype=np.int64), _STRETCH - self._asked
        if len(flags) < first:
            self._asked, self._wrong = self._asked + len(flags), self._wrong + int(flags.sum())
            return None
        starts = np.arange(first, len(flags) + 1, _STRETCH)
        sums = np.diff(np.concatenate(([0], np.cumsum(flags)))[np.concatenate(([0], starts))])
        sums[0] += self._wrong
        self._add(0, [(_STRETCH, n) for n in sums.tolist()])
        rest = flags[starts[-1] :]
        self._asked, self._wrong = len(rest), int(rest.sum())
        return self._look(seen)

    def _add(self, size: int, stretches: list[tuple[int, int]]) -> None:
        """Append stretches of one size; of more than `_MOST` the two oldest become one."""
        if size == len(self._sizes):
            self._sizes.append([])
        alike = self._sizes[size] + stretches
        pairs = max(0, (len(alike) - _MOST + 1) // 2)
        self._sizes[size] = alike[2 * pairs :]
        if pairs:
            both = zip(alike[: 2 * pairs : 2], alike[1 : 2 * pairs : 2], strict=True)
            self._add(size + 1, [(a + c, b + d) for (a, b), (c, d) in both])

    def _look(self, seen: int) -> Drift | None:
        stretches = [one for alike in reversed(self._sizes) for one in alike]
        if len(stretches) < 2:
            return None
        asked, wrong = np.cumsum(stretches, axis=0, dtype=np.float64).T
        n, total = asked[-1], wrong[-1]
        old, new = asked[:-1], n - asked[:-1]
        before, now = wrong[:-1] / old, (total - wrong[:-1]) / new
        chance = math.log(2 * math.log(n) / _DELTA)
        harmonic, share = 1 / old + 1 / new, total / n
        epsilon = np.sqrt(2 * harmonic * share * (1 - share) * chance) + 2 / 3 * harmonic * chance
        excess = abs(now - before) - epsilon
        cut = int(np.argmax(excess))
        if not excess[cut] > 0:
            return None
        self._forget(cut + 2)  # with the stretch within which it began, which is half of each
        if now[cut] < before[cut]:
            return None
        since = seen - self._asked - int(new[cut])
        return Drift(seen, since, float(before[cut]), float(now[cut]))

    def _forget(self, count: int) -> None:
        """Let go of so many of the oldest stretches."""
        for alike in reversed(self._sizes):
            gone = min(count, len(alike))
            del alike[:gone]
            count -= gone

    def state(self) -> list[Any]:
        """As plain values."""
        sizes = [[list(one) for one in alike] for alike in self._sizes]
        return [self._asked, self._wrong, sizes]

    def load(self, state: Any) -> None:
        """Go on where `state` left it; what cannot have been heard is refused."""
        if not isinstance(state, list) or len(state) != 3 or not isinstance(state[2], list):
            raise ValueError("saved errors must be asked, wrong and stretches")
        rest, sizes = _stretch(state[:2]), state[2]
        if len(sizes) > _DEEPEST or not all(isinstance(alike, list) for alike in sizes):
            raise ValueError("saved errors must have lists of stretches")
        if any(len(alike) > _MOST for alike in sizes):
            raise ValueError(f"saved errors have more than {_MOST} stretches of one size")
        heard = [[_stretch(one) for one in alike] for alike in sizes]
        sizes = [one[0] for alike in heard for one in alike]
        if rest[0] >= _STRETCH or any(size < _STRETCH or size % _STRETCH for size in sizes):
            raise ValueError("saved errors have stretches of another length")
        (self._asked, self._wrong), self._sizes = rest, heard


def _stretch(value: Any) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError("a saved stretch must be asked and wrong")
    asked, wrong = plain.counts(*value)
    if wrong > asked:
        raise ValueError("a saved stretch has more errors than answers")
    return asked, wrong
