"""predict_one of dicts against predict_one of arrays: the same rows, the same kernel model.

A model started with dicts keeps its examples by feature, one started with a data frame by column;
both are asked with dicts here, and a third, started with arrays, is asked with arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.common import Options, Report, benchmark, race

ROWS, SUPPORT, FEATURES = 500, 2000, 22
AT_MOST = 2.0


def contest(cls: Any, report: Report, options: Options) -> None:
    import pandas as pd

    rng = np.random.default_rng(0)
    n = options.size(SUPPORT, 100)
    X, y = rng.standard_normal((n, FEATURES)), rng.choice([-1, 1], size=n)
    names = [f"f{j}" for j in range(FEATURES)]
    # C small: every example stays at its bound, so all rows are support vectors.
    fresh = [cls(C=0.01, gamma=1.0 / FEATURES, classes=[-1, 1]) for _ in range(3)]
    records = [dict(zip(names, x, strict=True)) for x in X.tolist()]
    by_array = fresh[0].partial_fit(X, y)
    by_name = fresh[1].partial_fit(pd.DataFrame(X, columns=names), y)
    by_dict = fresh[2].partial_fit(records, y)

    rows, asked = X[:ROWS], records[:ROWS]
    laps = race(
        {
            "arrays": lambda: [by_array.predict_one(x) for x in rows],
            "dicts, columns named": lambda: [by_name.predict_one(x) for x in asked],
            "dicts": lambda: [by_dict.predict_one(x) for x in asked],
        },
        repeats=options.repeats,
    )
    facts = {"arrays": {"SVs": len(by_array.support_)}, "dicts": {"SVs": len(by_dict.support_)}}
    case = cls.__name__
    report.add(case, laps, facts=facts, units=len(rows))
    for name in ("dicts, columns named", "dicts"):
        report.bar(f"{case}, {name}: time / arrays", report.ratio(case, name), at_most=AT_MOST)


@benchmark("predict_one of dicts and of arrays", "arrays", repeats=5)
def main(report: Report, options: Options) -> None:
    from onlinesvm import LASVC, IncrementalSVC, RampSVC

    for cls in (RampSVC, LASVC, IncrementalSVC):
        if options.wants(cls.__name__):
            contest(cls, report, options)
