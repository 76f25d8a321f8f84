"""Shapley values of 2,000 rows: permutations by one pass against refitting every prefix.

Problems are drawn by seed. The passes are made whole; of the refits every 50th prefix is fitted,
and the others are taken to cost what those between cost.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from bench.common import Options, Report, benchmark, race
from onlinesvm import IncrementalSVC
from onlinesvm.value import data_values

ROWS, VALID, SEEDS, STRIDE = 2000, 500, range(3), 50
OURS, REFITS = "data_values", "refits of SVC"


def contest(seed: int, report: Report, options: Options) -> float:
    """CPU seconds of 200 permutations of ours."""
    n = options.size(ROWS, 100)
    X, y = make_classification(
        n + VALID, 10 + 10 * seed, n_informative=6, flip_y=0.1, random_state=seed
    )
    gamma = 1.0 / (X.shape[1] * X.var())
    train, valid = (X[:n], y[:n]), (X[n:], y[n:])
    svm = IncrementalSVC(gamma=gamma)

    def refits() -> None:
        for size in range(STRIDE, n + 1, STRIDE):
            SVC(gamma=gamma).fit(X[:size], y[:size]).score(*valid)

    laps = race(
        {
            "whole permutation": lambda: data_values(svm, *train, *valid, n_rounds=1, truncate=0),
            OURS: lambda: data_values(svm, *train, *valid, n_rounds=4),
            REFITS: refits,
        },
        repeats=1,
        clock=time.process_time,
    )
    laps[REFITS].seconds[:] = [STRIDE * s for s in laps[REFITS].seconds]
    laps[OURS].seconds[:] = [s / 4 for s in laps[OURS].seconds]
    case = f"seed {seed}, {X.shape[1]} features"
    report.add(case, laps)
    return 200 * laps[OURS].best


@benchmark("One Shapley permutation of 2,000 rows", REFITS, repeats=1)
def main(report: Report, options: Options) -> None:
    seconds = [contest(seed, report, options) for seed in SEEDS]
    worst = float(np.max(seconds)) / 2
    report.bar("200 permutations on two cores, seconds, worst", worst, at_most=120)
