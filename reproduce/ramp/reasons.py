"""Why a figure of table 1 is short: further runs, by which nothing was chosen."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from statistics import fmean

import numpy as np

from onlinesvm.datasets import PAPER_TASKS
from reproduce.journal import Facts, Journal
from reproduce.ramp.cells import one_pass, orders_of_a_draw
from reproduce.ramp.printed import OURS, printed
from reproduce.ramp.setting import (
    CHOSEN_BY,
    SCALINGS,
    VALIDATED_ON_ALL,
    Cell,
    Choices,
    Sizes,
    fraction,
    validated,
)

Runs = dict[tuple[str, str], list[Facts]]
Reasons = dict[tuple[str, str, str], str]  # by set, learner and what is short

# Places less than a point behind the chosen one in cross-validation, for cells that are short.
ELSEWHERE = {
    ("Banana", "LIBSVM"): (10.0, 1 / 2, "by attribute"),
    ("Banana", "OnlineASVM-R"): (1.0, 1 / 4, "by attribute"),
    ("NCheckerboard", "OnlineSVM-R"): (100.0, 1 / 16, "by attribute"),
    ("DNA", "OnlineASVM-R"): (5.0, 1 / 2, "by attribute"),
    ("Gauss", "OnlineASVM-R"): (100.0, 1.0, "by attribute"),
    ("Cover", "OnlineSVM-R"): (5.0, 1 / 16, "by attribute"),
    ("Cover", "OnlineASVM-R"): (5.0, 1 / 16, "by attribute"),
    ("USPS", "LIBSVM"): (50.0, 1 / 2, "as is"),
    ("USPS", "OnlineSVM-R"): (50.0, 1 / 2, "as is"),
    ("USPS", "OnlineASVM-R"): (50.0, 1 / 2, "as is"),
}
NEARBY = 0.15  # points in cross-validation
LOOKED_AT = 5  # orders there
ONE_DRAW = ("Checkerboard", "OnlineSVM-R")  # its printed deviations are those of orders alone
WHOLE_GRID = (
    ("USPS", "LIBSVM"),
    ("USPS", "IDSVM"),
    ("USPS", "OnlineSVM-R"),
    ("DNA", "OnlineASVM-R"),
)


def reasons(journal: Journal, chosen: Choices, runs: Runs) -> Reasons:
    """All that were found; of one figure those of several kinds, one after the other."""
    found: Reasons = {}
    for some in (
        beside_libsvm(runs),
        {
            (*of, what): there.words
            for of, there in elsewhere(journal, chosen).items()
            for what in ("accuracy", "support vectors")
        },
        one_draw(journal, chosen),
        whole_grid(journal, chosen),
    ):
        for place, words in some.items():
            found[place] = f"{found[place]}; {words}" if place in found else words
    return found


def beside_libsvm(runs: Runs) -> Reasons:
    """Why accuracies may be short: what LIBSVM has on the same rows, and has there."""
    found = {}
    for task in PAPER_TASKS:
        if there := [facts["accuracy"] for facts in runs.get((task, "LIBSVM"), [])]:
            printed_there = printed(task, "LIBSVM")["accuracy"].mean
            words = f"LIBSVM has {fmean(there):.2f} on these rows, and {printed_there:g} in print"
            found |= {(task, learner, "accuracy"): words for learner in OURS}
    return found


@dataclass(frozen=True)
class Elsewhere:
    """What a place nearly as good in cross-validation has: its words, and its means."""

    words: str
    behind: float  # points in cross-validation
    accuracy: float
    vectors: float

    def meets(self, task: str, learner: str) -> bool:
        """Whether it is nearby, and neither figure is short there."""
        there = printed(task, learner)
        ours = {"accuracy": self.accuracy, "support vectors": self.vectors}
        words = [one.beside(ours[what]) for what, one in there.items()]
        return self.behind <= NEARBY + 1e-9 and "short" not in words


def elsewhere(journal: Journal, chosen: Choices) -> dict[tuple[str, str], Elsewhere]:
    """How much the choice decides, by set and learner."""
    size, all_found = Sizes.of(journal), {}
    for (task, learner), (C, width, scaling) in ELSEWHERE.items():
        if (at := chosen.get((task, learner))) is None:
            continue
        place = {"C": C, "width": width, "scaling": scaling}
        over = range(size.orders) if task in VALIDATED_ON_ALL else (0,)
        there = [one for order in over for one in folds_of(journal, task, order, learner, place)]
        orders = range(min(size.orders, LOOKED_AT))
        cells = [
            {"task": task, "learner": learner, "order": k, **place, "rows": size.rows}
            for k in orders
        ]
        found = [facts for facts in journal.work(cells, one_pass) if facts]
        if there and found:
            accuracy, vectors = (
                fmean(f[k] for f in found) for k in ("accuracy", "support vectors")
            )
            behind = at.accuracy - fmean(there)
            rows = ", rows as they are," if scaling == "as is" else ""
            words = (
                f"C = {C:g}, width {fraction(width)}{rows} is {behind:.2f} points behind in "
                f"cross-validation, and has {vectors:,.0f} vectors and an accuracy of "
                f"{accuracy:.2f}"
            )
            all_found[task, learner] = Elsewhere(words, behind, accuracy, vectors)
    return all_found


def folds_of(journal: Journal, task: str, order: int, learner: str, place: Cell) -> list[float]:
    """The accuracies of a place in cross-validation; none where they are not known."""
    size, solver = Sizes.of(journal), CHOSEN_BY.get(learner, learner)
    cell = {"task": task, "order": order, "learner": solver, **place}
    cell |= {"folds": size.folds, "rows": size.rows}
    return next((folds for _, folds in validated(journal, [cell])), [])


def one_draw(journal: Journal, chosen: Choices) -> Reasons:
    """Why deviations may be smaller there: how far orders of one draw lie apart, and draws."""
    size, (task, learner) = Sizes.of(journal), ONE_DRAW
    if (at := chosen.get((task, learner))) is None:
        return {}
    cells = [
        {"task": task, "learner": learner, "draw": draw, "C": at.words["C"], "width": at.width}
        | {"orders": 4, "rows": size.rows}
        for draw in range(size.orders)
    ]
    found = [facts for facts in journal.work(cells, orders_of_a_draw) if facts]
    if not found:
        return {}
    apart, vectors = (
        fmean(float(np.std(facts[key])) for facts in found)
        for key in ("accuracy", "support vectors")
    )
    draws = [fmean(facts["accuracy"]) for facts in found]
    there = printed(task, learner)["accuracy"].mean
    reason = (
        f"orders of one draw deviate by {apart:.2f} and by {vectors:.1f} vectors, as those printed "
        f"do, and draws lie between {min(draws):.2f} and {max(draws):.2f}: "
        f"{sum(draw >= there - 0.05 for draw in draws)} of {len(draws)} reach {there:g}"
    )
    return {(task, learner, "accuracy"): reason}


def whole_grid(journal: Journal, chosen: Choices) -> Reasons:
    """Whether any choice would do: all places on the test rows of order 0, seen afterwards."""
    size, reasons = Sizes.of(journal), {}
    for task, learner in WHOLE_GRID:
        cells: list[Cell] = [
            {"task": task, "learner": CHOSEN_BY.get(learner, learner), "order": 0, "C": C}
            | {"width": width, "scaling": scaling, "rows": size.rows}
            for scaling in SCALINGS.get(task, ("by attribute",))
            for C, width in product(size.Cs, size.widths)
            if (task, learner) in chosen
        ]
        found = [facts for facts in journal.work(cells, one_pass) if facts]
        if len(found) < len(cells) or not found:
            continue
        most = max(facts["accuracy"] for facts in found)
        reasons[task, learner, "accuracy"] = (
            f"of all {len(found)} places of the grid, tried on test rows afterwards, the best has "
            f"{most:.2f}"
        )
        there = printed(task, learner)["support vectors"]
        small = [f["accuracy"] for f in found if f["support vectors"] <= there.mean + there.slack]
        if small:
            reasons[task, learner, "support vectors"] = (
                f"of all {len(found)} places of the grid, tried on test rows afterwards, the best "
                f"with no more than a tenth above the printed number has {max(small):.2f}"
            )
    return reasons
