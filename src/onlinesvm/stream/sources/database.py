"""Rows of a query: SQLite and DuckDB."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from zlib import crc32

from onlinesvm.stream.sources.arrow import demand, pyarrow
from onlinesvm.stream.sources.columnar import Typed, bad_row, evenly
from onlinesvm.stream.sources.numbered import rows_a_block
from onlinesvm.stream.sources.source import Block, Place
from onlinesvm.stream.sources.text import whole_number
from onlinesvm.stream.sources.wishes import Wishes

__all__ = ["Query", "open_query"]

_KNOWN_BY = 1000  # last rows
_FORM = re.compile(r"(sqlite|duckdb)://(?:/)?(?P<path>[^?]*)\?query=(?P<query>.+)", re.DOTALL)


def open_query(spec: str, wishes: Wishes) -> Query:
    """The rows of ``sqlite:///file.db?query=SELECT ...``."""
    match = _FORM.fullmatch(spec)
    if not match:
        raise ValueError(f"{spec[:80]!r} is no query; write sqlite:///file.db?query=SELECT ...")
    path = Path(unquote(match["path"]))
    if not path.is_file():
        raise ValueError(f"{path}: no such database; check the path")
    return Query(match[1], path, unquote(match["query"]), wishes)


class Query:
    """The rows of a query, in its own order; a place is a number of rows.

    To go on, the query is run again and as many rows are passed over: so it needs an ORDER BY that
    leaves no choice, and rows may only be added behind.
    """

    replays = True
    live = False

    def __init__(self, kind: str, path: Path, query: str, wishes: Wishes) -> None:
        self.path, self.query = path, query
        self.name = f"{kind}:{path.name}"
        self._tables = {"sqlite": _sqlite, "duckdb": _duckdb}[kind]
        first = next(self._run(), None)
        if first is None:
            raise ValueError(f"{self.name}: the query gives no row; types are settled by the first")
        self._typed = Typed.settle(self.name, first, wishes)
        self.schema, self.notes = self._typed.schema, self._typed.notes
        if not re.search(r"\border\s+by\b", query, re.IGNORECASE):
            self.notes += (
                "the query has no ORDER BY: it may give another order when a run goes on",
            )

    def identity(self) -> dict[str, Any]:
        """The query."""
        return {"format": self.name.partition(":")[0], "query": self.query}

    def blocks(self, since: Place | None = None) -> Iterator[Block]:
        """The rows behind a place."""
        start = 0 if since is None else whole_number(since, "row")
        row, last = 0, ""
        for table in self._run():
            n, skipped = table.num_rows, min(max(start - row, 0), table.num_rows)
            if row < start <= row + n:
                last = _mark(table.slice(0, start - row))
                if since is not None and last != since.get("last"):
                    raise ValueError(
                        f"{self.name}: row {start} is not what it was; the query needs an ORDER BY "
                        "that leaves no choice, and rows may only be added behind; begin anew"
                    )
            row += n
            if skipped == n:
                continue
            whole, table = table, table.slice(skipped)
            examples, faults = self._typed.read(table)
            first = row - table.num_rows
            bad = [bad_row(self.name, first, table, i, fault) for i, fault in faults.items()]
            end = {"row": row, "last": _mark(whole)}
            yield Block(examples, end, bad)
        if row < start:
            raise ValueError(f"{self.name}: fewer rows than were read before; begin anew")

    def close(self) -> None:
        """Nothing is held between blocks."""

    def _run(self) -> Iterator[Any]:
        return self._tables(self.path, self.query)


def _mark(table: Any) -> str:
    """A checksum of the last rows of a block."""
    last = table.slice(max(0, table.num_rows - _KNOWN_BY))
    return f"{crc32(repr(last.to_pylist()).encode()):08x}"


def _sqlite(path: Path, query: str) -> Iterator[Any]:
    pa = pyarrow()
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    try:
        cursor = connection.execute(query)
        if cursor.description is None:
            raise ValueError(f"the query gives no rows: {query[:80]!r}; write a SELECT")
        names = [column[0] for column in cursor.description]
        size = rows_a_block(len(names))
        while rows := cursor.fetchmany(size):
            columns = zip(*rows, strict=True)
            yield pa.table([_column(values) for values in columns], names=names)
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise ValueError(f"{path.name}: {error}") from None
    finally:
        connection.close()


def _column(values: tuple[Any, ...]) -> Any:
    """A column of SQLite, where every row may have a type of its own."""
    pa, kinds = pyarrow(), set(map(type, values)) - {type(None)}
    if kinds <= {int} and all(v is None or -(1 << 53) < v < 1 << 53 for v in values):
        return pa.array(values, pa.int64())
    if kinds <= {int, float}:
        return pa.array([None if v is None else float(v) for v in values], pa.float64())
    texts = [v.hex() if isinstance(v, bytes) else v if v is None else str(v) for v in values]
    return pa.array(texts, pa.string())


def _duckdb(path: Path, query: str) -> Iterator[Any]:
    duckdb = demand("duckdb", "reading DuckDB", "duckdb")
    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            result = connection.sql(query)
            if result is None:
                raise ValueError(f"the query gives no rows: {query[:80]!r}; write a SELECT")
            size = rows_a_block(len(result.columns))
            for _, table in evenly(result.to_arrow_reader(size), size, 0):
                yield table
    except duckdb.Error as error:
        raise ValueError(f"{path.name}: {str(error).splitlines()[0]}") from None
