"""Rows that could not be read: how many, why, and where they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from onlinesvm.report.section import Section, render

__all__ = ["letters_section", "where"]

_SHOWN = 20


def letters_section(letters: Sequence[Mapping[str, Any]], total: int) -> Section:
    """Reasons by number, then the first rows themselves.

    Parameters
    ----------
    letters : sequence of dicts with text, reason, column, line, byte, file
        The first ones will do.
    total : int
        How many there are.
    """
    reasons = Counter(str(letter.get("reason", "")) for letter in letters)
    rows = [
        {
            "where": where(letter),
            "column": letter.get("column") or "",
            "reason": letter.get("reason", ""),
            "text": _short(str(letter.get("text", ""))),
        }
        for letter in letters[:_SHOWN]
    ]
    body = render("letters.html", reasons=reasons.most_common(8), rows=rows)
    count = "1 row" if total == 1 else f"{total:,} rows"
    return Section(f"{count} could not be used", body, "full")


def where(letter: Mapping[str, Any]) -> str:
    """The place of a row, as exact as it is known."""
    file, line, byte = (letter.get(name) for name in ("file", "line", "byte"))
    words = [str(file)] if file else []
    if line is not None:
        words.append(f"line {line:,}")
    elif byte is not None:
        words.append(f"byte {byte:,}")
    return ", ".join(words) or "-"


def _short(text: str) -> str:
    return text if len(text) <= 120 else text[:119] + "…"
