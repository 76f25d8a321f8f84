"""Stream learners of other libraries: river and Vowpal Wabbit, one example at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.peers import Fitted, Learner
from onlinesvm.datasets import Task


def _river(task: Task) -> Callable[[], Fitted]:
    from river.linear_model import PAClassifier

    X, y = task.data.X_train, task.data.y_train
    rows, labels = _dicts(X), [bool(label > 0) for label in y]

    def learn() -> Fitted:
        model = PAClassifier(C=1.0, mode=1)
        for row, label in zip(rows, labels, strict=True):
            model.learn_one(row, label)
        return Fitted(lambda X: _signs([model.predict_one(row) for row in _dicts(X)]), None, len(y))

    return learn


def _vowpal(arguments: Callable[[Task], str]) -> Callable[[Task], Callable[[], Fitted]]:
    def enter(task: Task) -> Callable[[], Fitted]:
        from vowpalwabbit import Workspace

        X, y = task.data.X_train, task.data.y_train
        lines = [f"{label} {row}" for label, row in zip(y, _lines(X), strict=True)]

        def learn() -> Fitted:
            model = Workspace(f"{arguments(task)} --quiet")
            for line in lines:
                model.learn(line)

            def predict(X: NDArray[Any]) -> NDArray[Any]:
                return _signs([model.predict(row) > 0 for row in _lines(X)])

            return Fitted(predict, None, len(y))

        return learn

    return enter


def _dicts(X: NDArray[Any]) -> list[dict[int, float]]:
    return [dict(enumerate(row)) for row in X.tolist()]


def _lines(X: NDArray[Any]) -> list[str]:
    return [
        "| " + " ".join(f"{i}:{value:.7g}" for i, value in enumerate(row) if value)
        for row in X.tolist()
    ]


def _signs(positive: list[Any]) -> NDArray[np.int64]:
    return np.where(positive, 1, -1)


RIVER = Learner("river PAClassifier", _river, "river")
VOWPAL = Learner(
    "vowpalwabbit hinge", _vowpal(lambda task: "--loss_function hinge"), "vowpalwabbit"
)
# --bandwidth is taken to be gamma and --l2 to be 1/C; its manual does not say so.
VOWPAL_KSVM = Learner(
    "vowpalwabbit ksvm rbf",
    _vowpal(lambda task: f"--ksvm --kernel rbf --bandwidth {task.gamma} --l2 {1 / task.C}"),
    "vowpalwabbit",
)
