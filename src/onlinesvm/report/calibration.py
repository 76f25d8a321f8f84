"""What a score is worth: how often the second class came, by the score it was given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from onlinesvm.report.drawing import inline_svg, panel
from onlinesvm.report.section import Section
from onlinesvm.report.style import GRID, INK

__all__ = ["calibration_section"]

_FEWEST = 50  # examples, below which ten groups say nothing


def calibration_section(truth: Sequence[Any], score: Sequence[float]) -> Section | None:
    """The share of the second class in ten groups of equal size, from low scores to high.

    A score that can be trusted gives a line that rises from 0 to 1 and crosses the half near 0.
    None for other than two classes, and for too few examples.
    """
    scores = np.asarray(score, dtype=np.float64)
    known = np.isfinite(scores)
    labels = sorted({t for t, k in zip(truth, known, strict=True) if k and t is not None}, key=str)
    if len(labels) != 2 or known.sum() < _FEWEST:
        return None
    second = max(labels)
    hits = np.array([t == second for t in truth])[known]
    order = np.argsort(scores[known], kind="stable")
    groups = np.array_split(order, 10)
    x = [float(scores[known][g].mean()) for g in groups]
    share = np.array([hits[g].mean() for g in groups])
    size = np.array([len(g) for g in groups])
    error = np.sqrt(share * (1 - share) / size)
    ax = panel()
    ax.axhline(0.5, color=GRID, linewidth=1)
    ax.axvline(0, color=GRID, linewidth=1)
    ax.errorbar(x, share, yerr=error, color=INK, marker="o", markersize=4, linewidth=1.5)
    ax.set_xlabel("score, mean of each tenth")
    ax.set_ylim(-0.04, 1.04)
    ax.yaxis.set_major_formatter("{x:.0%}")
    ax.spines[["top", "right"]].set_visible(False)
    name = str(second) if len(str(second)) <= 24 else str(second)[:23] + "…"
    return Section(f"how often it was {name}, by score, last window", inline_svg(ax, "calibration"))
