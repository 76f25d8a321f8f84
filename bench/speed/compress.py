"""What compress saves: support vectors, time to predict, and what it costs in accuracy.

Adult, USPS and 10,000 rows of MNIST, 8 against the rest, learned once by RampSVC. Each model is
compressed to an error of 0.1, 0.25 and 0.5 on the first 3,000 rows of the test set (or half of
it), and judged on the others, which compress has not seen: by the largest change of a score there,
by the labels that change, and by accuracy. The time is that of decision_function; what compress
takes stands beside it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.common import Options, Report, benchmark, figure, race
from onlinesvm import RampSVC
from onlinesvm.datasets import fetch, paper_task

TOLERANCES, SEEN = (0.1, 0.25, 0.5), 3000
WHOLE = "as learned"

Array = NDArray[Any]


@dataclass(frozen=True)
class Task:
    X: Array
    y: Array
    X_test: Array
    y_test: Array
    C: float
    gamma: float


def eight_or_not(options: Options) -> Task:
    data, n = fetch("mnist"), options.size(10_000, 500)
    X, X_test = (
        rows.reshape(len(rows), -1).astype(np.float32) / 255 for rows in (data.X_train, data.X_test)
    )
    y, y_test = (np.where(labels == 8, 1, -1) for labels in (data.y_train, data.y_test))
    return Task(X[:n], y[:n], X_test, y_test, 10.0, 0.02)


def paper(name: str, options: Options) -> Task:
    task = paper_task(name)
    data, n = task.data, options.size(60_000, 500)
    X, y = data.X_train[:n], data.y_train[:n]
    return Task(X, y, data.X_test, data.y_test, task.C, task.gamma)


def contest(name: str, task: Task, report: Report, options: Options) -> None:
    model = RampSVC(C=task.C, gamma=task.gamma)
    model.partial_fit(task.X, task.y, classes=np.unique(task.y))
    seen = min(options.size(SEEN, 100), len(task.X_test) // 2)
    X, y = task.X_test[seen:], task.y_test[seen:]
    models, spent = {WHOLE: model}, {WHOLE: 0.0}
    for tol in TOLERANCES:
        began = time.process_time()
        models[f"tol {tol:g}"] = model.compress(tol, task.X_test[:seen])
        spent[f"tol {tol:g}"] = time.process_time() - began
    laps = race(
        {who: lambda one=one: one.decision_function(X) for who, one in models.items()},
        repeats=options.repeats,
        clock=time.process_time,
    )
    lines, scores = [], model.decision_function(X)
    for who, one in models.items():
        moved = one.decision_function(X)
        bound = "" if one is model else figure(one.compression_.bound)
        lines.append(
            [
                who,
                figure(len(one.support_)),
                figure(laps[WHOLE].best / laps[who].best),
                figure(float(np.abs(moved - scores).max())),
                bound,
                figure(100 * float(np.mean((moved > 0) != (scores > 0)))),
                f"{100 * one.score(X, y):.2f}",
                "" if one is model else figure(spent[who]),
            ]
        )
    head = ["", "SVs", "times as fast", "largest change", "bound", "labels changed %"]
    report.matrix(name, [*head, "accuracy", "seconds to compress"], lines)
    report.add(name, laps, units=len(X))
    loss = max(100 * (model.score(X, y) - one.score(X, y)) for one in models.values())
    report.bar(f"{name}: points of accuracy lost, at worst", loss, at_most=0.2)
    fewer = len(model.support_) / len(models[f"tol {TOLERANCES[-1]:g}"].support_)
    report.bar(f"{name}: times fewer vectors at tol {TOLERANCES[-1]:g}", fewer, at_least=2)


@benchmark("compress", WHOLE, repeats=5)
def main(report: Report, options: Options) -> None:
    for name in ("Adult", "USPS", "MNIST 8"):
        if options.wants(name):
            task = eight_or_not(options) if name == "MNIST 8" else paper(name, options)
            contest(name, task, report, options)
