"""One door for every source."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from onlinesvm.stream.sources import arff, json_text
from onlinesvm.stream.sources.archive import Archive
from onlinesvm.stream.sources.columnar import ArrowFile, ParquetFile
from onlinesvm.stream.sources.database import open_query
from onlinesvm.stream.sources.delimited import Delimited
from onlinesvm.stream.sources.folder import Folder
from onlinesvm.stream.sources.json_text import JsonLines
from onlinesvm.stream.sources.kafka_topic import KafkaTopic
from onlinesvm.stream.sources.libsvm import Libsvm, looks_like_it
from onlinesvm.stream.sources.nats_stream import NatsStream
from onlinesvm.stream.sources.packed import FileBytes
from onlinesvm.stream.sources.pipe import Pipe, standard_input, unpacked
from onlinesvm.stream.sources.raw import Ending, Head, settled, steady
from onlinesvm.stream.sources.redis_stream import RedisStream
from onlinesvm.stream.sources.schema import Schema
from onlinesvm.stream.sources.source import Source
from onlinesvm.stream.sources.text import TextFile, TextFormat
from onlinesvm.stream.sources.wishes import Wishes

__all__ = ["FORMATS", "open_source"]

_TEXT: dict[str, Callable[[str, Head, Wishes], TextFormat]] = {
    "csv": Delimited.settle,
    "jsonl": JsonLines.settle,
    "json": json_text.JsonArray.settle,
    "arff": arff.settle_arff,
    "libsvm": Libsvm.settle,
}
_WHOLE: dict[str, Callable[[Path, Wishes], Source]] = {
    "parquet": ParquetFile,
    "arrow": ArrowFile,
    "npz": Archive,
}
_ELSEWHERE: dict[str, Callable[[str, Wishes], Source]] = {
    "sqlite": open_query,
    "duckdb": open_query,
    "kafka": KafkaTopic,
    "nats": NatsStream,
    "redis": RedisStream,
}
FORMATS = (*_TEXT, *_WHOLE)
_ENDINGS = {
    "csv": ("csv", "tsv", "tab"),
    "jsonl": ("jsonl", "ndjson", "json"),
    "arff": ("arff",),
    "libsvm": ("libsvm", "svm", "svmlight"),
    "parquet": ("parquet", "pq"),
    "arrow": ("arrow", "arrows", "feather", "ipc"),
    "npz": ("npz",),
}
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow", b"PK": "npz"}


def open_source(
    spec: str | os.PathLike[str],
    *,
    target: str | int | None = None,
    key: str | int | Sequence[str | int] | None = None,
    ignore: Sequence[str | int] = (),
    types: Mapping[str, str] | None = None,
    missing: Sequence[str] = (),
    header: bool | None = None,
    separator: str | None = None,
    format: str | None = None,
    schema: Schema | None = None,
) -> Source:
    """Rows from wherever they are, ready to be learned: files, folders, databases, brokers.

    Memory does not grow with the source. The first rows, about a megabyte, are read at once to
    settle names and types; they are not lost by that. A LIBSVM file is read once more beforehand,
    to know how many features it has.

    Parameters
    ----------
    spec : str or path
        The path of a file: CSV, JSON Lines, a JSON array, ARFF or LIBSVM, packed with gzip, bzip2
        or zstd or not, Parquet, Arrow IPC or .npz; a folder of such files; "-" for standard input;
        ``sqlite:///file.db?query=SELECT ...`` or the same with ``duckdb``; a broker with JSON
        messages: ``kafka://host/topic``, ``nats://host/stream``, ``redis://host/stream``.
    target : str or int, default=the last column
        The column to be learned, by name or number; "none" where there is none.
    key : str, int or list of these, optional
        The column with the user's own names of the examples; of several columns a key is a tuple,
        in the order in which they stand.
    ignore : sequence of str or int
        Columns to leave out.
    types : dict, optional
        Kinds of columns where the inferred ones are not wanted: "number", "flag", "category",
        "text" or "date"; a date may tell its form, as in "date:%d %b %Y".
    missing : sequence of str
        Spellings of no value besides the usual ones, in any column, such as "k.A." or "9999".
    header : bool, optional
        Whether the first line of a CSV file names the columns, where looking cannot tell.
    separator : str, optional
        What separates the fields of a CSV file, where looking cannot tell; "spaces" for any
        number of them.
    format : str, optional
        "csv", "jsonl", "json", "arff", "libsvm", "parquet", "arrow" or "npz", where neither the
        name nor the first bytes tell.
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
        missing=_words("missing", missing),
        header=header,
        separator=separator,
        schema=schema,
    )
    if format is not None and format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")
    return _open(os.fspath(spec), format, wishes)


def _open(where: str, format: str | None, wishes: Wishes) -> Source:
    if where == "-":
        return Pipe(standard_input(), lambda head: _settle("standard input", format, head, wishes))
    if (scheme := where.partition("://")[0]) in _ELSEWHERE and "://" in where:
        return _ELSEWHERE[scheme](where, wishes)
    path = Path(where)
    if path.is_dir():
        return Folder(
            path, lambda p, s, ending: _in_folder(p, format, wishes, s, ending), wishes.schema
        )
    if not path.exists():
        raise ValueError(f"{path}: no such file; check the path")
    if not path.is_file():  # a named pipe, or what a shell makes of <(command)
        return Pipe(
            unpacked(path.open("rb")),
            lambda head: _settle(path.name, format, head, wishes),
            str(path),
        )
    return _file(path, format, wishes, "record")


def _words(name: str, values: Sequence[str]) -> tuple[str, ...]:
    if isinstance(values, str) or not all(isinstance(word, str) for word in values):
        raise ValueError(f"{name} must be a list of words, got {values!r:.60}; put [ ] around it")
    return tuple(values)


def _file(path: Path, format: str | None, wishes: Wishes, ending: Ending) -> Source:
    word = format or by_name(path.name) or by_magic(path)
    if word in _WHOLE:
        return _WHOLE[word](path, wishes)
    stream = FileBytes(path)
    try:
        form, _ = settled(stream, lambda head: _settle(path.name, word, head, wishes))
    finally:
        stream.close()
    if isinstance(form, Libsvm) and wishes.schema is None:
        form = _as_wide_as_it_is(form, path)
    return TextFile(path, form, ending)


def _settle(where: str, word: str | None, head: Head, wishes: Wishes) -> TextFormat:
    word = word or by_content(head.data)
    if word == "jsonl" and by_content(head.data) == "json":
        word = "json"  # the name of the file does not tell one from the other
    if word not in _TEXT:
        raise ValueError(f"{where}: {word} cannot be read as it comes; write it to a file first")
    return _TEXT[word](where, head, wishes)


def _as_wide_as_it_is(form: Libsvm, path: Path) -> Libsvm:
    stream = FileBytes(path)
    try:
        return form.as_wide_as(steady(stream, form.records, 0, 0, "record"))
    finally:
        stream.close()


def _in_folder(
    path: Path, format: str | None, wishes: Wishes, schema: Schema | None, ending: Ending
) -> Source:
    """A file of a folder; the first settles the schema of all."""
    known = wishes if schema is None else replace(wishes, schema=schema)
    return _file(path, format, known, ending)


def by_name(name: str) -> str | None:
    """The format that a file name ends in, packed or not."""
    plain = re.sub(r"\.(gz|bz2|zst)$", "", name.lower())
    ending = plain.rpartition(".")[2]
    return next((word for word, endings in _ENDINGS.items() if ending in endings), None)


def by_magic(path: Path) -> str | None:
    """The format that the first bytes name."""
    with path.open("rb") as file:
        head = file.read(8)
    return next((word for magic, word in _MAGIC.items() if head.startswith(magic)), None)


def by_content(head: bytes) -> str:
    """The text format that the first bytes look like."""
    plain = head.lstrip(b"\xef\xbb\xbf \r\n\t")
    if plain.startswith(b"{"):
        return "jsonl"
    if json_text.looks_like_it(plain):
        return "json"
    if arff.looks_like_it(plain):
        return "arff"
    return "libsvm" if looks_like_it(plain.partition(b"\n")[0].rstrip()) else "csv"
