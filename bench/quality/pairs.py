"""One against one or one against the rest: accuracy, time and memory, beside scikit-learn's SVC.

Abalone by its number of rings (28 classes, some of a single row), sector (105 classes of text, wide
and sparse), covtype (7 classes of very unlike size) and the ten digits, every class with the same C
and gamma as SVC, which sets one against one. At most 6,000 rows (sector 1,500), of which a quarter
is held out. The seconds are those of `fit`, the bytes `nbytes_`, or for SVC its support
vectors with their coefficients.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import datasets as bundled
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import onlinesvm
from bench.common import Options, Report, benchmark, race
from onlinesvm.datasets import fetch

BATCH = "SVC"
WAYS = ("one-vs-one", "one-vs-rest")
CLASSES = ("SmoSVC", "IncrementalSVC", "RampSVC", "LASVC")
EXACT = ("SmoSVC", "IncrementalSVC")  # they solve the problem of SVC


@dataclass(frozen=True)
class Set:
    """Rows to learn and rows to judge by, with the parameters of all."""

    name: str
    X: Any
    y: Any
    X_test: Any
    y_test: Any
    C: float
    gamma: float


def _cut(name: str, X: Any, y: Any, C: float, gamma: float | None = None, rows: int = 6000) -> Set:
    """A quarter apart, never rows of a class that has but one; dense rows standardised."""
    y = np.asarray(y)
    order = np.random.default_rng(0).permutation(len(y))[:rows]
    X, y = X[order], y[order]
    kept, held = train_test_split(np.arange(len(y)), test_size=0.25, random_state=0)
    if not sp.issparse(X):
        X = np.asarray(X, dtype=np.float64)
        X = StandardScaler().fit(X[kept]).transform(X)
    return Set(name, X[kept], y[kept], X[held], y[held], C, gamma or 1.0 / X.shape[1])


def sets(report: Report) -> Iterator[Set]:
    """Those that can be had, and are wanted."""
    rows = report.options.size(6000, 300)
    digits = bundled.load_digits(return_X_y=True)
    if report.options.wants("digits"):
        yield _cut("digits", *digits, C=1.0, rows=rows)
    makers = {
        "abalone rings": lambda X, y: _cut("abalone rings", X, y, C=1.0, rows=rows),
        "covtype": lambda X, y: _cut("covtype", X, y, C=10.0, rows=rows),
        "sector": lambda X, y: _cut("sector", X, y, C=10.0, gamma=0.5, rows=rows // 4),
    }
    if "ONLINESVM_DATA" not in os.environ:
        report.note("without ONLINESVM_DATA only the digits take part")
        return
    for name, make in makers.items():
        if report.options.wants(name):
            X, y, *_ = fetch(name.split()[0])
            yield make(X, y)


@benchmark("One against one, or against the rest", BATCH, repeats=1)
def main(report: Report, options: Options) -> None:
    for data in sets(report):
        calls: dict[str, Any] = {BATCH: partial(_fit, SVC(C=data.C, gamma=data.gamma), data)}
        for name in CLASSES:
            for way in WAYS:
                model = getattr(onlinesvm, name)(C=data.C, gamma=data.gamma, multiclass=way)
                calls[f"{name}, {way}"] = partial(_fit, model, data)
        laps = race(calls, repeats=options.repeats, clock=time.process_time)
        facts = {name: _facts(lap.product, data) for name, lap in laps.items()}
        report.add(data.name, laps, facts=facts)
        for name in EXACT:
            lost = facts[BATCH]["accuracy"] - facts[f"{name}, one-vs-one"]["accuracy"]
            report.bar(f"{data.name}: points {name}, one-vs-one, is below SVC", lost, at_most=1.0)
    _table(report)


def _fit(model: Any, data: Set) -> Any:
    return model.fit(data.X, data.y)


def _facts(model: Any, data: Set) -> dict[str, Any]:
    accuracy = 100.0 * float((model.predict(data.X_test) == data.y_test).mean())
    return {"accuracy": round(accuracy, 2), "SVs": len(model.support_), "MB": _bytes(model) / 1e6}


def _bytes(model: Any) -> float:
    if hasattr(model, "nbytes_"):
        return float(model.nbytes_)
    X, coef = model.support_vectors_, model.dual_coef_
    parts = [X.data, X.indices, X.indptr] if sp.issparse(X) else [X]
    coef = coef.data if sp.issparse(coef) else coef
    return float(sum(part.nbytes for part in [*parts, coef]))


def _table(report: Report) -> None:
    for case, rows in report.cases.items():
        lines = [
            [
                name,
                f"{row['accuracy']:.1f}",
                f"{row['best_s']:.2f}",
                f"{row['MB']:.1f}",
                f"{row['SVs']:,}",
            ]
            for name, row in rows.items()
        ]
        head = ["", "accuracy, %", "seconds", "MB", "support vectors"]
        report.matrix(case, head, lines)
