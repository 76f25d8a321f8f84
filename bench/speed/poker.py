"""Exact fits of PokerSVC, batch and in chunks of 500, against one SVC.fit at its default tolerance.

Adult's first 5,000 rows, raw 0/1 features, RBF gamma 0.005, C = 1.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.svm import SVC

from bench.common import Options, Report, benchmark, race
from onlinesvm import IncrementalSVC, PokerSVC
from onlinesvm.datasets import fetch

SETTINGS: dict[str, Any] = {"C": 1.0, "gamma": 0.005}


@benchmark("PokerSVC against one SVC.fit", "SVC.fit")
def main(report: Report, options: Options) -> None:
    n, chunk = options.size(5000, 500), options.size(500, 50)
    X, y, *_ = fetch("adult")
    X, y = X[:n].astype(np.float64), y[:n]

    def chunks(dtype: Literal["float32", "float64"]) -> PokerSVC:
        model = PokerSVC(classes=[-1, 1], dtype=dtype, **SETTINGS)
        for start in range(0, n, chunk):
            model.partial_fit(X[start : start + chunk], y[start : start + chunk])
        return model

    laps = race(
        {
            "PokerSVC, chunks": lambda: chunks("float64"),
            "PokerSVC, chunks, float32": lambda: chunks("float32"),
            "PokerSVC.fit": lambda: PokerSVC(**SETTINGS).fit(X, y),
            "IncrementalSVC.fit": lambda: IncrementalSVC(**SETTINGS).fit(X, y),
            "SVC.fit": lambda: SVC(**SETTINGS, tol=1e-3).fit(X, y),
        },
        repeats=options.repeats,
    )
    exact = laps["PokerSVC.fit"].product.decision_function(X)
    facts = {
        name: {
            "support vectors": int(np.sum(lap.product.n_support_)),
            "largest |f - f*|": float(np.abs(lap.product.decision_function(X) - exact).max()),
        }
        for name, lap in laps.items()
    }
    case = f"Adult, {n:,} rows, chunks of {chunk}"
    report.add(case, laps, facts=facts, units=n)
    report.bar("chunks / SVC.fit", report.ratio(case, "PokerSVC, chunks"), at_most=5)
    apart = facts["PokerSVC, chunks"]["largest |f - f*|"]
    report.bar("chunks and batch apart", apart, at_most=1e-8)
