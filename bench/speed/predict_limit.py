"""decision_function against what any RBF machine has to do: a float32 GEMM, exp, and a product.

The other side does no more than the arithmetic of the same shape, in NumPy on one thread: rows @
support vectors, exp of all values in place, their product with the coefficients, in blocks of 1,000
rows. It adds no norms and answers nothing: the price of the work, and ours should cost no more.
Rows of float32 on both sides; GFLOP/s count the GEMM alone, on both.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.common import Options, Report, benchmark, race

SUPPORT, ROWS, BLOCK = (1600, 4000), {54: 20_000, 784: 4000}, 1000
OURS, LIMIT = "RampSVC", "GEMM + exp"

Array = NDArray[np.float32]


def arithmetic(rows: Array, vectors: Array, coefficients: Array) -> Array:
    out = np.empty(len(rows), np.float32)
    for start in range(0, len(rows), BLOCK):
        values = rows[start : start + BLOCK] @ vectors.T
        np.exp(values, out=values)
        out[start : start + BLOCK] = values @ coefficients
    return out


def contest(d: int, support: int, report: Report, options: Options) -> None:
    from onlinesvm import RampSVC

    rng = np.random.default_rng(d)
    n, many = options.size(support, 200), options.size(ROWS[d], 100)
    X, y = rng.standard_normal((n, d), dtype=np.float32), rng.choice([-1, 1], size=n)
    rows = rng.standard_normal((many, d), dtype=np.float32)
    # C small: every example stays at its bound, so training is short and all rows are support.
    model = RampSVC(C=0.01, gamma=1.0 / d).partial_fit(X, y, classes=[-1, 1])
    # Scaled down, so that exp meets the numbers that it meets in a kernel.
    vectors = np.asarray(model.support_vectors_, np.float32) / np.float32(d)
    coefficients = np.asarray(model.dual_coef_, np.float32).ravel()
    laps = race(
        {
            OURS: lambda: model.decision_function(rows),
            LIMIT: lambda: arithmetic(rows, vectors, coefficients),
        },
        repeats=options.repeats,
        clock=time.process_time,
    )
    work = 2e-9 * many * len(vectors) * d
    facts: dict[str, dict[str, Any]] = {
        name: {"GFLOP/s": work / lap.best} for name, lap in laps.items()
    }
    case = f"d = {d}, {len(vectors):,} support vectors"
    report.add(case, laps, facts=facts, units=many)
    report.bar(f"{case}: time of {LIMIT} / ours", report.speed_up(case, OURS), at_least=0.95)


@benchmark("decision_function, float32 rows", LIMIT, repeats=15)
def main(report: Report, options: Options) -> None:
    for d in ROWS:
        for support in SUPPORT:
            if options.wants(str(d)):
                contest(d, support, report, options)
