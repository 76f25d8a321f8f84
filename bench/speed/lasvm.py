"""One pass of LASVC over MNIST, digit 8 against the rest, against batch solvers of that problem.

60,000 rows of 784 pixels / 255 in float32, RBF gamma 0.02, C = 10. One round: SVC takes minutes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bench.common import Options, Report, parse, race
from bench.peers import Learner, present
from bench.peers.batch import INTELEX_32, SVC
from bench.peers.ours import LASVM, LASVM_FINISHED
from onlinesvm.datasets import Task, fetch
from onlinesvm.datasets.store import Dataset

DIGIT = 8


def digit_task(options: Options) -> Task:
    """MNIST in the source's order, one digit against the rest."""
    X, y, X_test, y_test = fetch("mnist")
    n = options.size(60_000, 1_000)

    def pixels(rows: NDArray[np.uint8]) -> NDArray[np.float32]:
        return rows.reshape(len(rows), -1).astype(np.float32) / np.float32(255)

    def sign(labels: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.where(labels == DIGIT, 1, -1)

    data = Dataset(pixels(X[:n]), sign(y[:n]), pixels(X_test), sign(y_test))
    return Task(f"MNIST {DIGIT} against the rest", 10.0, 0.02, data, {})


def race_one_pass(report: Report, task: Task, learners: list[Learner]) -> None:
    """The first learner's one pass against SVC.fit, with the others for company."""
    online = learners[0].name
    present_ones = present(learners, report.note)
    laps = race({one.name: one.enter(task) for one in present_ones}, repeats=report.options.repeats)
    facts = {name: lap.product.facts(task) for name, lap in laps.items()}
    report.add(task.name, laps, facts=facts, units=len(task.data.y_train))
    report.bar("one pass / SVC.fit", report.ratio(task.name, online), at_most=0.09)
    lost = facts[SVC.name]["accuracy"] - facts[online]["accuracy"]
    report.bar("accuracy below SVC's, points", lost, at_most=0.1)
    report.finish()


def main() -> None:
    options = parse(__doc__, repeats=1)
    report = Report("lasvm", "One pass of LASVC / one SVC.fit", SVC.name, options)
    race_one_pass(report, digit_task(options), [LASVM, LASVM_FINISHED, SVC, INTELEX_32])


if __name__ == "__main__":
    main()
