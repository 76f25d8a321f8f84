"""``fit`` as scikit-learn's users know it, for methods whose one pass depends on the order."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..params import check_count
from .batch import Batch
from .estimator import OnlineEstimator
from .parameters import count, flag, number


class PassByPass(OnlineEstimator):
    """``fit`` makes passes until they no longer pay; ``partial_fit`` makes one, in order.

    One pass depends on the order of its rows, so those of ``fit`` take them in random ones. The
    core sums up what the examples cost when they came, before each was learned (``suffered``).
    """

    _attributes: ClassVar[Mapping[str, str]] = {"n_iter_": "int, passes that ``fit`` made"}

    max_iter: int = count(
        default=1000,
        at_least=1,
        core=None,
        doc="""Passes of :meth:`fit` over its rows, at most; a ``ConvergenceWarning`` tells when
        they were not enough. ``partial_fit`` and ``learn_one`` make one, in order.""",
    )
    shuffle: bool = flag(
        default=True,
        core=None,
        doc="""Whether each pass of :meth:`fit` takes the rows in a new random order.
        ``partial_fit`` never does.""",
    )
    random_state: int = count(
        default=0,
        core=None,
        doc="Seed of the orders of :meth:`fit`; the same seed and rows give the same model.",
    )
    _n_iter = 1

    @property
    def n_iter_(self) -> int:
        """Passes that :meth:`fit` made; a stream is one pass."""
        self._fitted_core("n_iter_")
        return self._n_iter

    def _begin(self, batch: Batch) -> None:
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
            self._end_pass()
            suffered, before = self._core.suffered - before, self._core.suffered
            if stop(suffered):
                return True
        return False

    def _pass(self, batch: Batch, number: int) -> None:
        """Learn the rows in the order of this pass; they stay the examples 0 to n - 1."""
        n = len(batch.rows)
        if self.shuffle:
            self._admit_labels(batch, n - 1, publish=True)  # fit knows all labels beforehand
            order = np.random.default_rng([self.random_state, number]).permutation(n)
            batch = batch.reordered(order)
        self._next_id = self._id_gap = 0  # every pass counts them again
        self._learn(batch)

    def _criterion(self, n: int) -> Callable[[float], bool]:
        """Tells after each pass, from what its examples cost, whether it was the last.

        Where a cost is a violation, it is the one that met none.
        """
        return lambda suffered: suffered == 0

    def _end_pass(self) -> None:
        """What a method does at the end of a pass of ``fit``."""

    def _facts(self) -> dict[str, Any]:
        return super()._facts() | {"n_iter": self._n_iter}

    def _recall(self, facts: dict[str, Any]) -> None:
        super()._recall(facts)
        self._n_iter = check_count("n_iter", facts["n_iter"], at_least=1)


class StepByStep(PassByPass):
    """Passes as :class:`sklearn.linear_model.SGDClassifier` makes them, by the same criterion.

    What a pass costs is gathered while it learns: the loss of every example before its own step.
    That is a test on fresh examples in the first pass and costs nothing in any; the objective would
    take a pass of its own. ``fit`` ends when for ``n_iter_no_change`` passes in a row the mean
    loss has not fallen ``tol`` below the best.
    """

    _attributes: ClassVar[Mapping[str, str]] = {
        "mistakes_": "int, of a classifier: examples it got wrong, each before it was learned",
    }

    tol: float | None = number(
        default=1e-3,
        above=0,
        none=None,
        core=None,
        doc=""":meth:`fit` ends when for ``n_iter_no_change`` passes in a row the mean loss of the
        examples, each taken before its own step, has not fallen ``tol`` below the best. None makes
        all ``max_iter`` passes.""",
    )
    n_iter_no_change: int = count(
        default=5, at_least=1, core=None, doc="Passes without progress before :meth:`fit` ends."
    )

    def _criterion(self, n: int) -> Callable[[float], bool]:
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
