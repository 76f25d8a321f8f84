"""One pass of IncrementalSVC against one batch SVC.fit on the nine tasks of the ramp paper.

Same C and gamma, SVC at its default tol = 1e-3 with cache_size=1000. IncrementalSVC keeps every
optimality condition within tol after every example: once with the tol of SVC, in float32 too, and
once with 1e-9. Then some support vectors are unlearned, one by one, from models of 5,000 rows: of
Adult, where most multipliers are at C, and of USPS, where nearly all are free.
"""

from __future__ import annotations

from statistics import median
from typing import Any

from sklearn.svm import SVC as Batch
from threadpoolctl import threadpool_limits

from bench import tasks
from bench.common import Lap, Report, figure, geometric_mean, parse, race
from bench.peers import CACHE_MB, Fitted, Learner
from bench.peers.batch import SVC
from bench.speed.incremental import removals
from onlinesvm import IncrementalSVC
from onlinesvm.datasets import Task

LOOSE, EXACT = 1e-3, 1e-9
ROWS, REMOVED = 5000, 20
UNLEARN = {"Adult": 0.001, "USPS": 0.02}  # of one SVC.fit, at most


def model(task: Task, **options: Any) -> IncrementalSVC:
    return IncrementalSVC(
        C=task.C, gamma=task.gamma, cache_bytes=CACHE_MB << 20, classes=[-1, 1], **options
    )


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


def unlearn(report: Report, task: Task) -> None:
    X, y = task.data.X_train[:ROWS], task.data.y_train[:ROWS]
    fit = Batch(C=task.C, gamma=task.gamma, cache_size=CACHE_MB).fit
    laps = race({SVC.name: lambda: fit(X, y)}, repeats=report.options.repeats)
    for bar, tol in ((True, LOOSE), (False, EXACT)):
        with threadpool_limits(limits=1):
            learned = model(task, tol=tol).partial_fit(X, y)
            took = removals(learned, min(REMOVED, len(learned.support_) // 2))
        case = f"{task.name}, unlearn one of {len(y):,}, tol={tol:g}"
        report.add(case, {"IncrementalSVC": Lap(took, None), **laps})
        share = median(took) / laps[SVC.name].best
        if bar:
            report.bar(f"{case}: median / SVC.fit", share, at_most=UNLEARN[task.name])
        else:
            report.note(f"{case}: median / SVC.fit {figure(share)}.")


def main() -> None:
    options = parse(__doc__)
    report = Report("incremental_tasks", "One exact online pass / one SVC.fit", SVC.name, options)
    names = tasks.run(report, [WITHIN, SINGLE, TO_NINE, SVC])
    for rival, mean, worst in ((WITHIN, 1.2, 3), (TO_NINE, 2.5, 6), (SINGLE, None, None)):
        ratios = {name: report.ratio(name, rival.name) for name in names}
        slowest = max(ratios, key=lambda name: ratios[name])
        means = geometric_mean(list(ratios.values()))
        if mean is None:
            report.note(f"{rival.name}: geometric mean {figure(means)}, worst {slowest}.")
            continue
        report.bar(f"{rival.name}, geometric mean of {len(ratios)}", means, at_most=mean)
        report.bar(f"{rival.name}, worst: {slowest}", ratios[slowest], at_most=worst)
    for task in tasks.here(report):
        if task.name in UNLEARN:
            unlearn(report, task)
    report.finish()


if __name__ == "__main__":
    main()
