"""A model before the rows of a part: how far each is from its optimality condition, in double."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.labels import Labels
from ..data.rows import as_rows
from ..model.compress import constants
from ..model.expansion import Expansion
from ..unlearn.certificate import digest_of
from .examples import Examples, Floats, Ids, Reading
from .parts import Part

#: With violators come those that this share of the worst violation would make violate: the model
#: will move by about as much, and they save a round.
_NEARLY = 0.1


@dataclass(frozen=True)
class Solution:
    """What of a model its optimality conditions are judged by: its function, classes and prices."""

    function: Expansion  # coefficients s_i in the order of ids
    classes: NDArray[Any]
    C: float
    class_weight: Mapping[Any, float] | None
    open_outputs: NDArray[np.bool_]  # those whose bias is an interval, not a point

    @classmethod
    def of(cls, model: Any) -> Solution:
        """Of a fitted machine."""
        kernel = model._core_settings["kernel"]
        function = Expansion.of(model._core, kernel, constants(model))
        return cls(
            function=function,
            classes=model._labels.arrived(),
            C=float(model.C),
            class_weight=model.class_weight,
            open_outputs=_open_outputs(model, function),
        )

    def targets(self, y: NDArray[Any]) -> Floats:
        """+1 or -1 for each row and output."""
        codes = Labels(self.classes, is_open=False).encode(y)
        if len(self.function.bias) == 1:
            return np.where(codes == 1, 1.0, -1.0)[:, None]
        return np.where(codes[:, None] == np.arange(len(self.function.bias)), 1.0, -1.0)

    def prices(self, rows: Examples) -> Floats:
        """C_i of each row."""
        if self.class_weight is None:
            return self.C * rows.weight
        codes = Labels(self.classes, is_open=False).encode(rows.y)
        factors = [self.class_weight.get(label, 1.0) for label in self.classes.tolist()]
        return self.C * (np.array(factors, dtype=np.float64)[codes] * rows.weight)

    def coefficients(self, ids: Ids) -> tuple[Floats, int]:
        """s of each row and output, and how many of the rows are support vectors."""
        s = np.zeros((len(ids), len(self.function.bias)))
        if not len(self.function) or not len(ids):
            return s, 0
        known = self.function.ids
        order = np.argsort(known)
        at = order[np.minimum(np.searchsorted(known[order], ids), len(known) - 1)]
        mine = known[at] == ids
        s[mine] = self.function.coef.T[at[mine]]
        return s, int(mine.sum())

    def digest(self) -> str:
        """SHA-256 of the support vectors, their coefficients and the bias."""
        f = self.function
        numbers = {name: value for name, value in f.kernel.items() if name != "function"}
        vectors = f.vectors.to_facts().values()
        return digest_of(json.dumps(numbers), f.ids, *vectors, f.coef, f.bias)


def _open_outputs(model: Any, function: Expansion) -> NDArray[np.bool_]:
    """The outputs without a support vector on the margin, which would fix the bias."""
    if getattr(model, "bias", "free") != "free":
        return np.zeros(len(function.bias), dtype=bool)
    price = prices_held(model, function.ids)
    inside = (function.coef != 0) & (np.abs(function.coef) < price)
    return np.asarray(~inside.any(axis=1))


def prices_held(model: Any, ids: Ids) -> Floats:
    """C_i of examples that a machine holds."""
    state = model._core.state()
    order = np.argsort(state["rows.ids"])
    price: Floats = state["cost"][order[np.searchsorted(state["rows.ids"], ids, sorter=order)]]
    return price


@dataclass(frozen=True)
class Judgement:
    """What every part is asked about a solution."""

    reading: Reading
    solution: Solution
    held: Ids  # what need not be sent, ascending
    tol: float
    most: int  # violators to send, the worst


@dataclass(frozen=True)
class Report:
    """How a solution fares with the rows of one part."""

    rows: int
    violation: float  # the largest
    loss: Floats  # by output: sum of C_i max(0, 1 - y f)
    norm2: Floats  # by output: its share of |w|^2
    support: int  # its rows that are support vectors
    violators: Examples  # that join, and those that nearly violate, if any does by more than tol
    bounding: Examples  # that join in any case: they bound a bias that is an interval


def judge(part: Part, about: Judgement) -> Report:
    """The largest violation over all rows of a part, and the rows that must join."""
    rows, solution = about.reading.of(part), about.solution
    outputs = len(solution.function.bias)
    if not len(rows):
        return Report(0, 0.0, np.zeros(outputs), np.zeros(outputs), 0, rows, rows)
    f = as_rows(rows.X).score(solution.function.core("float64"))
    y, price = solution.targets(rows.y), solution.prices(rows)[:, None]
    s, support = solution.coefficients(rows.ids)
    h = y - f
    may_rise, may_fall = s < np.maximum(0.0, y * price), s > np.minimum(0.0, y * price)
    off = np.where(np.where(h > 0, may_rise, may_fall), np.abs(h), 0.0)
    worst = off.max(axis=1)
    new = ~np.isin(rows.ids, about.held)
    shortfall = np.where(new, (y * h).max(axis=1), -np.inf)  # of a row outside, 1 - y f
    bounding = _bounding(h, may_rise, may_fall, solution.open_outputs)
    return Report(
        rows=len(rows),
        violation=float(worst.max()),
        loss=(price * np.maximum(0.0, y * h)).sum(axis=0),
        norm2=(s * (f - solution.function.bias)).sum(axis=0),
        support=support,
        violators=rows.picked(_joining(shortfall, worst.max(), about)),
        bounding=rows.picked(bounding[new[bounding]]),
    )


def _joining(shortfall: Floats, worst: float, about: Judgement) -> NDArray[np.intp]:
    """The rows that fall short of the margin, or nearly so, at most so many, worst first."""
    if not worst > about.tol:
        return np.zeros(0, np.intp)
    violators = np.flatnonzero(shortfall > about.tol - _NEARLY * worst)
    return violators[np.argsort(-shortfall[violators], kind="stable")[: about.most]]


def _bounding(
    h: Floats,
    may_rise: NDArray[np.bool_],
    may_fall: NDArray[np.bool_],
    outputs: NDArray[np.bool_],
) -> NDArray[np.intp]:
    """The rows that bound the bias from either side, of these outputs."""
    highest = np.where(may_rise, h, -np.inf)[:, outputs]
    lowest = np.where(may_fall, h, np.inf)[:, outputs]
    found = np.concatenate(
        [
            highest.argmax(axis=0)[np.isfinite(highest.max(axis=0, initial=-np.inf))],
            lowest.argmin(axis=0)[np.isfinite(lowest.min(axis=0, initial=np.inf))],
        ]
    )
    return np.unique(found)
