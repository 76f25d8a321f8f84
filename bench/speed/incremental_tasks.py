"""One pass of IncrementalSVC against one batch SVC.fit on the nine tasks of the ramp paper.

Same C and gamma, SVC at its default tol = 1e-3 with cache_size=1000. IncrementalSVC keeps every
optimality condition within tol after every example: once with the tol of SVC, in float32 too, and
once with 1e-9. Then some support vectors are unlearned, one by one, from models of 5,000 rows: of
Adult, where most multipliers are at C, and of USPS, where nearly all are free.

Minutes: --only takes some of the tasks, --jobs 9 runs them side by side, and what was measured when
it is stopped is in results/local. The clock is that of the processor.
"""

from __future__ import annotations

import time
from typing import Any

from sklearn.svm import SVC as Batch
from threadpoolctl import threadpool_limits

from bench import divided, tasks
from bench.common import Lap, Options, Report, benchmark, figure, geometric_mean, race
from bench.peers import CACHE_MB, Fitted, Learner
from bench.peers.batch import SVC
from bench.speed.incremental import removals
from onlinesvm import IncrementalSVC
from onlinesvm.datasets import PAPER_TASKS, Task

LOOSE, EXACT = 1e-3, 1e-9
ROWS, REMOVED = 5000, 20
UNLEARN = {"Adult": 0.001, "USPS": 0.02}  # of one SVC.fit, at most


def model(task: Task, **options: Any) -> IncrementalSVC:
    settings = {"settle": "example", "cache_bytes": CACHE_MB << 20, "classes": [-1, 1]} | options
    return IncrementalSVC(C=task.C, gamma=task.gamma, **settings)


def learner(name: str, **options: Any) -> Learner:
    def enter(task: Task) -> Any:
        X, y = task.data.X_train, task.data.y_train

        def learn() -> Fitted:
            learned = model(task, **options).partial_fit(X, y)
            return Fitted(learned.predict, len(learned.support_), len(y))

        return learn

    return Learner(name, enter)


WITHIN = learner(f"within {LOOSE:g}", tol=LOOSE)
SINGLE = learner(f"within {LOOSE:g}, float32", tol=LOOSE, dtype="float32")
TO_NINE = learner(f"within {EXACT:g}", tol=EXACT)


def removal(report: Report, name: str, tol: float) -> str:
    """The name of a case."""
    return f"{name}, unlearn one of {report.options.size(ROWS, 300):,}, tol={tol:g}"


def unlearn(report: Report, task: Task) -> None:
    X, y = task.data.X_train[:ROWS], task.data.y_train[:ROWS]
    fit = Batch(C=task.C, gamma=task.gamma, cache_size=CACHE_MB).fit
    laps = race(
        {SVC.name: lambda: fit(X, y)}, repeats=report.options.repeats, clock=time.process_time
    )
    for tol in (LOOSE, EXACT):
        with threadpool_limits(limits=1):
            learned = model(task, tol=tol).partial_fit(X, y)
            few = min(REMOVED, len(learned.support_) // 2)
            took = removals(learned, few, clock=time.process_time)
        report.add(removal(report, task.name, tol), {"IncrementalSVC": Lap(took, None), **laps})


def measure(report: Report) -> None:
    tasks.run(report, [WITHIN, SINGLE, TO_NINE, SVC], clock=time.process_time)
    for task in tasks.here(report):
        if task.name in UNLEARN:
            unlearn(report, task)


def judge(report: Report) -> None:
    names = [name for name in PAPER_TASKS if name in report.cases]
    for rival, mean, worst in ((WITHIN, 1.2, 3), (TO_NINE, 2.5, 6), (SINGLE, None, None)):
        ratios = {name: report.ratio(name, rival.name) for name in names}
        slowest = max(ratios, key=lambda name: ratios[name])
        means = geometric_mean(list(ratios.values()))
        if mean is None:
            report.note(f"{rival.name}: geometric mean {figure(means)}, worst {slowest}.")
            continue
        report.bar(f"{rival.name}, geometric mean of {len(ratios)}", means, at_most=mean)
        report.bar(f"{rival.name}, worst: {slowest}", ratios[slowest], at_most=worst)
    for name in filter(names.__contains__, UNLEARN):
        for tol in (LOOSE, EXACT):
            case = removal(report, name, tol)
            rows = report.cases[case]
            share = rows["IncrementalSVC"]["median_s"] / rows[SVC.name]["best_s"]
            if tol == LOOSE:
                report.bar(f"{case}: median / SVC.fit", share, at_most=UNLEARN[name])
            else:
                report.note(f"{case}: median / SVC.fit {figure(share)}.")


@benchmark("One exact online pass / one SVC.fit", SVC.name, repeats=1, divisible=True)
def main(report: Report, options: Options) -> None:
    if options.jobs > 1:
        divided.gather(report, list(filter(options.wants, PAPER_TASKS)))
        report.cases = {case: report.cases[case] for case in order(report)}
    else:
        measure(report)
    judge(report)


def order(report: Report) -> list[str]:
    """The cases as one process would have measured them, whichever ended first."""
    places = list(PAPER_TASKS)
    return sorted(report.cases, key=lambda case: ("," in case, places.index(case.split(",")[0])))
