"""What more threads give: learning and predicting ten digits with n_jobs = 1, 2, 4, 8, 16.

LASVC over 20,000 rows of MNIST in one pass, gamma 0.02, C = 10, then 10,000 rows predicted. All
numbers of threads take turns, and must end with the same bits; no more are tried than the machine
has cores. The share of learning that threads can take is what two of them save, twice.
"""

from __future__ import annotations

import os
import time
from typing import Any

from numpy.typing import NDArray

from bench.common import Lap, Options, Report, parse
from bench.speed.digits import pixels
from onlinesvm import LASVC
from onlinesvm.datasets import fetch

THREADS = (1, 2, 4, 8, 16)
ONE = "1 thread"

Array = NDArray[Any]


def name(threads: int) -> str:
    return ONE if threads == 1 else f"{threads} threads"


def timed(seconds: list[float], work: Any) -> Any:
    began = time.perf_counter()
    product = work()
    seconds.append(time.perf_counter() - began)
    return product


def compare(report: Report, options: Options) -> None:
    data = fetch("mnist")
    n = options.size(20_000, 500)
    X, y, test = pixels(data.X_train[:n]), data.y_train[:n], pixels(data.X_test)
    if options.quick:
        test = test[:200]
    counts = [t for t in THREADS if t <= (os.cpu_count() or 1)]
    learning: dict[str, list[float]] = {name(t): [] for t in counts}
    predicting: dict[str, list[float]] = {name(t): [] for t in counts}
    scores: dict[str, Array] = {}
    for turn in range(options.repeats):
        for threads in counts if turn % 2 == 0 else reversed(counts):
            model = LASVC(C=10.0, gamma=0.02, n_jobs=threads)
            timed(learning[name(threads)], lambda: model.partial_fit(X, y, classes=range(10)))  # noqa: B023
            found = timed(predicting[name(threads)], lambda: model.decision_function(test))  # noqa: B023
            scores[name(threads)] = found
    for who, found in scores.items():
        if not (found == scores[ONE]).all():
            raise AssertionError(f"{who} gave other bits than one")
    for case, seconds, rows in (("learning", learning, n), ("predicting", predicting, len(test))):
        report.add(case, {who: Lap(laps, None) for who, laps in seconds.items()}, units=rows)
    if 2 in counts:
        share = 2 * (1 - report.ratio("learning", name(2)))
        report.note(f"of learning, threads can take {100 * share:.0f} %")
    if 8 in counts:
        gain = report.speed_up("learning", name(8))
        report.bar("ten digits learned with 8 threads, times as fast", gain, at_least=4)
        gain = report.speed_up("predicting", name(8))
        report.bar("ten digits predicted with 8 threads, times as fast", gain, at_least=7.2)


def main() -> None:
    options = parse(__doc__, repeats=3)
    report = Report("cores", "LASVC, ten digits, by threads", ONE, options)
    compare(report, options)
    report.finish()


if __name__ == "__main__":
    main()
