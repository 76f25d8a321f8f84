"""JSON objects as rows: lines of a file, elements of an array, messages of a broker."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from onlinesvm.stream.sources.arrow import pyarrow
from onlinesvm.stream.sources.dialect import demand_text
from onlinesvm.stream.sources.examples import Fault, assemble
from onlinesvm.stream.sources.kinds import are_slips
from onlinesvm.stream.sources.raw import Head, Raw, TooShort
from onlinesvm.stream.sources.records import Lines, bad_rows, whole_lines
from onlinesvm.stream.sources.schema import Column, Schema
from onlinesvm.stream.sources.source import BadRow, Examples
from onlinesvm.stream.sources.wishes import Wishes, settle

__all__ = ["JsonArray", "JsonLines", "JsonObjects", "Objects", "looks_like_it"]

_PLAIN = {int, float, bool, type(None)}
_NESTED = (dict, list)
_MOST = 1000  # names: rows are tables here, and one of each name for each row would fill the memory
_CELLS, _FEW = 1_000_000, 100  # by which, and by how many rows at least, kinds are judged


@dataclass(frozen=True, slots=True)
class Objects:
    """Objects with known names; one that is absent is a gap, one that is not known is left out."""

    schema: Schema
    notes: tuple[str, ...] = ()

    @staticmethod
    def settle(where: str, items: Sequence[bytes], wishes: Wishes) -> Objects:
        """The schema of the first objects."""
        rows, faults = _decoded(items)
        rows = [row for i, row in enumerate(rows) if i not in faults]
        if not rows:
            why = next(iter(faults.values())).reason if faults else "has no row"
            raise ValueError(
                f"{where}: its first row {why}; every line must be a JSON object: "
                f"jq -c '.[]' {where} > new.jsonl turns an array into such lines"
            )
        counts = Counter(name for row in rows for name in row)
        if wishes.schema is not None:
            return Objects(_met(where, list(counts), wishes.schema))
        asked = {wishes.target, *wishes.keys, *wishes.types}
        names = _usual(counts, asked)
        rows = rows[: max(_FEW, _CELLS // len(names))] if names else rows
        columns = {name: [row.get(name) for row in rows] for name in names}
        nested = [n for n, c in columns.items() if not are_slips(sum(map(_is_nested, c)), len(c))]
        nested = [name for name in nested if name not in asked]
        cells = {n: pyarrow().array([_text(v) for v in c], "string") for n, c in columns.items()}
        ignore = [*wishes.ignore, *(name for name in nested if name not in wishes.ignore)]
        settled = settle(where, names, cells, replace(wishes, ignore=ignore))
        told = [f"column {n!r} holds lists or objects: ignored" for n in nested]
        if len(counts) > len(names):
            told.append(
                f"{len(counts):,} names in the first rows: the {len(names):,} most frequent are "
                "read"
            )
        return Objects(settled.schema, (*told, *settled.notes))

    def read(self, items: Sequence[bytes]) -> tuple[Examples, dict[int, Fault]]:
        """Rows as examples, and the faults of the others."""
        rows, faults = _decoded(items)
        cells = {}
        for column in self.schema.columns:
            if column.part == "ignored":
                continue
            values = [row.get(column.name) for row in rows]
            for i, value in enumerate(values) if _may_nest(column) else ():
                if _is_nested(value):
                    faults.setdefault(i, Fault("is a list or an object", column.name))
            cells[column.name] = _cells(values, column)
        return assemble(self.schema, cells, len(rows), faults)


def _usual(counts: Counter[str], asked: Iterable[object]) -> list[str]:
    """The names of columns: in their order, and where there are many those met most often."""
    if len(counts) <= _MOST:
        return list(counts)
    kept = {name for name, _ in counts.most_common(_MOST)} | (counts.keys() & set(asked))
    return [name for name in counts if name in kept]


def _met(where: str, names: list[str], schema: Schema) -> Schema:
    if not {c.name for c in schema.features} & set(names):
        shown = ", ".join(map(repr, names[:6]))
        raise ValueError(f"{where}: no name in it is one of the schema; it has {shown}")
    return schema


def _may_nest(column: Column) -> bool:
    return column.kind in ("category", "text")


def _is_nested(value: Any) -> bool:
    return isinstance(value, _NESTED)


def _cells(values: list[Any], column: Column) -> Any:
    numeric = column.kind in ("number", "flag") or column.form == "epoch"
    if numeric and set(map(type, values)) <= _PLAIN:
        try:
            return np.array(values, dtype=np.float64)
        except OverflowError:  # an integer beyond all floats
            pass
    return pyarrow().array([_text(v) for v in values], "string")


def _text(value: Any) -> str | None:
    """A value as it would stand in a table."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return repr(value) if isinstance(value, int | float) else json.dumps(value)


@cache
def _decoder() -> Callable[[bytes], Any]:
    try:
        import msgspec
    except ImportError:
        return _by_json

    fast = msgspec.json.Decoder().decode

    def decode(item: bytes) -> Any:
        try:
            return fast(item)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return _by_json(item)  # takes NaN, which many programs write, and says what is wrong

    return decode


def _by_json(item: bytes) -> Any:
    value = json.loads(item.decode())
    if b"\\u" in item:
        json.dumps(value, ensure_ascii=False).encode()  # half a character cannot be kept
    return value


def _decoded(items: Sequence[bytes]) -> tuple[list[dict[str, Any]], dict[int, Fault]]:
    """All rows, empty where they are none, and the faults."""
    decode, rows, faults = _decoder(), [], {}
    for i, item in enumerate(items):
        row: Any = None
        try:
            row = decode(item)
            if not isinstance(row, dict):
                faults[i] = Fault("is no JSON object")
        except UnicodeError:
            faults[i] = Fault("is not UTF-8")
        except RecursionError:
            faults[i] = Fault("is nested too deeply")
        except ValueError as error:
            faults[i] = Fault(f"is no JSON: {str(error).splitlines()[0]:.100}")
        rows.append(row if isinstance(row, dict) else {})
    return rows, faults


@dataclass(frozen=True, slots=True)
class JsonObjects:
    """Text of JSON objects, wherever a format says that each of them ends."""

    objects: Objects
    start: tuple[int, int]

    @property
    def schema(self) -> Schema:
        return self.objects.schema

    @property
    def notes(self) -> tuple[str, ...]:
        return self.objects.notes

    @property
    def parts(self) -> int:
        """Of a block, one at a time: a row has a cell for each column, though it names few."""
        return 1 + len(self.schema.columns) // 64

    def parse(self, raw: Raw) -> tuple[Examples, list[BadRow]]:
        """The rows of a block, and those that are bad."""
        table = self.records.table(raw.data)  # type: ignore[attr-defined]
        examples, faults = self.objects.read([raw.data[a:b] for a, b in table])
        return examples, bad_rows(raw, table, faults)


@dataclass(frozen=True, slots=True)
class JsonLines(JsonObjects):
    """A file of one JSON object a line."""

    records = Lines()
    word = "jsonl"

    @staticmethod
    def settle(where: str, head: Head, wishes: Wishes) -> JsonLines:
        mark, data = whole_lines(where, head)
        items = [data[a:b] for a, b in Lines().table(data)]
        if not items:
            raise ValueError(f"{where}: is empty; it needs a JSON object in every line")
        return JsonLines(Objects.settle(where, items, wishes), (mark, 0))


_BEGIN = re.compile(rb"\s*\[(?=\s*[{\]])")
_END = re.compile(rb"[\s,]*\]?\s*\Z")
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\Z)', re.DOTALL)


def looks_like_it(data: bytes) -> bool:
    """Whether text begins as an array of objects."""
    return _BEGIN.match(data) is not None


class Elements:
    """Every object ends a record: its last brace does, outside strings."""

    ends = b"}"

    def cut(self, data: bytes, at_least: int) -> int:
        return next((stop for _, stop in self.table(data) if stop >= at_least), -1)

    def last(self, data: bytes) -> int:
        """What stands behind the last object of all belongs to it."""
        table = self.table(data)
        stop = table[-1][1] if table else 0
        return len(data) if _END.match(data, stop) else stop

    def table(self, data: bytes) -> list[tuple[int, int]]:
        """Start and stop of every whole object."""
        plain = _STRING.sub(lambda found: b" " * len(found[0]), data)
        whole = np.frombuffer(plain, dtype=np.uint8)
        step = (whole == ord("{")).astype(np.int64) - (whole == ord("}"))
        braces = np.flatnonzero(step)
        depth = np.cumsum(step[braces])
        opens = braces[(step[braces] > 0) & (depth == 1)].tolist()
        stops = (braces[(step[braces] < 0) & (depth == 0)] + 1).tolist()
        return list(zip(opens, stops, strict=False))  # the last one may lack its end


@dataclass(frozen=True, slots=True)
class JsonArray(JsonObjects):
    """A file that is one JSON array of objects, one a line or not."""

    records = Elements()
    word = "json"

    @staticmethod
    def settle(where: str, head: Head, wishes: Wishes) -> JsonArray:
        mark = demand_text(where, head.data)
        begin = _BEGIN.match(head.data, mark)
        if begin is None:
            raise ValueError(f"{where}: is no JSON array of objects; say what it is: format=")
        start = begin.end()
        data = head.data[start:]
        items = [data[a:b] for a, b in Elements().table(data)]
        if not items and not head.is_all:
            raise TooShort
        if not items:
            raise ValueError(f"{where}: is an empty array; it needs JSON objects")
        return JsonArray(
            Objects.settle(where, items, wishes), (start, head.data.count(b"\n", 0, start))
        )
