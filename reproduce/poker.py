"""POKER (Fine & Scheinberg, NIPS 2001): table 1 and figures 2 and 3, counted in breakpoints.

The paper gives the widths of its RBF kernels and how many examples end in S, E and O, but not C.
The rule, written down before the table was measured by it: of 1, 2 and 5 times the powers of ten
from 0.1 to 1,000, the C with which the end is nearest to the printed partition, by the sum of what
|S|, |E| and |O| differ; on the first order, by Self-Init, and so without a look at any count. Then
five random orders. Readings taken: k = exp(-|x - x'|^2 / (2 sigma^2)); diabetes is the Pima set,
standardised, of which each order draws the 576 rows the printed partition adds up to; ionosphere
as it is; abalone in two halves by its rings, C = 1 and k = (x.x' / 10 + 1)^degree.

Cannot be repeated: the synthetic set (10,000 points in the plane, nothing else is said). Two round
clusters stand in, and the rule chooses their distance along with C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from onlinesvm import PokerSVC
from onlinesvm.datasets import Dataset, DownloadError, fetch
from onlinesvm.report.style import LINES, figure
from reproduce.journal import Facts, Journal
from reproduce.paper import Paper, Shown, table
from reproduce.verdict import Printed, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

ORDERS = 5
RULES = {
    "no selection": None,
    "MaxSlk": "maxslk",
    "MaxSlk+dObj": "maxslk+dobj",
    "Cls2W": "cls2w",
    "Cls2W+dObj": "cls2w+dobj",
}
CS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)
APART = (1.5, 2.0, 2.5, 3.0)  # the clusters, from the origin along each axis


# ---- data ----------------------------------------------------------------------------------------


def public(name: str) -> Dataset:
    try:
        return fetch(name)
    except ValueError as unknown:  # nowhere to download it from: left out, like one not reached
        raise DownloadError(str(unknown)) from unknown


def clusters(order: int, apart: float, rows: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(order)
    y = rng.choice([-1, 1], rows)
    return rng.normal(size=(rows, 2)) + apart * y[:, None], y


def ionosphere(order: int, apart: float, rows: int) -> tuple[Array, Array]:
    """As it is: its values are between -1 and 1."""
    X, y, *_ = public("ionosphere")
    drawn = np.random.default_rng(order).permutation(len(y))[:rows]
    return X[drawn].astype(np.float64), np.where(y[drawn] > 0, 1, -1)


def diabetes(order: int, apart: float, rows: int) -> tuple[Array, Array]:
    X, y, *_ = public("pima")
    X = X.astype(np.float64)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    drawn = np.random.default_rng(order).permutation(len(y))[:rows]
    return X[drawn], np.where(y[drawn] > 0, 1, -1)


@cache
def abalone() -> tuple[Array, Array]:
    """As in the paper: sex as three columns, all scaled to [-1, 1]."""
    X, y, *_ = public("abalone")
    X = np.column_stack([X[:, 0] == code for code in (0, 1, 2)] + [X[:, 1:]]).astype(np.float64)
    low, high = X.min(axis=0), X.max(axis=0)
    order = np.random.default_rng(0).permutation(len(y))
    return (2 * (X - low) / (high - low) - 1)[order], np.where(y > np.median(y), 1, -1)[order]


@dataclass(frozen=True)
class Problem:
    """A set of the table as the paper prints it: the width, the end, the breakpoints by rule."""

    load: Callable[[int, float, int], tuple[Array, Array]]
    width2: float  # sigma^2
    partition: tuple[int, int, int]  # |S|, |E|, |O|
    printed: tuple[int, ...]
    apart: tuple[float, ...] = (0.0,)
    stated: bool = True  # enough to repeat it

    def distance(self, choice: Chosen) -> int:
        """Of an end from the printed one."""
        return sum(abs(a - b) for a, b in zip(choice.ends, self.partition, strict=True))

    def machine(self, C: float, **more: Any) -> PokerSVC:
        return PokerSVC(C=C, gamma=1 / (2 * self.width2), classes=[-1, 1], **more)


PROBLEMS = {
    "synthetic": Problem(clusters, 400, (4, 11, 9985), (234, 112, 92, 128, 116), APART, False),
    "ionosphere": Problem(ionosphere, 8, (73, 1, 277), (871, 303, 269, 433, 407)),
    "diabetes": Problem(diabetes, 40, (20, 313, 243), (3078, 3860, 3184, 2576, 2218)),
}
CHEAP_FIRST = dict(sorted(PROBLEMS.items(), key=lambda item: sum(item[1].partition)))


# ---- one measurement each ------------------------------------------------------------------------


def partition(data: str, apart: float, C: float, rows: int) -> Facts:
    """|S|, |E| and |O| at the end, by Self-Init."""
    problem = PROBLEMS[data]
    X, y = problem.load(0, apart, rows)
    return {"S, E, O": sizes(problem.machine(C).fit(X, y), len(y))}


def sizes(model: PokerSVC, n: int) -> list[int]:
    at_bound = int((np.abs(model.dual_coef_[0]) == model.C).sum())
    return [len(model.support_) - at_bound, at_bound, n - len(model.support_)]


def one_by_one(model: PokerSVC, X: Array, y: Array, chunk: int = 1) -> int:
    total = 0
    for start in range(0, len(y), chunk):
        model.partial_fit(X[start : start + chunk], y[start : start + chunk])
        total += model.n_iter_
    return total


def breakpoints(data: str, apart: float, C: float, rule: str, order: int, rows: int) -> Facts:
    problem = PROBLEMS[data]
    X, y = problem.load(order, apart, rows)
    model = problem.machine(C, select=RULES[rule])
    steps = one_by_one(model, X, y) if RULES[rule] is None else model.fit(X, y).n_iter_
    return {"breakpoints": steps, "S, E, O": sizes(model, len(y))}


def batch(degree: int, rows: int) -> Facts:
    X, y = abalone()
    model = PokerSVC(C=1.0, kernel="poly", degree=degree, gamma=0.1, coef0=1.0)
    return {"breakpoints": model.fit(X[:rows], y[:rows]).n_iter_}


def chunks(C: float, chunk: int, rows: int) -> Facts:
    problem = PROBLEMS["diabetes"]
    return {"breakpoints": one_by_one(problem.machine(C), *problem.load(0, 0.0, rows), chunk)}


# ---- table 1 -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Chosen:
    """The C of a set, with it the distance of the clusters, and the end they lead to."""

    apart: float
    C: float
    ends: list[int]


def chosen(journal: Journal) -> dict[str, Chosen]:
    """By the rule of the first lines, once all of a set's candidates are there."""
    choices = {}
    for name, problem in CHEAP_FIRST.items():
        cells: list[Facts] = [
            {"data": name, "apart": apart, "C": C, "rows": rows(journal, problem)}
            for apart in problem.apart
            for C in CS
        ]
        found = journal.work(cells, partition)
        candidates = [
            Chosen(cell["apart"], cell["C"], facts["S, E, O"])
            for cell, facts in zip(cells, found, strict=True)
            if facts is not None
        ]
        if len(candidates) == len(cells):
            choices[name] = min(candidates, key=problem.distance)
    return choices


def rows(journal: Journal, problem: Problem) -> int:
    total = sum(problem.partition)
    return journal.size(total, min(total, 200))


Counts = dict[str, dict[str, list[int]]]  # by set and rule, of each order


def table_1(journal: Journal) -> Shown:
    """Breakpoints by the rule of selection."""
    choices = chosen(journal)
    cells: list[Facts] = [
        {"data": name, "apart": choice.apart, "C": choice.C, "rule": rule, "order": order}
        | {"rows": rows(journal, PROBLEMS[name])}
        for name, choice in choices.items()
        for rule in RULES
        for order in range(journal.size(ORDERS, 2))
    ]
    counts: Counts = {name: {rule: [] for rule in RULES} for name in PROBLEMS}
    for cell, facts in zip(cells, journal.work(cells, breakpoints), strict=True):
        if facts:
            counts[cell["data"]][cell["rule"]].append(facts["breakpoints"])
    lines = [
        [rule, *(f"{mean_of(counts[n][rule])} ({p.printed[k]:,})" for n, p in PROBLEMS.items())]
        for k, rule in enumerate(RULES)
    ]
    ends = [
        f"{numbers(choices[n].ends) if n in choices else ''} ({numbers(p.partition)})"
        for n, p in PROBLEMS.items()
    ]
    settings = [f"{choices[n].C:g}" if n in choices else "" for n in PROBLEMS]
    lines += [["S, E, O at the end", *ends], ["C, by the rule", *settings]]
    heads = [n if p.stated else f"{n} (a stand-in)" for n, p in PROBLEMS.items()]
    return Shown(table(["rule", *heads], lines), verdicts=list(verdicts(counts, choices)))


def numbers(sizes: Sequence[int]) -> str:
    return ", ".join(f"{size:,}" for size in sizes)


def mean_of(counts: Sequence[int]) -> str:
    return f"{fmean(counts):,.0f} ± {pstdev(counts):,.0f}" if counts else "not yet"


def verdicts(counts: Counts, choices: dict[str, Chosen]) -> Iterator[Verdict]:
    for name, problem in PROBLEMS.items():
        end = numbers(choices[name].ends) if name in choices else ""
        why = f"with the C nearest to the printed end, {numbers(problem.partition)}, it is {end}"
        for rule, printed in zip(RULES, problem.printed, strict=True):
            what, ours = f"{name}, {rule}", counts[name][rule]
            if problem.stated:
                yield Verdict.of("table 1", what, Printed.count(printed), ours, why)
            else:
                one = Verdict.impossible(
                    "table 1", what, f"{printed:,}", "the set is not described; ours is a stand-in"
                )
                yield replace(one, ours=mean_of(ours))
        for rule in ("MaxSlk", "Cls2W"):
            with_it, without = counts[name][f"{rule}+dObj"], counts[name][rule]
            if not with_it or not without:
                continue
            ours = f"{fmean(with_it):,.0f} against {fmean(without):,.0f}"
            holds = fmean(with_it) < fmean(without)
            yield Verdict.claim("table 1", f"{name}: dObj helps {rule}", "helps", ours, holds)
    none, slack = (counts["diabetes"][rule] for rule in ("no selection", "MaxSlk"))
    if none and slack:
        ours = f"{fmean(slack):,.0f} against {fmean(none):,.0f}"
        what = "diabetes: MaxSlk loses to no selection"
        yield Verdict.claim("table 1", what, "loses", ours, fmean(slack) > fmean(none))


# ---- figures 2 and 3 -----------------------------------------------------------------------------

DEGREES = (1, 2, 3, 4)
SIZES = (250, 500, 1000, 1500, 2000, 2500, 3000, 3500, 4177)
LINEAR = 1.25  # the largest power of n that still counts as linear
CHUNKS = (1, 2, 5, 10, 20, 50, 100, 200, 576)
PENALTIES = (0.1, 1.0, 10.0, 100.0)

Curves = dict[str, dict[int, int]]  # by name: breakpoints at each x


def figure_2(journal: Journal) -> Shown:
    """Batch: breakpoints of Self-Init against the number of examples, by degree of the kernel."""
    some = SIZES[: journal.size(len(SIZES), 2)]
    cells = [{"degree": degree, "rows": n} for degree in DEGREES for n in some]
    curves: Curves = {}
    for cell, facts in zip(cells, journal.work(cells, batch), strict=True):
        if facts:
            curve = curves.setdefault(f"degree {cell['degree']}", {})
            curve[cell["rows"]] = facts["breakpoints"]
    if not curves:
        return Shown()
    found = []
    for name, curve in curves.items():
        power = np.polyfit(np.log(list(curve)), np.log(list(curve.values())), 1)[0]
        ours = f"as n to the {power:.2f}"
        claim = f"abalone, {name}: breakpoints grow linearly"
        found.append(Verdict.claim("figure 2", claim, "linear", ours, power <= LINEAR))
    lines = [
        [name, *(f"{curve[n]:,}" for n in some), verdict.ours]
        for (name, curve), verdict in zip(curves.items(), found, strict=True)
    ]
    title = "Self-Init on abalone: breakpoints grow with n"
    picture = draw(curves, "examples", title, log=False)
    return Shown(table(["examples", *map(str, some), "growth"], lines), picture, found)


def figure_3(journal: Journal) -> Shown:
    """Incremental: breakpoints of AltPOKER against the size of the chunks, by C."""
    some = CHUNKS[: journal.size(len(CHUNKS), 3)]
    total = rows(journal, PROBLEMS["diabetes"])
    cells: list[Facts] = [
        {"C": C, "chunk": chunk, "rows": total} for C in PENALTIES for chunk in some
    ]
    curves: Curves = {}
    for cell, facts in zip(cells, journal.work(cells, chunks), strict=True):
        if facts:
            curves.setdefault(f"C = {cell['C']:g}", {})[cell["chunk"]] = facts["breakpoints"]
    if not curves:
        return Shown()
    found = []
    for name, curve in curves.items():
        steps = list(curve.values())
        ours = f"{steps[0]:,} by chunks of {some[0]}, {steps[-1]:,} by {some[-1]}"
        falls = all(a > b for a, b in pairwise(steps))
        claim = f"diabetes, {name}: the larger the chunks, the fewer breakpoints"
        found.append(Verdict.claim("figure 3", claim, "fewer", ours, falls))
    lines = [[name, *(f"{curve[c]:,}" for c in some)] for name, curve in curves.items()]
    title = "AltPOKER on diabetes: larger chunks, fewer breakpoints"
    picture = draw(curves, "examples in a chunk", title, log=True)
    return Shown(table(["chunks of", *map(str, some)], lines), picture, found)


def draw(curves: Curves, label: str, title: str, *, log: bool) -> Figure:
    picture = figure(figsize=(7, 4.5))
    axes = picture.subplots()
    for (name, curve), (colour, dash) in zip(curves.items(), LINES, strict=False):
        axes.plot(list(curve), list(curve.values()), dash, marker="o", color=colour, label=name)
    if log:
        axes.set_xscale("log")
        every = sorted({x for curve in curves.values() for x in curve})
        axes.set_xticks(every, [f"{x:,}" for x in every])
        axes.minorticks_off()
        axes.set_ylim(bottom=0)
    axes.set_xlabel(label)
    axes.set_ylabel("breakpoints")
    axes.set_title(title, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return picture


PAPER = Paper("poker", "POKER", "poker.md", (table_1, figure_2, figure_3))
