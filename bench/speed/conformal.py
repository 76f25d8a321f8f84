"""Full conformal p-values against refitting SVC for every candidate label, and against online-cp.

Problems are drawn by seed: 2 to 4 classes, 5 to 30 features, one label in ten wrong. ``SVC`` is
fitted at its own tolerance. ``online-cp`` (pip install online-cp) takes part where it is installed,
on the first problem and on a few rows, since it solves every candidate from nothing.
"""

from __future__ import annotations

import time
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from bench.common import Options, Report, benchmark, geometric_mean, race
from onlinesvm import FullConformalSVC, IncrementalSVC

SIZES, SEEDS, ASKED = (1000, 4000), range(5), 20
OURS, REFITS = "FullConformalSVC", "refits of SVC"


def problem(seed: int, n: int) -> tuple[Any, Any, float]:
    rng = np.random.default_rng(seed)
    d, k = int(rng.integers(5, 31)), int(rng.integers(2, 5))
    X, y = make_classification(
        n + ASKED, d, n_informative=5, n_redundant=0, n_classes=k, flip_y=0.1, random_state=seed
    )
    return X, y, 1.0 / (d * X.var())


def contest(n: int, seed: int, report: Report, options: Options) -> float:
    X, y, gamma = problem(seed, n)
    known, asked = slice(0, n), slice(n, n + ASKED)
    svm = IncrementalSVC(gamma=gamma, multiclass="one-vs-rest")
    model = FullConformalSVC(svm).fit(X[known], y[known])
    labels = np.unique(y)

    def refits() -> None:  # of one row; they all cost the same
        for label in labels:
            SVC(gamma=gamma).fit(X[: n + 1], np.append(y[known], label))

    laps = race(
        {OURS: lambda: model.p_values(X[asked]), REFITS: refits},
        repeats=options.repeats,
        clock=time.process_time,
    )
    laps[REFITS].seconds[:] = [ASKED * s for s in laps[REFITS].seconds]
    case = f"{n:,} rows, {X.shape[1]} features, {len(labels)} classes"
    report.add(case, laps, units=ASKED)
    return report.speed_up(case, OURS)


def against_online_cp(report: Report, options: Options) -> None:
    if not find_spec("online_cp"):
        report.note("online-cp is not installed")
        return
    from online_cp import ConformalSupportVectorMachine

    X, y, gamma = problem(0, options.size(1000, 60))
    n = len(y) - ASKED
    y = np.where(y == 0, -1, 1)
    theirs = ConformalSupportVectorMachine(
        sigma=np.sqrt(0.5 / gamma), label_space=np.array([-1, 1])
    )
    theirs.learn_initial_training_set(X[:n], y[:n])
    model = FullConformalSVC(IncrementalSVC(gamma=gamma)).fit(X[:n], y[:n])
    laps = race(
        {OURS: lambda: model.p_values(X[n : n + 1]), "online-cp": lambda: theirs.predict(X[n])},
        repeats=1,
    )
    report.bar(
        "online-cp / FullConformalSVC, one row",
        laps["online-cp"].best / laps[OURS].best,
        at_least=500,
    )


@benchmark("Full conformal p-values", REFITS)
def main(report: Report, options: Options) -> None:
    for n in SIZES:
        n = options.size(n, 100)
        seeds = SEEDS if not options.quick else range(1)
        gains = [contest(n, seed, report, options) for seed in seeds]
        report.bar(f"{n:,} rows: refits / ours, median", float(np.median(gains)), at_least=15)
        report.bar(f"{n:,} rows: the same, worst", min(gains), at_least=15)
        report.note(f"{n:,} rows: geometric mean {geometric_mean(gains):.1f}")
    against_online_cp(report, options)
