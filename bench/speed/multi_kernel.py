"""Eight bandwidths and a linear learner beside one bandwidth of the same size, 500 features.

`MultiKernelClassifier()` beside the same class with one bandwidth and no linear learner, and beside
`FourierFeatures | SGDSVC`: learning, in batches of 1,000 rows and of 10, by turns in one process,
one thread, CPU seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from bench.common import Options, Report, benchmark, race
from onlinesvm import SGDSVC, FourierFeatures, MultiKernelClassifier, make_online_pipeline

MIXTURE, ONE, PIPELINE = "eight and linear", "one bandwidth", "FourierFeatures | SGDSVC"


def learners(d: int) -> dict[str, Callable[[], Any]]:
    return {
        MIXTURE: lambda: MultiKernelClassifier(gamma=1 / d),
        ONE: lambda: MultiKernelClassifier(gamma=1 / d, n_bandwidths=1, linear=False),
        PIPELINE: lambda: make_online_pipeline(FourierFeatures(500, gamma=1 / d), SGDSVC()),
    }


@benchmark("Many bandwidths beside one", ONE, repeats=5)
def main(report: Report, options: Options) -> None:
    for classes, d, batch in (
        (2, 6, 1000),
        (2, 54, 1000),
        (2, 300, 1000),
        (10, 54, 1000),
        (2, 54, 10),
        (10, 54, 10),
    ):
        n = options.size(6000, 200)
        X = np.random.default_rng(0).normal(size=(n, d))
        y = np.minimum(np.abs(X[:, :4].sum(axis=1)).astype(int), classes - 1)

        def learn(make: Callable[[], Any], X: Any = X, y: Any = y, batch: int = batch) -> Any:
            model = make()
            for start in range(0, len(y), batch):
                rows = slice(start, start + batch)
                known = {} if start else {"classes": np.unique(y)}
                model.partial_fit(X[rows], y[rows], **known)
            return model

        runs = {name: lambda make=make: learn(make) for name, make in learners(d).items()}
        laps = race(runs, repeats=options.repeats, clock=process_time)
        case = f"{classes} classes, {d} features, batches of {batch:,}"
        report.add(case, laps, units=n)
        of_pipeline = report.ratio(case, MIXTURE) / report.ratio(case, PIPELINE)
        report.bar(f"{case}: time / one bandwidth", report.ratio(case, MIXTURE), at_most=2.5)
        report.bar(f"{case}: time / FourierFeatures | SGDSVC", of_pipeline, at_most=2.5)
