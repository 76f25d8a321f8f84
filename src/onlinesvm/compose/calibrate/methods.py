"""From the scores of all classes to their probabilities: by one kind of map, or by a mixture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...core import Parts
from .maps import FITS, Floats, Map, Sigmoid, fit_temperature, many

FEWEST = 20  # examples, below which a map would be a guess: until then the raw sigmoid
_LONG = 1000  # examples, a tenth of which is enough to fit a map to
_LEAST = 1e-300  # a likelihood of 0 would leave a mixture of nothing


class Method(Protocol):
    """What is fitted to scores and classes, and says how likely each class is.

    Two classes have one score, for the second, and one map, ``only``; more have a score each.
    """

    @property
    def only(self) -> Map: ...
    def several(self, scores: Floats) -> Floats: ...
    def several_one(self, scores: Sequence[float]) -> list[float]: ...
    def hear(self, scores: Sequence[float], code: int) -> None:
        """An example's class, for one who wants to know how likely it was called."""

    @property
    def spans(self) -> tuple[int, ...]:
        """How many of the latest examples its parts are fitted to, each by itself."""

    def fit(self, scores: Floats, codes: NDArray[np.int64], span: int) -> None:
        """Fit the parts of this span to the latest examples, so many or fewer."""

    def know(self, places: Sequence[int | None]) -> None:
        """Output j is what output ``places[j]`` was, None for a class that is new."""

    @property
    def nbytes(self) -> int: ...
    def state(self) -> dict[str, NDArray[Any]]: ...
    def load(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take from these what ``state`` gave; what cannot be is a ValueError."""


class EachAgainstTheRest:
    """A map for each output; probabilities of more than two are divided by their sum."""

    def __init__(self, word: str, span: int) -> None:
        self.spans = (span,)
        self._fit, self._read = FITS[word]
        self.maps: tuple[Map, ...] = (Sigmoid(),)

    @property
    def only(self) -> Map:
        return self.maps[0]

    def several(self, scores: Floats) -> Floats:
        odds = np.stack(
            [many(m, s) for m, s in zip(self.maps, scores.T.copy(), strict=True)], axis=1
        )
        return _shares(odds)

    def several_one(self, scores: Sequence[float]) -> list[float]:
        return _shares_one([m.one(score) for m, score in zip(self.maps, scores, strict=True)])

    def hear(self, scores: Sequence[float], code: int) -> None:
        pass

    def fit(self, scores: Floats, codes: NDArray[np.int64], span: int) -> None:
        if scores.shape[1] == 1:
            self.maps = (self._fit(scores[:, 0], codes == 1),)
            return
        maps = list(self.maps)
        for j in range(scores.shape[1]):
            known = np.isfinite(scores[:, j])
            if known.sum() >= FEWEST:
                maps[j] = self._fit(scores[known, j], codes[known] == j)
        self.maps = tuple(maps)

    def know(self, places: Sequence[int | None]) -> None:
        self.maps = tuple(Sigmoid() if place is None else self.maps[place] for place in places)

    @property
    def nbytes(self) -> int:
        return sum(m.nbytes for m in self.maps)

    def state(self) -> dict[str, NDArray[Any]]:
        return {f"map{j}": m.table() for j, m in enumerate(self.maps) if not _is_raw(m)}

    def load(self, arrays: dict[str, NDArray[Any]]) -> None:
        tables = (arrays.pop(f"map{j}", None) for j in range(len(self.maps)))
        self.maps = tuple(
            Sigmoid() if table is None else self._read(np.asarray(table, dtype=np.float64))
            for table in tables
        )


class Temperature:
    """One factor for all scores, then the softmax: the order of the classes stays."""

    def __init__(self, span: int) -> None:
        self.spans = (span,)
        self.factor = 1.0

    @property
    def only(self) -> Map:
        return Sigmoid(self.factor)

    def several(self, scores: Floats) -> Floats:
        return _shares(np.exp(self.factor * (scores - scores.max(axis=1, keepdims=True))))

    def several_one(self, scores: Sequence[float]) -> list[float]:
        most = max(scores)
        return _shares_one([math.exp(self.factor * (score - most)) for score in scores])

    def hear(self, scores: Sequence[float], code: int) -> None:
        pass

    def fit(self, scores: Floats, codes: NDArray[np.int64], span: int) -> None:
        if scores.shape[1] == 1:  # half of it for each: their difference is the score
            scores = np.concatenate([-scores / 2, scores / 2], axis=1)
        rows = np.isfinite(scores[np.arange(len(scores)), codes])
        if rows.any():
            self.factor = fit_temperature(scores[rows], codes[rows])

    def know(self, places: Sequence[int | None]) -> None:
        pass

    @property
    def nbytes(self) -> int:
        return 8

    def state(self) -> dict[str, NDArray[Any]]:
        return {"factor": np.array([self.factor])}

    def load(self, arrays: dict[str, NDArray[Any]]) -> None:
        factor = arrays.pop("factor")
        if factor.shape != (1,) or not 0 < factor[0] < math.inf:
            raise ValueError("its calibration has no temperature")
        self.factor = float(factor[0])


@dataclass(frozen=True)
class Blend:
    """The weighted mean of some maps, which rises as they do."""

    weights: tuple[float, ...]
    maps: tuple[Map, ...]

    @property
    def parts(self) -> Parts:
        owned = zip(self.weights, self.maps, strict=True)
        return tuple((weight * w, curve) for weight, each in owned for w, curve in each.parts)

    def one(self, score: float) -> float:
        return sum(w * m.one(score) for w, m in zip(self.weights, self.maps, strict=True))

    @property
    def nbytes(self) -> int:
        return sum(each.nbytes for each in self.maps)

    def table(self) -> Floats:
        raise NotImplementedError("a blend is kept as its parts")


class Mixture:
    """Bayes' mixture of methods: each counts as much as it has found the labels of late likely.

    With each label a weight is multiplied by the probability that its method gave to it, and a
    ``share`` of all is dealt out evenly, so that none is ever out of the game (Herbster & Warmuth).
    The logarithmic loss of the mixture is at most that of any sequence of methods, plus about
    ``share`` for each example and ``ln(k / share)`` for each change: no stream is needed to choose.
    """

    def __init__(self, methods: dict[str, Method], share: float) -> None:
        self.methods, self.share = methods, share
        self.weights = (1 / len(methods),) * len(methods)

    @property
    def only(self) -> Map:
        return Blend(self.weights, tuple(method.only for method in self.methods.values()))

    def several(self, scores: Floats) -> Floats:
        pairs = zip(self.weights, self.methods.values(), strict=True)
        return np.asarray(sum(weight * method.several(scores) for weight, method in pairs))

    def several_one(self, scores: Sequence[float]) -> list[float]:
        each = zip(*(method.several_one(scores) for method in self.methods.values()), strict=True)
        return [sum(w * p for w, p in zip(self.weights, of, strict=True)) for of in each]

    def hear(self, scores: Sequence[float], code: int) -> None:
        if len(scores) == 1:
            second = (method.only.one(scores[0]) for method in self.methods.values())
            likely = [p if code else 1 - p for p in second]
        elif math.isfinite(scores[code]):
            known = [score if math.isfinite(score) else -1e300 for score in scores]
            likely = [method.several_one(known)[code] for method in self.methods.values()]
        else:  # a class that none of them could name
            return
        earned = [w * max(p, _LEAST) for w, p in zip(self.weights, likely, strict=True)]
        kept, dealt = (1 - self.share) / sum(earned), self.share / len(earned)
        self.weights = tuple(kept * weight + dealt for weight in earned)

    @property
    def spans(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(span for each in self.methods.values() for span in each.spans))

    def fit(self, scores: Floats, codes: NDArray[np.int64], span: int) -> None:
        for method in self.methods.values():
            if span in method.spans:
                method.fit(scores, codes, span)

    def know(self, places: Sequence[int | None]) -> None:
        for method in self.methods.values():
            method.know(places)

    @property
    def nbytes(self) -> int:
        return sum(method.nbytes for method in self.methods.values()) + 8 * len(self.weights)

    def state(self) -> dict[str, NDArray[Any]]:
        arrays = {
            f"{word}.{name}": array
            for word, method in self.methods.items()
            for name, array in method.state().items()
        }
        return {"weights": np.array(self.weights), **arrays}

    def load(self, arrays: dict[str, NDArray[Any]]) -> None:
        weights = np.asarray(arrays.pop("weights"), dtype=np.float64)
        if weights.shape != (len(self.methods),) or not (weights > 0).all():
            raise ValueError("its calibration has other weights than methods")
        if abs(weights.sum() - 1) > 1e-9:
            raise ValueError("the weights of its calibration do not sum to 1")
        self.weights = tuple(weights.tolist())
        for word, method in self.methods.items():
            own = [name for name in arrays if name.startswith(f"{word}.")]
            parts = {name.removeprefix(f"{word}."): arrays.pop(name) for name in own}
            method.load(parts)
            arrays |= {f"{word}.{name}": array for name, array in parts.items()}


#: What a mixture is made of.
_MIXED = {"platt": "platt", "temperature": "temperature", "venn_abers": "venn-abers"}
METHODS = ("mixture", "platt")


def method_of(word: str, window: int) -> Method:
    """The method or part of this name; a mixture has each part twice where the window is long.

    Once for the whole window and once for its latest tenth, which follows a change at once. It
    expects one change of mind in the shorter.
    """
    if word == "mixture":
        methods = {name: method_of(each, window) for name, each in _MIXED.items()}
        if window >= _LONG:
            late = {f"{name}_late": method_of(each, window // 10) for name, each in _MIXED.items()}
            return Mixture(methods | late, share=10 / window)
        return Mixture(methods, share=1 / window)
    return Temperature(window) if word == "temperature" else EachAgainstTheRest(word, window)


def _is_raw(of: Map) -> bool:
    return isinstance(of, Sigmoid) and of == Sigmoid()


def _shares(odds: Floats) -> Floats:
    total: Floats = odds.sum(axis=1, keepdims=True)
    even = total[:, 0] == 0  # no class is likely at all
    odds[even], total[even] = 1.0, odds.shape[1]
    return np.asarray(odds / total)


def _shares_one(odds: list[float]) -> list[float]:
    total = sum(odds)
    return [p / total for p in odds] if total else [1 / len(odds)] * len(odds)
