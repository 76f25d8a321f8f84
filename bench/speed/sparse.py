"""Sparse rows: an example costs its non-zeros, not the width of the model.

Text first: sector (the most frequent of 105 classes against the rest, 55,197 words) and the
SpamAssassin stream (39,916 words), in batches of 1,000. Then rows made for the purpose: the same
number of non-zeros in models twice and twenty times as wide, and more non-zeros in one width.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.linear_model import SGDClassifier

from bench.common import Options, Report, benchmark, race
from onlinesvm import SGDSVC, PassiveAggressiveClassifier, PegasosSVC, StreamSVC
from onlinesvm.datasets import fetch

SGD = "SGDClassifier"
OURS: dict[str, Callable[[], Any]] = {
    "StreamSVC": StreamSVC,
    "StreamSVC, lookahead 10": partial(StreamSVC, lookahead=10),
    "PegasosSVC": PegasosSVC,
    "PassiveAggressive": PassiveAggressiveClassifier,
    "SGDSVC": SGDSVC,
}
WIDTHS = (50_000, 100_000, 1_000_000)
NON_ZEROS = (50, 100, 200, 400)


def learn(make: Callable[[], Any], X: sp.csr_matrix, y: NDArray[np.int64]) -> Any:
    model = make()
    for start in range(0, len(y), 1000):
        model.partial_fit(X[start : start + 1000], y[start : start + 1000], classes=[-1, 1])
    return model


def compete(report: Report, case: str, X: sp.csr_matrix, y: NDArray[np.int64]) -> None:
    everybody = OURS | {SGD: partial(SGDClassifier, random_state=0)}
    runs = {name: partial(learn, make, X, y) for name, make in everybody.items()}
    report.add(case, race(runs, repeats=report.options.repeats), units=len(y))


def text(report: Report, name: str) -> None:
    data = fetch(name)
    X, y = sp.csr_matrix(data.X_train, dtype=np.float64), data.y_train
    classes, counts = np.unique(y, return_counts=True)
    compete(report, name, X, np.where(y == classes[counts.argmax()], 1, -1))


def made(rows: int, width: int, non_zeros: int) -> tuple[sp.csr_matrix, NDArray[np.int64]]:
    """Rows with so many non-zeros anywhere; the sign of their sum is the label."""
    rng = np.random.default_rng(0)
    columns = np.sort(rng.integers(0, width, (rows, non_zeros)), axis=1)
    values = rng.normal(size=columns.shape)
    starts = np.arange(rows + 1) * non_zeros
    X = sp.csr_matrix((values.ravel(), columns.ravel(), starts), shape=(rows, width))
    X.sum_duplicates()
    return X, np.where(values.sum(axis=1) > 0, 1, -1)


def growth(report: Report, options: Options) -> None:
    rows = options.size(20_000, 500)
    for width in WIDTHS:
        compete(report, f"100 of {width:,}", *made(rows, width, 100))
    for n in NON_ZEROS:
        compete(report, f"{n} of 30,000", *made(rows, 30_000, n))

    def seconds(case: str, name: str) -> float:
        return float(report.cases[case][name]["best_s"])

    for name in OURS:
        wider = seconds(f"100 of {WIDTHS[1]:,}", name) / seconds(f"100 of {WIDTHS[0]:,}", name)
        report.bar(f"{name}: twice the width", wider, at_most=1.25)
        fuller = seconds(f"{NON_ZEROS[-1]} of 30,000", name) / seconds(
            f"{NON_ZEROS[1]} of 30,000", name
        )
        report.bar(f"{name}: four times the non-zeros", fuller, at_most=4.4)


@benchmark("Sparse rows, examples per second", SGD, repeats=5)
def main(report: Report, options: Options) -> None:
    for name in ("sector", "stream_spam"):
        if options.wants(name):
            text(report, name)
    if options.wants("made"):
        growth(report, options)
