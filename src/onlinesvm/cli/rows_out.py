"""Rows as they came, with a few cells more."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from onlinesvm.stream.sources import Block, Source

__all__ = ["Added", "RowsOut", "writer_for"]


_BEGIN_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?[\d.]+(?:[eE][+-]?\d+)?")


@dataclass(frozen=True, slots=True)
class Added:
    """What is added to the good rows of a block, and under which names."""

    names: Sequence[str]
    values: Sequence[Sequence[Any]]


class RowsOut(Protocol):
    """How rows of one format are written."""

    guard: Callable[[Iterable[Any]], list[Any]]  # what it does to cells before they are written

    def __init__(self, source: Any) -> None: ...

    def head(self, names: Sequence[str]) -> bytes:
        """What stands before the first row."""
        ...

    def body(self, block: Block, added: Added) -> bytes:
        """The rows of a block; those that could not be read have nothing added."""
        ...


def is_formula(cell: object) -> bool:
    """Whether a spreadsheet would run a text; numbers are no texts."""
    return isinstance(cell, str) and cell[:1] in _BEGIN_FORMULAS and not _NUMBER.fullmatch(cell)


def _harmless(cells: Iterable[Any]) -> list[Any]:
    return ["'" + cell if is_formula(cell) else cell for cell in cells]


def writer_for(source: Source, *, safe: bool = False) -> RowsOut:
    """Text as it stands where the source is text, else a table in CSV.

    `safe`: what is written anew runs in no spreadsheet.
    """
    form = getattr(source, "form", None)
    word = getattr(form, "word", "")
    kinds: dict[str, type[RowsOut]] = {"csv": CsvOut, "jsonl": JsonOut, "json": JsonOut}
    writer = kinds.get(word, TableOut)(source)
    if safe:
        writer.guard = _harmless
    return writer


def _records(form: Any, block: Block) -> Iterator[tuple[bytes, bool]]:
    """Each record of a block as it stands in the file, and whether it could be read."""
    raw = block.raw
    bad = {row.byte for row in block.bad}
    for start, stop in form.records.table(raw.data):
        yield raw.data[start:stop], raw.byte + start not in bad
    if raw.left_out:  # it stays a line of its own
        yield raw.left_out.rstrip(b"\r\n").replace(b"\n", b" "), False


class CsvOut:
    """Delimited text: every line as it was, with more fields behind."""

    def __init__(self, source: Any) -> None:
        self._form = source.form
        self.guard: Callable[[Iterable[Any]], list[Any]] = list

    def head(self, names: Sequence[str]) -> bytes:
        if not self._form.start[1]:
            return b""
        return self._line([*self._form.places, *names]) + b"\n"

    def body(self, block: Block, added: Added) -> bytes:
        separator, values = self._form.character.encode(), iter(added.values)
        nothing = self._line([""] * len(added.names)) if len(added.names) > 1 else b""
        lines = []
        for record, good in _records(self._form, block):
            cells = self._line(next(values)) if good else nothing
            lines.append(record + separator + cells + b"\n")
        return b"".join(lines)

    def _line(self, cells: Sequence[Any]) -> bytes:
        line = io.StringIO()
        csv.writer(line, delimiter=self._form.character, lineterminator="").writerow(
            self.guard(cells)
        )
        return line.getvalue().encode()


class JsonOut:
    """JSON Lines: every object as it was, in one line, with more members at its end."""

    def __init__(self, source: Any) -> None:
        self._form = source.form
        self.guard: Callable[[Iterable[Any]], list[Any]] = list

    def head(self, names: Sequence[str]) -> bytes:
        return b""

    def body(self, block: Block, added: Added) -> bytes:
        values = iter(added.values)
        lines = []
        for record, good in _records(self._form, block):
            record = re.sub(rb"\s*\n\s*", b" ", record)
            if good:
                more = json.dumps(dict(zip(added.names, next(values), strict=True))).encode()
                inside = record.strip()[:-1].rstrip()
                comma = b"" if inside == b"{" else b", "
                record = inside + comma + more[1:]
            lines.append(record + b"\n")
        return b"".join(lines)


def _cells(X: Any) -> list[Any]:
    rows = X.to_dicts() if hasattr(X, "to_dicts") else np.asarray(X).tolist()
    return [list(row.values()) if isinstance(row, dict) else row for row in rows]


class TableOut:
    """A table of the columns as they were read."""

    def __init__(self, source: Source) -> None:
        self._columns = [c.name for c in source.schema.features]
        self._sparse = source.schema.sparse
        self._form = getattr(source, "form", None)
        self.guard: Callable[[Iterable[Any]], list[Any]] = list

    def head(self, names: Sequence[str]) -> bytes:
        return self._lines([[*([] if self._sparse else self._columns), *names]])

    def body(self, block: Block, added: Added) -> bytes:
        X = block.examples.X
        cells = [[] for _ in added.values] if self._sparse else _cells(X)
        rows = ([*row, *more] for row, more in zip(cells, added.values, strict=True))
        nothing = [""] * (len(self._columns) * (not self._sparse) + len(added.names))
        return self._lines(next(rows) if good else nothing for good in self._places(block))

    def _places(self, block: Block) -> Iterator[bool]:
        """Which rows of a block could be read, in their order."""
        if block.raw is not None and self._form is not None:
            yield from (good for _, good in _records(self._form, block))
            return
        count, end = len(block.examples) + len(block.bad), block.end.get("row")
        first = 1 if end is None else int(end) - count + 1
        bad = {row.line for row in block.bad}
        yield from (first + i not in bad for i in range(count))

    def _lines(self, rows: Any) -> bytes:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(map(self.guard, rows))
        return text.getvalue().encode()
