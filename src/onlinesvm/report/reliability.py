"""Whether probabilities are true: what was claimed beside what came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onlinesvm.report.style import GRID, LINES, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_reliability"]


def plot_reliability(
    y_true: Any, y_proba: Any, *, bins: int = 15, label: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw how often a class came, over the probability that it was given.

    On the diagonal a probability is true. Points are as large as the share of examples they stand
    for, with two standard errors of a share of so many; the legend has the expected calibration
    error, the mean distance from the diagonal.

    Parameters
    ----------
    y_true : array of n bool or 0 and 1
        Whether the class came.
    y_proba : array of n numbers from 0 to 1
        Its probability, as given before.
    bins : int, default=15
        Of equal width.
    label : str, optional
        A name for the curve.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given. Call it again for another curve.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib, numpy as np
    >>> matplotlib.use("agg")
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(1000)
    >>> ax = plot_reliability(rng.random(1000) < p, p, label="honest")
    >>> ax.get_legend().get_texts()[-1].get_text().startswith("honest, error 0.0")
    True
    """
    came = np.asarray(y_true, dtype=np.float64)
    p = np.asarray(y_proba, dtype=np.float64)
    if came.ndim != 1 or came.shape != p.shape or not len(p):
        raise ValueError("y_true and y_proba must be two columns of the same length, at least 1")
    if not np.isin(came, (0, 1)).all():
        raise ValueError("y_true must say of each example whether the class came: 0 or 1")
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("y_proba must be numbers from 0 to 1; scores are no probabilities")
    if bins < 1:
        raise ValueError(f"bins must be a positive number, got {bins!r}")
    place = np.minimum((p * bins).astype(np.intp), bins - 1)
    count = np.bincount(place, minlength=bins)
    met = count > 0
    claimed = np.bincount(place, weights=p, minlength=bins)[met] / count[met]
    share = np.bincount(place, weights=came, minlength=bins)[met] / count[met]
    error = float((count[met] * np.abs(claimed - share)).sum() / len(p))
    fresh = ax is None
    ax = axes_or_new(ax)
    if fresh:
        ax.plot([0, 1], [0, 1], color=GRID, linewidth=1.2, zorder=0)
    curves = sum(line.get_marker() == "o" for line in ax.lines)
    colour, dash = LINES[curves % len(LINES)]
    name = f"{label}, error {error:.3f}" if label else f"error {error:.3f}"
    ax.plot(
        claimed, share, color=colour, linestyle=dash, linewidth=1.5, marker="o", ms=0, label=name
    )
    ax.scatter(claimed, share, s=12 + 400 * count[met] / len(p), color=colour, alpha=0.7)
    spread = 2 * np.sqrt(share * (1 - share) / count[met])
    ax.vlines(claimed, share - spread, share + spread, color=colour, linewidth=1)
    ax.set_xlabel("probability given")
    ax.set_ylabel("share that came")
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.spines[["top", "right"]].set_visible(False)
    for text in ax.legend(frameon=False, fontsize="small").get_texts():
        text.set_parse_math(False)  # a name with dollars is a name
    return ax
