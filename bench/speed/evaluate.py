"""What test-then-train costs beyond the models: stream.evaluate against the same loop by hand.

The loop predicts and learns, and marks nothing. All metrics of the kind are taken, over all and
over a window of 1,000, at a snapshot every 500 examples; two baselines run beside where it says so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.common import Options, Report, benchmark, race

ROWS, FEATURES = 50_000, 10
SIZES = (1000, 100, 10, 1)
AT_MOST = 20.0  # microseconds an example, for lessons of many rows


def by_hand(model: Any, X: Any, y: Any, size: int, **first: Any) -> None:
    model.partial_fit(X[:size], y[:size], **first)
    for start in range(size, len(y), size):
        part = slice(start, start + size)
        if size == 1:
            model.decide_one(X[start]) if first else model.predict_one(X[start])
            model.learn_one(X[start], y[start])
        else:
            model.decision_function(X[part]) if first else model.predict(X[part])
            model.partial_fit(X[part], y[part])


def contest(
    cls: Any, y: Any, X: Any, size: int, report: Report, options: Options, **o: Any
) -> None:
    from onlinesvm.stream import evaluate, lessons

    laps = race(
        {
            "loop": lambda: by_hand(cls(), X, y, size, **o),
            "evaluate": lambda: evaluate(cls(), lessons(X, y, size=size), baselines=(), **o),
            "and baselines": lambda: evaluate(cls(), lessons(X, y, size=size), **o),
        },
        repeats=options.repeats,
    )
    case = f"{cls.__name__}, lessons of {size:,}"
    report.add(case, laps, units=len(y))
    if size > 1:
        for name in ("evaluate", "and baselines"):
            beyond = (laps[name].best - laps["loop"].best) / len(y) * 1e6
            report.bar(f"{case}, {name}: us an example", beyond, at_most=AT_MOST)


@benchmark("test-then-train of a linear model", "loop")
def main(report: Report, options: Options) -> None:
    from onlinesvm import PassiveAggressiveClassifier, PassiveAggressiveRegressor

    rng = np.random.default_rng(0)
    n = options.size(ROWS, 2000)
    X = rng.standard_normal((n, FEATURES))
    f = X @ rng.standard_normal(FEATURES) + 0.3 * rng.standard_normal(n)
    for size in SIZES:
        y = (f > 0).astype(int)
        contest(PassiveAggressiveClassifier, y, X, size, report, options, classes=[0, 1])
        contest(PassiveAggressiveRegressor, f, X, size, report, options)
