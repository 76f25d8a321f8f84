"""A search for C and gamma against GridSearchCV(SVC()): 9 x 9 cells, five folds, one thread.

Rows by two generators, CPU seconds without the last fit, and how far the cell that is found best
is behind the best cell of the other by the other's own scores. `--quick`: 600 rows and 5 x 5 cells.
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from bench.common import Options, Report, benchmark, race
from onlinesvm.tune import GramSearchCV

FOLDS = 5


def _product(n: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n, 20))
    return X, (X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=n) > 0).astype(int)


def _classification(classes: int, n: int) -> tuple[Any, Any]:
    return make_classification(
        n, 20, n_informative=8, n_classes=classes, flip_y=0.1, random_state=0
    )


PROBLEMS = {
    "make_classification": partial(_classification, 2),
    "five classes": partial(_classification, 5),
    "x1 x2 > noise": _product,
}


def search(cls: Any, grid: Any, X: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cls(SVC(cache_size=500), grid, cv=FOLDS, refit=False).fit(X, y)


@benchmark("Search for C and gamma", "GridSearchCV", repeats=1)
def main(report: Report, options: Options) -> None:
    n, cells = options.size(3000, 600), options.size(9, 5)
    report.details |= {"rows": n, "cells": cells**2, "folds": FOLDS}
    for name, make in PROBLEMS.items():
        if not options.wants(name):
            continue
        X, y = make(n)
        scale = 1 / (X.shape[1] * X.var())
        grid = {"C": np.logspace(-2, 3, cells), "gamma": scale * np.logspace(-2, 2, cells)}
        runs = {
            cls.__name__: partial(search, cls, grid, X, y) for cls in (GramSearchCV, GridSearchCV)
        }
        laps = race(runs, repeats=1, clock=time.process_time)
        ours, theirs = laps["GramSearchCV"].product, laps["GridSearchCV"].product
        behind = theirs.best_score_ - theirs.cv_results_["mean_test_score"][ours.best_index_]
        off = ours.cv_results_["mean_test_score"] - theirs.cv_results_["mean_test_score"]
        facts = {
            "GramSearchCV": {"behind": 100 * behind, "cells apart": 100 * np.abs(off).max()},
            "GridSearchCV": {"behind": 0.0, "cells apart": 0.0},
        }
        report.add(name, laps, facts=facts)
        ratio = 1 / report.cases[name]["GramSearchCV"]["ratio"]
        report.bar(f"{name}: times as fast", ratio, at_least=10)
        report.bar(f"{name}: points behind the best cell", 100 * behind, at_most=0.2)
