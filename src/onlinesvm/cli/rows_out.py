"""Rows as they came, with a few cells more."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from onlinesvm.stream.sources import Block, Source

__all__ = ["Added", "RowsOut", "writer_for"]


@dataclass(frozen=True, slots=True)
class Added:
    """What is added to the good rows of a block, and under which names."""

    names: Sequence[str]
    values: Sequence[Sequence[Any]]


class RowsOut(Protocol):
    """How rows of one format are written."""

    def __init__(self, source: Any) -> None: ...

    def head(self, names: Sequence[str]) -> bytes:
        """What stands before the first row."""
        ...

    def body(self, block: Block, added: Added) -> bytes:
        """The rows of a block; those that could not be read have nothing added."""
        ...


def writer_for(source: Source) -> RowsOut:
    """Text as it stands where the source is text, else a table in CSV."""
    form = getattr(source, "form", None)
    word = getattr(form, "word", "")
    kinds: dict[str, type[RowsOut]] = {"csv": CsvOut, "jsonl": JsonOut, "json": JsonOut}
    return kinds.get(word, TableOut)(source)


def _records(form: Any, block: Block) -> Iterator[tuple[bytes, bool]]:
    """Each record of a block as it stands in the file, and whether it could be read."""
    raw = block.raw
    bad = {row.byte for row in block.bad}
    for start, stop in form.records.table(raw.data):
        yield raw.data[start:stop], raw.byte + start not in bad


class CsvOut:
    """Delimited text: every line as it was, with more fields behind."""

    def __init__(self, source: Any) -> None:
        self._form = source.form

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
        csv.writer(line, delimiter=self._form.character, lineterminator="").writerow(cells)
        return line.getvalue().encode()


class JsonOut:
    """JSON Lines: every object as it was, in one line, with more members at its end."""

    def __init__(self, source: Any) -> None:
        self._form = source.form

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


class TableOut:
    """A table of the columns as they were read."""

    def __init__(self, source: Source) -> None:
        self._columns = [c.name for c in source.schema.features]
        self._sparse = source.schema.sparse

    def head(self, names: Sequence[str]) -> bytes:
        return self._lines([[*([] if self._sparse else self._columns), *names]])

    def body(self, block: Block, added: Added) -> bytes:
        X = block.examples.X
        if self._sparse:
            return self._lines(added.values)
        cells = X.to_dicts() if hasattr(X, "to_dicts") else np.asarray(X).tolist()
        rows = (row.values() if isinstance(row, dict) else row for row in cells)
        return self._lines([*row, *more] for row, more in zip(rows, added.values, strict=True))

    def _lines(self, rows: Any) -> bytes:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        return text.getvalue().encode()
