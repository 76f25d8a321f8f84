"""Pictures of numbers and novelties: figures by hand, and one line for what they refuse."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np
import pytest

from onlinesvm.report import plot_novelty, plot_regression, plot_residuals

matplotlib.use("agg")


def test_those_outside_the_tube_are_marked() -> None:
    ax = plot_regression([1.0, 2.0, 3.0], [1.1, 2.0, 4.0], epsilon=0.2)
    inside, outside = (dots.get_offsets().tolist() for dots in ax.collections[1:])
    assert inside == [[1.0, 1.1], [2.0, 2.0]]
    assert outside == [[3.0, 4.0]]


def test_the_line_is_the_median_of_the_last_errors() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=300)
    off = rng.normal(size=300)
    line = plot_residuals(y, y + off, window=40).lines[-1]
    for end, level in zip(line.get_xdata(), line.get_ydata(), strict=True):
        assert np.isclose(level, np.median(off[end - 40 : end]))


@pytest.mark.parametrize("scores", [[1.0], [-1.0], [0.0, 0.0], [-3.0, 1e-9, 5.0]])
def test_every_score_is_in_a_bar_on_its_side_of_0(scores: list[float]) -> None:
    ax = plot_novelty(scores)
    bars = [(bar.get_x(), bar.get_x() + bar.get_width(), bar.get_height()) for bar in ax.patches]
    assert sum(height for *_, height in bars) == len(scores)
    below = sum(height for _, right, height in bars if right <= 1e-12)
    assert below == sum(score < 0 for score in scores)


@pytest.mark.parametrize(
    ("draw", "given", "options", "words"),
    [
        (plot_regression, ([1.0], [1.0, 2.0]), {}, "same length"),
        (plot_regression, ([1.0], [np.nan]), {}, "finite"),
        (plot_regression, ([1.0], [1.0]), {"epsilon": -1}, "epsilon"),
        (plot_residuals, ([1.0], [1.0]), {"window": 2}, "window"),
        (plot_novelty, ([],), {}, "scores"),
        (plot_novelty, ([1.0],), {"bins": 0}, "bins"),
        (plot_novelty, ([1.0], [1]), {}, "is_outlier"),
    ],
)
def test_what_cannot_be_drawn(draw: Any, given: Any, options: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        draw(*given, **options)
