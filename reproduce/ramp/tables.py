"""Table 1: accuracy and support vectors of five learners on nine sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np

from onlinesvm.datasets import PAPER_TASKS
from reproduce.journal import Facts, Journal
from reproduce.paper import Shown, table
from reproduce.ramp.cells import one_pass
from reproduce.ramp.printed import BEST_ON_GAUSS, COLUMNS, OURS, STOPPED, printed
from reproduce.ramp.reasons import Runs, elsewhere, reasons
from reproduce.ramp.setting import (
    SCALINGS,
    SLOW_FIRST,
    Cell,
    Choice,
    Choices,
    Sizes,
    choices,
    fraction,
)
from reproduce.verdict import Printed, Verdict

MARKS = {"better": " **+**", "met nearby": " **~**", "short": " **-**", "cannot be repeated": " *"}
LEGEND = (
    "In brackets as printed. **+** better, **-** short, **~** met nearby by the rule of "
    "[the verdicts](verdicts.md), "
    "* cannot be repeated: stopped by the paper's clock after 5,000 seconds, or above what the "
    "best classifier can reach. C and width (delta^2 over the number of features) as "
    "cross-validation chose them:"
)
AIMS = (
    "What this package is held to beside the table, counted over the sets measured (* above what "
    "the best classifier can reach):"
)
MORE = 1.1  # times the printed support vectors, at most


def table_1(journal: Journal) -> Shown:
    """Each cell beside the printed one, what was chosen, and whether the ramp is worth it."""
    size = Sizes.of(journal)
    chosen = choices(journal, size.tasks)
    runs = all_runs(journal, chosen)
    why = reasons(journal, chosen, runs)
    near = {of for of, there in elsewhere(journal, chosen).items() if there.meets(*of)}
    rows, verdicts = [], []
    for task in PAPER_TASKS:
        judged = [
            judge(task, name, runs.get((task, name), []), chosen.get((task, name)), size.orders)
            for name in COLUMNS
        ]
        judged = [
            {
                what: explained(one, why.get((task, name, what)), near=(task, name) in near)
                for what, one in column.items()
            }
            for name, column in zip(COLUMNS, judged, strict=True)
        ]
        for what in ("accuracy", "support vectors"):
            ones = [column[what] for column in judged]
            cells = [f"{one.ours} ({one.printed}){MARKS.get(one.word, '')}" for one in ones]
            rows.append([task if what == "accuracy" else "", what, *cells])
            verdicts += ones
    hinge = ramp_against_hinge(runs)
    text = [table(["set", "", *COLUMNS], rows), LEGEND, table(["set", *COLUMNS], settings(chosen))]
    text += [AIMS, table(["aim", "holds on", "short on"], aims(runs, hinge))]
    return Shown("\n\n".join(text), verdicts=verdicts + hinge)


def all_runs(journal: Journal, chosen: Choices) -> Runs:
    """The facts of all orders by set and learner."""
    size = Sizes.of(journal)
    cells: list[Cell] = [
        {"task": task, "learner": learner, "order": order, **one.words, "rows": size.rows}
        for learner in (*OURS, "PA", "IDSVM", "LIBSVM")  # what matters comes first
        for order in range(size.orders)  # of every set one, should the run be cut short
        for task in SLOW_FIRST
        if (one := chosen.get((task, learner)))
    ]
    runs: Runs = {}
    for cell, facts in zip(cells, journal.work(cells, one_pass), strict=True):
        if facts is not None:
            runs.setdefault((cell["task"], cell["learner"]), []).append(facts)
    return runs


def judge(
    task: str, learner: str, runs: list[Facts], at: Choice | None, orders: int
) -> dict[str, Verdict]:
    """Accuracy and support vectors by the rule; what is short says where ours lie and why."""
    verdicts = {}
    for what, there in printed(task, learner).items():
        name, ours = f"{task}, {learner}, {what}", [facts[what] for facts in runs]
        one = Verdict.of("table 1", name, there, ours)
        if 0 < len(ours) < orders:
            one = replace(one, ours=f"{one.ours}, {len(ours)} order{'s' * (len(ours) > 1)}")
        if learner == "IDSVM" and task in STOPPED and ours:
            one = replace(one, word="cannot be repeated", why="stopped there after 5,000 seconds")
        elif one.word == "short" and beyond_reach(task, what, there):
            why = f"the best classifier of Haykin's pair has {BEST_ON_GAUSS} in the mean"
            one = replace(one, word="cannot be repeated", why=why)
        elif one.word == "short" and at:
            chosen = f"C = {at.words['C']:g}, width {fraction(at.width)}"
            one = replace(one, why=f"{chosen}; orders from {min(ours):g} to {max(ours):g}")
        verdicts[what] = one
    return verdicts


def explained(one: Verdict, reason: str | None, *, near: bool) -> Verdict:
    """With a reason that was found, if it is short; and whether it is met nearby."""
    if one.word != "short":
        return one
    why = f"{one.why}; {reason}" if reason else one.why
    return replace(one, why=why, word="met nearby" if near else "short")


def beyond_reach(task: str, what: str, there: Printed) -> bool:
    """An accuracy above that of the best classifier there can be, even less its deviation."""
    return task == "Gauss" and what == "accuracy" and there.mean - there.slack > BEST_ON_GAUSS


def settings(chosen: Choices) -> list[list[str]]:
    """What was chosen."""
    rows = []
    for task in PAPER_TASKS:
        ones = [chosen.get((task, learner)) for learner in COLUMNS]
        cells = [f"{-one.minus_C:g}, {fraction(one.width)}" if one else "-" for one in ones]
        if task in SCALINGS:
            said = [f", {one.scaling}" if one else "" for one in ones]
            cells = [cell + how for cell, how in zip(cells, said, strict=True)]
        rows.append([task, *cells])
    return rows


def ramp_against_hinge(runs: Runs) -> list[Verdict]:
    """Where the paper's OnlineSVM-R is not behind its LIBSVM, ours must not be, either.

    Behind means: by more than the standard error of the difference, order by order.
    """
    verdicts = []
    for task in PAPER_TASKS:
        pair = ("OnlineSVM-R", "LIBSVM")
        ramp, hinge = (printed(task, learner)["accuracy"].mean for learner in pair)
        ours = [[facts["accuracy"] for facts in runs.get((task, name), [])] for name in pair]
        both = min(len(accuracies) for accuracies in ours)  # orders, the first ones
        if ramp < hinge or both < 2:
            continue
        ahead = np.array(ours[0][:both]) - np.array(ours[1][:both])
        error = ahead.std(ddof=1) / np.sqrt(len(ahead))
        verdicts.append(
            Verdict.claim(
                "table 1",
                f"{task}: OnlineSVM-R at least as accurate as LIBSVM",
                f"{ramp - hinge:+.1f}",
                f"{ahead.mean():+.3f} ± {error:.3f}",
                bool(ahead.mean() >= -error),
                beside_print(ours, (ramp, hinge)),
            )
        )
    return verdicts


def beside_print(ours: Sequence[Sequence[float]], there: tuple[float, float]) -> str:
    """How far both are from what is printed, and whether its digits would tell them apart."""
    means = [fmean(accuracies) for accuracies in ours]
    ramp, hinge = (mean - one for mean, one in zip(means, there, strict=True))
    same = (
        "; equal in the digits that are printed" if _digits(means[0]) == _digits(means[1]) else ""
    )
    return f"beside print OnlineSVM-R has {ramp:+.2f}, LIBSVM {hinge:+.2f}{same}"


def _digits(accuracy: float) -> str:
    return f"{accuracy:.1f}"


def aims(runs: Runs, hinge: Sequence[Verdict]) -> list[list[str]]:
    """On how many sets each aim is reached, and where it is not, by how much."""

    def line(aim: str, name: str, what: str, short: Callable[[str, float, Printed], str]) -> None:
        means = {
            task: fmean(facts[what] for facts in runs[task, name])
            for task in PAPER_TASKS
            if runs.get((task, name))
        }
        missed = [short(task, mean, printed(task, name)[what]) for task, mean in means.items()]
        missed = [words for words in missed if words]
        lines.append([f"{name}: {aim}", f"{len(means) - len(missed)} of {len(means)}"])
        lines[-1].append(", ".join(missed))

    def less_accurate(task: str, mean: float, there: Printed) -> str:
        mark = " *" if beyond_reach(task, "accuracy", there) else ""
        return f"{task} ({mean:.2f}{mark})" if there.beside(mean) == "short" else ""

    def larger(task: str, mean: float, there: Printed) -> str:
        return f"{task} ({mean / there.mean:.2f} times)" if mean > MORE * there.mean else ""

    lines: list[list[str]] = []
    for name in OURS:
        line("the printed accuracy less a deviation", name, "accuracy", less_accurate)
    for name in OURS:
        line(f"{MORE} times the printed support vectors", name, "support vectors", larger)
    behind = [f"{one.what.partition(':')[0]} ({one.ours})" for one in hinge if one.word == "short"]
    aim = "OnlineSVM-R: at least LIBSVM's accuracy, where the paper's has it"
    lines.append([aim, f"{len(hinge) - len(behind)} of {len(hinge)}", ", ".join(behind)])
    return lines
