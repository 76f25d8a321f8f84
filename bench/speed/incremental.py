"""IncrementalSVC on Adult: one exact pass, and one exact removal, against fitting SVC.

The first 5,000 rows in the source's order, features 0 and 1 as they are, RBF gamma 0.005, C = 1.
SVC runs at its default tol = 1e-3 with cache_size=1000; IncrementalSVC is exact to 1e-8 after every
example. What refitting SVC after every example would take is the area under the times of refits
at 20 sizes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from bench.common import Lap, Options, Report, benchmark, race
from bench.peers.batch import CACHE_MB
from onlinesvm import IncrementalSVC
from onlinesvm.datasets import fetch

C, GAMMA = 1.0, 0.005
REFITS, REMOVED = 20, 20
SMALL = 4 << 20  # bytes


def adult(rows: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    X, y, *_ = fetch("adult")
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    return np.ascontiguousarray(X[:rows], dtype=np.float64), np.where(y[:rows] > 0, 1.0, -1.0)


def seconds(run: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    run()
    return clock() - start


def fit_svc(X: Any, y: Any) -> SVC:
    return SVC(C=C, gamma=GAMMA, cache_size=CACHE_MB).fit(X, y)


def one_pass(X: Any, y: Any, **options: Any) -> IncrementalSVC:
    model = IncrementalSVC(C=C, gamma=GAMMA, settle="example", **options)
    return model.partial_fit(X, y, classes=[-1.0, 1.0])


def refits(X: Any, y: Any, sizes: NDArray[np.int64]) -> tuple[list[float], float]:
    """Seconds of a refit at each size, and of one after every example."""
    took = [seconds(lambda n=n: fit_svc(X[:n], y[:n])) for n in sizes]
    each = np.interp(np.arange(1, len(y) + 1), [0, *sizes], [0.0, *took])
    return took, float(each.sum())


def removals(
    model: IncrementalSVC, count: int, clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Seconds to unlearn each of some support vectors, one after the other."""
    chosen = np.random.default_rng(0).choice(model.support_, count, replace=False)
    return [seconds(lambda i=i: model.unlearn(int(i)), clock) for i in chosen]


@benchmark("incremental", "SVC")
def main(report: Report, options: Options) -> None:
    n = options.size(5000, 300)
    X, y = adult(n)
    report.title = f"Adult, {n:,} rows"
    ours, theirs = (lambda: one_pass(X, y)), (lambda: fit_svc(X, y))
    laps = race({"IncrementalSVC": ours, "SVC": theirs}, repeats=options.repeats)
    model, svc = laps["IncrementalSVC"].product, laps["SVC"].product
    size = {"megabytes": model.nbytes_ / 2**20, "KKT": model.kkt_residual()}
    facts = {
        "IncrementalSVC": {"SVs": len(model.support_), **size},
        "SVC": {"SVs": len(svc.support_)},
    }
    report.add("one pass / one fit", laps, facts=facts, units=n)
    with threadpool_limits(limits=1):
        sizes = np.linspace(n / REFITS, n, REFITS).astype(np.int64)
        took, always = refits(X, y, sizes)
        removed = removals(model, min(REMOVED, len(model.support_) // 2))
    report.details |= {"sizes": sizes.tolist(), "refits": took, "unlearn": removed}
    case = "unlearn one support vector / one fit"
    report.add(case, {"IncrementalSVC": Lap(removed, None), "SVC": laps["SVC"]})

    fit = laps["SVC"].best
    report.bar(
        "one pass / SVC.fit", report.ratio("one pass / one fit", "IncrementalSVC"), at_most=5
    )
    speed_up = always / laps["IncrementalSVC"].best
    report.bar("refitting after every example / one pass", speed_up, at_least=200)
    report.bar("unlearning one, median / SVC.fit", median(removed) / fit, at_most=1 / 50)
    free = int(np.sum((np.abs(model.dual_coef_[0]) < C) & (model.dual_coef_[0] != 0.0)))
    full = one_pass(X, y, cache_bytes=SMALL)  # a cache that must be full, so that it can be told
    most = 16 * (n * (X.shape[1] + 16) + (free + 64) ** 2)  # 8 bytes each; arrays grow by doubling
    claim = "bytes beyond a full cache / 16 (n (d + 16) + (|S| + 64)^2)"
    report.bar(claim, (full.nbytes_ - SMALL) / most, at_most=1.0)
    report.note(f"{free} support vectors on the margin; a full cache is one of {SMALL:,} bytes")
