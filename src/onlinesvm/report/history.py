"""Curves of models along a stream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from onlinesvm.report.style import BASELINE_LINES, DRIFT, GRID, LINES, PAPER, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_history", "snapshot_row"]

_WHOLE_NUMBERS = ("seen", "support_vectors", "labels_used", "nbytes", "examples_per_second")


def plot_history(
    history: Iterable[Mapping[str, Any]],
    quantity: str = "recent_accuracy",
    *,
    smooth: int = 1,
    drifts: Sequence[int] = (),
    ax: Axes | None = None,
) -> Axes:
    """Draw how one quantity of some models developed along a stream, one line each.

    Parameters
    ----------
    history : iterable of dict of str to Snapshot
        What `onlinesvm.stream.prequential` yields, or an `Evaluation`. Baselines are drawn thin.
    quantity : str, default="recent_accuracy"
        Any field of `Snapshot`, such as ``"support_vectors"`` or ``"labels_used"``, or a metric:
        ``"kappa"`` over all examples, ``"window_kappa"`` over the last ones.
    smooth : int, default=1
        Mean over so many snapshots, for quantities that jump.
    drifts : sequence of int
        After how many examples the stream changed, or an alarm said so: marked on the axis.
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
    rows = [{name: snapshot_row(snapshot) for name, snapshot in shots.items()} for shots in history]
    known = dict.fromkeys(
        key for row in rows[0].values() for key, value in row.items() if not isinstance(value, str)
    )
    if quantity not in known:
        raise ValueError(f"quantity must be one of {', '.join(known)}; got {quantity!r}")
    if smooth < 1:
        raise ValueError(f"smooth must be a positive number of snapshots, got {smooth!r}")
    ax = axes_or_new(ax)
    looks = {"model": cycle(LINES), "baseline": cycle(BASELINE_LINES)}
    for name in rows[-1]:
        role = rows[-1][name].get("role", "model")
        seen = [row[name]["seen"] for row in rows]
        values = _moving_mean([row[name].get(quantity) for row in rows], smooth)
        if role == "baseline" and np.isnan(values).all():
            continue  # a baseline has no scores, no support vectors, ...
        colour, dash = next(looks[role])
        width = 1.8 if role == "model" else 1.1
        ax.plot(seen, values, linewidth=width, color=colour, linestyle=dash, label=name)
    for k, drift in enumerate(drifts):
        label = None if k else "drift"
        ax.axvline(drift, color=DRIFT, linewidth=1.2, linestyle=(0, (1, 2)), zorder=0, label=label)
    _finish(ax, quantity)
    return ax


def _finish(ax: Axes, quantity: str) -> None:
    ax.set_xlabel("examples seen")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.yaxis.set_major_formatter(_format(quantity))
    ax.set_ylabel(quantity.replace("_", " "))
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.margins(x=0.02)
    legend = ax.legend(facecolor=PAPER, edgecolor="none", framealpha=0.6, fontsize="small")
    for text in legend.get_texts():
        text.set_parse_math(False)  # a name with dollars is a name


def snapshot_row(snapshot: Any) -> Mapping[str, Any]:
    """What a snapshot says, under one name each."""
    row: Mapping[str, Any] = snapshot.row() if hasattr(snapshot, "row") else vars(snapshot)
    return row


def _format(quantity: str) -> Any:
    if quantity == "nbytes":
        from matplotlib.ticker import EngFormatter

        return EngFormatter("B", places=None)
    if quantity.endswith(("accuracy", "alarms", "detections")):
        return "{x:.0%}"
    return "{x:,.0f}" if quantity in _WHOLE_NUMBERS else "{x:,g}"


def _moving_mean(values: list[float | None], width: int) -> NDArray[np.float64]:
    """Mean of each value and the width - 1 before it, fewer at the start, nan for none."""
    padded = np.concatenate([np.full(width - 1, np.nan), np.asarray(values, dtype=np.float64)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, width)
    known = ~np.isnan(windows)
    counts = known.sum(axis=1)
    sums = np.where(known, windows, 0.0).sum(axis=1)
    means: NDArray[np.float64] = np.full(len(counts), np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means
