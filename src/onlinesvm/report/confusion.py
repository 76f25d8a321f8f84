"""Which label was taken for which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onlinesvm.report.section import Section, render

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
    rows = []
    for truth in labels:
        whole = sum(n for (t, _), n in pairs.items() if t == truth)
        cells = [_cell(pairs.get((truth, guess), 0), whole, truth == guess) for guess in labels]
        rows.append((_name(truth), cells))
    return render("confusion.html", heads=["", *map(_name, labels)], rows=rows)


def _cell(count: int, whole: int, right: bool) -> dict[str, str]:
    share = count / whole if whole else 0.0
    hue = "var(--right)" if right else "var(--wrong)"
    # No weaker than 8 %, so that a single mistake can be seen.
    shade = f"color-mix(in srgb, {hue} {max(8, 70 * share):.0f}%, transparent)"
    return {"text": f"{count:,}", "share": f"{share:.0%}", "shade": shade if count else ""}


def _list(pairs: Mapping[tuple[Any, Any], int]) -> str:
    wrong = sorted(((n, t, g) for (t, g), n in pairs.items() if t != g), key=lambda w: -w[0])
    rows = [(_name(t), [{"text": _name(g)}, {"text": f"{n:,}"}]) for n, t, g in wrong[:20]]
    return render("confusion.html", heads=["truth", "answer", "times"], rows=rows)


def _name(label: Any) -> str:
    text = "none" if label is None else str(label)
    return text if len(text) <= 24 else text[:23] + "…"
