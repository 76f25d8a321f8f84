"""Every linear class of `margin` and `gradient`: one pass in one batch against SGDClassifier.

All learn class 2 of covtype against the rest: classes as labels, regressions as targets -1 and 1,
machines of one class without them. Features are standardised, for Winnow's positive weights from 0
to 1. The 300 wide ones are random waves of the 54, in float32. Each side does its normal work,
validation included, with its default settings but for what the names say.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import minmax_scale

import onlinesvm
from bench.common import Options, Report, benchmark, race
from bench.speed.linear import LABELS, binary_rows
from onlinesvm import FourierFeatures

SGD = "SGDClassifier"
BAR = 2.0
LINEAR = {"kernel": "linear"}
CLASS_LOSSES = ("hinge", "squared_hinge", "logistic", "squared", "perceptron")
TARGET_LOSSES = ("squared", "epsilon_insensitive", "huber", "pinball")

# What a class is told, each under its name; nothing: its defaults.
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "KernelPerceptron": [LINEAR],
    "PassiveAggressiveClassifier": [{}],
    "PassiveAggressiveRegressor": [{}],
    "PassiveAggressiveOneClass": [LINEAR],
    "RommaClassifier": [{}],
    "MiraClassifier": [{}],
    "AlmaClassifier": [{}, {"p": 8}, {"p": 2 * np.log(54)}],
    "ConfidenceWeightedClassifier": [{}, {"variant": "SCW-I"}, {"covariance": "full"}],
    "WinnowClassifier": [{}, {"variant": "divide"}, {"variant": "eliminate"}],
    "PegasosSVC": [{}],
    "SGDSVC": [{}],
    "NormaSVC": [LINEAR],
    "NormaSVR": [LINEAR],
    "NormaOneClassSVM": [LINEAR],
    "GradientDescentClassifier": [{"loss": loss} for loss in CLASS_LOSSES],
    "GradientDescentRegressor": [{"loss": loss} for loss in TARGET_LOSSES],
    "ExponentiatedGradientClassifier": [{}, {"loss": "logistic"}, {"variant": "EG"}],
    "ExponentiatedGradientRegressor": [{}, {"variant": "EG"}],
}
Data = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]  # X, X from 0 to 1, y


def one_pass(cls: type, told: dict[str, Any], data: Data) -> Any:
    X, unit, y = data
    if told.get("variant") in ("divide", "eliminate"):
        X = unit
    if issubclass(cls, onlinesvm.model.outlier.OnlineOutlierDetector):
        return cls(**told).partial_fit(X)
    if issubclass(cls, onlinesvm.model.regressor.OnlineRegressor):
        return cls(**told).partial_fit(X, y)
    return cls(**told).partial_fit(X, y, classes=LABELS)


def contestants(data: Data, dtype: str) -> dict[str, Callable[[], Any]]:
    X, _, y = data
    runs: dict[str, Callable[[], Any]] = {
        SGD: lambda: SGDClassifier(random_state=0).partial_fit(X, y, classes=LABELS)
    }
    for name, settings in SETTINGS.items():
        for told in settings:
            words = [f"{value:.3g}" if key == "p" else value for key, value in told.items()]
            own = told | {"dtype": dtype}
            runs[" ".join([name, *words])] = partial(one_pass, getattr(onlinesvm, name), own, data)
    return runs


def measure(report: Report, options: Options, case: str, data: Data, dtype: str) -> None:
    laps = race(contestants(data, dtype), repeats=options.repeats)
    report.add(case, laps, units=len(data[0]))
    for name in laps:
        if name != SGD:
            report.bar(f"{case}: SGD time / {name}", report.speed_up(case, name), at_least=BAR)


@benchmark("Linear classes, one pass in one batch", SGD, repeats=5)
def main(report: Report, options: Options) -> None:
    X, y = binary_rows("covtype", options.size(200_000, 3_000))
    if options.wants("narrow"):
        measure(report, options, "54-wide", (X, minmax_scale(X).clip(0, 1), y), "float64")
    if options.wants("wide"):
        X, y = X[: len(X) // 4], y[: len(X) // 4]
        X = FourierFeatures(n_components=300, dtype="float32", random_state=0).fit_transform(X)
        measure(report, options, "300-wide, float32", (X, minmax_scale(X).clip(0, 1), y), "float32")
