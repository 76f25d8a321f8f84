"""Labels against accuracy: what a query is worth on the nine tasks of the ramp paper.

RampSVC meets each training set once, row by row, at the C and gamma of its task, and gets the
labels that a query asks for: every one (All), those of a LabelDesk with Greedy(5) or Margin(), of
the same desks when answers come 200 rows late, and those of the model's own blocks of five, as in
the paper. Accuracy is on the test rows, the mean of several orders of the stream. It is taken each
time the labels used have grown by a quarter, and between two such counts it lies on the line.

"At equal labels" holds a query against All where All has learned as many labels: at the end of the
query's stream, and as the mean over the last half of its counts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.common import Options, Report, benchmark, console
from bench.tasks import here
from onlinesvm import LabelDesk, RampSVC
from onlinesvm.datasets import PAPER_TASKS, Task, paper_task
from onlinesvm.queries import All, Greedy, Margin
from onlinesvm.report.style import figure as new_figure

ORDERS = 3
LATE = 200  # rows
TESTED = 4000  # test rows at most
DESKS = {
    "All": (All(), 0),
    "Greedy(5)": (Greedy(5), 0),
    "Margin": (Margin(), 0),
    "Greedy(5), late": (Greedy(5), LATE),
    "Margin, late": (Margin(), LATE),
}
BLOCKS = "Greedy(5) in blocks"
QUERIES = (*DESKS, BLOCKS)
HELD = ("Greedy(5)", "Margin")  # to the bar

Curve = tuple[list[int], list[float]]


def at_desk(task: Task, query: Any, late: int) -> Iterator[tuple[int, Any]]:
    """The labels learned so far and the model, after each row of a stream."""
    desk = LabelDesk(RampSVC(C=task.C, gamma=task.gamma, classes=[-1, 1]), query)
    waiting: deque[tuple[int, str, int]] = deque()
    for i, (x, y) in enumerate(zip(task.data.X_train, task.data.y_train.tolist(), strict=True)):
        ticket = desk.ask(x)
        if ticket is not None:
            waiting.append((i, ticket, y))
        while waiting and i - waiting[0][0] >= late:
            desk.answer(*waiting.popleft()[1:])
        yield desk.answered, desk.model
    for _, ticket, y in waiting:
        desk.answer(ticket, y)
    yield desk.answered, desk.model


def in_blocks(task: Task) -> Iterator[tuple[int, Any]]:
    """The same by the model's own query, as in the paper."""
    model = RampSVC(C=task.C, gamma=task.gamma, classes=[-1, 1], query=Greedy(5))
    for x, y in zip(task.data.X_train, task.data.y_train.tolist(), strict=True):
        model.learn_one(x, y)
        yield model.labels_used_, model


def curve(steps: Iterator[tuple[int, Any]], test: tuple[Any, Any]) -> Curve:
    """Accuracy each time the labels have grown by a quarter, and at the end."""
    counts: list[int] = []
    marks: list[float] = []
    due = 10
    last: tuple[int, Any] = (0, None)
    for last in steps:
        if last[0] >= due:
            counts.append(last[0])
            marks.append(float(last[1].score(*test)))
            due = max(last[0] + 1, last[0] * 5 // 4)
    if not counts or counts[-1] != last[0]:
        counts.append(last[0])
        marks.append(float(last[1].score(*test)))
    return counts, marks


def meet(task: Task) -> dict[str, Curve]:
    """The curve of every query on one order of a task."""
    data = task.data
    test = data.X_test[:TESTED], data.y_test[:TESTED]
    makes: dict[str, Callable[[], Iterator[tuple[int, Any]]]] = {
        name: (lambda query=query, late=late: at_desk(task, query, late))
        for name, (query, late) in DESKS.items()
    }
    makes[BLOCKS] = lambda: in_blocks(task)
    return {name: curve(make(), test) for name, make in makes.items()}


def gains(curves: dict[str, Curve], name: str) -> tuple[float, float]:
    """By how much a query is ahead of All: at its last label, and over the last half of them."""
    counts, marks = curves[name]
    ahead = np.array(marks) - np.interp(counts, *curves["All"])
    half = np.array(counts) >= counts[-1] / 2
    return float(ahead[-1]), float(ahead[half].mean())


def draw(path: Path, curves: dict[str, list[dict[str, Curve]]]) -> None:
    """Accuracy against labels, a panel for each task."""
    figure = new_figure(figsize=(11, 9))
    for i, (task, orders) in enumerate(curves.items()):
        axes = figure.add_subplot(3, 3, i + 1)
        for name in ("All", *HELD):
            longest = max(order[name][0][-1] for order in orders)
            grid = np.geomspace(20, longest, 60)
            lines = [np.interp(grid, *order[name]) for order in orders]
            axes.plot(grid, 100 * np.mean(lines, axis=0), label=name)
        axes.set_xscale("log")
        axes.set_title(task)
        if i % 3 == 0:
            axes.set_ylabel("accuracy in %")
        if i >= 6:
            axes.set_xlabel("labels learned")
    figure.axes[0].legend()
    figure.savefig(path, dpi=110)


@benchmark("Labels against accuracy", "All", repeats=ORDERS)
def main(report: Report, options: Options) -> None:
    curves: dict[str, list[dict[str, Curve]]] = {}
    for first in here(report):
        rows = 300 if options.quick else None
        orders = [first] + [
            paper_task(first.name, train_rows=rows, random_state=seed)
            for seed in range(1, options.repeats)
        ]
        curves[first.name] = [meet(task) for task in orders]
        console.print(f"[dim]labels: {first.name} done[/]")
    means: dict[str, list[float]] = {name: [] for name in HELD}
    table = []
    for task, orders in curves.items():
        line = [task]
        for name in QUERIES:
            labels = np.mean([order[name][0][-1] for order in orders])
            accuracy = np.mean([order[name][1][-1] for order in orders])
            line.append(f"{labels:,.0f}: {100 * accuracy:.2f}")
        report.details[task] = {
            name: {
                "labels": [order[name][0][-1] for order in orders],
                "accuracy": [order[name][1][-1] for order in orders],
                "ahead_at_end": [gains(order, name)[0] for order in orders],
                "ahead_over_half": [gains(order, name)[1] for order in orders],
            }
            for name in QUERIES
        }
        for name in HELD:
            ends = report.details[task][name]["ahead_at_end"]
            means[name].append(100 * float(np.mean(ends)))
            error = 100 * float(np.std(ends, ddof=1)) / len(ends) ** 0.5 if len(ends) > 1 else 0.0
            report.bar(
                f"{name} ahead of All at equal labels on {task}, points (+- {error:.2f})",
                means[name][-1],
                at_least=0,
            )
        table.append(line)
    report.matrix("labels learned: accuracy in %", ["task", *QUERIES], table)
    report.matrix(
        "points ahead of All at equal labels, end of stream (mean of the last half of the counts)",
        ["task", *QUERIES[1:]],
        [
            [
                task,
                *(
                    f"{100 * np.mean([gains(o, name)[0] for o in orders]):+.2f}"
                    f" ({100 * np.mean([gains(o, name)[1] for o in orders]):+.2f})"
                    for name in QUERIES[1:]
                ),
            ]
            for task, orders in curves.items()
        ],
    )
    for name, values in means.items():
        report.bar(
            f"{name} ahead of All, mean of tasks, points", float(np.mean(values)), at_least=0
        )
    if curves and set(curves) == set(PAPER_TASKS):
        draw(report.path.with_suffix(".png"), curves)
