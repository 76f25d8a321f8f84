"""A kernel machine on a budget against a kernel's features with SGD, in one process.

Covtype, class 2 against the rest, standardised, in random order: 500,000 rows once, in chunks of
1000, tested on the other 81,012. BudgetedSVC with 1,000 and 2,000 examples; against it Nystroem of
1,000 components, landmarks drawn off the clock, and an averaged SGDClassifier, as tuned in the
features race. Then a checkerboard with 15 % wrong labels, a million rows: what the ramp gains over
the hinge, and for every class that can be bounded, whether the last tenth of the stream costs what
the second did, in time and in bytes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDClassifier

from bench.common import Options, Report, benchmark, race
from bench.speed.features import CHUNK, LABELS, Rows, covtype, stream
from onlinesvm import (
    BudgetedRampSVC,
    BudgetedSVC,
    BudgetedSVR,
    ForgetronClassifier,
    ForgettingSVC,
    IndependentSVC,
    NormaSVC,
    ProjectronClassifier,
    RampSVC,
)

PEER = "Nystroem(1000) + SGDClassifier"
SMALL, LARGE = "BudgetedSVC, 1,000 examples", "BudgetedSVC, 2,000 examples"


class Same:
    """Rows as they are, where others transform them."""

    def transform(self, X: Any) -> Any:
        return X


def accuracy(features: Any, machine: Any, rows: Rows) -> float:
    parts = np.array_split(np.arange(len(rows.y_test)), 10)
    right = [
        machine.score(features.transform(rows.X_test[part]), rows.y_test[part]) * len(part)
        for part in parts
    ]
    return round(100 * sum(right) / len(rows.y_test), 2)


def against_features(report: Report, options: Options) -> None:
    rows = covtype(options.size(500_000, 3_000)).single()
    if options.quick:
        rows = Rows(rows.X, rows.y, rows.X_test[:1000], rows.y_test[:1000])
    small, large = options.size(1_000, 30), options.size(2_000, 60)
    landmarks = Nystroem(gamma=4 / 54, n_components=small, random_state=0).fit(rows.X[:50_000])
    contestants: dict[str, Callable[[], Any]] = {
        SMALL: lambda: stream(Same(), BudgetedSVC(small, gamma=0.5, alpha=5e-6), rows),
        LARGE: lambda: stream(Same(), BudgetedSVC(large, gamma=1.0, alpha=5e-6), rows),
        PEER: lambda: stream(
            landmarks, SGDClassifier(alpha=3e-7, average=True, random_state=0), rows
        ),
    }
    laps = race(contestants, repeats=max(1, options.repeats // 3))
    facts = {name: {"accuracy": accuracy(*lap.product, rows)} for name, lap in laps.items()}
    case = f"covtype, {len(rows.y):,} rows once"
    report.add(case, laps, facts=facts, units=len(rows.y))
    for name, least, share in ((SMALL, 82.4, 0.3), (LARGE, 85.5, 0.7)):
        ratio = report.ratio(case, name) / report.ratio(case, PEER)
        report.bar(f"{name}: time / {PEER}", ratio, at_most=share)
        report.bar(f"{name}: accuracy", facts[name]["accuracy"], at_least=least)


def board(seed: int, n: int, flips: float) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 4, size=(n, 2)).astype(np.float32)
    y = np.where(np.floor(X).sum(axis=1) % 2, 1, -1)
    return X, np.where(rng.random(n) < flips, -y, y)


def bounded() -> list[Any]:
    """Every class that can be bounded, with 100 examples."""
    return [
        BudgetedSVC(100, gamma=2.0),
        BudgetedRampSVC(100, gamma=2.0),
        BudgetedSVR(100, gamma=2.0),
        ForgetronClassifier(100, gamma=2.0),
        ProjectronClassifier(budget=100, gamma=2.0),
        NormaSVC(budget=100, gamma=2.0),
        IndependentSVC(budget=100, window=200, gamma=2.0),
        ForgettingSVC(budget=100, gamma=2.0),
        RampSVC(budget=100, gamma=2.0),
    ]


def wrong_labels(report: Report, options: Options) -> None:
    n = options.size(1_000_000, 4_000)
    (X, y), (clean, truth) = board(0, n, 0.15), board(1, 20_000, 0.0)
    scores = {}
    for model in bounded():
        name = type(model).__name__
        laps, sizes = [], []
        for tenth in np.array_split(np.arange(n), 10):
            chunks = []
            for part in np.array_split(tenth, max(1, len(tenth) // CHUNK)):
                start = time.process_time()
                told = {"classes": LABELS} if is_classifier(model) else {}
                model.partial_fit(X[part], y[part], **told)
                chunks.append(time.process_time() - start)
            laps.append(np.median(chunks))  # a stall of the machine is not the model's
            sizes.append(model.nbytes_)
        scores[name] = float(np.mean(np.sign(model.predict(clean)) == truth))
        case = f"{n:,} rows, 15 % wrong labels, {name}"
        growth = float(laps[-1] / laps[1])
        report.bar(f"{case}: time of a chunk, last tenth / second", growth, at_most=1.25)
        report.bar(f"{case}: bytes at the end / after a tenth", sizes[-1] / sizes[0], at_most=1.05)
    gain = 100 * (scores["BudgetedRampSVC"] - scores["BudgetedSVC"])
    report.bar("points of accuracy, the ramp over the hinge", gain, at_least=0)
    report.details["accuracy on clean labels"] = str(
        {name: round(100 * score, 2) for name, score in scores.items()}
    )


@benchmark("Kernel machines on a budget", PEER, repeats=3)
def main(report: Report, options: Options) -> None:
    if options.wants("covtype"):
        against_features(report, options)
    if options.wants("noise"):
        wrong_labels(report, options)
