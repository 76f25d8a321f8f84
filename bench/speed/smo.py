"""SmoSVC.fit against SVC.fit at the same tolerance on the nine tasks of the ramp paper.

Both solve the same problem from nothing: RBF, tol = 1e-3, one thread. SVC has cache_size=1000,
SmoSVC its default of 256 MiB. The dual that each has reached stands next to its time, computed
from the coefficients alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from bench import tasks
from bench.common import Options, Report, benchmark, geometric_mean
from bench.peers import Fitted, Learner
from bench.peers.batch import CACHE_MB
from onlinesvm import SmoSVC
from onlinesvm.datasets import Task


@dataclass(frozen=True)
class Solved(Fitted):
    """A fitted SVM whose dual can be computed."""

    model: Any = None

    def facts(self, task: Task) -> dict[str, Any]:
        s = self.model.dual_coef_[0]
        K = rbf_kernel(self.model.support_vectors_.astype(np.float64), gamma=task.gamma)
        dual = float(np.abs(s).sum() - s @ K @ s / 2.0)
        steps = int(np.sum(self.model.n_iter_))
        seen = super().facts(task)
        return {key: seen[key] for key in ("accuracy", "SVs")} | {"dual": dual, "steps": steps}


def contestant(name: str, make: Callable[[Task], Any]) -> Learner:
    def enter(task: Task) -> Callable[[], Fitted]:
        X, y = task.data.X_train, task.data.y_train

        def learn() -> Fitted:
            model = make(task).fit(X, y)
            return Solved(model.predict, len(model.support_), model=model)

        return learn

    return Learner(name, enter)


OURS = contestant("SmoSVC", lambda t: SmoSVC(C=t.C, gamma=t.gamma))
FIRST = contestant("SmoSVC first", lambda t: SmoSVC(C=t.C, gamma=t.gamma, order="first"))
THEIRS = contestant("SVC", lambda t: SVC(C=t.C, gamma=t.gamma, cache_size=CACHE_MB))


@benchmark("One SmoSVC.fit / one SVC.fit", THEIRS.name)
def main(report: Report, options: Options) -> None:
    names = tasks.run(report, [OURS, FIRST, THEIRS])
    for name in names:
        ours, theirs = (report.cases[name][one.name]["dual"] for one in (OURS, THEIRS))
        report.bar(f"{name}: duals apart", abs(ours - theirs) / theirs, at_most=1e-4)
        report.bar(f"{name}: fit / fit", report.ratio(name, OURS.name), at_most=1.0)
    mean = geometric_mean([report.ratio(name, OURS.name) for name in names])
    report.bar(f"geometric mean of {len(names)}: fit / fit", mean, at_most=1.0)
