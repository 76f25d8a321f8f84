"""What a detector thinks usual: its scores as a histogram."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onlinesvm.report.style import CLASS_COLOURS, DRIFT, INK, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_novelty"]


def plot_novelty(
    scores: Any, is_outlier: Any = None, *, bins: int = 60, ax: Axes | None = None
) -> Axes:
    """Draw how many rows a detector finds how usual, and what it rings for: scores below 0.

    Parameters
    ----------
    scores : array of n numbers
        What ``decision_function`` of a detector says, below 0 for an outlier.
    is_outlier : array of n bool, optional
        The truth, where it is known: drawn apart, and the title says how many were found.
    bins : int, default=60
        Of equal width, one border at 0.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> ax = plot_novelty([0.5, 0.4, -0.1, -2.0], [False, False, False, True])
    >>> ax.get_title()
    'rings for 2 of 4; found 1 of 1, 1 false alarm'
    """
    f = np.asarray(scores, dtype=np.float64)
    if f.ndim != 1 or not len(f) or not np.isfinite(f).all():
        raise ValueError("scores must be one column of finite numbers, at least 1")
    if bins < 1:
        raise ValueError(f"bins must be a positive number, got {bins!r}")
    width = (max(f.max(), 0.0) - min(f.min(), 0.0)) / bins or 1.0
    left, right = (np.ceil(max(side, 0.0) / width) for side in (-f.min(), f.max()))
    borders = (np.arange(-left, max(right, 1 - left) + 1) * width).tolist()
    ax = axes_or_new(ax)
    title = f"rings for {int((f < 0).sum()):,} of {len(f):,}"
    if is_outlier is None:
        ax.hist(f, borders, color=CLASS_COLOURS[1], alpha=0.8)
    else:
        odd = np.asarray(is_outlier)
        if odd.shape != f.shape or odd.dtype != np.bool_:
            raise ValueError("is_outlier must be a column of bool, one for each score")
        looks = {"usual": (f[~odd], CLASS_COLOURS[1]), "outliers": (f[odd], DRIFT)}
        for name, (some, colour) in looks.items():
            ax.hist(some, borders, color=colour, alpha=0.65, label=name)
        ax.legend(frameon=False, fontsize="small")
        found, false = int((f[odd] < 0).sum()), int((f[~odd] < 0).sum())
        alarms = "false alarm" if false == 1 else "false alarms"
        title += f"; found {found:,} of {int(odd.sum()):,}, {false:,} {alarms}"
    ax.axvline(0.0, color=INK, linewidth=1.2)
    ax.set_xlabel("score: below 0 it rings")
    ax.set_ylabel("rows")
    ax.set_title(title, fontsize="medium")
    ax.spines[["top", "right"]].set_visible(False)
    return ax
