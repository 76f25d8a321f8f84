"""plot_history: one line for each model, with the values of the snapshots."""

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("agg")


from onlinesvm.report import plot_history

HISTORY = [
    {
        "a": SimpleNamespace(seen=n, recent_accuracy=accuracy, support_vectors=n // 2),
        "b": SimpleNamespace(seen=n, recent_accuracy=1 - accuracy, support_vectors=n // 4),
    }
    for n, accuracy in [(10, float("nan")), (20, 0.5), (30, 0.7), (40, 0.9)]
]


def test_lines_carry_names_and_values():
    ax = plot_history(HISTORY, "support_vectors")
    a, b = ax.get_lines()
    assert (a.get_label(), b.get_label()) == ("a", "b")
    assert a.get_xdata() == pytest.approx([10, 20, 30, 40])
    assert b.get_ydata() == pytest.approx([2, 5, 7, 10])
    assert ax.get_ylabel() == "support vectors"
    assert a.get_color() != b.get_color()


def test_moving_mean_skips_what_is_not_known():
    line = plot_history(HISTORY, smooth=3).get_lines()[0]
    assert np.isnan(line.get_ydata()[0])
    assert line.get_ydata()[1:] == pytest.approx([0.5, 0.6, 0.7])


def test_accuracies_are_shown_in_percent():
    ax = plot_history(iter(HISTORY))
    assert ax.yaxis.get_major_formatter()(0.5) == "50%"


def test_a_name_with_dollars_is_a_name():
    odd = "$\\frac$"
    ax = plot_history([{odd: shot["a"]} for shot in HISTORY], "support_vectors")
    ax.figure.canvas.draw()  # as formula it could not be
    assert ax.get_legend().get_texts()[0].get_text() == odd


def test_hostile_arguments():
    with pytest.raises(ValueError, match="history is empty"):
        plot_history([])
    with pytest.raises(ValueError, match=r"quantity must be one of .*support_vectors.*'speed'"):
        plot_history(HISTORY, "speed")
    with pytest.raises(ValueError, match="smooth must be a positive"):
        plot_history(HISTORY, smooth=0)
