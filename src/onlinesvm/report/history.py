"""Curves of models along a stream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from onlinesvm.report.style import LINES, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_history"]


def plot_history(
    history: Iterable[Mapping[str, Any]],
    quantity: str = "recent_accuracy",
    *,
    smooth: int = 1,
    ax: Axes | None = None,
) -> Axes:
    """Draw how one quantity of some models developed along a stream, one line each.

    Parameters
    ----------
    history : iterable of dict of str to Snapshot
        What `onlinesvm.stream.prequential` yields.
    quantity : str, default="recent_accuracy"
        Any field of `Snapshot`, such as ``"support_vectors"`` or ``"labels_used"``.
    smooth : int, default=1
        Mean over so many snapshots, for quantities that jump.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from onlinesvm import RampSVC
    >>> from onlinesvm.datasets import make_checkerboard
    >>> from onlinesvm.stream import lessons, prequential
    >>> X, y = make_checkerboard(400, random_state=0)
    >>> models = {"ramp": RampSVC(C=10, gamma=4)}
    >>> history = list(prequential(models, lessons(X, y), classes=[-1, 1], every=100))
    >>> plot_history(history, "support_vectors").get_xlabel()
    'examples seen'
    """
    history = list(history)
    if not history:
        raise ValueError("history is empty: pass the snapshots that prequential yields")
    known = [name for name in dir(history[0][next(iter(history[0]))]) if not name.startswith("_")]
    if quantity not in known:
        raise ValueError(f"quantity must be one of {', '.join(known)}; got {quantity!r}")
    if smooth < 1:
        raise ValueError(f"smooth must be a positive number of snapshots, got {smooth!r}")
    ax = axes_or_new(ax)
    for k, name in enumerate(history[-1]):
        seen = [snapshot[name].seen for snapshot in history]
        values = _moving_mean([getattr(snapshot[name], quantity) for snapshot in history], smooth)
        colour, dash = LINES[k % len(LINES)]
        ax.plot(seen, values, linewidth=1.8, color=colour, linestyle=dash, label=name)
    ax.set_xlabel("examples seen")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.yaxis.set_major_formatter("{x:.0%}" if quantity.endswith("accuracy") else "{x:,.0f}")
    ax.set_ylabel(quantity.replace("_", " "))
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="#E5E5E5", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.margins(x=0.02)
    ax.legend(frameon=False, fontsize="small")
    return ax


def _moving_mean(values: list[float], width: int) -> NDArray[np.float64]:
    """Mean of each value and the width - 1 before it, fewer at the start, nan for none."""
    padded = np.concatenate([np.full(width - 1, np.nan), np.asarray(values, dtype=np.float64)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, width)
    known = ~np.isnan(windows)
    counts = known.sum(axis=1)
    sums = np.where(known, windows, 0.0).sum(axis=1)
    means: NDArray[np.float64] = np.full(len(counts), np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means
