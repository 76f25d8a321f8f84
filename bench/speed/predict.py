"""decision_function of 5,000 rows against about 4,000 support vectors, ours against SVC's.

Random rows with random labels and a wide kernel make nearly every row a support vector on both
sides, so both sum the same number of kernel values; the table shows how many each has.
"""

from __future__ import annotations

import numpy as np
from sklearn.svm import SVC

from bench.common import Options, Report, benchmark, race

ROWS, SUPPORT = 5000, 4000
BARS = {54: 10.0, 784: 30.0}


def contest(d: int, report: Report, options: Options) -> None:
    from onlinesvm import RampSVC

    rng = np.random.default_rng(d)
    n = options.size(SUPPORT, 200)
    X, y = rng.standard_normal((n, d)), rng.choice([-1, 1], size=n)
    rows = rng.standard_normal((options.size(ROWS, 100), d))
    # C small: every example stays at its bound, so training is short and all rows are support.
    setting = {"C": 0.01, "gamma": 1.0 / d}
    ours = RampSVC(**setting).partial_fit(X, y, classes=[-1, 1])
    batch = SVC(**setting).fit(X, y)

    laps = race(
        {
            "RampSVC": lambda: ours.decision_function(rows),
            "SVC": lambda: batch.decision_function(rows),
        },
        repeats=options.repeats,
    )
    facts = {"RampSVC": {"SVs": len(ours.support_)}, "SVC": {"SVs": len(batch.support_)}}
    case = f"d = {d}"
    report.add(case, laps, facts=facts, units=len(rows))
    report.bar(f"{case}: SVC time / ours", report.speed_up(case, "RampSVC"), at_least=BARS[d])


@benchmark("decision_function of 5,000 rows", "SVC", repeats=5)
def main(report: Report, options: Options) -> None:
    for d in BARS:
        if options.wants(str(d)):
            contest(d, report, options)
