"""CoreVectorSVC on MNIST, digit 8 against the rest, against SVC: a core instead of all rows.

The first 5,000 rows, pixels / 255, RBF gamma 0.02, C = 10, of squared slacks for CoreVectorSVC: not
SVC's loss, so the accuracies tell whether the two are comparable. A candidate is the farthest of
59 examples drawn by lot, or of all of them, which costs a pass each.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.svm import SVC

from bench.common import Options, Report, benchmark, race
from bench.peers import CACHE_MB
from bench.speed.digits import DIGIT, against_the_rest, digits
from onlinesvm import CoreVectorSVC

C, GAMMA = 10.0, 0.02
TOLERANCES = (1e-2, 1e-3)
SAMPLES: tuple[Any, ...] = (59, "all")


@benchmark("core_vector", "SVC")
def main(report: Report, options: Options) -> None:
    X, y, X_test, y_test = against_the_rest(digits(options), DIGIT)
    n = options.size(5_000, 500)
    X, y = X[:n], y[:n]
    batch = SVC(C=C, gamma=GAMMA, cache_size=CACHE_MB)
    runs = {"SVC": partial(batch.fit, X.astype(np.float64), y)}
    for sample in SAMPLES:
        for tol in TOLERANCES:
            model = CoreVectorSVC(C, gamma=GAMMA, tol=tol, sample=sample)
            runs[f"CoreVectorSVC, {sample}, tol {tol:g}"] = partial(model.fit, X, y)
    laps = race(runs, repeats=options.repeats)
    facts = {}
    for name, lap in laps.items():
        model = lap.product
        accuracy = 100 * float(model.score(X_test, y_test))
        facts[name] = {"accuracy": round(accuracy, 2), "SVs": len(model.support_)}
        if name != "SVC":
            facts[name]["passes"] = model.passes_
    report.title = f"MNIST {DIGIT} against the rest, {n:,} rows"
    report.add("fit", laps, facts=facts, units=n)
