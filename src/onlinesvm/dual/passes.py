"""What the machines have in common that approach the optimum pass by pass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..base import OnlineClassifier
from ..base.estimator import Batch
from ..params import count, number


class PassByPass(OnlineClassifier):
    """Near the optimum after one pass, at it after a few ``epochs`` and :meth:`finish`.

    Its constructor has the parameters ``epochs``, ``tol``, ``cache_bytes`` and those of a kernel.
    """

    def finish(self, tol: float | None = None) -> Self:
        """Take steps until the model is optimal, within ``tol``, over the examples it holds.

        Finishing twice is finishing once, and the stream may go on afterwards.

        Parameters
        ----------
        tol : float, default the model's own ``tol``

        Returns
        -------
        self
        """
        finish = self._verb("finish")
        self._ready()
        goal = number("tol", self.tol if tol is None else tol, above=0)
        finish(goal)
        self._warn_if_capped()
        self._check_tol(tol=goal)
        return self

    def _core_params(self, n_features: int) -> dict[str, Any]:
        count("epochs", self.epochs, at_least=1)
        return {
            "tol": number("tol", self.tol, above=0),
            "cache_bytes": count("cache_bytes", self.cache_bytes),
            "kernel": kernels.resolve(
                self.kernel,
                gamma=self.gamma,
                degree=self.degree,
                coef0=self.coef0,
                bias="none",  # of the kernel: these machines have a bias of their own
                n_features=n_features,
            ),
        }

    def _settle(self, batch: Batch) -> None:
        again = replace(batch, ids=np.arange(len(batch.rows)), arrivals=())
        for epoch in range(1, self.epochs):
            self._learn(self._reordered(again, epoch))
            self._next_id, self._id_gap = len(batch.rows), 0  # no new examples came

    def _reordered(self, batch: Batch, epoch: int) -> Batch:
        """The rows in the order of this epoch."""
        return batch


def shuffled(batch: Batch, order: NDArray[np.intp]) -> Batch:
    """The same rows, with their ids, in another order."""
    assert batch.ids is not None
    return replace(
        batch,
        rows=batch.rows.picked(order),
        targets=batch.targets[order],
        weights=None if batch.weights is None else batch.weights[order],
        ids=batch.ids[order],
    )
