"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Format",
    "Header",
    "Ignore",
    "Key",
    "Missing",
    "Model",
    "Params",
    "Separator",
    "Source",
    "Target",
    "Types",
    "method_names",
]

_READING = "How rows are read"


def method_names(incomplete: str) -> list[str]:
    """For shells that complete what is typed."""
    import onlinesvm

    names = (cls.__name__ for cls in onlinesvm.all_estimators())
    return [name for name in names if name.lower().startswith(incomplete.lower())]


Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="A file (CSV, JSON Lines, Parquet, ...; packed or not), a folder, an address, or -.",
        show_default=False,
    ),
]
Model = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A saved model, or the folder of a run.")
]
Params = Annotated[
    list[str] | None,
    typer.Option("-p", "--param", metavar="NAME=VALUE", help="A parameter of it; repeatable."),
]
Target = Annotated[
    str | None,
    typer.Option(
        help="The column to be learned, by name or number; none: there is none.",
        show_default="the last",
        rich_help_panel=_READING,
    ),
]
Key = Annotated[
    list[str] | None,
    typer.Option(
        help="The column with names of the examples; repeatable: together they name one.",
        rich_help_panel=_READING,
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(help="A column to leave out; repeatable.", rich_help_panel=_READING),
]
Types = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=KIND",
        help="number, flag, category, text or date, where looking is wrong; repeatable.",
        rich_help_panel=_READING,
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        metavar="WORD,...",
        help="Spellings of no value besides the usual ones; repeatable.",
        rich_help_panel=_READING,
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line names the columns.",
        show_default="where it shows",
        rich_help_panel=_READING,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        help="Between fields; tab, space and spaces (any number) are words.",
        show_default="by looking",
        rich_help_panel=_READING,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        help="Of the rows, where neither name nor content tells.", rich_help_panel=_READING
    ),
]
