"""Which examples deserve a label: small value objects, printable, comparable, hashable.

A query looks at the scores of examples and says which labels are worth asking for. Give one to
an estimator (``RampSVC(query=Margin())``) or use its word (``query="margin"``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .params import check_count


class _Asking:
    word: ClassVar[str]
    h: int = 1  # examples for one label

    def core_params(self) -> dict[str, Any]:
        return {"query": self.word, "h": check_count("query.h", self.h, at_least=1)}


@dataclass(frozen=True)
class All(_Asking):
    """Ask for every label."""

    word: ClassVar[str] = "all"

    def mask(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.ones(len(scores), dtype=bool)


@dataclass(frozen=True)
class Margin(_Asking):
    """Ask only inside the margin, where ``|f(x)| <= 1``; several classes: for any of them.

    Outside the margin a label that agrees would change nothing, so little is lost and most
    labels are saved once the model has taken shape.
    """

    word: ClassVar[str] = "margin"

    def mask(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.asarray(np.abs(scores).min(axis=1) <= 1.0)


@dataclass(frozen=True)
class Greedy(_Asking):
    """Ask for one label in every ``h`` examples: the one nearest to the boundary.

    Parameters
    ----------
    h : int, default=5
        Examples per label; ``1`` asks for all.
    """

    h: int = 5
    word: ClassVar[str] = "greedy"

    def mask(self, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
        nearest = np.abs(scores).min(axis=1)
        chosen = np.zeros(len(nearest), dtype=bool)
        for start in range(0, len(nearest), self.h):
            chosen[start + int(nearest[start : start + self.h].argmin())] = True
        return chosen


Query = All | Margin | Greedy

_BY_WORD: dict[str, Query] = {"all": All(), "margin": Margin(), "greedy": Greedy()}


def resolve(query: str | Query) -> Query:
    """The query meant by a word or given as an object."""
    if isinstance(query, All | Margin | Greedy):
        return query
    if isinstance(query, str) and query in _BY_WORD:
        return _BY_WORD[query]
    raise ValueError(
        f"query must be 'all', 'margin', 'greedy' or a query such as Greedy(h=5), got {query!r}"
    )
