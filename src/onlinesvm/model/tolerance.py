"""The promise ``tol``: solvers that stop short, and optimality conditions that rounding breaks."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..data.arguments import check_number

_CHECK_ROWS_MOST = 65536


def warn_if_capped(model: Any) -> None:
    """Say so when the solver stopped short; the model is valid, only less exact."""
    if getattr(model._core, "capped", False):
        warnings.warn(
            f"{type(model).__name__} stopped before it reached tol={model.tol:g}; "
            "scale the features, lower C, or raise tol",
            ConvergenceWarning,
            stacklevel=5,
        )


def check_tol(model: Any, changes: float = np.inf, tol: float | None = None) -> None:
    """Warn if some conditions, computed in double, are violated by more than ``tol``.

    A check costs 64 predictions in double. So it comes when there were a quarter more changes
    than at the last one, or 65,536 more; without a number, now.
    """
    state = model._state
    unchecked = state.unchecked + min(changes, _CHECK_ROWS_MOST)
    if state.core.capped or unchecked < min(state.checked / 4, _CHECK_ROWS_MOST):
        model._state = state.but(unchecked=unchecked)
        return
    model._state = state.but(checked=state.checked + unchecked, unchecked=0)
    residual, tol = state.core.spot_check(), model.tol if tol is None else tol
    if not residual <= tol:
        finer = "use dtype='float64', " if model.dtype == "float32" else ""
        warnings.warn(
            f"{type(model).__name__} violates its optimality conditions by {residual:.2g}, more "
            f"than tol={tol:g}; {finer}scale the features, lower C, or raise tol",
            ConvergenceWarning,
            stacklevel=5,
        )


def finish(self: Any, tol: float | None = None) -> Any:
    """Take steps until the model is optimal, within ``tol``, over the examples it holds.

    Finishing twice is finishing once, and the stream may go on afterwards.

    Parameters
    ----------
    tol : float, default the model's own ``tol``

    Returns
    -------
    self
    """
    core_finish = self._verb("finish")
    self._ready()
    goal = check_number("tol", self.tol if tol is None else tol, above=0)
    core_finish(goal)
    self._warn_if_capped()
    self._check_tol(tol=goal)
    return self
