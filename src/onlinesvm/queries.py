"""Which examples deserve a label: small value objects, printable, comparable, hashable.

A query looks at what models say of rows whose labels nobody knows, and changes nothing. *Rules*
(:class:`All`, :class:`Margin`, :class:`RandomRate`) say yes or no to a row by itself. *Ranks*
(:class:`Greedy`, :class:`ClosestToPlane`, :class:`MostViolating`, :class:`ObjectiveGain`,
:class:`Committee`) only say which of several rows is worth more; how many are asked for is up to
``h`` or to a label budget. A :class:`~onlinesvm.LabelDesk` asks by any of them.

``All``, ``Margin()`` and ``Greedy`` are also what :class:`~onlinesvm.RampSVC` may learn by, as its
paper has it: ``RampSVC(query=Margin())``, or by word, ``query="margin"``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .data.arguments import check_count, check_flag, check_number

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Look:
    """What a query may know of n rows.

    Parameters
    ----------
    scores : array of n x outputs
        The decision values of the model; 0 before it has learned anything.
    numbers : array of n integers
        Which rows of the stream they are, from 1.
    votes : array of n x members
        The class that each model of a committee would predict, as a number.
    own : function that gives an array of n
        k(x, x), where anybody needs it.
    C : float or None
        What the model pays for an error, where it has such a thing.
    blank : bool
        Whether the model has met fewer than two classes: its scores are those of one everywhere.
    """

    scores: Floats
    numbers: NDArray[np.int64]
    votes: NDArray[np.int64]
    own: Callable[[], Floats]
    C: float | None = None
    blank: bool = False


# --- rules ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class All:
    """Ask for every label."""

    word: ClassVar[str] = "all"

    def core_params(self) -> dict[str, Any]:
        return {"query": self.word, "h": 1, "width": 1.0}

    def mask(self, scores: Floats) -> NDArray[np.bool_]:
        return np.ones(len(scores), dtype=bool)

    def wants(self, look: Look) -> NDArray[np.bool_]:
        return self.mask(look.scores)

    def worth(self, look: Look) -> Floats:
        return np.zeros(len(look.scores))


@dataclass(frozen=True)
class Margin:
    """Ask only near the boundary, where ``|f(x)| <= width``; several classes: for any of them.

    Outside the margin a label that agrees would change nothing, so little is lost and most
    labels are saved once the model has taken shape. A :class:`~onlinesvm.LabelDesk` also asks while
    its model has met fewer than two classes: there is no boundary yet.

    Parameters
    ----------
    width : float, default=1.0
        1 is the margin of a support vector machine, and OnlineASVM-R. A larger one asks for rows
        outside the margin, too: the closer they are to it, the likelier they are to come inside.
    """

    width: float = 1.0
    word: ClassVar[str] = "margin"

    def __post_init__(self) -> None:
        check_number("query.width", self.width, above=0)

    def core_params(self) -> dict[str, Any]:
        return {"query": self.word, "h": 1, "width": float(self.width)}

    def mask(self, scores: Floats) -> NDArray[np.bool_]:
        return np.asarray(_distance(scores) <= self.width)

    def wants(self, look: Look) -> NDArray[np.bool_]:
        return np.ones(len(look.scores), dtype=bool) if look.blank else self.mask(look.scores)

    def worth(self, look: Look) -> Floats:
        return -_distance(look.scores)


@dataclass(frozen=True)
class RandomRate:
    """Ask for a share of the labels, whatever the model says: what other queries must beat.

    Parameters
    ----------
    rate : float, default=0.2
        How likely a row is asked about, in (0, 1].
    seed : int, default=0
        The same seed asks about the same rows of a stream, wherever it is saved and loaded.
    """

    rate: float = 0.2
    seed: int = 0

    def __post_init__(self) -> None:
        _check_share("query.rate", self.rate)
        check_count("query.seed", self.seed)

    def wants(self, look: Look) -> NDArray[np.bool_]:
        return np.asarray(-self.worth(look) < self.rate)

    def worth(self, look: Look) -> Floats:
        draws = (np.random.default_rng([self.seed, int(n)]).random() for n in look.numbers)
        return -np.fromiter(draws, dtype=np.float64, count=len(look.numbers))


# --- ranks ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Greedy:
    """Ask for one label in every ``h`` examples: the one nearest to the boundary.

    A model that learns by it takes blocks of ``h``. A :class:`~onlinesvm.LabelDesk` decides about
    each row at once: see there.

    Parameters
    ----------
    h : int, default=5
        Examples per label; ``1`` asks for all.
    latest : bool, default=False
        Instead of blocks look at the ``h`` latest examples whenever one comes, as the paper prints
        it, and ask for the nearest unless its label is known: more labels than one in ``h``, at
        the price of ``h`` predictions for each example. For a model, not for a desk.
    """

    h: int = 5
    latest: bool = False
    word: ClassVar[str] = "greedy"

    def __repr__(self) -> str:
        return f"Greedy(h={self.h!r}{', latest=True' if self.latest else ''})"

    @property
    def rate(self) -> float:
        return 1.0 / check_count("query.h", self.h, at_least=1)

    def core_params(self) -> dict[str, Any]:
        word = "latest" if check_flag("query.latest", self.latest) else self.word
        return {"query": word, "h": check_count("query.h", self.h, at_least=1), "width": 1.0}

    def mask(self, scores: Floats) -> NDArray[np.bool_]:
        nearest = _distance(scores)
        chosen = np.zeros(len(nearest), dtype=bool)
        n, h = len(nearest), self.h
        for start in range(1 - h, n - h + 1) if self.latest else range(0, n, h):
            first = max(0, start)
            chosen[first + int(nearest[first : start + h].argmin())] = True
        return chosen

    def worth(self, look: Look) -> Floats:
        return -_distance(look.scores)


@dataclass(frozen=True)
class ClosestToPlane:
    """Rank rows by how close they are to the boundary, of any class: the smallest ``|f(x)|``."""

    def worth(self, look: Look) -> Floats:
        return -_distance(look.scores)


@dataclass(frozen=True)
class MostViolating:
    """Rank rows by how far they are expected to be on the wrong side of the margin.

    The violation ``max(0, 1 - y f(x))``, summed over the outputs, is weighted by how likely each
    label is to a machine with that loss: in proportion to ``exp(-loss)`` (Sollich 2002). For two
    classes the order is that of :class:`ClosestToPlane`; for several it counts all boundaries that
    a row is near to, at a cost that grows with the square of their number.
    """

    def worth(self, look: Look) -> Floats:
        return _expected(_violations(look.scores), lambda violation: violation)


@dataclass(frozen=True)
class ObjectiveGain:
    """Rank rows by how much the dual objective is expected to gain from their label.

    The gain is that of the one step that a violating example takes,
    ``g d - k(x, x) d^2 / 2`` with ``g = max(0, 1 - y f(x))`` and ``d = min(g / k(x, x), C)``, and
    labels are as likely as to :class:`MostViolating`. Needs a model with a ``C``. Of two rows as
    near to the boundary it takes the one whose ``k(x, x)`` is smaller, where one step goes
    further; where all are alike, as of rbf, two classes are ranked by distance inside the margin.
    """

    def worth(self, look: Look) -> Floats:
        C, own = look.C, look.own()[:, None]
        assert C is not None

        def gain(g: Floats) -> Floats:
            step = np.minimum(np.divide(g, own, out=np.full_like(g, C), where=own * C > g), C)
            return np.asarray(g * step - own * step**2 / 2)

        return _expected(_violations(look.scores), gain)


@dataclass(frozen=True)
class Committee:
    """Rank rows by how much several models disagree: the entropy of their votes."""

    def worth(self, look: Look) -> Floats:
        votes = look.votes
        share = (votes[:, :, None] == votes[:, None, :]).mean(axis=2)  # of each member's own choice
        return np.asarray(-np.log(share).mean(axis=1))


Rule = All | Margin | RandomRate
Rank = Greedy | ClosestToPlane | MostViolating | ObjectiveGain | Committee
#: What a model may learn by.
Query = All | Margin | Greedy
#: What a desk may ask by.
AnyQuery = Rule | Rank

_BY_WORD: dict[str, Query] = {"all": All(), "margin": Margin(), "greedy": Greedy()}


def resolve(query: str | Query) -> Query:
    """The query meant by a word or given as an object, for a model to learn by."""
    if isinstance(query, All | Margin | Greedy):
        return query
    if isinstance(query, str) and query in _BY_WORD:
        return _BY_WORD[query]
    raise ValueError(
        f"query must be 'all', 'margin', 'greedy' or a query such as Greedy(h=5), got {query!r}"
    )


# --- what they share --------------------------------------------------------------------------


def belief(scores: Floats) -> Floats:
    """How likely each class is to a machine with the hinge loss: in proportion to ``exp(-loss)``.

    Sollich's reading of a support vector machine (2002). It puts classes in the order of their
    scores, and is calibrated by nothing.

    >>> belief(np.array([[0.0], [0.5], [3.0]])).round(2)
    array([[0.5 , 0.5 ],
           [0.27, 0.73],
           [0.02, 0.98]])
    """
    likely = _likely(_violations(scores)).T
    return likely[:, ::-1] if scores.shape[1] == 1 else likely


def _distance(scores: Floats) -> Floats:
    """From the nearest boundary, in units of the score."""
    return np.asarray(np.abs(scores).min(axis=1))


def _violations(scores: Floats) -> Floats:
    """max(0, 1 - y f) by label, row and output: what each label would find."""
    outputs = scores.shape[1]
    signs = np.array([[1.0], [-1.0]]) if outputs == 1 else 2.0 * np.eye(outputs) - 1.0
    return np.maximum(0.0, 1.0 - signs[:, None, :] * scores)


def _expected(violations: Floats, value: Callable[[Floats], Floats]) -> Floats:
    """The value of each row's violations over all labels, each as likely as its loss says."""
    values = np.stack([value(one) for one in violations]).sum(axis=2)
    return np.asarray((_likely(violations) * values).sum(axis=0))


def _likely(violations: Floats) -> Floats:
    """How likely each label of each row is: in proportion to exp(-loss)."""
    losses = violations.sum(axis=2)
    likely = np.exp(losses.min(axis=0) - losses)
    return np.asarray(likely / likely.sum(axis=0))


def _check_share(name: str, value: Any) -> float:
    share = check_number(name, value, above=0)
    if share > 1:
        raise ValueError(f"{name} must be at most 1, got {share!r}; it is a share of all rows")
    return share
