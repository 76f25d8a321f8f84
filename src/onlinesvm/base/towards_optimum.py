"""What the machines have in common that approach the optimum pass by pass."""

from __future__ import annotations

from typing import Self

from ..params import check_number
from .classifier import OnlineClassifier
from .kernel_method import SoftMargin
from .parameters import inherit
from .passes import PassByPass


class TowardsOptimum(SoftMargin, PassByPass, OnlineClassifier):
    """Near the optimum after one pass, optimal over what it holds after :meth:`finish`.

    ``fit`` finishes after each pass, and ends with the pass that met no violator: the model is then
    optimal over all rows.
    """

    max_iter: int = inherit(
        default=50,
        doc="""Passes of :meth:`fit` over its rows, at most; it ends with the pass that met no
        violator, and a ``ConvergenceWarning`` tells when none did. 1 is one pass, then
        :meth:`finish`.""",
    )

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
        goal = check_number("tol", self.tol if tol is None else tol, above=0)
        finish(goal)
        self._warn_if_capped()
        self._check_tol(tol=goal)
        return self

    def _end_pass(self) -> None:
        self.finish()
