"""Does it pay to notice a drift? Accuracy, test-then-train row by row, on two real streams.

Electricity without date and nswprice, and weather, raw and in their order. Ours: `OnlineScaler` and
`SGDSVC` with their defaults, alone and under `DriftAware` with Page-Hinkley of our own and with
ADWIN and KSWIN of river. River's own: `StandardScaler | LogisticRegression` under its
`DriftRetrainingClassifier`, and its adaptive Hoeffding tree.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import drift as river_drift
from river import linear_model, preprocessing, tree

from bench.common import Options, Report, benchmark
from onlinesvm import SGDSVC, DriftAware, OnlineScaler, make_online_pipeline
from onlinesvm.compose.drift import PageHinkley
from onlinesvm.datasets import fetch


def streams(options: Options) -> Iterator[tuple[str, NDArray[Any], NDArray[np.bool_]]]:
    n = options.size(10**9, 1500)
    X, y, *_ = fetch("stream_electricity")
    yield "electricity", np.delete(X, [0, 3], axis=1)[:n].astype(np.float64), y[:n] > 0
    X, y, *_ = fetch("stream_weather")
    yield "weather", X[:n].astype(np.float64), y[:n] > 0


def alone() -> Any:
    return make_online_pipeline(OnlineScaler(), SGDSVC(classes=[False, True]))


def logistic() -> Any:
    return preprocessing.StandardScaler() | linear_model.LogisticRegression()


OURS: dict[str, Callable[[], Any]] = {
    "SGDSVC alone": alone,
    "PageHinkley, reset": lambda: DriftAware(alone(), PageHinkley()),
    "PageHinkley, switch": lambda: DriftAware(alone(), PageHinkley(), on="switch"),
    "river's ADWIN, reset": lambda: DriftAware(alone(), river_drift.ADWIN()),
    "river's ADWIN, switch": lambda: DriftAware(
        alone(), river_drift.ADWIN(), on="switch", warning=river_drift.ADWIN(delta=0.01)
    ),
    "river's KSWIN, reset": lambda: DriftAware(alone(), river_drift.KSWIN(seed=0)),
}
RIVERS: dict[str, Callable[[], Any]] = {
    "river: LogisticRegression": logistic,
    "river: LogisticRegression, DriftRetraining": lambda: river_drift.DriftRetrainingClassifier(
        logistic(), river_drift.binary.DDM()
    ),
    "river: HoeffdingAdaptiveTree": lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=0),
}


def ours(make: Callable[[], Any], X: NDArray[Any], y: NDArray[Any]) -> tuple[float, str]:
    model, right = make().learn_one(X[0], y[0]), 0
    for x, label in zip(X[1:], y[1:].tolist(), strict=True):
        right += model.predict_one(x) == label
        model.learn_one(x, label)
    return right / (len(y) - 1), str(getattr(model, "n_alarms_", "-"))


def rivers(make: Callable[[], Any], X: NDArray[Any], y: NDArray[Any]) -> tuple[float, str]:
    model, right = make(), 0
    for i, (row, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        x = dict(enumerate(row))
        right += i > 0 and model.predict_one(x) == label
        model.learn_one(x, label)
    return right / (len(y) - 1), "-"


@benchmark("Models that notice a drift", "SGDSVC alone", repeats=1)
def main(report: Report, options: Options) -> None:
    rows: dict[str, list[str]] = {name: [name] for name in (*OURS, *RIVERS)}
    heads = ["model"]
    warnings.simplefilter("ignore")
    for stream, X, y in streams(options):
        heads += [f"{stream}, accuracy %", "alarms"]
        for teach, models in ((ours, OURS), (rivers, RIVERS)):
            for name, make in models.items():
                accuracy, alarms = teach(make, X, y)
                rows[name] += [f"{100 * accuracy:.1f}", alarms]
        same = 100 * np.mean(y[1:] == y[:-1])
        report.note(f"{stream}: who repeats the last label has {same:.1f} %.")
    report.matrix("Accuracy on streams that drift", heads, list(rows.values()))
