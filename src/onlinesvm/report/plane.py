"""The decision picture of a page, for models of two features."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from onlinesvm.report.decision import plot_decision
from onlinesvm.report.section import Section
from onlinesvm.report.style import figure

__all__ = ["plane_section"]

_MOST = 2000  # examples, beyond which dots hide the boundary


def plane_section(model: Any, X: Any, y: Any, names: Sequence[str]) -> Section:
    """What the model thinks of the plane, with some examples; a picture in pixels, on white."""
    fig = figure(figsize=(6.4, 6.4))
    ax = plot_decision(model, X[:_MOST], np.asarray(y)[:_MOST], ax=fig.subplots())
    for label, name in zip((ax.xaxis.label, ax.yaxis.label), names, strict=True):
        label.set_text(name)
        label.set_parse_math(False)  # a name with dollars is a name
    picture = io.BytesIO()
    fig.savefig(picture, format="png", dpi=110, metadata={"Software": None})
    data = base64.b64encode(picture.getvalue()).decode()
    image = f'<img alt="the plane and its boundary" src="data:image/png;base64,{data}">'
    return Section("what it thinks of the plane", f'<div class="card">{image}</div>')
