"""OISVM: how small its models are, how accurate, and what an example costs as the stream grows.

Against `SVC` on the generated tasks of the ramp paper, each with its C and gamma, and with at most
500 vectors, which only Waveform with its 21 features asks for. Then 20,000 rows of a checkerboard,
clean and with 15 % wrong labels, timed by blocks of 2,000.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
from sklearn.svm import SVC

from bench.common import Options, Report, benchmark, figure, race
from onlinesvm import IndependentSVC
from onlinesvm.datasets import Task, make_checkerboard, paper_task

TASKS = ("Checkerboard", "NCheckerboard", "Gauss", "Waveform")
ETAS = (0.5, 0.1, 0.01)
BUDGET = 500
BLOCK, BLOCKS = 2000, 10


@benchmark("OISVM: size, accuracy and cost", "SVC", repeats=1)
def main(report: Report, options: Options) -> None:
    for name in filter(options.wants, TASKS):
        _compare(report, paper_task(name, train_rows=options.size(10_000, 300)))
    report.details["tables"] = [_sizes(report), _growth(options)]


def _compare(report: Report, task: Task) -> None:
    calls: dict[str, Any] = {"SVC": partial(_batch, task)}
    calls |= {f"eta = {eta:g}": partial(_stream, task, eta) for eta in ETAS}
    laps = race(calls, repeats=report.options.repeats)
    facts = {
        name: {
            "accuracy": round(100.0 * lap.product.score(task.data.X_test, task.data.y_test), 2),
            "SVs": len(lap.product.support_),
        }
        for name, lap in laps.items()
    }
    report.add(task.name, laps, facts=facts)


def _batch(task: Task) -> SVC:
    return SVC(C=task.C, gamma=task.gamma).fit(task.data.X_train, task.data.y_train)


def _stream(task: Task, eta: float) -> IndependentSVC:
    model = IndependentSVC(C=task.C, gamma=task.gamma, eta=eta, budget=BUDGET)
    return model.partial_fit(task.data.X_train, task.data.y_train, classes=[-1, 1])


def _sizes(report: Report) -> dict[str, Any]:
    """Accuracy, vectors and seconds of every contestant on every task."""
    rows = [["task", "contestant", "accuracy", "vectors", "seconds"]]
    for task, group in report.cases.items():
        for name, row in group.items():
            facts = [figure(row[key]) for key in ("accuracy", "SVs", "best_s")]
            rows.append([task, name if name == "SVC" else f"IndependentSVC, {name}", *facts])
    return {"title": "One pass over 10,000 rows, optimal after each of them", "rows": rows}


def _growth(options: Options) -> dict[str, Any]:
    """Microseconds of processor time per example, block by block."""
    rows = [["examples before", "clean", "15 % wrong labels"]]
    costs = [_costs(noise, options.size(BLOCK, 100)) for noise in (0.0, 0.15)]
    for block in range(BLOCKS):
        rows.append([f"{block * BLOCK:,}", *(f"{cost[block]:.0f}" for cost in costs)])
    return {"title": "Microseconds per example on a checkerboard, C = 10, gamma = 2", "rows": rows}


def _costs(noise: float, block: int) -> list[float]:
    X, y = make_checkerboard(BLOCKS * block, noise=noise, random_state=0)
    model = IndependentSVC(C=10.0, gamma=2.0, classes=[-1, 1])
    costs = []
    for part in np.array_split(np.arange(len(y)), BLOCKS):
        start = time.process_time()
        model.partial_fit(X[part], y[part])
        costs.append(1e6 * (time.process_time() - start) / block)
    return costs
