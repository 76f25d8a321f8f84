"""One self-contained page about a run over a stream: to send, to print, to read on a phone."""

from __future__ import annotations

import io
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from onlinesvm.atomic import replacing
from onlinesvm.report.history import plot_history, snapshot_row
from onlinesvm.report.style import GRID, INK, PAPER, figure, svg_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["write_page"]

_FACTS = ("support_vectors", "nbytes", "labels_used")
_NAMES = {"nbytes": "memory in bytes", "auc": "AUC", "mae": "MAE", "rmse": "RMSE", "r2": "R2"}
# Colours of the drawing that follow the reader's choice of light or dark.
_THEMED = {INK: "var(--ink)", "#000000": "var(--ink)", GRID: "var(--grid)", PAPER: "var(--paper)"}

_STYLE = """
:root { color-scheme: light dark;
  --paper: #ffffff; --ink: #222222; --soft: #666666; --grid: #e5e5e5 }
@media (prefers-color-scheme: dark) {
  :root { --paper: #16181c; --ink: #e8e8e8; --soft: #a0a4aa; --grid: #33373d }
}
body { margin: 0 auto; max-width: 72rem; padding: 1rem; background: var(--paper); color: var(--ink);
  font: 16px/1.45 system-ui, sans-serif }
h1 { font-size: 1.5rem; margin: .5rem 0 }
h2 { font-size: 1rem; margin: 0 0 .3rem }
p, small { color: var(--soft) }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: .3rem .8rem .3rem 0; text-align: right; border-bottom: 1px solid var(--grid);
  vertical-align: baseline }
tr:first-child th { vertical-align: bottom }
th:first-child { text-align: left; position: sticky; left: 0; background: var(--paper) }
tr.baseline { color: var(--soft) }
small { display: block; font-size: .75em }
main { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr));
  gap: 1.5rem; margin-top: 1.5rem }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.5rem; margin: 1.5rem 0 0; padding: 0;
  list-style: none }
.legend i { display: inline-block; width: 2rem; margin-right: .5rem; vertical-align: middle }
section { break-inside: avoid; min-width: 0 }
svg { width: 100%; height: auto; display: block }
svg text { font-family: system-ui, sans-serif !important }
@media print {
  :root { color-scheme: light; --paper: #ffffff; --ink: #222222; --soft: #555555; --grid: #e5e5e5 }
  body { max-width: none; padding: 0; font-size: 10pt }
  main { grid-template-columns: 1fr 1fr }
  table { font-size: 7pt }
  th, td { padding: .15rem .4rem .15rem 0 }
  .wide { overflow: visible }
}
"""


def write_page(
    history: Iterable[Mapping[str, Any]],
    path: str | os.PathLike[str],
    *,
    title: str = "Test-then-train",
    drifts: Sequence[int] = (),
) -> None:
    """Write one HTML file with a table of where each model ended and a curve for each quantity.

    Nothing is fetched from elsewhere and no script runs: drawings and style are inside. It follows
    light and dark, and fits a phone and paper. Costs about a tenth of a second for each curve.

    Parameters
    ----------
    history : iterable of dict of str to Snapshot
        An `Evaluation`, or what `onlinesvm.stream.prequential` yields.
    path : path
        Replaced as a whole, or left as it was.
    title : str
    drifts : sequence of int
        After how many examples the stream changed: marked in every curve.
    """
    shots = list(history)
    if not shots:
        raise ValueError("history is empty: pass the snapshots that prequential yields")
    drawings = {quantity: _drawing(shots, quantity, drifts) for quantity in _quantities(shots)}
    page = "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta http-equiv="Content-Security-Policy" '
            "content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>",
            f"<h1>{escape(title)}</h1>",
            _table(shots[-1]),
            _legend(drawings.values()),
            "<main>",
            *(_section(quantity, ax) for quantity, ax in drawings.items()),
            "</main>\n</body>\n</html>\n",
        ]
    )
    with replacing(path) as file:
        file.write(page.encode())


def _quantities(shots: Sequence[Mapping[str, Any]]) -> list[str]:
    """What has a curve: every metric over its window, and what a model holds."""
    rows = [snapshot_row(shot) for shots_then in shots for shot in shots_then.values()]
    names = dict.fromkeys(name for row in rows for name in row if name.startswith("window_"))
    return [q for q in (*names, *_FACTS) if any(_known(row.get(q)) for row in rows)]


def _known(value: Any) -> bool:
    return value is not None and math.isfinite(value)


def _drawing(shots: Sequence[Mapping[str, Any]], quantity: str, drifts: Sequence[int]) -> Axes:
    fig = figure(figsize=(5.2, 2.9))  # small, so that its text can be read on a phone
    ax = plot_history(shots, quantity, drifts=drifts, ax=fig.subplots())
    ax.set_ylabel("")
    fig.patch.set_visible(False)
    ax.patch.set_visible(False)
    return ax


def _legend(drawings: Iterable[Axes]) -> str:
    """Which line is whose, once for all drawings."""
    handles = [handle for ax in drawings for handle in _handles(ax)]
    lines = {label: (line.get_color(), line.get_linestyle()) for line, label in handles}
    items = []
    for label, (colour, dash) in lines.items():
        style = {"-": "solid", "--": "dashed"}.get(dash, "dotted")
        stroke = f"border-top: 2px {style} {_THEMED.get(colour, colour)}"
        items.append(f'<li><i style="{stroke}"></i>{escape(label)}</li>')
    return f'<ul class="legend">{"".join(items)}</ul>'


def _handles(ax: Axes) -> list[tuple[Any, str]]:
    return list(zip(*ax.get_legend_handles_labels(), strict=True))


def _section(quantity: str, ax: Axes) -> str:
    legend = ax.get_legend()
    if legend is not None:
        legend.remove()
    drawing = io.StringIO()
    with svg_text(salt=quantity):  # ids of two drawings on one page must differ
        ax.figure.canvas.print_figure(drawing, format="svg", metadata={"Date": None})
    return f"<section>\n<h2>{escape(_name(quantity))}</h2>\n{_inline(drawing.getvalue())}</section>"


def _inline(svg: str) -> str:
    """The drawing as a part of a page, in the page's colours."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' id="[a-zA-Z0-9.]+_\d+"', "", svg)  # of groups; nobody refers to them
    svg = re.sub(r'(<svg [^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg [^>]*?) height="[^"]*"', r"\1", svg, count=1)
    for colour, variable in _THEMED.items():
        svg = re.sub(rf"(: ?){colour}\b", rf"\1{variable}", svg, flags=re.IGNORECASE)
    # Text without a colour of its own is black.
    return svg.replace("<svg ", '<svg role="img" style="fill: var(--ink)" ', 1)


def _table(last: Mapping[str, Any]) -> str:
    rows = {name: snapshot_row(shot) for name, shot in last.items()}
    every = dict.fromkeys(key for row in rows.values() for key in row)
    metrics = [key.removeprefix("window_") for key in every if key.startswith("window_")]
    facts = [f for f in (*_FACTS, "examples_per_second") if any(r.get(f) for r in rows.values())]
    heads = "".join(f"<th>{escape(_name(key))}</th>" for key in (*metrics, *facts))
    body = []
    for name, row in rows.items():
        cells = [
            f"<td>{_shown(row.get(f'window_{m}'))}<small>{_shown(row.get(m))}</small></td>"
            for m in metrics
        ]
        is_model = row.get("role", "model") == "model"
        cells += [f"<td>{_shown(row.get(f)) if is_model else '-'}</td>" for f in facts]
        role = "model" if is_model else "baseline"
        body.append(f'<tr class="{role}"><th>{escape(str(name))}</th>{"".join(cells)}</tr>')
    seen = next(iter(rows.values()))["seen"]
    return (
        f"<p>After {seen:,} examples, each predicted before it was learned. "
        "Large: the last window; small: all of them.</p>\n"
        f'<div class="wide"><table>\n<tr><th></th>{heads}</tr>\n'
        + "\n".join(body)
        + "\n</table></div>"
    )


def _name(quantity: str) -> str:
    plain = quantity.removeprefix("window_")
    words = _NAMES.get(plain, plain.replace("_", " "))
    return f"{words}, last window" if plain != quantity else words


def _shown(value: Any) -> str:
    if value is None or math.isnan(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 or isinstance(value, int) else f"{value:.4g}"
