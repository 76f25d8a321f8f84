"""What preparation and keys cost beside the model alone: a scaler before SGDSVC, keys for NORMA.

The warm-up is over and every step but the last has nothing left to learn, as in all but the first
rows of a stream. NORMA with a budget drops an example for each that it takes, and its key with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.common import Options, Report, benchmark, race

ROWS, FEATURES = 2000, 20
ONE_BY_ONE = 200  # rows
ONE_BY_ONE_AT_MOST = 60e-6  # seconds
BATCH_AT_MOST = 4.0


def rows(options: Options) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = 3 * rng.standard_normal((options.size(ROWS, 300), FEATURES)) + 1
    return X, (X[:, 0] > 1).astype(int)


def one_by_one(model: Any, X: Any, y: Any, **key: Any) -> None:
    learn = model.learn_one
    for x, label in zip(X, y.tolist(), strict=True):
        learn(x, label, **key)


def preparation(report: Report, options: Options) -> None:
    from onlinesvm import SGDSVC, OnlineScaler, make_online_pipeline

    X, y = rows(options)
    alone = SGDSVC(classes=[0, 1]).partial_fit(X, y)
    piped = make_online_pipeline(OnlineScaler(), SGDSVC(classes=[0, 1])).partial_fit(X, y)
    both = {"alone": alone, "scaler and model": piped}
    case = "in batches"
    calls = {name: lambda m=model: m.partial_fit(X, y) for name, model in both.items()}
    report.add(case, race(calls, repeats=options.repeats), units=len(X))
    ratio = report.ratio(case, "scaler and model")
    report.bar(f"{case}: scaler and model / alone", ratio, at_most=BATCH_AT_MOST)
    case = "one by one"
    few, labels = X[:ONE_BY_ONE], y[:ONE_BY_ONE]
    calls = {name: lambda m=model: one_by_one(m, few, labels) for name, model in both.items()}
    laps = race(calls, repeats=options.repeats)
    report.add(case, laps, units=len(few))
    each = laps["scaler and model"].best / len(few)
    report.bar(f"{case}: seconds of scaler and model", each, at_most=ONE_BY_ONE_AT_MOST)


def keys(report: Report, options: Options) -> None:
    from onlinesvm import NormaSVC

    X, y = rows(options)
    owners = [f"customer {i}" for i in range(len(X))]
    setting = {"kernel": "rbf", "gamma": 0.05, "truncation": 100, "classes": [0, 1]}
    plain = NormaSVC(**setting).partial_fit(X, y)
    keyed = NormaSVC(**setting).partial_fit(X, y, keys=owners)
    calls = {
        "alone": lambda: plain.partial_fit(X, y),
        "with keys": lambda: keyed.partial_fit(X, y, keys=owners),
    }
    report.add("NormaSVC in batches", race(calls, repeats=options.repeats), units=len(X))
    few, labels = X[:ONE_BY_ONE], y[:ONE_BY_ONE]
    calls = {
        "alone": lambda: one_by_one(plain, few, labels),
        "with keys": lambda: one_by_one(keyed, few, labels, key="anna"),
    }
    report.add("NormaSVC one by one", race(calls, repeats=options.repeats), units=len(few))


@benchmark("preparation and keys beside the model alone", "alone", repeats=25)
def main(report: Report, options: Options) -> None:
    if options.wants("preparation"):
        preparation(report, options)
    if options.wants("keys"):
        keys(report, options)
