"""Linear throughput: whole batches against SGDClassifier, single rows and dicts against river.

Each side does its normal work, validation included. Covtype is class 2 against the rest and ijcnn1
as it is, both standardised in float64; rows and dicts are made before the clock starts.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from bench.common import Options, Report, benchmark, race
from onlinesvm import PassiveAggressiveClassifier, StreamSVC
from onlinesvm.datasets import fetch

OURS, DICTS = "PassiveAggressive", "PassiveAggressive, dicts"
STREAM, STREAM_10 = "StreamSVC", "StreamSVC, lookahead 10"
SGD, RIVER = "SGDClassifier", "river PAClassifier, dicts"
LABELS = [-1, 1]


def binary_rows(name: str, limit: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The first ``limit`` rows of a set, standardised, its most frequent class against the rest."""
    data = fetch(name)
    X = StandardScaler().fit_transform(data.X_train[:limit].astype(np.float64))
    y = data.y_train[:limit]
    classes, counts = np.unique(y, return_counts=True)
    return X, np.where(y == classes[counts.argmax()], 1, -1)


def batch(model: Any, X: NDArray[Any], y: NDArray[Any], size: int) -> Any:
    for start in range(0, len(X), size):
        model.partial_fit(X[start : start + size], y[start : start + size], classes=LABELS)
    return model


def single(model: Any, rows: list[Any], labels: list[Any]) -> Any:
    for row, label in zip(rows, labels, strict=True):
        model.learn_one(row, label)
    return model


def ours() -> PassiveAggressiveClassifier:
    return PassiveAggressiveClassifier(classes=LABELS)


def river() -> Any:
    from river.linear_model import PAClassifier

    return PAClassifier(C=1.0, mode=1)


def batches(report: Report, options: Options) -> None:
    X, y = binary_rows("covtype", options.size(581_012, 5_000))
    for label, size in (("one batch", len(X)), ("batches of 1000", 1000)):
        case = f"covtype 54-wide, {label}"
        contestants: dict[str, Callable[[], Any]] = {
            OURS: lambda size=size: batch(ours(), X, y, size),
            STREAM: lambda size=size: batch(StreamSVC(), X, y, size),
            STREAM_10: lambda size=size: batch(StreamSVC(lookahead=10), X, y, size),
            SGD: lambda size=size: batch(SGDClassifier(random_state=0), X, y, size),
        }
        report.add(case, race(contestants, repeats=options.repeats), units=len(X))
        if size == len(X):
            report.bar(f"{case}: SGD time / ours", report.ratio(case, SGD), at_least=3)
            rates = {name: result["per_second"] for name, result in report.cases[case].items()}
            for name, least in ((STREAM, 3), (STREAM_10, 1)):
                gain = rates[name] / rates[SGD]
                report.bar(f"{case}: SGD time / {name}", gain, at_least=least)


def one_by_one(report: Report, options: Options, name: str) -> None:
    X, y = binary_rows(name, options.size(20_000, 500))
    rows, labels, width = list(X), y.tolist(), X.shape[1]
    dicts = [dict(enumerate(row)) for row in X.tolist()]
    contestants: dict[str, Callable[[], Any]] = {
        OURS: lambda: single(ours(), rows, labels),
        DICTS: lambda: single(ours(), dicts, labels),
    }
    if importlib.util.find_spec("river"):
        truths = [label > 0 for label in labels]
        contestants[RIVER] = lambda: single(river(), dicts, truths)
    else:
        report.note("river is not installed, so nobody raced our dicts")
    case = f"{name} {width}-wide, one by one"
    report.add(case, race(contestants, repeats=options.repeats), units=len(y))
    results = report.cases[case]
    if width == 22:
        rate = results[OURS]["per_second"] / 1e6
        report.bar(f"{case}: million arrays per second", rate, at_least=1)
    if RIVER in results:
        gain = results[DICTS]["per_second"] / results[RIVER]["per_second"]
        report.bar(f"{case}: river time / ours, dicts", gain, at_least=3)


@benchmark("Linear learners, examples per second", OURS, repeats=7)
def main(report: Report, options: Options) -> None:
    if options.wants("batch"):
        batches(report, options)
    for name in ("ijcnn1", "covtype"):
        if options.wants(name):
            one_by_one(report, options, name)
