"""``fit`` as scikit-learn's users know it, for methods whose one pass depends on the order."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ..params import count, flag, number
from .estimator import Batch, OnlineEstimator


class PassByPass(OnlineEstimator):
    """``fit`` makes passes until they no longer pay; ``partial_fit`` makes one, in order.

    One pass depends on the order of its rows, so those of ``fit`` take them in random ones. The
    constructor has the parameters ``max_iter``, ``tol``, ``shuffle`` and ``random_state``, and the
    core tells what the examples cost when they came, before each was learned (``suffered``).
    """

    _n_iter = 1

    @property
    def n_iter_(self) -> int:
        """Passes that :meth:`fit` made; a stream is one pass."""
        self._fitted_core("n_iter_")
        return self._n_iter

    def _begin(self, batch: Batch) -> None:
        count("max_iter", self.max_iter, at_least=1)
        flag("shuffle", self.shuffle)
        count("random_state", self.random_state)
        super()._begin(batch)
        self._n_iter = 1

    def _fit(self, batch: Batch) -> None:
        self._begin(batch)
        if self._pass_by_pass(self._weighted(batch)):
            return
        if self.max_iter > 1 and self.tol is not None:  # else the number of passes was a choice
            warnings.warn(
                f"{type(self).__name__} made max_iter={self.max_iter} passes and might still "
                "improve; raise max_iter or tol, or scale the features",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _pass_by_pass(self, batch: Batch) -> bool:
        """Make passes; whether the last one was so by the criterion."""
        stop, before = self._criterion(len(batch.rows)), 0.0
        for number_of_pass in range(1, self.max_iter + 1):
            self._n_iter = number_of_pass
            self._pass(batch, number_of_pass)
            batch = replace(batch, ids=np.arange(len(batch.rows)), arrivals=())
            self._after_pass()
            suffered, before = self._core.suffered - before, self._core.suffered
            if stop(suffered):
                return True
        return False

    def _pass(self, batch: Batch, number: int) -> None:
        """Learn the rows in the order of this pass; they stay the examples 0 to n - 1."""
        n = len(batch.rows)
        if self.shuffle:
            self._meet(batch, n - 1, told=True)  # fit knows all labels beforehand
            order = np.random.default_rng([self.random_state, number]).permutation(n)
            batch = _reordered(batch, order)
        self._next_id = self._id_gap = 0  # every pass counts them again
        self._learn(batch)

    def _criterion(self, n: int) -> Any:
        """Says after each pass, from what its examples cost, whether it was the last."""
        raise NotImplementedError

    def _after_pass(self) -> None:
        """What a method does at the end of a pass of ``fit``."""

    def _facts(self) -> dict[str, Any]:
        return super()._facts() | {"n_iter": self._n_iter}

    def _recall(self, facts: dict[str, Any]) -> None:
        super()._recall(facts)
        self._n_iter = count("n_iter", facts["n_iter"], at_least=1)


class StepByStep(PassByPass):
    """Passes as :class:`sklearn.linear_model.SGDClassifier` makes them, by the same criterion.

    What a pass costs is gathered while it learns: the loss of every example before its own step.
    That is a test on fresh examples in the first pass and costs nothing in any; the objective would
    take a pass of its own. ``fit`` ends when for ``n_iter_no_change`` passes in a row the mean
    loss has not fallen ``tol`` below the best. The constructor has that parameter, too.
    """

    def _begin(self, batch: Batch) -> None:
        count("n_iter_no_change", self.n_iter_no_change, at_least=1)
        if self.tol is not None:
            number("tol", self.tol, above=0)
        super()._begin(batch)

    def _criterion(self, n: int) -> Any:
        return _Patience(self.tol, n, self.n_iter_no_change)


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


def _reordered(batch: Batch, order: NDArray[np.intp]) -> Batch:
    """The same rows under the same ids, in another order, no label of theirs unknown."""
    return replace(
        batch,
        rows=batch.rows.picked(order),
        targets=batch.targets[order],
        weights=None if batch.weights is None else batch.weights[order],
        ids=order.astype(np.int64),
        arrivals=(),
    )
