"""Figure 6: accuracy against the labels asked for, on all nine sets."""

from __future__ import annotations

import numpy as np

from onlinesvm.datasets import PAPER_TASKS
from onlinesvm.report.style import LINES, figure
from reproduce.journal import Facts, Journal
from reproduce.paper import Shown, table
from reproduce.ramp.cells import STRATEGIES, by_labels
from reproduce.ramp.figures import missing, verdict_table
from reproduce.ramp.setting import SLOW_FIRST, Array, Cell, Sizes, choices
from reproduce.verdict import Verdict

Marks = dict[str, dict[str, Array]]  # accuracies by set and strategy, one of each order

ORDERS = 5
ALT_6 = "Accuracy against labels on nine sets, by five ways to ask"
# Who wins by the paper's text; of Adult and Banana it says that the two are similar.
GREEDY_AHEAD = ("DNA", "USPS", "Waveform")
MARGIN_AHEAD = ("Gauss", "Cover", "Checkerboard", "NCheckerboard")


def figure_6(journal: Journal) -> Shown:
    """Three ways to ask OnlineSVM-R, and two to ask IDSVM."""
    found = by_task(journal)
    picture = figure(figsize=(11, 10))
    panels = picture.subplots(3, 3).ravel()
    marks: Marks = {}
    for panel, task in zip(panels, PAPER_TASKS, strict=True):
        panel.set_title(task, loc="left")
        panel.spines[["top", "right"]].set_visible(False)
        runs = found.get(task, {})
        if len(runs) < len(STRATEGIES):
            panel.text(0.5, 0.5, "not measured yet", ha="center", transform=panel.transAxes)
            panel.set(xticks=[], yticks=[])
            continue
        # As in the paper, a panel ends where one of the five reaches the end of the stream.
        last = min(facts["labels"][-1] for many in runs.values() for facts in many)
        grid = np.unique(np.linspace(10, last, 80).astype(int))
        marks[task] = {}
        for (name, many), (colour, dash) in zip(runs.items(), LINES, strict=True):
            lines = np.array([np.interp(grid, one["labels"], one["accuracy"]) for one in many])
            panel.plot(grid, lines.mean(axis=0), dash, color=colour, label=name, lw=1.4)
            marks[task][name] = lines[:, grid >= last / 2].mean(axis=1)
        low = min(line.get_ydata()[len(grid) // 8] for line in panel.lines)
        high = max(line.get_ydata().max() for line in panel.lines)
        panel.set_ylim(low, high + 0.05 * (high - low))
    if not marks:
        return missing("figure 6")
    for panel in panels[6:]:
        panel.set_xlabel("labels")
    for panel in panels[::3]:
        panel.set_ylabel("test accuracy, %")
    handles = next(panel for panel in panels if panel.lines).get_legend_handles_labels()
    picture.legend(*handles, loc="outside upper center", ncols=5)
    verdicts = judge(marks)
    rows = [
        [
            task,
            str(min(map(len, found[task].values()))),
            *(f"{mark.mean():.2f}" for mark in mark_of.values()),
        ]
        for task, mark_of in marks.items()
    ]
    text = [
        "Mean accuracy over the last half of the labels that all five have asked for:",
        table(["set", "orders", *STRATEGIES], rows),
        verdict_table(verdicts),
    ]
    return Shown("\n\n".join(text), picture, verdicts, ALT_6)


def by_task(journal: Journal) -> dict[str, dict[str, list[Facts]]]:
    """The curves of all orders, by set and strategy."""
    size = Sizes.of(journal)
    learners = list(dict.fromkeys(learner for learner, _ in STRATEGIES.values()))
    chosen = choices(journal, size.tasks, learners)
    cells: list[Cell] = [
        {"task": task, "strategy": strategy, "order": order, **one.words, "rows": size.rows}
        for task in SLOW_FIRST
        for strategy, (learner, _) in STRATEGIES.items()
        for order in range(min(ORDERS, size.orders))
        if (one := chosen.get((task, learner)))
    ]
    found: dict[str, dict[str, list[Facts]]] = {}
    for cell, facts in zip(cells, journal.work(cells, by_labels), strict=True):
        if facts is not None:
            found.setdefault(cell["task"], {}).setdefault(cell["strategy"], []).append(facts)
    return found


def judge(marks: Marks) -> list[Verdict]:
    """By the mean accuracy over the last half of the labels."""
    verdicts, won = [], 0

    def ahead(what: str, one: Array, other: Array, *, wanted: int = 1) -> None:
        by, both = one.mean() - other.mean(), min(len(one), len(other))
        error = (one[:both] - other[:both]).std(ddof=1) / np.sqrt(both) if both > 1 else np.nan
        why = f"the standard error of the orders is {error:.2f}"
        ours = f"{by:+.2f} points"
        verdicts.append(Verdict.claim("figure 6", what, "yes", ours, bool(wanted * by > 0), why))

    for task, mark in marks.items():
        everybody, greedily, margin, hinge, hinge_greedily = mark.values()
        behind = min(greedily, margin, key=np.mean)
        what = f"{task}: QueryAll is behind Greedy and OnlineASVM-R"
        ahead(what, everybody, behind, wanted=-1)
        if task in GREEDY_AHEAD:
            ahead(f"{task}: Greedy is ahead of OnlineASVM-R", greedily, margin)
        if task in MARGIN_AHEAD:
            ahead(f"{task}: OnlineASVM-R is ahead of Greedy", margin, greedily)
        best, best_hinge = (
            max(one.mean() for one in some)
            for some in ((everybody, greedily, margin), (hinge, hinge_greedily))
        )
        won += best > best_hinge
    what = "the best of OnlineSVM-R is ahead of the best of IDSVM on most sets"
    ours, holds = f"{won} of {len(marks)}", won > len(marks) / 2
    return [*verdicts, Verdict.claim("figure 6", what, "a majority", ours, holds)]
