"""Columns that have types of their own: Parquet, Arrow IPC, DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinesvm.stream.sources.arrow import compute, demand, pyarrow
from onlinesvm.stream.sources.examples import Fault, assemble
from onlinesvm.stream.sources.numbered import RowPlaces, rows_a_block
from onlinesvm.stream.sources.schema import Column, Schema
from onlinesvm.stream.sources.source import BadRow, Block, Examples, Place
from onlinesvm.stream.sources.values import LONGEST_TEXT
from onlinesvm.stream.sources.wishes import Wishes, settle

__all__ = ["ArrowFile", "ParquetFile", "Typed", "bad_row", "evenly"]


@dataclass(frozen=True, slots=True)
class Typed:
    """What is settled of typed columns."""

    schema: Schema
    notes: tuple[str, ...]

    @staticmethod
    def settle(where: str, first: Any, wishes: Wishes) -> Typed:
        """The schema of a table by its types and its first rows."""
        names = list(first.schema.names)
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ValueError(f"{where}: has the column {twice[0]!r} twice; rename one")
        if wishes.schema is None and not first.num_rows:
            raise ValueError(f"{where}: has no row; types are settled by the first ones")
        texts, nested = {}, []
        for name in names:
            try:
                texts[name] = _texts(first.column(name).combine_chunks())
            except (pyarrow().ArrowNotImplementedError, pyarrow().ArrowInvalid):
                texts[name] = pyarrow().nulls(first.num_rows, "string")
                nested.append(name)
        ignore = [*wishes.ignore, *(name for name in nested if name not in wishes.ignore)]
        asked = Wishes(
            target=wishes.target,
            key=wishes.key,
            ignore=ignore,
            types=wishes.types,
            missing=wishes.missing,
            schema=wishes.schema,
        )
        settled = settle(where, names, texts, asked)
        told = [f"column {n!r} holds what is neither number nor text: ignored" for n in nested]
        return Typed(settled.schema, (*told, *settled.notes))

    def used(self, names: list[str]) -> list[str]:
        """The columns to read."""
        wanted = {c.name for c in self.schema.columns if c.part != "ignored"}
        return [name for name in names if name in wanted]

    def read(self, table: Any) -> tuple[Examples, dict[int, Fault]]:
        """Rows as examples, and the faults of the others."""
        cells = {
            c.name: _cells(table.column(c.name), c)
            for c in self.schema.columns
            if c.part != "ignored" and c.name in table.schema.names
        }
        return assemble(self.schema, cells, table.num_rows)


_HEAVY = 1 << 24  # bytes of text in a block
_NO_TEXT = 4 * LONGEST_TEXT  # bytes beyond which a cell is longer than any text, in any alphabet


class _File:
    """A file of typed columns, in blocks of so many rows, cut anew in every group of its own."""

    replays = True
    live = False
    word: str
    _oversized: Any = frozenset()

    def __init__(self, path: Path, wishes: Wishes) -> None:
        self.path, self.name = path, path.name
        pa = pyarrow()
        try:
            self._places = RowPlaces(path, self._count())
            first = next((t for _, t in self._tables(0, None)), None)
            empty = pa.table({n: pa.nulls(0) for n in self._names()})
        except (OSError, pa.ArrowException) as error:
            raise self._damaged(error) from None
        self._typed = Typed.settle(path.name, empty if first is None else first, wishes)
        self.schema = self._typed.schema
        told = [f"column {n!r} has cells too long for a text: left out" for n in self._oversized]
        self.notes = (*told, *self._typed.notes)

    def identity(self) -> dict[str, Any]:
        """The format and a checksum."""
        return {"format": self.word, "checksum": self._places.checksum()}

    def blocks(self, since: Place | None = None) -> Iterator[Block]:
        """The rows behind a place, in blocks of about a megabyte."""
        start = self._places.start(since)
        columns = self._typed.used(self._names())
        try:
            for row, table in self._tables(start, columns):
                examples, faults = self._typed.read(table)
                end = row + table.num_rows
                bad = [bad_row(self.name, row, table, i, fault) for i, fault in faults.items()]
                done = end / self._places.rows
                yield Block(examples, self._places.place(end), bad, done)
        except (OSError, pyarrow().ArrowException) as error:
            raise self._damaged(error) from None

    def close(self) -> None:
        """Nothing is held between blocks."""

    def _damaged(self, error: Exception) -> ValueError:
        told = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        return ValueError(f"{self.name}: cannot be read as {self.word}: {told}")

    def _count(self) -> int:
        raise NotImplementedError

    def _names(self) -> list[str]:
        raise NotImplementedError

    def _groups(self, start: int, columns: list[str] | None) -> Iterator[tuple[int, Any]]:
        """Tables of at most a block's rows, each with its first row; some may lie before `start`.

        Without columns, all that can be read.
        """
        raise NotImplementedError

    def _tables(self, start: int, columns: list[str] | None) -> Iterator[tuple[int, Any]]:
        """The rows from `start` on, in tables of at most a block's rows and bytes."""
        for row, table in self._groups(start, columns):
            skip = max(0, start - row)
            if skip < table.num_rows:
                yield from _lighter(row + skip, table.slice(skip))


class ParquetFile(_File):
    """Rows of a Parquet file; a place is a number of rows."""

    word = "parquet"

    def _open(self, texts: list[str] | None = None) -> Any:
        # Words that come again and again lie in a file once, and so they do in memory.
        parquet = demand("pyarrow.parquet", "reading Parquet")
        return parquet.ParquetFile(self.path, read_dictionary=texts)

    @cached_property
    def _texts(self) -> list[str]:
        """The columns of words."""
        with self._open() as file:
            return [field.name for field in file.schema_arrow if _is_text(field.type)]

    @cached_property
    def _oversized(self) -> set[str]:
        """The columns of cells that are longer than any text, on average: none is read."""
        found = set()
        with self._open() as file:
            for group in map(file.metadata.row_group, range(file.num_row_groups)):
                for chunk in map(group.column, range(group.num_columns)):
                    if chunk.total_uncompressed_size > LONGEST_TEXT * max(1, chunk.num_values):
                        found.add(chunk.path_in_schema.partition(".")[0])
        return found

    def _count(self) -> int:
        with self._open() as file:
            return int(file.metadata.num_rows)

    def _names(self) -> list[str]:
        with self._open() as file:
            return [name for name in file.schema_arrow.names if name not in self._oversized]

    def _groups(self, start: int, columns: list[str] | None) -> Iterator[tuple[int, Any]]:
        columns = self._names() if columns is None else columns
        with self._open(self._texts) as file:
            size = rows_a_block(len(file.schema_arrow.names))
            row = 0
            for group in range(file.num_row_groups):
                n = file.metadata.row_group(group).num_rows
                if row + n > start:
                    batches = file.iter_batches(size, [group], columns, use_threads=False)
                    yield from evenly(batches, size, row)
                row += n


class ArrowFile(_File):
    """Rows of an Arrow IPC file or stream (Feather, too); a place is a number of rows."""

    word = "arrow"

    def _batches(self) -> Iterator[Any]:
        ipc, pa = demand("pyarrow.ipc", "reading Arrow"), pyarrow()
        with pa.memory_map(str(self.path)) as file:
            if file.read(6) == b"ARROW1":
                reader = ipc.open_file(file)
                batches = map(reader.get_batch, range(reader.num_record_batches))
            else:
                file.seek(0)
                batches = iter(ipc.open_stream(file))
            for batch in batches:
                batch.validate(full=True)  # forged offsets would lead anywhere
                yield batch

    def _count(self) -> int:
        return sum(batch.num_rows for batch in self._batches())

    def _names(self) -> list[str]:
        ipc, pa = demand("pyarrow.ipc", "reading Arrow"), pyarrow()
        with pa.memory_map(str(self.path)) as file:
            is_file = file.read(6) == b"ARROW1"
            file.seek(0)
            return list((ipc.open_file(file) if is_file else ipc.open_stream(file)).schema.names)

    def _groups(self, start: int, columns: list[str] | None) -> Iterator[tuple[int, Any]]:
        row = 0
        for batch in self._batches():
            size = rows_a_block(batch.num_columns)
            for at, table in evenly(iter([batch]), size, row):
                yield at, table if columns is None else table.select(columns)
            row += batch.num_rows


def evenly(batches: Iterator[Any], size: int, row: int) -> Iterator[tuple[int, Any]]:
    """Batches of whatever size as tables of one size, but for the last."""
    pa = pyarrow()
    held: list[Any] = []
    count = 0
    for batch in batches:
        held.append(batch)
        count += batch.num_rows
        if count < size:
            continue
        table = pa.Table.from_batches(held)
        whole = count - count % size
        for start in range(0, whole, size):
            yield row + start, table.slice(start, size)
        row, count = row + whole, count - whole
        held = table.slice(whole).to_batches() if count else []
    if count:
        yield row, pa.Table.from_batches(held)


def _lighter(row: int, table: Any) -> Iterator[tuple[int, Any]]:
    """The same rows in tables of a bounded number of bytes; cells beyond any text are cut."""
    weights = np.zeros(table.num_rows, dtype=np.int64)
    for j, field in enumerate(table.schema):
        if _is_text(field.type):
            column, lengths = _weighed(table.column(j))
            table, weights = table.set_column(j, field, column), weights + lengths
    ends, start = np.cumsum(weights), 0
    while start < table.num_rows:
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + _HEAVY, side="right")))
        yield row + start, table.slice(start, stop - start)
        start = stop


def _weighed(column: Any) -> tuple[Any, NDArray[np.int64]]:
    """A column of text and the bytes of each cell."""
    pa, pc = pyarrow(), compute()
    chunks, weights = [], [np.zeros(0, dtype=np.int64)]
    for chunk in column.chunks:
        coded = pa.types.is_dictionary(chunk.type)
        words = chunk.dictionary if coded else chunk
        lengths = pc.fill_null(pc.binary_length(words), 0).to_numpy().astype(np.int64)
        if lengths.max(initial=0) > _NO_TEXT:
            words, lengths = _cut(words, lengths)
            chunk = pa.DictionaryArray.from_arrays(chunk.indices, words) if coded else words
        if coded:
            lengths = np.append(lengths, 0)[
                pc.fill_null(pc.cast(chunk.indices, pa.int64()), len(lengths)).to_numpy()
            ]
        chunks.append(chunk)
        weights.append(lengths)
    return pa.chunked_array(chunks, column.type), np.concatenate(weights)


def _cut(words: Any, lengths: NDArray[np.int64]) -> tuple[Any, NDArray[np.int64]]:
    """Words of which those that are too long are as long as it takes to say so."""
    pa = pyarrow()
    short = [
        "x" * (LONGEST_TEXT + 1) if n > _NO_TEXT else words[i].as_py()
        for i, n in enumerate(lengths.tolist())
    ]
    return pa.array(short, words.type), np.minimum(lengths, LONGEST_TEXT + 1)


def _is_text(kind: Any) -> bool:
    types = pyarrow().types
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
    )


def _texts(column: Any) -> Any:
    pa, pc = pyarrow(), compute()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_temporal(column.type) and not pa.types.is_duration(column.type):
        return pc.cast(_naive(column), pa.string())
    return pc.cast(column, pa.string())


def _naive(column: Any) -> Any:
    """Times in UTC without saying so, as they are judged and counted."""
    pa, pc = pyarrow(), compute()
    if pa.types.is_time(column.type):
        return column
    return pc.cast(column, pa.timestamp("us"), safe=False)


def _cells(column: Any, told: Column) -> Any:
    """Numbers and times as float64, anything else as text."""
    pa, pc = pyarrow(), compute()
    column = column.combine_chunks()
    kind = column.type
    if told.kind == "date" and pa.types.is_temporal(kind) and not pa.types.is_time(kind):
        micro = pc.cast(pc.cast(_naive(column), pa.int64()), pa.float64())
        return pc.divide(micro, 1e6).to_numpy(zero_copy_only=False)
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    if told.kind in ("number", "flag") and (numeric or pa.types.is_decimal(kind)):
        return pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return _texts(column)


def bad_row(name: str, row: int, table: Any, i: int, fault: Fault) -> BadRow:
    values = {key: value[0] for key, value in table.slice(i, 1).to_pydict().items()}
    return BadRow(str(values)[:10_000], fault.reason, fault.column, row + i + 1, file=name)
