"""The source that a command reads, and what there is to say about it."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from onlinesvm.cli.console import plain
from onlinesvm.cli.options import ReadOptions
from onlinesvm.cli.words import in_flags
from onlinesvm.stream.sources import Schema, Source, open_source

__all__ = ["columns_in_words", "open_for", "say_notes"]

_MOST = 12  # columns that are named one by one


def open_for(spec: str, reading: ReadOptions, schema: Schema | None = None) -> Source:
    """The source; with a schema its columns are found by name, and only its form is looked at."""
    given: dict[str, Any] = {
        "header": reading.header,
        "separator": _separator(reading.separator),
        "format": reading.format,
    }
    if schema is None:
        given |= {
            "target": reading.target,
            "key": reading.key or None,
            "ignore": reading.ignore,
            "types": reading.types,
            "missing": reading.missing,
        }
    try:
        return open_source(spec, schema=schema, **given)
    except ValueError as error:
        raise ValueError(in_flags(str(error))) from None


def _separator(word: str | None) -> str | None:
    return {"tab": "\t", "\\t": "\t", "space": " "}.get(word or "", word)


def say_notes(console: Console, source: Source) -> None:
    """What was decided, and how to decide otherwise."""
    for note in source.notes:
        console.print(f"[yellow]note:[/] {plain(in_flags(note))}", soft_wrap=True)


def columns_in_words(schema: Schema) -> str:
    """The columns and their kinds, in one line.

    >>> from onlinesvm.stream.sources import Column, Schema
    >>> columns_in_words(Schema((Column("age", "number"), Column("town", "category", "target"))))
    'age number; target town category'
    """
    if schema.sparse:
        return "sparse numbers"
    shown = [f"{c.name} {c.kind}" for c in schema.features[:_MOST]]
    more = len(schema.features) - len(shown)
    words = ", ".join(shown) + (f" and {more:,} more" if more else "")
    for part in ("target", "key", "weight", "ignored"):
        named = [c for c in schema.columns if c.part == part]
        kinds = (f"{c.name} {c.kind}" if part == "target" else c.name for c in named)
        words += f"; {part} {', '.join(kinds)}" if named else ""
    return words
