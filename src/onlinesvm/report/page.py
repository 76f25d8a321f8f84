"""One self-contained page about a run over a stream: to send, to print, to read on a phone."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from onlinesvm.atomic import replacing
from onlinesvm.report.drawing import THEMED, inline_svg, panel
from onlinesvm.report.history import plot_history, snapshot_row
from onlinesvm.report.page_style import STYLE
from onlinesvm.report.section import Section
from onlinesvm.visible import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["write_page"]

_FACTS = ("support_vectors", "nbytes", "labels_used")
_NAMES = {"nbytes": "memory", "auc": "AUC", "mae": "MAE", "rmse": "RMSE", "r2": "R2"}


def write_page(
    history: Iterable[Mapping[str, Any]],
    path: str | os.PathLike[str],
    *,
    title: str = "Test-then-train",
    drifts: Sequence[int] = (),
    sections: Iterable[Section] = (),
    facts: Mapping[str, str] | None = None,
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
    sections : iterable of Section
        What else there is to say, behind the curves.
    facts : dict of str to str
        What was run, in a few lines below the title.
    """
    page = page_text(history, title=title, drifts=drifts, sections=sections, facts=facts)
    with replacing(path) as file:
        file.write(page)


def page_text(
    history: Iterable[Mapping[str, Any]],
    *,
    title: str,
    drifts: Sequence[int],
    sections: Iterable[Section],
    facts: Mapping[str, str] | None,
) -> bytes:
    """The same as bytes."""
    shots = list(history)
    if not shots:
        raise ValueError("history is empty: pass the snapshots that prequential yields")
    drawings = {quantity: _drawing(shots, quantity, drifts) for quantity in _quantities(shots)}
    page = "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta http-equiv="Content-Security-Policy" '
            "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">",
            f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>",
            f"<h1>{escape(title)}</h1>",
            _facts(facts or {}),
            _table(shots[-1]),
            _legend(drawings.values()),
            "<main>",
            *(_curve(quantity, ax).html() for quantity, ax in drawings.items()),
            *(section.html() for section in sections),
            "</main>\n</body>\n</html>\n",
        ]
    )
    return visible(page, lines=True).encode()


def _facts(facts: Mapping[str, str]) -> str:
    rows = (f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts.items())
    return f"<dl>{''.join(rows)}</dl>" if facts else ""


def _quantities(shots: Sequence[Mapping[str, Any]]) -> list[str]:
    """What has a curve: every metric over its window, and what a model holds."""
    rows = [snapshot_row(shot) for shots_then in shots for shot in shots_then.values()]
    names = dict.fromkeys(name for row in rows for name in row if name.startswith("window_"))
    facts = [fact for fact in _FACTS if fact != "labels_used" or any(map(_asks, rows))]
    return [q for q in (*names, *facts) if any(_known(row.get(q)) for row in rows)]


def _asks(row: Mapping[str, Any]) -> bool:
    """Whether labels were saved; else a curve of them is a straight line."""
    return bool(row.get("labels_used", row["seen"]) < row["seen"])


def _known(value: Any) -> bool:
    return value is not None and math.isfinite(value)


def _drawing(shots: Sequence[Mapping[str, Any]], quantity: str, drifts: Sequence[int]) -> Axes:
    ax = plot_history(shots, quantity, drifts=drifts, ax=panel())
    ax.set_ylabel("")
    return ax


def _legend(drawings: Iterable[Axes]) -> str:
    """Which line is whose, once for all drawings."""
    handles = [handle for ax in drawings for handle in _handles(ax)]
    lines = {label: (line.get_color(), line.get_linestyle()) for line, label in handles}
    items = []
    for label, (colour, dash) in lines.items():
        style = {"-": "solid", "--": "dashed"}.get(dash, "dotted")
        stroke = f"border-top: 2px {style} {THEMED.get(colour, colour)}"
        items.append(f'<li><i style="{stroke}"></i>{escape(label)}</li>')
    return f'<ul class="legend">{"".join(items)}</ul>'


def _handles(ax: Axes) -> list[tuple[Any, str]]:
    return list(zip(*ax.get_legend_handles_labels(), strict=True))


def _curve(quantity: str, ax: Axes) -> Section:
    legend = ax.get_legend()
    if legend is not None:
        legend.remove()
    return Section(_name(quantity), inline_svg(ax, quantity))


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
        cells += [f"<td>{_fact(f, row.get(f)) if is_model else '-'}</td>" for f in facts]
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


def _fact(name: str, value: Any) -> str:
    if name != "nbytes" or not value:
        return _shown(value)
    digits = min(3, int(math.log10(value)) // 3)
    return f"{value / 1000**digits:.3g} {('B', 'kB', 'MB', 'GB')[digits]}"


def _shown(value: Any) -> str:
    if value is None or math.isnan(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 or isinstance(value, int) else f"{value:.4g}"
