"""What the machines have in common that approach the optimum pass by pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from .. import kernels
from ..base import OnlineClassifier, PassByPass
from ..params import count, number


class TowardsOptimum(PassByPass, OnlineClassifier):
    """Near the optimum after one pass, optimal over what it holds after :meth:`finish`.

    ``fit`` finishes after each pass, and ends with the pass that met nobody who violates: the model
    is then optimal over all rows. The constructor has ``cache_bytes`` and a kernel's parameters.
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

    def _after_pass(self) -> None:
        self.finish()

    def _criterion(self, n: int) -> Callable[[float], bool]:
        return lambda violators: violators == 0
