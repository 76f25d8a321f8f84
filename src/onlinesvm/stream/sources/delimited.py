"""Delimited text, CSV and its kin: pyarrow reads a block, and what it refuses is read with care."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from onlinesvm.stream.sources.arrow import csv, pyarrow
from onlinesvm.stream.sources.dialect import (
    BOM,
    RUNS,
    demand_text,
    has_names,
    preamble,
    sniffed_separator,
    split,
    squeezed,
)
from onlinesvm.stream.sources.examples import Fault, assemble
from onlinesvm.stream.sources.kinds import count_numbers
from onlinesvm.stream.sources.raw import Head, Raw, TooShort
from onlinesvm.stream.sources.records import Quoting, bad_rows
from onlinesvm.stream.sources.schema import Column, Schema
from onlinesvm.stream.sources.source import BadRow, Examples
from onlinesvm.stream.sources.values import GAPS, refused
from onlinesvm.stream.sources.wishes import Wishes, distinct_names, settle

__all__ = ["Delimited"]

_FEW = 1000  # rows that tell the decimal sign


@dataclass(frozen=True)
class Delimited:
    """A file of equally many fields a record; see :func:`onlinesvm.stream.open_source`."""

    schema: Schema
    places: dict[str, int]  # of the columns that are there
    width: int
    separator: str
    start: tuple[int, int]  # bytes and lines before the first row
    quote: str = '"'
    notes: tuple[str, ...] = ()
    word = "csv"

    @staticmethod
    def settle(where: str, head: Head, wishes: Wishes) -> Delimited:
        """Everything there is to know before the first row is read."""
        mark = demand_text(where, head.data)
        before, told = preamble(head.data[mark:])
        mark += before
        separator = wishes.separator or told
        separator = separator or sniffed_separator(head.data[mark:].decode(errors="replace"))
        return Delimited.under(where, head, mark, separator, '"', None, wishes)

    @staticmethod
    def under(
        where: str,
        head: Head,
        mark: int,
        separator: str,
        quote: str,
        told: list[str] | None,
        wishes: Wishes,
    ) -> Delimited:
        """The table behind so many bytes, with these names where a head has told them."""
        quoting = _quoting(_checked(separator), quote)
        data = head.data[mark:]
        data = data if head.is_all else data[: quoting.last(data)]
        table = quoting.table(data)
        if len(table) < 2 and not head.is_all:
            raise TooShort
        if not table:
            raise ValueError(f"{where}: is empty; a table needs rows")
        first = split(data[slice(*table[0])].decode(errors="replace"), separator, quote)
        width, behind = len(told or first), table[0][1]
        plain = Delimited(Schema(()), {}, width, separator, (0, 0), quote)
        below = plain._texts(data[behind:], range(width))[0]
        named = _named(first, below, wishes)
        if not named:
            below = plain._texts(data, range(width))[0]
        if wishes.schema is None and not below.num_rows:
            raise ValueError(_no_rows(where, width, len(table) - named))
        names, notes = _names(where, first if named else None, width, wishes)
        names = told or names
        cells = {name: _readable(below.column(j)) for j, name in enumerate(names)}
        settled = settle(where, names, cells, wishes, _decimal(cells, separator))
        end = mark + ((max(quoting.cut(data, behind), 0) or len(data)) if named else 0)
        start = end, head.data.count(b"\n", 0, end)
        notes = (*notes, *settled.notes)
        places = dict(settled.places)
        return Delimited(settled.schema, places, width, separator, start, quote, notes)

    @property
    def character(self) -> str:
        """What stands between two fields."""
        return " " if self.separator == RUNS else self.separator

    @cached_property
    def records(self) -> Quoting:
        return _quoting(self.separator, self.quote)

    def parse(self, raw: Raw) -> tuple[Examples, list[BadRow]]:
        """The rows of a block, and those that are bad."""
        pa = pyarrow()
        uneven: dict[int, int] = {}
        try:
            table = self._table(raw.data, self._types)
        except pa.ArrowInvalid:
            table, uneven = self._texts(raw.data, [self.places[c.name] for c in self._used])
        cells = {c.name: _cells(table.column(str(self.places[c.name]))) for c in self._used}
        examples, faults = assemble(self.schema, cells, table.num_rows)
        if not faults and not uneven:
            return examples, list(raw.bad)
        records = self.records.table(raw.data)
        even = [i for i in range(len(records)) if i not in uneven]
        told = {even[row]: fault for row, fault in faults.items()}
        told |= {i: Fault(f"has {n} fields, not {self.width}") for i, n in uneven.items()}
        return examples, bad_rows(raw, records, told)

    @cached_property
    def _used(self) -> list[Column]:
        return [c for c in self.schema.columns if c.part != "ignored" and c.name in self.places]

    @cached_property
    def _types(self) -> dict[str, Any]:
        """How pyarrow is to read the columns at once."""
        pa = pyarrow()
        words = pa.dictionary(pa.int32(), pa.string())
        types = {"number": pa.float64(), "category": words, "flag": words}
        return {str(self.places[c.name]): types.get(c.kind, pa.string()) for c in self._used}

    def _table(self, data: bytes, types: dict[str, Any], uneven: Any = None) -> Any:
        pa, csv_ = pyarrow(), csv()
        if not data.strip(b"\r\n"):
            return pa.table({name: pa.array([], kind) for name, kind in types.items()})
        if self.separator == RUNS:
            data = squeezed(data, self.quote.encode())
        if data.startswith(BOM):  # within a file it is text; the reader drops one
            data = BOM + data
        comma = any(c.kind == "number" and c.form == "," for c in self.schema.columns)
        return csv_.read_csv(
            pa.BufferReader(data),
            csv_.ReadOptions(
                use_threads=False,
                block_size=len(data) + 1,
                column_names=[str(j) for j in range(self.width)],
            ),
            csv_.ParseOptions(
                delimiter=self.character,
                quote_char=self.quote,
                newlines_in_values=True,
                invalid_row_handler=uneven,
            ),
            csv_.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=[*_GAPS, *self.schema.missing, *(f" {w}" for w in self.schema.missing)],
                strings_can_be_null=False,
                decimal_point="," if comma else ".",
            ),
        )

    def _texts(self, data: bytes, columns: Any) -> tuple[Any, dict[int, int]]:
        """Columns of bytes of the even records, and the numbers of fields of the others."""
        types = {str(j): pyarrow().binary() for j in columns}
        try:
            data.decode()
        except UnicodeDecodeError:  # which pyarrow does not bear in a record that is uneven
            readable = data.decode(errors="replace").encode()
            uneven = self._even(readable, {"0": pyarrow().binary()})[1]
            table = self.records.table(data)
            even = (data[a:b] for i, (a, b) in enumerate(table) if i not in uneven)
            return self._table(b"\n".join(even), types), uneven
        return self._even(data, types)

    def _even(self, data: bytes, types: dict[str, Any]) -> tuple[Any, dict[int, int]]:
        uneven: dict[int, int] = {}

        def pass_over(row: Any) -> str:
            uneven[row.number - 1] = row.actual_columns
            return "skip"

        return self._table(data, types, pass_over), uneven


_GAPS = [*sorted(GAPS), *(f" {gap}" for gap in sorted(GAPS))]


def _cells(column: Any) -> Any:
    """Numbers as NumPy has them; text as it is."""
    if pyarrow().types.is_floating(column.type):
        return column.to_numpy()
    return column


def _readable(column: Any) -> Any:
    """The first cells as text, without those that are none."""
    pa = pyarrow()
    column = column.combine_chunks()
    try:
        return column.cast(pa.string())
    except pa.ArrowInvalid:
        odd = set(refused(column, lambda part: part.cast(pa.string())))
        stay = [i for i in range(len(column)) if i not in odd]
        return column.take(pa.array(stay, pa.int64())).cast(pa.string())


def _decimal(cells: dict[str, Any], separator: str) -> str:
    """The decimal sign by which more of the first cells are numbers."""
    if separator == ",":
        return ""
    few = [column.slice(0, _FEW) for column in cells.values()]
    by_sign = {sign: sum(count_numbers(column, sign) for column in few) for sign in ("", ",")}
    return "," if by_sign[","] > by_sign[""] else ""


def _named(first: list[str], below: Any, wishes: Wishes) -> bool:
    if wishes.header is not None:
        return wishes.header
    cells = {cell.strip() for cell in first}
    if isinstance(wishes.target, str) and wishes.target in cells and not wishes.target.isdigit():
        return True
    if wishes.schema is not None:  # one name that is known makes a line of names
        return not {c.name for c in wishes.schema.features}.isdisjoint(cells)
    cells_below = [_readable(below.column(j)) for j in range(len(first))]
    return has_names(first, cells_below, wishes.missing)


def _names(
    where: str, first: list[str] | None, width: int, wishes: Wishes
) -> tuple[list[str], tuple[str, ...]]:
    """The names of the columns, and what is to be said of them."""
    if first is not None:
        return distinct_names(first)
    if wishes.schema is None:
        told = "the first line is taken as an example, not as names: header=True says otherwise"
        return [f"x{j}" for j in range(width)], () if wishes.header is False else (told,)
    known = [c.name for c in wishes.schema.columns]
    if len(known) != width:
        raise ValueError(
            f"{where}: {width} columns without names, the schema has {len(known)}; "
            "give the file a first line of names"
        )
    return known, ()


def _no_rows(where: str, width: int, lines: int) -> str:
    if lines:
        return (
            f"{where}: its first line has {width} fields, and no other line has as many; "
            "mend that line, or say separator="
        )
    return f"{where}: no row under the names of its {width} columns; add some"


def _quoting(separator: str, quote: str) -> Quoting:
    if separator == RUNS:
        return Quoting(b" ", quote.encode(), "as one")
    return Quoting(separator.encode(), quote.encode())


def _checked(separator: str) -> str:
    if separator == RUNS:
        return separator
    if len(separator) != 1 or not separator.isascii() or separator in '"\r\n':
        raise ValueError(f"separator must be one character such as ',' or ';', got {separator!r}")
    return separator
