"""Figure 6: accuracy against the labels asked for, on all nine sets."""

from __future__ import annotations

from functools import partial

import numpy as np

from onlinesvm.datasets import PAPER_TASKS
from onlinesvm.report.style import LINES, figure
from reproduce.journal import Facts, Journal
from reproduce.paper import Shown, table
from reproduce.ramp.cells import STRATEGIES, by_labels
from reproduce.ramp.figures import missing, verdict_table
from reproduce.ramp.setting import SLOW_FIRST, Cell, Sizes, choices
from reproduce.verdict import Verdict

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
    marks: dict[str, dict[str, float]] = {}
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
            marks[task][name] = float(lines[:, grid >= last / 2].mean())
        panel.set_ylim(bottom=min(line.get_ydata()[len(grid) // 8] for line in panel.lines))
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
            *(f"{mark:.2f}" for mark in mark_of.values()),
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
        if (one := chosen.get((task, order, learner)))
    ]
    found: dict[str, dict[str, list[Facts]]] = {}
    for cell, facts in zip(cells, journal.work(cells, by_labels), strict=True):
        if facts is not None:
            found.setdefault(cell["task"], {}).setdefault(cell["strategy"], []).append(facts)
    return found


def judge(marks: dict[str, dict[str, float]]) -> list[Verdict]:
    """By the mean accuracy over the last half of the labels."""
    claim = partial(Verdict.claim, "figure 6")
    verdicts, won = [], 0
    for task, mark in marks.items():
        everybody, greedily, margin, hinge, hinge_greedily = mark.values()
        by = everybody - min(greedily, margin)
        what = f"{task}: QueryAll is behind Greedy and OnlineASVM-R"
        verdicts.append(claim(what, "yes", f"{by:+.2f} points", by < 0))
        if task in GREEDY_AHEAD:
            by, what = greedily - margin, f"{task}: Greedy is ahead of OnlineASVM-R"
            verdicts.append(claim(what, "yes", f"{by:+.2f} points", by > 0))
        if task in MARGIN_AHEAD:
            by, what = margin - greedily, f"{task}: OnlineASVM-R is ahead of Greedy"
            verdicts.append(claim(what, "yes", f"{by:+.2f} points", by > 0))
        won += max(everybody, greedily, margin) > max(hinge, hinge_greedily)
    what = "the best of OnlineSVM-R is ahead of the best of IDSVM on most sets"
    verdicts.append(claim(what, "a majority", f"{won} of {len(marks)}", won > len(marks) / 2))
    return verdicts
