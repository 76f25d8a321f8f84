"""Removal curves: accuracy as rows of the least and of the most worth are removed.

Five sets, 100 rows to learn, one label in ten wrong, 200 rows to value them by, the others to test.
Shapley values of an exact SVM stand beside values of a nearest-neighbour classifier (Jia et al.,
exact for k = 5) and a random order. The mean accuracy over the curve counts: high where the worst
rows go first, low where the best do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.preprocessing import StandardScaler

from bench.common import RESULTS, Options, Report, benchmark
from onlinesvm import IncrementalSVC
from onlinesvm.datasets import fetch
from onlinesvm.value import data_values, removal_curve

LEARNED, VALUED, K = 100, 200, 5
WAYS = ("Shapley, SVM", "Shapley, 5 neighbours", "random")


def problems(options: Options) -> dict[str, tuple[Any, Any]]:
    sets: dict[str, tuple[Any, Any]] = {
        "breast cancer": load_breast_cancer(return_X_y=True),
        "digits, 3 or 8": _two_digits(),
        "wine": load_wine(return_X_y=True),
    }
    for name in ("banana", "pima"):
        X, y, *_ = fetch(name)
        sets[name] = np.asarray(X, dtype=np.float64), y
    chosen = {}
    for name, (X, y) in sets.items():
        order = np.random.default_rng(1).permutation(len(y))[:800]
        codes = np.unique(y[order], return_inverse=True)[1]
        chosen[name] = StandardScaler().fit_transform(X[order]), codes
    return chosen


def _two_digits() -> tuple[Any, Any]:
    X, y = load_digits(return_X_y=True)
    two = np.isin(y, (3, 8))
    return X[two], y[two]


def parts(X: Any, y: Any) -> list[tuple[Any, Any]]:
    """Rows to learn, a tenth of them with a wrong label, rows to value them by, and to test."""
    n = min(LEARNED, len(y) // 3)
    m = min(VALUED, (len(y) - n) // 2)
    rng = np.random.default_rng(0)
    wrong = y[:n].copy()
    flipped = rng.random(n) < 0.1
    wrong[flipped] = (y[:n][flipped] + 1) % (y.max() + 1)
    return [(X[:n], wrong), (X[n : n + m], y[n : n + m]), (X[n + m :], y[n + m :])]


def neighbour_values(X: Any, y: Any, X_valid: Any, y_valid: Any) -> Any:
    """Exact Shapley values of a classifier of K neighbours, by Jia et al. (2019), theorem 1."""
    values = np.zeros(len(y))
    for x, label in zip(X_valid, y_valid, strict=True):
        order = np.argsort(((X - x) ** 2).sum(axis=1), kind="stable")
        right = (y[order] == label).astype(float)
        n = len(order)
        s = np.empty(n)
        s[-1] = right[-1] / n
        for i in range(n - 2, -1, -1):
            s[i] = s[i + 1] + (right[i] - right[i + 1]) / K * min(K, i + 1) / (i + 1)
        values[order] += s
    return values / len(y_valid)


@benchmark("Accuracy as rows are removed", "random", repeats=1)
def main(report: Report, options: Options) -> None:
    sets = problems(options)
    figure = Figure(figsize=(15, 3.4), layout="constrained")
    rows, ahead = [], dict.fromkeys(WAYS[1:], 0)
    for ax, (name, (X, y)) in zip(figure.subplots(1, len(sets)), sets.items(), strict=True):
        learned, valued, tested = parts(X, y)
        svm = IncrementalSVC(C=3.0, gamma=1.0 / X.shape[1])
        found = data_values(svm, *learned, *valued, n_rounds=options.size(50, 2))
        orders = {
            WAYS[0]: found.order(),
            WAYS[1]: np.argsort(neighbour_values(*learned, *valued), kind="stable"),
            WAYS[2]: np.random.default_rng(3).permutation(len(learned[1])),
        }
        means = {}
        for way, order in orders.items():
            shares, worst = removal_curve(svm, *learned, *tested, order)
            _, best = removal_curve(svm, *learned, *tested, order[::-1])
            means[way] = float(worst.mean()), float(best.mean())
            (line,) = ax.plot(shares, worst, label=way)
            ax.plot(shares, best, linestyle="--", color=line.get_color())
        for way in ahead:
            ahead[way] += means[WAYS[0]][0] >= means[way][0]
        ax.set(title=name, xlabel="share of rows removed")
        rows.append([name, *(f"{a:.3f} / {b:.3f}" for a, b in means.values())])
        print(*rows[-1], flush=True)
    figure.axes[0].set(ylabel="test accuracy")
    figure.axes[0].legend(title="worst first; dashed: best first", fontsize="small")
    report.matrix("mean accuracy, worst first / best first", ["set", *WAYS], rows)
    for way, n in ahead.items():
        report.bar(f"sets of {len(sets)} where worst first is at or above {way}", n, at_least=3)
    if not options.quick:
        figure.savefig(RESULTS / "removal.png", dpi=80)
