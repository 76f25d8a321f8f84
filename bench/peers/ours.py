"""Our own learners in the same protocol: one online pass over the rows in their order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench.peers import Fitted, Learner
from onlinesvm.datasets import Task


def _ramp(task: Task, **options: Any) -> Callable[[], Fitted]:
    from onlinesvm import RampSVC

    X, y = task.data.X_train, task.data.y_train

    def learn() -> Fitted:
        model = RampSVC(C=task.C, gamma=task.gamma, **options)
        model.partial_fit(X, y, classes=[-1, 1])
        return Fitted(model.predict, len(model.support_), model.labels_used_)

    return learn


def _lasvm(task: Task, *, finish: bool) -> Callable[[], Fitted]:
    from onlinesvm import LASVC

    X, y = task.data.X_train, task.data.y_train

    def learn() -> Fitted:
        model = LASVC(C=task.C, gamma=task.gamma).partial_fit(X, y, classes=[-1, 1])
        if finish:
            model.finish()
        return Fitted(model.predict, len(model.support_), model.labels_used_)

    return learn


def _greedy(task: Task) -> Callable[[], Fitted]:
    from onlinesvm.queries import Greedy

    return _ramp(task, query=Greedy(5))


def _passive_aggressive(task: Task) -> Callable[[], Fitted]:
    from onlinesvm import PassiveAggressiveClassifier

    X, y = task.data.X_train, task.data.y_train

    def learn() -> Fitted:
        model = PassiveAggressiveClassifier(task.C, kernel="rbf", gamma=task.gamma)
        model.partial_fit(X, y, classes=[-1, 1])
        return Fitted(model.predict, len(model.support_), len(y))

    return learn


RAMP = Learner("RampSVC", _ramp, "onlinesvm")
RAMP_MARGIN = Learner("RampSVC margin", lambda task: _ramp(task, query="margin"), "onlinesvm")
RAMP_GREEDY = Learner("RampSVC Greedy(5)", _greedy, "onlinesvm")
HINGE = Learner("RampSVC s=-inf", lambda task: _ramp(task, s=float("-inf")), "onlinesvm")
LASVM = Learner("LASVC", lambda task: _lasvm(task, finish=False), "onlinesvm")
LASVM_FINISHED = Learner("LASVC finish()", lambda task: _lasvm(task, finish=True), "onlinesvm")
PA = Learner("PassiveAggressive rbf", _passive_aggressive, "onlinesvm")
