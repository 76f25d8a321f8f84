"""Which label was taken for which."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from onlinesvm.report.section import Section

__all__ = ["confusion_section"]

_MOST = 12  # classes that still fit a phone, with a bar to scroll by


def confusion_section(pairs: Mapping[tuple[Any, Any], int]) -> Section:
    """How often each truth met each guess, shaded by the share of the truth.

    Parameters
    ----------
    pairs : dict of (truth, guess) to int
    """
    labels = sorted({label for pair in pairs for label in pair if label is not None}, key=_order)
    if len(labels) > _MOST:
        return Section("confused most often", _list(pairs), "full")
    return Section("truth in rows, answers in columns", _matrix(pairs, labels), "half")


def _order(label: Any) -> tuple[bool, Any]:
    return isinstance(label, str), label


def _matrix(pairs: Mapping[tuple[Any, Any], int], labels: list[Any]) -> str:
    heads = "".join(f"<th>{_name(label)}</th>" for label in labels)
    rows = []
    for truth in labels:
        whole = sum(n for (t, _), n in pairs.items() if t == truth)
        cells = (_cell(pairs.get((truth, guess), 0), whole, truth == guess) for guess in labels)
        rows.append(f"<tr><th>{_name(truth)}</th>{''.join(cells)}</tr>")
    table = f"<table>\n<tr><th></th>{heads}</tr>\n" + "\n".join(rows) + "\n</table>"
    return f'<div class="wide">{table}</div>'


def _cell(count: int, whole: int, right: bool) -> str:
    share = count / whole if whole else 0.0
    hue = "var(--right)" if right else "var(--wrong)"
    # No weaker than 8 %, so that a single mistake can be seen.
    shade = f"color-mix(in srgb, {hue} {max(8, 70 * share):.0f}%, transparent)"
    style = f' style="background: {shade}"' if count else ""
    return f"<td{style}>{count:,}<small>{share:.0%}</small></td>"


def _list(pairs: Mapping[tuple[Any, Any], int]) -> str:
    wrong = sorted(((n, t, g) for (t, g), n in pairs.items() if t != g), key=lambda w: -w[0])
    rows = "".join(
        f"<tr><th>{_name(t)}</th><td>{_name(g)}</td><td>{n:,}</td></tr>" for n, t, g in wrong[:20]
    )
    heads = "<tr><th>truth</th><th>answer</th><th>times</th></tr>"
    return f'<div class="wide"><table>\n{heads}\n{rows}\n</table></div>'


def _name(label: Any) -> str:
    text = "none" if label is None else str(label)
    return escape(text if len(text) <= 24 else text[:23] + "…")
