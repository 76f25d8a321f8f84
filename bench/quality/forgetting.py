"""What a full memory should give up: accuracy of the semi-online machines by policy and budget.

Two clouds of 600 rows with one label in ten wrong, five streams of them; then a checkerboard of
10,000 rows with one in ten wrong, against `SVC`. All are tested on clean labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.svm import SVC

from bench.common import Options, Report, benchmark
from onlinesvm import ErrorDrivenSVC, FixedPartitionSVC, ForgettingSVC
from onlinesvm.forgetting import Random

POLICIES = {
    "oldest": "oldest",
    "random": "random",
    "random, untried": Random(tries=0),
    "least significant": "least_significant",
    "linear dependence": "linear_dependence",
    "outlier first": "outlier_first",
}
LABELS = [-1, 1]


@benchmark("What a full memory gives up", "SVC", repeats=1)
def main(report: Report, options: Options) -> None:
    if options.wants("clouds"):
        clouds(report, options)
    if options.wants("board"):
        board(report, options)


def accuracy(model: Any, X: Any, y: Any, X_test: Any, y_test: Any) -> float:
    model = model.fit(X, y) if isinstance(model, SVC) else model.partial_fit(X, y).finish()
    return float(model.score(X_test, y_test))


def cloud(seed: int, n: int) -> tuple[Any, Any, Any]:
    """Rows, their labels, and the labels with one in ten wrong."""
    rng = np.random.default_rng(seed)
    y = rng.choice(LABELS, n)
    X = rng.normal(size=(n, 2)) + 0.9 * y[:, None]
    return X, y, np.where(rng.random(n) < 0.1, -y, y)


def clouds(report: Report, options: Options) -> None:
    common = {"C": 1.0, "gamma": 0.5, "classes": LABELS, "tol": 1e-6, "dtype": "float64"}

    def mean(cls: Any, **settings: Any) -> str:
        scores = []
        for seed in range(options.size(5, 1)):
            (X, _, noisy), (X_test, y_test, _) = cloud(seed, 600), cloud(100 + seed, 2000)
            scores.append(accuracy(cls(**common | settings), X, noisy, X_test, y_test))
        return f"{np.mean(scores):.3f}"

    rows = [
        [str(size), *(mean(ForgettingSVC, budget=size, forget=f) for f in POLICIES.values())]
        for size in (40, 80)
    ]
    report.matrix("Two clouds, chunks of 100", ["budget", *POLICIES], rows)
    free = {
        "FixedPartitionSVC, chunk 100": mean(FixedPartitionSVC),
        "ErrorDrivenSVC, margin, chunk 50": mean(ErrorDrivenSVC),
        "ErrorDrivenSVC, error, chunk 50": mean(ErrorDrivenSVC, rule="error"),
    }
    report.matrix("Two clouds, no budget", ["machine", "accuracy"], [list(p) for p in free.items()])


def board(report: Report, options: Options) -> None:
    rng, n = np.random.default_rng(0), options.size(10_000, 400)
    X = rng.uniform(0, 4, (n + 4000, 2))
    y = np.where(np.floor(X).sum(axis=1) % 2, 1, -1)
    noisy = np.where(rng.random(n + 4000) < 0.1, -y, y)
    common = {"C": 10.0, "gamma": 2.0}
    ours = common | {"classes": LABELS}
    models = {
        "SVC": SVC(**common),
        "FixedPartitionSVC, chunk 1000": FixedPartitionSVC(chunk=1000, **ours),
        "FixedPartitionSVC, chunk 100": FixedPartitionSVC(**ours),
        "ErrorDrivenSVC": ErrorDrivenSVC(**ours),
    } | {
        f"ForgettingSVC, budget 500, {name}": ForgettingSVC(forget=policy, **ours)
        for name, policy in POLICIES.items()
    }
    rows = [
        [name, f"{accuracy(model, X[:n], noisy[:n], X[n:], y[n:]):.3f}"]
        for name, model in models.items()
    ]
    report.matrix("Checkerboard of 10,000 rows", ["machine", "accuracy"], rows)
