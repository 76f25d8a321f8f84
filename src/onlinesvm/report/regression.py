"""How near predictions of numbers come, and whether they stay as near along a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from onlinesvm.report.style import CLASS_COLOURS, DRIFT, GRID, INK, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_regression", "plot_residuals"]

_MOST = 5000  # dots, beyond which they hide each other


def plot_regression(
    y_true: Any, y_pred: Any, *, epsilon: float = 0.0, ax: Axes | None = None
) -> Axes:
    """Draw predictions over what came, around the diagonal and the tube that costs nothing.

    Parameters
    ----------
    y_true, y_pred : arrays of n numbers
    epsilon : float, default=0.0
        The width of the tube to each side, as the model was given it; those outside are marked.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> ax = plot_regression([1.0, 2.0, 3.0], [1.1, 2.0, 4.0], epsilon=0.2)
    >>> ax.get_title()
    'mean error 0.367, 1 of 3 outside the tube'
    """
    y, p = _columns(y_true, y_pred)
    if not epsilon >= 0:
        raise ValueError(f"epsilon must be a number of at least 0, got {epsilon!r}")
    ax = axes_or_new(ax)
    off = np.abs(p - y)
    ends = np.array([min(y.min(), p.min()), max(y.max(), p.max())])
    if epsilon:
        ax.fill_between(ends, ends - epsilon, ends + epsilon, color=GRID, linewidth=0, zorder=0)
    ax.plot(ends, ends, color=INK, linewidth=1.0, zorder=1)
    some = _spread(len(y))
    for of, colour in ((off <= epsilon, CLASS_COLOURS[1]), (off > epsilon, DRIFT)):
        at = some[of[some]]
        ax.scatter(y[at], p[at], s=9, color=colour, alpha=0.6, linewidth=0, zorder=2)
    ax.set_xlabel("what came")
    ax.set_ylabel("predicted")
    outside = f", {int((off > epsilon).sum()):,} of {len(y):,} outside the tube" if epsilon else ""
    ax.set_title(f"mean error {off.mean():.3g}{outside}", fontsize="medium")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_residuals(
    y_true: Any, y_pred: Any, *, window: int = 200, epsilon: float = 0.0, ax: Axes | None = None
) -> Axes:
    """Draw errors along a stream, with the middle and the spread of the last ones.

    A band that leaves 0 is a bias, one that widens is a stream that has become harder, or a drift.

    Parameters
    ----------
    y_true, y_pred : arrays of n numbers
        In the order of the stream, each predicted before it came.
    window : int, default=200
        The band has the middle eight tenths of so many errors in a row, the line their median.
    epsilon : float, default=0.0
        The width of the tube to each side, drawn as two lines.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib, numpy as np
    >>> matplotlib.use("agg")
    >>> y = np.arange(500.0)
    >>> ax = plot_residuals(y, y + 1, window=50)
    >>> ax.lines[-1].get_ydata()[0].item()
    1.0
    """
    y, p = _columns(y_true, y_pred)
    if not 1 <= window <= len(y):
        raise ValueError(f"window must be from 1 to the {len(y)} examples, got {window!r}")
    ax = axes_or_new(ax)
    off, n = p - y, np.arange(1, len(y) + 1)
    some = _spread(len(y))
    ax.scatter(n[some], off[some], s=5, color=CLASS_COLOURS[1], alpha=0.3, linewidth=0, zorder=1)
    ends = np.unique(np.linspace(window, len(y), min(500, len(y) - window + 1)).astype(int))
    shares = np.array([np.quantile(off[end - window : end], (0.1, 0.5, 0.9)) for end in ends])
    ax.fill_between(ends, shares[:, 0], shares[:, 2], color=INK, alpha=0.15, linewidth=0, zorder=2)
    for level in {-epsilon, 0.0, epsilon}:
        ax.axhline(level, color=INK, linewidth=0.8, linestyle="-" if level == 0 else ":", zorder=2)
    ax.plot(ends, shares[:, 1], color=INK, linewidth=1.8, zorder=3)
    ax.set_xlabel("examples seen")
    ax.set_ylabel("predicted less what came")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _columns(y_true: Any, y_pred: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    y, p = (np.asarray(values, dtype=np.float64) for values in (y_true, y_pred))
    if y.ndim != 1 or y.shape != p.shape or not len(y):
        raise ValueError("y_true and y_pred must be two columns of the same length, at least 1")
    if not (np.isfinite(y).all() and np.isfinite(p).all()):
        raise ValueError("y_true and y_pred must be finite numbers; drop the rows without one")
    return y, p


def _spread(n: int) -> NDArray[np.intp]:
    """The numbers of the rows to be drawn, over all of them."""
    return np.unique(np.linspace(0, n - 1, min(n, _MOST)).astype(np.intp))
