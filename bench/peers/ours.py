"""Our own learners in the same protocol: one online pass over the rows in their order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bench.peers import CACHE_MB, Fitted, Learner
from onlinesvm.datasets import Task


def ramp(task: Task, **options: Any) -> Callable[[], Fitted]:
    from onlinesvm import RampSVC

    X, y = task.data.X_train, task.data.y_train
    options = {"settle": "example", "reexamine": False} | options  # as printed

    def learn() -> Fitted:
        model = RampSVC(C=task.C, gamma=task.gamma, **options)
        model.partial_fit(X, y, classes=[-1, 1])
        return Fitted(model.predict, len(model.support_), model.labels_used_)

    return learn


def _one_pass(name: str, *, finish: bool = False) -> Callable[[Task], Callable[[], Fitted]]:
    """One pass of a dual machine, and perhaps the steps to the optimum of what it holds."""

    def enter(task: Task) -> Callable[[], Fitted]:
        import onlinesvm

        X, y = task.data.X_train, task.data.y_train

        def learn() -> Fitted:
            model = getattr(onlinesvm, name)(C=task.C, gamma=task.gamma, cache_bytes=CACHE_MB << 20)
            model.partial_fit(X, y, classes=np.unique(y))
            if finish:
                model.finish()
            return Fitted(model.predict, len(model.support_), len(y))

        return learn

    return enter


def _greedy(task: Task) -> Callable[[], Fitted]:
    from onlinesvm.queries import Greedy

    return ramp(task, query=Greedy(5))


def _passive_aggressive(task: Task) -> Callable[[], Fitted]:
    from onlinesvm import PassiveAggressiveClassifier

    X, y = task.data.X_train, task.data.y_train

    def learn() -> Fitted:
        model = PassiveAggressiveClassifier(task.C, kernel="rbf", gamma=task.gamma)
        model.partial_fit(X, y, classes=[-1, 1])
        return Fitted(model.predict, len(model.support_), len(y))

    return learn


RAMP = Learner("RampSVC", ramp, "onlinesvm")
RAMP_MARGIN = Learner("RampSVC margin", lambda task: ramp(task, query="margin"), "onlinesvm")
RAMP_GREEDY = Learner("RampSVC Greedy(5)", _greedy, "onlinesvm")
HINGE = Learner("RampSVC s=-inf", lambda task: ramp(task, s=float("-inf")), "onlinesvm")
LASVM = Learner("LASVC", _one_pass("LASVC"), "onlinesvm")
LASVM_FINISHED = Learner("LASVC finish()", _one_pass("LASVC", finish=True), "onlinesvm")
HULLER = Learner("HullerSVC", _one_pass("HullerSVC"), "onlinesvm")
HULLER_FINISHED = Learner("HullerSVC finish()", _one_pass("HullerSVC", finish=True), "onlinesvm")
PA = Learner("PassiveAggressive rbf", _passive_aggressive, "onlinesvm")
