"""One door for every source."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from onlinesvm.stream.sources.delimited import Delimited
from onlinesvm.stream.sources.head import Head, settled
from onlinesvm.stream.sources.json_lines import JsonLines
from onlinesvm.stream.sources.packed import FileBytes
from onlinesvm.stream.sources.schema import Schema
from onlinesvm.stream.sources.source import Source
from onlinesvm.stream.sources.text import TextFile, TextFormat
from onlinesvm.stream.sources.wishes import Wishes

__all__ = ["FORMATS", "open_source"]

_TEXT: dict[str, Callable[[str, Head, Wishes], TextFormat]] = {
    "csv": Delimited.settle,
    "jsonl": JsonLines.settle,
}
FORMATS = tuple(_TEXT)
_ENDINGS = {
    "csv": ("csv", "tsv", "tab"),
    "jsonl": ("jsonl", "ndjson", "json"),
}


def open_source(
    spec: str | os.PathLike[str],
    *,
    target: str | int | None = None,
    key: str | int | None = None,
    ignore: Sequence[str | int] = (),
    types: Mapping[str, str] | None = None,
    header: bool | None = None,
    separator: str | None = None,
    format: str | None = None,
    schema: Schema | None = None,
) -> Source:
    """Rows from wherever they are, ready to be learned: a file of almost any kind.

    Memory does not grow with the source. The first rows, about a megabyte, are read at once to
    settle names and types; they are not lost by that.

    Parameters
    ----------
    spec : str or path
        The path of a file: CSV, JSON Lines; packed with gzip, bzip2 or zstd or not.
    target : str or int, default=the last column
        The column to be learned, by name or number; "none" where there is none.
    key : str or int, optional
        The column with the user's own names of the examples.
    ignore : sequence of str or int
        Columns to leave out.
    types : dict, optional
        Kinds of columns where the inferred ones are not wanted: "number", "flag", "category",
        "text" or "date"; a date may tell its form, as in "date:%d %b %Y".
    header : bool, optional
        Whether the first line of a CSV file names the columns, where looking cannot tell.
    separator : str, optional
        What separates the fields of a CSV file, where looking cannot tell.
    format : str, optional
        "csv" or "jsonl", where neither the name nor the first bytes tell.
    schema : Schema, optional
        That of a former source: columns are found by its names, and nothing is inferred.

    Returns
    -------
    Source

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from onlinesvm.stream import open_source
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "houses.csv")
    ...     _ = path.write_text("rooms;town;price\\n3;Rom;1,5\\n4;Bonn;?\\n2;;0,9\\n")
    ...     source = open_source(path, target="price")
    ...     (block,) = source.blocks()
    >>> [(column.name, column.kind) for column in source.schema.columns]
    [('rooms', 'number'), ('town', 'category'), ('price', 'number')]
    >>> block.examples.X["rooms"], block.examples.y
    (array([3., 2.]), array([1.5, 0.9]))
    >>> block.bad[0].line, block.bad[0].column, block.bad[0].reason
    (3, 'price', 'no target')
    """
    wishes = Wishes(
        target=target,
        key=key,
        ignore=tuple(ignore),
        types=dict(types or {}),
        header=header,
        separator=separator,
        schema=schema,
    )
    if format is not None and format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")
    path = Path(spec)
    if not path.exists():
        raise ValueError(f"{path}: no such file; check the path")
    return _text_file(path, format, wishes)


def _text_file(path: Path, format: str | None, wishes: Wishes) -> TextFile:
    word = format or by_name(path.name)
    stream = FileBytes(path)
    try:
        form, _ = settled(
            stream, lambda head: _TEXT[word or by_content(head.data)](path.name, head, wishes)
        )
    finally:
        stream.close()
    return TextFile(path, form)


def by_name(name: str) -> str | None:
    """The format that a file name ends in, packed or not."""
    plain = re.sub(r"\.(gz|bz2|zst)$", "", name.lower())
    ending = plain.rpartition(".")[2]
    return next((word for word, endings in _ENDINGS.items() if ending in endings), None)


def by_content(head: bytes) -> str:
    """The format that the first bytes look like."""
    return "jsonl" if head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{") else "csv"
