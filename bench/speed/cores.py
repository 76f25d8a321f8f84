"""What more threads give, and that they give the same bits.

MNIST in one pass, gamma 0.02, C = 10: ten digits by LASVC (20,000 rows, then 10,000 predicted) and
RampSVC (6,000 rows) with n_jobs = 1, 2, 4, 8; one digit against the rest by RampSVC and
IncrementalSVC (10,000 rows, tol 1e-4) with 1, 2, 4; and Intel's solver with two on those of LASVC.
All numbers of threads take turns; no more are tried than the machine has cores. The share of
learning that threads can take is what two of them save, twice.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.common import Lap, Options, Report, benchmark, race
from bench.peers import present
from bench.peers.batch import INTELEX_32_TWO
from bench.speed.digits import DIGIT, against_the_rest, pixels
from onlinesvm import LASVC, IncrementalSVC, RampSVC
from onlinesvm.datasets import Dataset, Task, fetch

ONE = "1 thread"
C, GAMMA = 10.0, 0.02

Array = NDArray[Any]


class Case(NamedTuple):
    """One method on one problem."""

    name: str
    method: Callable[..., Any]
    data: Dataset
    threads: Sequence[int]


def name(threads: int) -> str:
    return ONE if threads == 1 else f"{threads} threads"


def rows(data: Dataset, n: int) -> Dataset:
    return data._replace(X_train=data.X_train[:n], y_train=data.y_train[:n])


def learn(report: Report, case: Case, peers: dict[str, Lap]) -> dict[str, Any]:
    """The models by number of threads, all with the same scores."""
    X, y = case.data.X_train, case.data.y_train
    classes = np.unique(y)

    def learned(threads: int) -> Any:
        model = case.method(C=C, gamma=GAMMA, n_jobs=threads)
        return model.partial_fit(X, y, classes=classes)

    counts = [t for t in case.threads if t <= (os.cpu_count() or 1)]
    laps = race({name(t): lambda t=t: learned(t) for t in counts}, repeats=report.options.repeats)
    models = {who: lap.product for who, lap in laps.items()}
    expected = models[ONE].decision_function(X[:500])
    for who, model in models.items():
        if not np.array_equal(model.decision_function(X[:500]), expected):
            raise AssertionError(f"{case.name}: {who} gave other bits than one")
    report.add(case.name, laps | peers, units=len(y))
    if 2 in counts:
        share = 2 * (1 - report.ratio(case.name, name(2)))
        report.note(f"{case.name}: threads can take {100 * share:.0f} %")
    return models


def predict(report: Report, models: dict[str, Any], X: Array) -> None:
    runs = {who: lambda model=model: model.decision_function(X) for who, model in models.items()}
    report.add("ten digits predicted", race(runs, repeats=report.options.repeats), units=len(X))


def faster(report: Report, case: str, threads: int, at_least: float) -> None:
    if name(threads) in report.cases.get(case, {}):
        gain = report.speed_up(case, name(threads))
        report.bar(f"{case}, {name(threads)}, times as fast as one", gain, at_least=at_least)


def solved(report: Report, case: Case) -> dict[str, Lap]:
    """Intel's solver on the same rows, where it is installed."""
    task = Task(case.name, C, GAMMA, case.data, {})
    solvers = {one.name: one.enter(task) for one in present([INTELEX_32_TWO], report.note)}
    return race(solvers, repeats=report.options.repeats)


@benchmark("Learning MNIST, by threads", ONE, repeats=2)
def main(report: Report, options: Options) -> None:
    X, y, X_test, y_test = fetch("mnist")
    most = options.size(20_000, 500)
    test = pixels(X_test)[: options.size(10_000, 200)]
    ten = Dataset(pixels(X[:most]), y[:most], test, y_test[: len(test)])
    one = against_the_rest(rows(ten, options.size(10_000, 500)), DIGIT)
    lasvc = Case("LASVC, ten digits", LASVC, ten, (1, 2, 4, 8))
    cases = [
        lasvc,
        Case("RampSVC, ten digits", RampSVC, rows(ten, options.size(6_000, 300)), (1, 2, 4, 8)),
        Case("RampSVC, two classes", RampSVC, one, (1, 2, 4)),
        Case("IncrementalSVC, two classes", partial(IncrementalSVC, tol=1e-4), one, (1, 2, 4)),
    ]
    for case in cases:
        models = learn(report, case, solved(report, case) if case is lasvc else {})
        if case is lasvc:
            predict(report, models, test)
    faster(report, lasvc.name, 8, at_least=4)
    faster(report, "ten digits predicted", 8, at_least=7.2)
    learned = report.cases[lasvc.name]
    if INTELEX_32_TWO.name in learned and name(2) in learned:
        ratio = learned[name(2)]["best_s"] / learned[INTELEX_32_TWO.name]["best_s"]
        report.bar("LASVC / intelex float32, two threads each", ratio, at_most=1.0)
    faster(report, "RampSVC, two classes", 4, at_least=1.5)
    faster(report, "IncrementalSVC, two classes", 4, at_least=1.5)
