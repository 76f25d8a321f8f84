"""Drawings as parts of a page, in the page's colours, light or dark."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from onlinesvm.report.style import GRID, INK, PAPER, figure, svg_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["THEMED", "inline_svg", "panel"]

# Colours of a drawing that follow the reader's choice of light or dark.
THEMED = {INK: "var(--ink)", "#000000": "var(--ink)", GRID: "var(--grid)", PAPER: "var(--paper)"}


def panel(width: float = 5.2, height: float = 2.9) -> Axes:
    """Axes for a page: small, so that their text can be read on a phone, and see-through."""
    fig = figure(figsize=(width, height))
    ax: Axes = fig.subplots()
    fig.patch.set_visible(False)
    ax.patch.set_visible(False)
    return ax


def inline_svg(ax: Axes, name: str) -> str:
    """The figure of these axes as SVG inside a page; `name` tells its ids from those of others."""
    drawing = io.StringIO()
    with svg_text(salt=name):
        ax.figure.canvas.print_figure(drawing, format="svg", metadata={"Date": None})
    svg = drawing.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' id="[a-zA-Z0-9.]+_\d+"', "", svg)  # of groups; nobody refers to them
    svg = re.sub(r'(<svg [^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg [^>]*?) height="[^"]*"', r"\1", svg, count=1)
    for colour, variable in THEMED.items():
        svg = re.sub(rf"(: ?){colour}\b", rf"\1{variable}", svg, flags=re.IGNORECASE)
    # Text without a colour of its own is black.
    return svg.replace("<svg ", '<svg role="img" style="fill: var(--ink)" ', 1)
