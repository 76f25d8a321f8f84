"""One online RampSVC pass against one batch SVC.fit on real sets that no paper chose.

The first 10,000 rows of each (of short ones four fifths) in the order of their source, the next
5,000 to predict. Dense features are standardised by the rows learned, words are counted as they
are. C = 1 and gamma = 1 / (features x variance) for everybody: what scikit-learn's SVC has where
nothing is said. A set that is neither in the local folder nor public is left out with a note.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from bench.common import Options, Report, benchmark, geometric_mean, race
from bench.peers import present
from bench.peers.batch import SVC
from bench.peers.ours import RAMP
from onlinesvm.datasets import Dataset, DownloadError, Task, fetch

SETS = (
    "stream_phishing",
    "stream_electricity",
    "stream_weather",
    "ijcnn1",
    "w3a",
    "pima",
    "sms_spam",
)


def scale(X: Any) -> float:
    """The gamma of SVC(gamma="scale")."""
    mean = X.mean()
    square = X.multiply(X).mean() if sparse.issparse(X) else np.square(X).mean()
    return float(1.0 / (X.shape[1] * (square - mean * mean)))


def task(name: str, most: int) -> Task:
    X, y, _, _ = fetch(name)
    n = min(most, 4 * len(y) // 5)
    signs = np.where(y > 0, 1, -1)
    learned, later = X[:n].astype(np.float64), X[n : n + 5_000].astype(np.float64)
    if not sparse.issparse(X):
        mean, deviation = learned.mean(axis=0), learned.std(axis=0)
        deviation[deviation == 0.0] = 1.0
        learned, later = (learned - mean) / deviation, (later - mean) / deviation
    data = Dataset(learned, signs[:n], later, signs[n : n + 5_000])
    return Task(name, 1.0, scale(learned), data, {})


def here(report: Report) -> Iterator[Task]:
    for name in filter(report.options.wants, SETS):
        try:
            yield task(name, report.options.size(10_000, 300))
        except (DownloadError, ValueError) as error:
            report.note(f"{name} left out: {error}")


@benchmark("One online pass / one SVC.fit, real sets", SVC.name)
def main(report: Report, options: Options) -> None:
    for one in here(report):
        calls = {learner.name: learner.enter(one) for learner in present([RAMP, SVC], report.note)}
        laps = race(calls, repeats=options.repeats, clock=time.process_time)
        facts = {name: lap.product.facts(one) for name, lap in laps.items()}
        report.add(one.name, laps, facts=facts)
        report.bar(f"{one.name}: pass / fit", report.ratio(one.name, RAMP.name), at_most=0.8)
    if report.cases:
        ratios = [report.ratio(name, RAMP.name) for name in report.cases]
        report.bar(f"geometric mean of {len(ratios)}", geometric_mean(ratios), at_most=0.8)
