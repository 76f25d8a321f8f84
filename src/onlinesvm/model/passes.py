"""``fit`` as scikit-learn's users know it, for methods whose one pass depends on the order.

``fit`` makes passes over its rows in random orders until they no longer pay; ``partial_fit`` makes
one, in order. The core sums up what the examples cost when they came, before each was learned
(``suffered``). :class:`~onlinesvm.model.groups.StepByStep` ends as
:class:`sklearn.linear_model.SGDClassifier` does.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..data.batch import Batch
from .groups import StepByStep
from .parameters import lists


def fit(model: Any, batch: Batch) -> None:
    """Forget everything, and make passes until the criterion is met."""
    model._begin(batch)
    if model._pass_by_pass(model._weighted(batch)):
        return
    if model.max_iter > 1 and model.tol is not None:  # else the number of passes was a choice
        warnings.warn(
            f"{type(model).__name__} made max_iter={model.max_iter} passes and might still "
            "improve; raise max_iter or tol, or scale the features",
            ConvergenceWarning,
            stacklevel=4,
        )


def pass_by_pass(model: Any, batch: Batch) -> bool:
    """Make passes; whether the last one was so by the criterion."""
    stop, before = model._criterion(len(batch.rows)), 0.0
    for number in range(1, model.max_iter + 1):
        model._n_iter = number
        one_pass(model, batch, number)
        batch = replace(batch, ids=np.arange(len(batch.rows)), arrivals=())
        model._end_pass()
        suffered, before = model._core.suffered - before, model._core.suffered
        if stop(suffered):
            return True
    return False


def one_pass(model: Any, batch: Batch, number: int) -> None:
    """Learn the rows in the order of this pass; they stay the examples 0 to n - 1."""
    n = len(batch.rows)
    if model.shuffle:
        model._admit_labels(batch, n - 1, publish=True)  # fit knows all labels beforehand
        order = np.random.default_rng([model.random_state, number]).permutation(n)
        batch = batch.reordered(order)
    model._next_id = model._id_gap = 0  # every pass counts them again
    model._learn(batch)


def criterion(model: Any, n: int) -> Callable[[float], bool]:
    """Tells after each pass, from what its examples cost, whether it was the last.

    Where a cost is a violation, it is the one that met none.
    """
    if lists(type(model), StepByStep):
        return _Patience(model.tol, n, model.n_iter_no_change)
    return lambda suffered: suffered == 0


class _Patience:
    """Gives up after so many passes without progress; with ``tol=None``, never."""

    def __init__(self, tol: float | None, n: int, passes: int) -> None:
        self._least = -np.inf if tol is None else tol * n
        self._best = np.inf
        self._left = self._passes = passes

    def __call__(self, cost: float) -> bool:
        self._left = self._left - 1 if cost > self._best - self._least else self._passes
        self._best = min(self._best, cost)
        return self._left == 0
