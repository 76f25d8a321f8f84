"""Colours and the door to matplotlib, which is opened only when a picture is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette, told apart under every common colour-vision deficiency.
CLASS_COLOURS = ("#E69F00", "#0072B2", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
# Curves of models must not be taken for classes: other hues, and dashes once those run out.
LINES = (("#222222", "-"), ("#009E73", "-"), ("#B0457F", "-"), ("#56B4E9", "--"), ("#D55E00", "--"))
# What is there to be beaten stays in the background.
BASELINE_LINES = (("#8A8A8A", "--"), ("#8A8A8A", ":"))
DRIFT = "#D55E00"
INK = "#222222"
PAPER = "#FFFFFF"
GRID = "#E5E5E5"


MISSING = "pictures need matplotlib: install it with `pip install matplotlib`"


def axes_or_new(ax: Axes | None) -> Axes:
    """The axes given, or those of a new figure that `plt.show` knows."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as missing:
        raise ImportError(MISSING) from missing
    return plt.subplots(figsize=(6.4, 6.8), layout="constrained")[1]


def figure(**look: Any) -> Figure:
    """A figure for a file: no window, no display, nothing to close."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError as missing:
        raise ImportError(MISSING) from missing
    return Figure(layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08), **look)


def svg_text(salt: str) -> Any:
    """A context in which drawings keep their text as text, and bear ids of their own."""
    import matplotlib as mpl

    return mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": salt})
