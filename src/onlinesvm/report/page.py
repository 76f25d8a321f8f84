"""One self-contained page about a run over a stream: to send, to print, to read on a phone."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from onlinesvm.data.visible import visible
from onlinesvm.files.atomic import replacing
from onlinesvm.report.drawing import THEMED, inline_svg, panel
from onlinesvm.report.history import plot_history, snapshot_row
from onlinesvm.report.section import Section, render

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
    curves = [_curve(quantity, ax) for quantity, ax in drawings.items()]
    page = render(
        "page.html",
        title=title,
        facts=facts or {},
        legend=_legend(drawings.values()),
        sections=[*curves, *sections],
        **_table(shots[-1]),
    )
    return visible(page, lines=True).encode()


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


def _legend(drawings: Iterable[Axes]) -> list[tuple[str, str]]:
    """Which line is whose, once for all drawings."""
    lines = {label: line for ax in drawings for line, label in _handles(ax)}
    styles = {"-": "solid", "--": "dashed"}
    looks = {label: (line.get_color(), line.get_linestyle()) for label, line in lines.items()}
    return [
        (label, f"{styles.get(dash, 'dotted')} {THEMED.get(colour, colour)}")
        for label, (colour, dash) in looks.items()
    ]


def _handles(ax: Axes) -> list[tuple[Any, str]]:
    return list(zip(*ax.get_legend_handles_labels(), strict=True))


def _curve(quantity: str, ax: Axes) -> Section:
    legend = ax.get_legend()
    if legend is not None:
        legend.remove()
    return Section(_name(quantity), inline_svg(ax, quantity))


def _table(last: Mapping[str, Any]) -> dict[str, Any]:
    """What the page says of the end of the stream: a row for each model."""
    ends = {name: snapshot_row(shot) for name, shot in last.items()}
    every = dict.fromkeys(key for row in ends.values() for key in row)
    metrics = [key.removeprefix("window_") for key in every if key.startswith("window_")]
    facts = [f for f in (*_FACTS, "examples_per_second") if any(r.get(f) for r in ends.values())]
    rows = []
    for name, row in ends.items():
        is_model = row.get("role", "model") == "model"
        rows.append(
            {
                "role": "model" if is_model else "baseline",
                "name": name,
                "metrics": [(_shown(row.get(f"window_{m}")), _shown(row.get(m))) for m in metrics],
                "facts": [_fact(f, row.get(f)) if is_model else "-" for f in facts],
            }
        )
    seen = next(iter(ends.values()))["seen"]
    return {"seen": seen, "heads": [_name(key) for key in (*metrics, *facts)], "rows": rows}


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
