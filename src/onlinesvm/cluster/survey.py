"""One look at all parts before anything is learned: what one machine would know beforehand."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from .. import kernels
from ..data.keys import Key, read_keys
from ..data.rows import as_rows
from ..model.balance import ClassCounts
from ..model.gamma import Spread
from ..unlearn.certificate import digest_of
from .examples import Examples, Ids, Reading
from .parts import Part, Parts

#: Examples of each class that travel first, over all parts.
_SEEDS = 64


@dataclass(frozen=True)
class Question:
    """What every part is asked."""

    reading: Reading
    seeds: int  # examples of each class to send
    limit: float  # the largest magnitude of a value


@dataclass(frozen=True)
class Answer:
    """What a part says of its rows."""

    length: int  # rows, those included that do not count
    own_ids: bool
    counting: int
    labels: NDArray[Any]
    counts: NDArray[np.int64]
    spread: Spread
    sparse: bool
    seeds: Examples
    leaving: Ids
    found: frozenset[Key]  # of the keys to be forgotten
    digest: str


@dataclass(frozen=True)
class Survey:
    """What is known of all parts together."""

    reading: Reading
    rows: list[int]  # that count, of each part
    features: int
    labels: NDArray[Any]
    counts: NDArray[np.int64]
    spread: Spread
    seeds: Examples
    leaving: Ids
    found: frozenset[Key]
    digest: str

    @classmethod
    def of(
        cls, parts: Parts, model: Any, *, keys_gone: Iterable[Key] = (), ids_gone: Ids | None = None
    ) -> Survey:
        """Ask all parts; rows of these keys or ids are left out of all that is said."""
        survey = cls._asked(parts, model, Reading(model.dtype, keys_gone=frozenset(keys_gone)))
        if ids_gone is None or not len(ids_gone):
            return survey
        # Only now the ids of the rows are known.
        return cls._asked(parts, model, replace(survey.reading, ids_gone=ids_gone))

    @classmethod
    def _asked(cls, parts: Parts, model: Any, reading: Reading) -> Survey:
        if not len(parts):
            raise ValueError("parts has no part; at least one with a row is needed")
        seeds = max(1, _SEEDS // len(parts))
        answers = parts.map(_answer, Question(reading, seeds, model._largest[model.dtype]))
        return cls._together(answers, reading)

    @classmethod
    def _together(cls, answers: Sequence[Answer], reading: Reading) -> Survey:
        offsets = np.cumsum([0] + [answer.length for answer in answers])[:-1].tolist()
        numbered = reading.offsets is not None or any(answer.own_ids for answer in answers)
        moved = [0] * len(answers) if numbered else offsets
        full = [answer for answer in answers if answer.length]
        if not full:
            raise ValueError("parts have no row; at least one part needs one")
        _demand_alike(full)
        labels, counts = _tallied(full)
        seeds = Examples.joined(
            [_renumbered(a.seeds, by) for a, by in zip(answers, moved, strict=True) if a.length]
        )
        leaving = [a.leaving + by for a, by in zip(answers, moved, strict=True)]
        gone = np.sort(np.concatenate(leaving))
        return cls(
            reading=Reading(reading.dtype, tuple(offsets), ids_gone=gone),
            rows=[answer.counting for answer in answers],
            features=full[0].spread.features,
            labels=labels,
            counts=counts,
            spread=reduce(Spread.and_then, (a.spread for a in full if a.counting), Spread()),
            seeds=seeds,
            leaving=gone,
            found=frozenset().union(*(answer.found for answer in answers)),
            digest=hashlib.sha256("".join(a.digest for a in answers).encode()).hexdigest(),
        )

    def resolved(self, model: Any) -> Any:
        """An unfitted copy of a model whose words are the numbers that these rows make of them."""
        fresh = clone(model)
        if "multiclass" in fresh.get_params():
            fresh.set_params(multiclass="one-vs-rest")  # pairs cannot be put together again
        words: list[str] = []
        word = getattr(fresh, "gamma", None)
        if isinstance(word, str) and fresh.kernel in kernels.WITH_GAMMA:
            fresh.set_params(gamma=self.spread.gamma(word))
            words += ["gamma"] if word != "auto" else []  # which is a number of features
        if fresh.class_weight == "balanced":
            factors = ClassCounts(self.counts).factors(len(self.labels))
            fresh.set_params(class_weight=dict(zip(self.labels.tolist(), factors, strict=True)))
            words.append("class_weight")
        fresh._settled_elsewhere = tuple(words)
        return fresh

    def classes(self, model: Any) -> NDArray[Any]:
        """All classes there will be, ascending: those that a model names, or those met."""
        declared = model._declared_labels()
        if declared is None or declared.is_open:
            return self.labels
        strangers = [label for label in self.labels.tolist() if label not in declared.codes]
        if strangers:
            raise ValueError(
                f"y contains the unknown label {strangers[0]!r}; known are "
                f"{declared.names.tolist()!r}; name it in classes, or leave classes out"
            )
        return np.asarray(declared.names)


def _answer(part: Part, question: Question) -> Answer:
    reading, n = question.reading, len(part)
    _demand_fitting(part, n)
    rows = reading.all_of(part)
    leaving = reading.leaving(rows)
    counts = (rows.weight > 0) & ~leaving
    if n and not as_rows(part.X).within(question.limit):
        raise ValueError(
            f"part {part.number}: X contains NaN or infinity (or a value too large for dtype); "
            "drop or impute those values first"
        )
    everything = bool(counts.all())  # copies only what is left out
    counting = rows if everything else rows.picked(counts)
    labels, met = np.unique(rows.y[~leaving], return_counts=True)
    return Answer(
        length=n,
        own_ids=part.ids is not None,
        counting=len(counting),
        labels=labels,
        counts=met,
        # In the type they came in, as one machine takes their moments.
        spread=_spread(part.X if everything else part.X[counts]),
        sparse=sp.issparse(part.X),
        seeds=_spaced(counting, question.seeds),
        leaving=rows.ids[leaving],
        found=_keys_of(rows.picked(leaving)),
        digest=_digest(counting),
    )


def _spread(X: Any) -> Spread:
    return Spread.of(as_rows(X), named=False) if X.shape[0] else Spread(0, X.shape[1])


def _spaced(rows: Examples, each: int) -> Examples:
    """So many of each class, evenly spaced: deterministic, and of all that the part has."""
    chosen = [
        places[np.linspace(0, len(places) - 1, min(each, len(places))).astype(np.intp)]
        for places in (np.flatnonzero(rows.y == label) for label in np.unique(rows.y))
    ]
    return rows.picked(np.concatenate(chosen) if chosen else np.zeros(0, np.intp))


def _keys_of(rows: Examples) -> frozenset[Key]:
    keys = [] if rows.keys is None else read_keys(rows.keys, len(rows)) or []
    return frozenset(key for key in keys if key is not None)


def _digest(rows: Examples) -> str:
    """SHA-256 of the rows that count, with their labels and weights."""
    X = rows.X
    arrays = (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,)
    labels = rows.y if rows.y.dtype.kind != "O" else rows.y.astype(str)
    return digest_of("part", *arrays, labels, rows.weight)


def _renumbered(rows: Examples, by: int) -> Examples:
    return Examples(rows.X, rows.y, rows.weight, rows.ids + by, rows.keys)


def _demand_fitting(part: Part, n: int) -> None:
    """A ValueError where a column of a part is not as long as its rows are many."""
    for name in ("y", "sample_weight", "ids", "keys"):
        column = getattr(part, name)
        if column is not None and len(column) != n:
            raise ValueError(
                f"part {part.number}: {name} has {len(column)} entries for {n} rows of X; "
                "pass one for each row"
            )
    weights = np.asarray(() if part.sample_weight is None else part.sample_weight)
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(f"part {part.number}: sample_weight must be finite and >= 0")


def _demand_alike(full: Sequence[Answer]) -> None:
    """A ValueError where parts are not of one data set."""
    if len({answer.spread.features for answer in full}) > 1:
        widths = sorted({answer.spread.features for answer in full})
        raise ValueError(f"parts have {widths[0]} and {widths[-1]} features; all need as many")
    if len({answer.sparse for answer in full}) > 1:
        raise ValueError("some parts are sparse and some dense; give all the same form")
    if len({answer.labels.dtype.kind in "UO" for answer in full}) > 1:
        raise ValueError("y has labels of several kinds: text in some parts, numbers in others")
    if len({answer.own_ids for answer in full}) > 1:
        raise ValueError("some parts have ids and some have none; give ids to all or to none")


def _tallied(full: Sequence[Answer]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """All labels, ascending, and how many rows bear each."""
    every = np.concatenate([answer.labels for answer in full])
    labels, places = np.unique(every, return_inverse=True)
    counts = np.bincount(places, weights=np.concatenate([a.counts for a in full]))
    return labels, counts.astype(np.int64)
