"""Forgetting by the measures of unlearning benchmarks: a retrained model, membership inference.

Five sets of up to 1,000 rows, half of them to learn. A tenth of the learned rows is forgotten, at
random or the rows furthest out. Each way of forgetting is judged beside a model retrained without
these rows, the gold standard (as in the ERASURE framework): accuracy on the rows forgotten, kept
and never seen; predictions that differ from the retrained model's; and how well an attacker tells
rows forgotten from rows never seen by their margins (AUC, .5 is a guess). gamma="scale", so that
forgetting examples alone leaves a part of them.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.metrics import roc_auc_score

from bench.common import Options, Report, benchmark
from onlinesvm import IncrementalSVC, SettledWarning
from onlinesvm.datasets import fetch

ROWS, KINDS = 1000, ("at random", "furthest out")
WAYS = ("nothing forgotten", "unlearn", 'unlearn, scope="all"', "retrained")


def problems(options: Options) -> dict[str, tuple[Any, Any]]:
    sets: dict[str, tuple[Any, Any]] = {
        "breast cancer": load_breast_cancer(return_X_y=True),
        "digits": load_digits(return_X_y=True),
        "wine": load_wine(return_X_y=True),
    }
    for name in ("banana", "pima"):
        X, y, *_ = fetch(name)
        sets[name] = np.asarray(X, dtype=np.float64), y
    chosen = {}
    for name, (X, y) in sets.items():
        few = np.random.default_rng(1).permutation(len(y))[: options.size(ROWS, 120)]
        chosen[name] = X[few] / X[few].std(), y[few]
    return chosen


def forgotten(X: Any, kind: str) -> Any:
    """The numbers of a tenth of the rows."""
    if kind == "at random":
        return np.random.default_rng(2).permutation(len(X))[: len(X) // 10]
    return np.argsort(((X - X.mean(axis=0)) ** 2).sum(axis=1))[-(len(X) // 10) :]


def margins(model: Any, X: Any, y: Any) -> Any:
    """How clearly a model prefers the label of each row."""
    f = model.decision_function(X)
    own = np.searchsorted(model.classes_, y)
    if f.ndim == 1:
        return np.where(own == 1, f, -f)
    rest = f.copy()
    rest[np.arange(len(y)), own] = -np.inf
    return f[np.arange(len(y)), own] - rest.max(axis=1)


def judged(X: Any, y: Any, kind: str) -> dict[str, list[float]]:
    """Of each way: three accuracies, predictions unlike gold, the attacker's AUC, CPU seconds."""
    half = len(y) // 2
    gone = forgotten(X[:half], kind)
    kept, unseen = np.setdiff1d(np.arange(half), gone), np.arange(half, len(y))
    new = {"C": 10.0, "classes": np.unique(y)}
    full = IncrementalSVC(**new).fit(X[:half], y[:half])
    found = {}
    gold = IncrementalSVC(**new).fit(X[kept], y[kept]).predict(X)
    for way in WAYS:
        model = full if way == WAYS[0] else IncrementalSVC(**new).fit(X[:half], y[:half])
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SettledWarning)
            if way == WAYS[1]:
                model.unlearn(gone)
            elif way == WAYS[2]:
                model.unlearn(gone, scope="all")
            elif way == WAYS[3]:
                model = IncrementalSVC(**new).fit(X[kept], y[kept])
        seconds = time.process_time() - start
        accuracy = [float(model.score(X[part], y[part])) for part in (gone, kept, unseen)]
        member = np.r_[np.ones(len(gone)), np.zeros(len(unseen))]
        said = np.r_[margins(model, X[gone], y[gone]), margins(model, X[unseen], y[unseen])]
        unlike = float(np.mean(model.predict(X) != gold))
        found[way] = [*accuracy, unlike, float(roc_auc_score(member, said)), seconds]
    return found


@benchmark("Forgetting beside retraining", "retrained", repeats=1)
def main(report: Report, options: Options) -> None:
    cells = {kind: [judged(X, y, kind) for X, y in problems(options).values()] for kind in KINDS}
    head = ["way", "accuracy, forgotten", "kept", "unseen", "unlike gold", "attack AUC", "CPU s"]
    for kind, found in cells.items():
        rows = [[w, *(f"{v:.3f}" for v in np.mean([f[w] for f in found], axis=0))] for w in WAYS]
        report.matrix(f"A tenth of the rows, {kind}; mean of five sets", head, rows)
    unlike = max(f[WAYS[2]][3] for found in cells.values() for f in found)
    report.bar('predictions unlike retraining, scope="all", worst', unlike, at_most=0.0)
    attack = [abs(f[WAYS[2]][4] - f[WAYS[3]][4]) for found in cells.values() for f in found]
    report.bar("attack AUC away from retraining's, worst", max(attack), at_most=1e-3)
