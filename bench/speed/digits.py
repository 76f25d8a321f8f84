"""MNIST in one pass: LASVC and HullerSVC against batch solvers, one digit and all ten.

60,000 rows of 784 pixels / 255 in float32, RBF gamma 0.02, C = 10 (of squared slacks for
HullerSVC). One round of learning: SVC takes minutes. Three of predicting the 10,000 test rows.
`--only eight` or `--only ten` runs half of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bench.common import Lap, Options, Report, parse, race
from bench.peers import Learner, present
from bench.peers.batch import INTELEX_32, SVC
from bench.peers.ours import HULLER, HULLER_FINISHED, LASVM, LASVM_FINISHED
from onlinesvm.datasets import Task, fetch
from onlinesvm.datasets.store import Dataset

DIGIT = 8
MINE = (LASVM, HULLER)


def pixels(rows: NDArray[np.uint8]) -> NDArray[np.float32]:
    return rows.reshape(len(rows), -1).astype(np.float32) / np.float32(255)


def digits(options: Options) -> Dataset:
    """MNIST in the source's order."""
    X, y, X_test, y_test = fetch("mnist")
    n = options.size(60_000, 1_000)
    return Dataset(pixels(X[:n]), y[:n], pixels(X_test), y_test)


def against_the_rest(data: Dataset, digit: int) -> Dataset:
    """One digit is +1, the others are -1."""
    X, y, X_test, y_test = data
    return Dataset(X, np.where(y == digit, 1, -1), X_test, np.where(y_test == digit, 1, -1))


def eight(options: Options, data: Dataset) -> None:
    """One pass against one fit, then the test rows predicted by each."""
    report = Report("digits", "MNIST in one pass / SVC.fit", SVC.name, options)
    task = Task(f"MNIST {DIGIT} against the rest", 10.0, 0.02, against_the_rest(data, DIGIT), {})
    laps = learn(report, task, [*MINE, LASVM_FINISHED, HULLER_FINISHED, SVC, INTELEX_32])
    facts = report.cases[task.name]
    for name, most in ((LASVM.name, 0.02), (HULLER.name, 0.09)):
        report.bar(f"{name}: one pass / SVC.fit", report.ratio(task.name, name), at_most=most)
        lost = facts[SVC.name]["accuracy"] - facts[name]["accuracy"]
        report.bar(f"{name}: accuracy below SVC's, points", lost, at_most=0.1)
    report.finish()
    predict(options, task, laps)


def ten(options: Options, data: Dataset) -> None:
    """Ten learners against the rest over one store; Intel's solver fits every pair of digits."""
    report = Report("ten_digits", "MNIST, ten digits in one pass", INTELEX_32.name, options)
    task = Task("MNIST, ten digits", 10.0, 0.02, data, {})
    learn(report, task, [*MINE, INTELEX_32])
    error = 100 - report.cases[task.name][LASVM.name]["accuracy"]
    report.bar("ten digits: error of LASVC in percent", error, at_most=1.6)
    ratio = report.ratio(task.name, LASVM.name)
    report.bar("ten digits: LASVC / intelex float32", ratio, at_most=0.6)
    report.finish()


def learn(report: Report, task: Task, learners: list[Learner]) -> dict[str, Lap]:
    contestants = {one.name: one.enter(task) for one in present(learners, report.note)}
    laps = race(contestants, repeats=report.options.repeats)
    facts = {name: lap.product.facts(task) for name, lap in laps.items()}
    report.add(task.name, laps, facts=facts, units=len(task.data.y_train))
    return laps


def predict(options: Options, task: Task, laps: dict[str, Lap]) -> None:
    """A second each but for SVC, so that several rounds can be had."""
    options = replace(options, repeats=max(3, options.repeats))
    report = Report("predict_digits", "MNIST's test rows predicted", SVC.name, options)
    X = task.data.X_test
    fitted = {name: laps[name].product for name in laps if "finish" not in name}
    runs = {name: lambda one=one: one.predict(X) for name, one in fitted.items()}
    case = f"predict {len(X):,} rows"
    report.add(case, race(runs, repeats=options.repeats), units=len(X))
    report.bar("SVC time / LASVC", report.speed_up(case, LASVM.name), at_least=30)
    if INTELEX_32.name in report.cases[case]:
        ratio = report.ratio(case, LASVM.name) / report.ratio(case, INTELEX_32.name)
        report.bar("LASVC / intelex float32", ratio, at_most=1.0)
    report.finish()


def main(words: Sequence[str]) -> None:
    options = parse(__doc__, words, repeats=1)
    data = digits(options)
    for part in (eight, ten):
        if options.wants(part.__name__):
            part(options, data)
