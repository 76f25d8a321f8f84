"""The reliability diagram: its figures by hand, and one line for what it cannot draw."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest

from onlinesvm.report import plot_reliability

matplotlib.use("agg")


def test_points_and_error_by_hand() -> None:
    ax = plot_reliability([0, 1, 1, 1], [0.1, 0.1, 0.9, 0.9], bins=2, label="a $ and b $")
    curve = ax.lines[-1]
    assert np.allclose(curve.get_xdata(), [0.1, 0.9])
    assert np.allclose(curve.get_ydata(), [0.5, 1.0])
    assert ax.get_legend().get_texts()[-1].get_text() == "a $ and b $, error 0.250"


def test_a_second_curve_has_another_colour() -> None:
    ax = plot_reliability([0, 1], [0.2, 0.8])
    plot_reliability([0, 1], [0.4, 0.6], ax=ax)
    assert len({line.get_color() for line in ax.lines[1:]}) == 2


@pytest.mark.parametrize(
    ("y", "p", "words"),
    [
        ([0, 1], [0.5], "same length"),
        ([], [], "at least 1"),
        ([0, 2], [0.5, 0.5], "y_true must say"),
        ([0, 1], [0.5, 1.5], "scores are no probabilities"),
        ([0, 1], [0.5, np.nan], "scores are no probabilities"),
    ],
)
def test_what_cannot_be_drawn(y: list[int], p: list[float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        plot_reliability(y, p)
