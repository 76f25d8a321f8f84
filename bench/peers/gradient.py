"""Gradient learners of scikit-learn: linear, and on Nystroem features (tuned on training rows)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline

from bench.peers import Fitted, Learner
from onlinesvm.datasets import Task

COMPONENTS = 1000
ALPHAS = np.logspace(-3, -7, 9)


def _sgd(task: Task) -> Callable[[], Fitted]:
    X, y = task.data.X_train, task.data.y_train

    def learn() -> Fitted:
        model = SGDClassifier(random_state=0).partial_fit(X, y, classes=[-1, 1])
        return Fitted(model.predict, None, len(y))

    return learn


def _nystroem(passes: int) -> Callable[[Task], Callable[[], Fitted]]:
    """Nystroem + SGD; the best of nine alphas by 5-fold cross-validation on the training rows.

    The search runs before the clock: the time is that of one fit at the alpha found.
    """

    def enter(task: Task) -> Callable[[], Fitted]:
        X, y = task.data.X_train, task.data.y_train

        def pipeline(alpha: float) -> Pipeline:
            features = Nystroem(
                gamma=task.gamma, n_components=min(COMPONENTS, len(y) // 2), random_state=0
            )
            sgd = SGDClassifier(alpha=alpha, max_iter=passes, tol=None, random_state=0)
            return make_pipeline(features, sgd)

        features = pipeline(1e-4)[0].fit_transform(X)
        alpha = max(ALPHAS, key=lambda a: cross_val_score(pipeline(a)[1], features, y, cv=5).mean())

        def learn() -> Fitted:
            model = pipeline(alpha).fit(X, y)
            return Fitted(model.predict, model[0].components_.shape[0], len(y))

        return learn

    return enter


SGD = Learner("SGD linear, 1 pass", _sgd)
NYSTROEM_1 = Learner("Nystroem + SGD, 1 pass", _nystroem(1))
NYSTROEM_5 = Learner("Nystroem + SGD, 5 passes", _nystroem(5))
