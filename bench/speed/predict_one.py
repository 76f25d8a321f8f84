"""predict_one, row by row, against merely reading as many numbers as the support vectors have.

No code can answer sooner than that read, which the compiled core measures by itself
(``_probes.time_row``). With few and short support vectors the call from Python shows.
"""

from __future__ import annotations

import time
from importlib.util import find_spec

import numpy as np

from bench.common import Lap, Options, Report, benchmark, race
from onlinesvm import RampSVC

SUPPORT, FEATURES, ROWS = (1600, 4000), (54, 784), 300
OURS, READ = "RampSVC.predict_one", "read"


def contest(d: int, support: int, report: Report, options: Options) -> None:
    from onlinesvm import _probes

    rng = np.random.default_rng(d)
    n, many = options.size(support, 200), options.size(ROWS, 20)
    X, y = rng.standard_normal((n, d), dtype=np.float32), rng.choice([-1, 1], size=n)
    rows = list(rng.standard_normal((many, d), dtype=np.float32))
    # C small: every example stays at its bound, so training is short and all rows are support.
    model = RampSVC(C=0.01, gamma=1.0 / d).partial_fit(X, y, classes=[-1, 1])
    laps = race(
        {OURS: lambda: [model.predict_one(x) for x in rows]},
        repeats=options.repeats,
        clock=time.process_time,
    )
    read = _probes.time_row(n, d, 32, 20 * options.repeats)["read_seconds"]
    case = f"d = {d}, {n:,} support vectors"
    report.add(case, laps | {READ: Lap([many * read], None)}, units=many)
    report.bar(f"{case}: a row / a read", report.ratio(case, OURS), at_most=2)


@benchmark("One row at a time / one read of the vectors", READ, repeats=15)
def main(report: Report, options: Options) -> None:
    if find_spec("onlinesvm._probes") is None:
        raise SystemExit("predict_one: no onlinesvm._probes here; `make build` makes it")
    for d in FEATURES:
        for support in SUPPORT:
            if options.wants(str(d)):
                contest(d, support, report, options)
