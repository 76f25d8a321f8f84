"""Fit beside scikit-learn's SVC on problems that nobody chose: drawn by seed, plus the real sets.

Each problem is a generator, its size, noise, C and gamma, all drawn from one seed; each class of
ours and `SVC` fit the same rows with the same C and gamma, in one process, one thread, CPU seconds.
The figures are the time over that of `SVC.fit`, and accuracy on held-out rows less that of `SVC`:
median, ninth decile and worst case, as a table and a chart. `--quick` caps n at 500 and takes 12.
Another seed: ONLINESVM_WIDE_SEED=7 python -m bench wide. ONLINESVM_WIDE_ROWS=3000 caps n.

Accuracy is that on 5,000 rows where they are drawn: a difference of half a point is within chance.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import datasets as generators
from sklearn.svm import SVC

import onlinesvm
from bench.common import RESULTS, Lap, Options, Report, benchmark, console, race
from onlinesvm.datasets import fetch
from onlinesvm.report.style import figure as new_figure

PROBLEMS, QUICK_PROBLEMS = 60, 12
TEST = 5000
REAL = ("adult", "banana", "covtype", "dna", "ijcnn1", "ionosphere", "pima", "usps", "w3a")
Array = NDArray[Any]
Rng = np.random.Generator


@dataclass(frozen=True)
class Problem:
    """Rows to learn and to be tested on, and what both sides are told."""

    name: str
    X: Any
    y: Array
    X_test: Any
    y_test: Array
    C: float
    gamma: float


# --- generators: n rows and clean labels of d features -------------------------------------------


def _make_classification(n: int, d: int, rng: Rng) -> tuple[Any, Array]:
    informative = max(2, min(d, int(rng.integers(2, 12))))
    X, y = generators.make_classification(
        n,
        d,
        n_informative=informative,
        n_redundant=0,
        class_sep=rng.uniform(0.5, 2),
        random_state=int(rng.integers(1 << 30)),
        flip_y=0,
    )
    return X, y


def _moons(n: int, d: int, rng: Rng) -> tuple[Any, Array]:
    noise = rng.uniform(0.05, 0.4)
    X, y = generators.make_moons(n, noise=noise, random_state=int(rng.integers(1 << 30)))
    return X, y


def _board(n: int, d: int, rng: Rng) -> tuple[Any, Array]:
    X = rng.uniform(0, rng.integers(2, 9), (n, 2))
    return X, np.floor(X).sum(axis=1).astype(int) % 2


def _product(n: int, d: int, rng: Rng) -> tuple[Any, Array]:
    X = rng.uniform(-1, 1, (n, min(d, 20)))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def _friedman(n: int, d: int, rng: Rng) -> tuple[Any, Array]:
    X, y = generators.make_friedman1(n, max(5, min(d, 50)), random_state=int(rng.integers(1 << 30)))
    return X, (y > np.median(y)).astype(int)


def _blobs(n: int, d: int, rng: Rng) -> tuple[Any, Array]:
    classes, d = int(rng.integers(3, 12)), min(d, 50)
    centres = rng.normal(0, 3 / np.sqrt(d) * rng.uniform(0.5, 2), (classes, d))
    y = rng.integers(0, classes, n)
    return centres[y] + rng.normal(0, 1, (n, d)), y


def _rare(n: int, d: int, rng: Rng) -> tuple[Any, Array]:
    X, y = generators.make_classification(
        n,
        max(4, min(d, 50)),
        n_informative=4,
        n_redundant=0,
        weights=[30 / 31],
        flip_y=0,
        random_state=int(rng.integers(1 << 30)),
    )
    return X, y


def _counts(n: int, d: int, rng: Rng) -> tuple[Any, Array]:
    words = max(100, d)
    rates = rng.gamma(0.05, 1.0, (2, words)) + 1e-3
    y = rng.integers(0, 2, n)
    mixed = 0.5 * rates.mean(axis=0) + 0.5 * rates
    X = sparse.csr_matrix(rng.poisson(30 * mixed[y] / mixed[y].sum(axis=1, keepdims=True)))
    return X.astype(np.float64), y


DRAWN: dict[str, Callable[[int, int, Rng], tuple[Any, Array]]] = {
    "make_classification": _make_classification,
    "moons": _moons,
    "checkerboard": _board,
    "x1 x2": _product,
    "friedman": _friedman,
    "blobs": _blobs,
    "1 in 31": _rare,
    "counts": _counts,
}


def _scale(X: Any) -> float:
    """What gamma="scale" is."""
    dense = X.toarray() if sparse.issparse(X) else X
    return float(1 / (X.shape[1] * max(dense.var(), 1e-12)))


def drawn(number: int, seed: int, most: int) -> Problem:
    """The problem of this number."""
    rng = np.random.default_rng([seed, number])
    kind = list(DRAWN)[number % len(DRAWN)]
    n = min(most, int(np.exp(rng.uniform(np.log(500), np.log(20_000)))))
    d = int(np.exp(rng.uniform(np.log(2), np.log(500))))
    noise = float(rng.choice([0, 0.05, 0.15, 0.3]))
    C, scale = float(rng.choice([0.1, 1, 10, 100])), float(rng.choice([0.1, 1, 10]))
    X, y = DRAWN[kind](n + TEST, d, rng)
    X_test, y_test, X, y = X[n:], y[n:], X[:n], y[:n]
    classes = np.unique(y)
    wrong = rng.random(n) < noise
    y = (
        np.where(wrong, rng.choice(classes, n), y)
        if len(classes) > 2
        else np.where(wrong, 1 - y, y)
    )
    name = f"{number}: {kind}, {n:,} x {X.shape[1]}, {len(classes)} classes, "
    name += f"noise {noise:g}, C = {C:g}, gamma {scale:g}"
    return Problem(name, X, y, X_test, y_test, C, scale * _scale(X))


def real(name: str, seed: int, most: int) -> Iterator[Problem]:
    """A set raw and standardised, with C and gamma drawn."""
    X, y, X_test, y_test = fetch(name)
    X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    rng = np.random.default_rng([seed, sum(map(ord, name))])
    order = rng.permutation(len(y))
    if len(y_test):
        X_test = (
            X_test.toarray() if sparse.issparse(X_test) else np.asarray(X_test, dtype=np.float64)
        )
    else:
        held = len(y) // 3
        X_test, y_test, order = X[order[:held]], y[order[:held]], order[held:]
    X, y, X_test, y_test = X[order[:most]], y[order[:most]], X_test[:TEST], y_test[:TEST]
    spread = X.std(axis=0)
    spread[spread == 0] = 1
    for way, rows, others in (
        ("raw", X, X_test),
        ("std", (X - X.mean(axis=0)) / spread, (X_test - X.mean(axis=0)) / spread),
    ):
        C, scale = float(rng.choice([0.1, 1, 10, 100])), float(rng.choice([0.1, 1, 10]))
        label = f"{name}, {way}, {len(y):,} x {X.shape[1]}, C = {C:g}, gamma {scale:g}"
        yield Problem(label, rows, y, others, y_test, C, scale * _scale(rows))


# --- who takes part ------------------------------------------------------------------------------


def _fit(make: Callable[..., Any], problem: Problem) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(C=problem.C, gamma=problem.gamma).fit(problem.X, problem.y)


def _one_by_one(make: Callable[..., Any], problem: Problem) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make(C=problem.C, gamma=problem.gamma, settle="example")
        return model.partial_fit(problem.X, problem.y, classes=np.unique(problem.y))


BASE = "SVC"
LEARNERS: dict[str, Callable[[Problem], Any]] = {
    BASE: partial(_fit, partial(SVC, cache_size=1000)),
    **{
        name: partial(_fit, getattr(onlinesvm, name))
        for name in ("SmoSVC", "LASVC", "RampSVC", "IncrementalSVC")
    },
    **{
        f"{name}, by example": partial(_one_by_one, getattr(onlinesvm, name))
        for name in ("RampSVC", "IncrementalSVC")
    },
}
# Time over SVC: median, ninth decile, worst; accuracy less SVC's, worst.
BARS: dict[str, tuple[float, float, float, float]] = {
    "SmoSVC": (0.25, 0.6, 1.2, -1.0),
    "LASVC": (0.40, 0.9, 1.8, -1.0),
    "RampSVC": (0.30, 0.8, 1.5, -1.0),
    "IncrementalSVC": (0.7, 1.5, 3.0, -1.0),
    "RampSVC, by example": (0.5, 2.0, 4.0, -1.0),
    "IncrementalSVC, by example": (1.5, 6.0, 10.0, -1.0),
}


def measure(report: Report, problem: Problem) -> None:
    """Race all on one problem."""
    runs = {name: partial(learner, problem) for name, learner in LEARNERS.items()}
    laps: dict[str, Lap] = race(runs, repeats=report.options.repeats, clock=time.process_time)
    facts = {
        name: {
            "accuracy": 100 * float(lap.product.score(problem.X_test, problem.y_test)),
            "SVs": len(lap.product.support_),
        }
        for name, lap in laps.items()
    }
    report.add(problem.name, laps, facts=facts)


def problems(options: Any, seed: int, most: int) -> Iterator[Problem]:
    for number in range(options.size(PROBLEMS, QUICK_PROBLEMS)):
        if options.wants(str(number)):
            yield drawn(number, seed, most)
    if "ONLINESVM_DATA" in os.environ and not options.quick:
        for name in REAL:
            if options.wants(name):
                yield from real(name, seed, most)


# --- what came out -------------------------------------------------------------------------------


def summed_up(report: Report) -> None:
    """Median, ninth decile and worst case of each, and which case that is."""
    rows = []
    for name in [name for name in LEARNERS if name != BASE]:
        ratio = {case: row[name]["ratio"] for case, row in report.cases.items()}
        behind = {
            case: row[name]["accuracy"] - row[BASE]["accuracy"]
            for case, row in report.cases.items()
        }
        times, points = np.array(list(ratio.values())), np.array(list(behind.values()))
        slowest, least = max(ratio, key=ratio.__getitem__), min(behind, key=behind.__getitem__)
        figures = np.median(times), np.quantile(times, 0.9), times.max()
        for claim, value, bound in zip(
            ("median", "90 %", "worst"), figures, BARS[name], strict=False
        ):
            report.bar(f"{name}: time / SVC, {claim}", float(value), at_most=bound)
        report.bar(f"{name}: points less SVC, worst", float(points.min()), at_least=BARS[name][3])
        rows.append(
            [
                name,
                *(f"{value:.2f}" for value in figures),
                f"{np.median(points):+.2f}",
                f"{points.min():+.1f}",
                f"{int((points < -1).sum())} of {len(points)}",
            ]
        )
        report.note(f"{name}: slowest on {slowest}; least accurate beside SVC on {least}")
    head = [
        "fit beside SVC.fit",
        "time, median",
        "90 %",
        "worst",
        "points, median",
        "worst",
        "< -1",
    ]
    report.matrix(f"{len(report.cases)} problems", head, rows)


def draw(report: Report) -> None:
    """Each problem a dot for each learner: time over SVC's, and points beside SVC's."""
    figure = new_figure(figsize=(11, 8))
    names = [name for name in LEARNERS if name != BASE]
    for at, (title, value) in enumerate(
        (
            ("time of fit / SVC.fit", lambda row, name: row[name]["ratio"]),
            (
                "accuracy less SVC's, in points",
                lambda row, name: row[name]["accuracy"] - row[BASE]["accuracy"],
            ),
        )
    ):
        axes = figure.add_subplot(2, 1, at + 1)
        for place, name in enumerate(names):
            values = np.sort([value(row, name) for row in report.cases.values()])
            across = place + np.linspace(-0.35, 0.35, len(values))
            axes.plot(across, values, ".", label=name)
        axes.set_xticks(range(len(names)), names)
        axes.axhline(1 - at, color="black", linewidth=0.5)
        axes.set_yscale(*(("log",) if at == 0 else ("symlog",)))
        axes.set_ylabel(title)
    figure.tight_layout()
    figure.savefig(report.path.with_suffix(".png"), dpi=110)
    console.print(f"drawn: {report.path.with_suffix('.png').relative_to(RESULTS.parent)}")


@benchmark("Problems drawn by seed", BASE, repeats=1)
def main(report: Report, options: Options) -> None:
    seed = int(os.environ.get("ONLINESVM_WIDE_SEED", "0"))
    most = int(os.environ.get("ONLINESVM_WIDE_ROWS", "20000"))
    report.details |= {"seed": seed, "rows at most": most}
    for problem in problems(options, seed, min(most, options.size(most, 500))):
        measure(report, problem)
    summed_up(report)
    draw(report)
