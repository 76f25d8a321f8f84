"""What a probability costs beside a score: `predict_proba` against `decision_function`.

10,000 rows at once and row by row; a kernel machine (LASVC) and a linear one (SGDSVC) of several
widths, each calibrated by each method. Processor time.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from bench.common import Options, Report, benchmark, race
from onlinesvm import LASVC, SGDSVC, CalibratedOnline

METHODS = ("mixture", "platt")


@benchmark("predict_proba, 10,000 rows", "decision_function", repeats=20)
def main(report: Report, options: Options) -> None:
    rng, n = np.random.default_rng(0), options.size(10_000, 500)
    learners: dict[str, tuple[Any, int, int]] = {
        "LASVC, d = 8": (LASVC(classes=[0, 1], gamma=0.1), 8, 3000),
        "LASVC, d = 123": (LASVC(classes=[0, 1], gamma=0.01), 123, 3000),
        "SGDSVC, d = 8": (SGDSVC(classes=[0, 1]), 8, 10_000),
        "SGDSVC, d = 54": (SGDSVC(classes=[0, 1]), 54, 10_000),
        "SGDSVC, d = 123": (SGDSVC(classes=[0, 1]), 123, 10_000),
    }
    for case, (learner, d, rows) in learners.items():
        X = rng.normal(size=(n, d))
        y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
        many = {}
        for method in METHODS:
            model = CalibratedOnline(learner, method).partial_fit(X[:rows], y[:rows])
            many.setdefault("decision_function", lambda m=model, X=X: m.model_.decision_function(X))
            many[method] = lambda m=model, X=X: m.predict_proba(X)
        repeats = options.repeats if case.startswith("SGD") else min(3, options.repeats)
        report.add(case, race(many, repeats=repeats, clock=time.process_time), units=n)
        for method in METHODS:
            report.bar(f"{case}, {method}", report.ratio(case, method), at_most=1.2)
