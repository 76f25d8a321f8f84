"""Batch SVM solvers: LIBSVM as scikit-learn ships it, and Intel's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bench.peers import CACHE_MB, Fitted, Learner
from onlinesvm.datasets import Task


def _svc(task: Task) -> Callable[[], Fitted]:
    from sklearn.svm import SVC

    X, y = task.data.X_train, task.data.y_train
    return lambda: _fit(SVC, task, X, y)


def _intelex(dtype: type, threads: int = 1) -> Callable[[Task], Callable[[], Fitted]]:
    def enter(task: Task) -> Callable[[], Fitted]:
        from daal4py import daalinit
        from sklearnex.svm import SVC

        daalinit(nthreads=threads)  # it has its own thread pool, which threadpoolctl does not see
        X, y = np.ascontiguousarray(task.data.X_train, dtype=dtype), task.data.y_train
        return lambda: _fit(SVC, task, X, y)

    return enter


def _fit(svc: Any, task: Task, X: Any, y: Any) -> Fitted:
    model = svc(C=task.C, gamma=task.gamma, cache_size=CACHE_MB).fit(X, y)
    return Fitted(lambda rows: model.predict(rows.astype(X.dtype)), len(model.support_), len(y))


SVC = Learner("SVC", _svc)
INTELEX_64 = Learner("intelex SVC float64", _intelex(np.float64), "sklearnex")
INTELEX_32 = Learner("intelex SVC float32", _intelex(np.float32), "sklearnex")
INTELEX_32_TWO = Learner(
    "intelex SVC float32, 2 threads", _intelex(np.float32, threads=2), "sklearnex"
)
