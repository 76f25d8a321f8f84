"""What bounds the linear classes: the parts of a call, each timed alone, in nanoseconds per row.

200,000 rows of 54 float64 in one batch: reading them once is the floor; a call also turns labels
into numbers, and takes its steps, each of which needs the weights that the one before it left. Then
rows of 22 one by one, as arrays and as dicts: the method in Python, the call into the core, and the
least that any caller pays, a loop over the values. Then text, 60 words of 2^20 hashed columns per
row, in CSR, as a new model learns it at one stroke and as one that has begun learns it by the
thousand rows. SGDClassifier and the classes do their normal work.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import SGDClassifier

from bench.common import Options, Report, benchmark, figure, race
from onlinesvm import SGDSVC, PassiveAggressiveClassifier, PegasosSVC, StreamSVC
from onlinesvm.core import all_finite, create

LABELS = [-1, 1]
CLASSES = (PassiveAggressiveClassifier, PegasosSVC, SGDSVC, StreamSVC)
SGD = "SGDClassifier"


def core_alone(model: Any, X: Any, y: Any) -> Callable[[], Any]:
    """The steps and nothing else, by a core that has learned nothing."""
    codes = (y == LABELS[1]).astype(np.float64)
    weights, ids = np.ones(len(y)), np.arange(len(y))
    name, settings = model._core_name, model._core_settings
    return lambda: create(name, settings).learn_dense(X, codes, weights, ids)


def show(
    report: Report, title: str, work: dict[str, Callable[[], Any]], n: int, laps: int
) -> dict[str, float]:
    """Nanoseconds per row of each, and how many times SGDClassifier's where it takes part.

    Returns the seconds of each.
    """
    best = {
        name: lap.best for name, lap in race(work, repeats=laps, clock=time.process_time).items()
    }
    head, rows = ["", "ns per row"], [[name, figure(1e9 * t / n)] for name, t in best.items()]
    if SGD in best:
        head.append(f"{SGD} / this")
        rows = [[*row, figure(best[SGD] / best[row[0]])] for row in rows]
        for cls in CLASSES:
            gain = best[SGD] / best[cls.__name__]
            bar = 8 if "text" not in title else 3
            report.bar(f"{title}: {SGD} time / {cls.__name__}", gain, at_least=bar)
    report.matrix(title, head, rows)
    return best


def learn_from(X: Any, y: Any) -> dict[str, Callable[[], Any]]:
    work: dict[str, Callable[[], Any]] = {
        cls.__name__: lambda cls=cls: cls(classes=LABELS).partial_fit(X, y) for cls in CLASSES
    }
    work[SGD] = lambda: SGDClassifier(random_state=0).partial_fit(X, y, classes=LABELS)
    return work


def go_on_with(X: Any, y: Any, at_once: int = 1000) -> dict[str, Callable[[], Any]]:
    """Rows in calls of a thousand, by models that have begun."""
    starts = range(0, X.shape[0], at_once)
    calls = [(X[i : i + at_once], y[i : i + at_once]) for i in starts]
    begun = {cls.__name__: cls(classes=LABELS).partial_fit(*calls[0]) for cls in CLASSES}
    begun[SGD] = SGDClassifier(random_state=0).partial_fit(*calls[0], classes=LABELS)

    def learner(model: Any) -> Callable[[], Any]:
        return lambda: [model.partial_fit(*call) for call in calls]

    return {name: learner(model) for name, model in begun.items()}


def batch(report: Report, options: Options, rng: np.random.Generator) -> None:
    n = options.size(200_000, 1000)
    X = rng.standard_normal((n, 54))
    y = np.where(X[:, :9].sum(axis=1) + 3 * rng.standard_normal(n) > 0, 1, -1)
    model = PassiveAggressiveClassifier(classes=LABELS).partial_fit(X[:9], y[:9])
    work = {
        "reading X once (its sum)": lambda: X.sum(),
        "NaN or infinity in X?": lambda: all_finite(X),
        "labels into numbers": lambda: model._labels.encode(y),
    }
    for cls in CLASSES:
        begun = cls(classes=LABELS).partial_fit(X[:9], y[:9])
        work[f"{cls.__name__}, steps alone"] = core_alone(begun, X, y)
    show(report, "one batch, 54-wide", work | learn_from(X, y), n, options.repeats)


def each(rows: list[Any], labels: list[Any], act: Callable[[Any, Any], Any]) -> None:
    for row, label in zip(rows, labels, strict=True):
        act(row, label)


def one_by_one(report: Report, options: Options, rng: np.random.Generator) -> None:
    n = options.size(20_000, 200)
    X = rng.standard_normal((n, 22))
    rows, labels = list(X), np.where(X[:, 0] > 0, 1, -1).tolist()
    records = [{f"f{j}": value for j, value in enumerate(row)} for row in X.tolist()]
    model, named = (PassiveAggressiveClassifier(classes=LABELS) for _ in range(2))
    model.learn_one(rows[0], labels[0])
    named.learn_one(records[0], labels[0])
    for learner, row in ((model, rows[0]), (named, records[0])):
        learner.learn_one(row, labels[0])  # the second example opens the way of those to come
    arrays, dicts = model._door.straight, named._door.straight
    assert arrays is not None
    assert dicts is not None
    work: dict[str, Callable[[], Any]] = {
        "arrays: a loop that does nothing": lambda: each(rows, labels, lambda x, y: None),
        "arrays: call into the core": lambda: each(rows, labels, arrays),
        "arrays: learn_one": lambda: each(rows, labels, model.learn_one),
        "dicts: a loop that adds the values": lambda: each(
            records, labels, lambda x, y: sum(x.values())
        ),
        "dicts: call into the core": lambda: each(records, labels, dicts),
        "dicts: learn_one": lambda: each(records, labels, named.learn_one),
    }
    best = show(report, "one by one, 22-wide", work, n, options.repeats)
    for kind, bar in (("arrays", 2.5), ("dicts", 1.0)):
        rate = n / best[f"{kind}: learn_one"] / 1e6
        report.bar(f"one by one: {kind}, millions per second", rate, at_least=bar)


def text(report: Report, options: Options, rng: np.random.Generator) -> None:
    n, words = options.size(20_000, 200), 60
    columns = np.sort(rng.zipf(1.3, size=(n, words)) % 2**20, axis=1).astype(np.int32)
    values, starts = np.full(n * words, words**-0.5), np.arange(n + 1, dtype=np.int32) * words
    X = sp.csr_array((values, columns.ravel(), starts), shape=(n, 2**20))
    X.sum_duplicates()
    y = np.where(columns[:, 3] % 2, 1, -1)
    show(report, "text at one stroke, CSR of 2^20 columns", learn_from(X, y), n, options.repeats)
    show(report, "text by the thousand", go_on_with(X, y), n, options.repeats)


@benchmark("What bounds the linear classes", SGD, repeats=7)
def main(report: Report, options: Options) -> None:
    for case in (batch, one_by_one, text):
        if options.wants(case.__name__):
            case(report, options, np.random.default_rng(0))
