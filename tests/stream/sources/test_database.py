"""Rows of queries."""

from __future__ import annotations

import sqlite3
from urllib.parse import quote

import pytest
from stream.sources.reading import assert_restarts, everything

from onlinesvm.stream.sources import open_source

ROWS = 30_000
QUERY = "SELECT * FROM flows ORDER BY t"


def fill_sqlite(path, rows):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS flows (t, a, town, y)")
        connection.executemany("INSERT INTO flows VALUES (?, ?, ?, ?)", rows)
    connection.close()


def fill_duckdb(path, rows):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS flows (t INTEGER, a DOUBLE, town TEXT, y INTEGER)"
        )
        connection.execute(
            "INSERT INTO flows SELECT * FROM (SELECT unnest($1, recursive := true))",
            [[{"t": t, "a": a, "town": town, "y": y} for t, a, town, y in rows]],
        )


FILL = {"sqlite": fill_sqlite, "duckdb": fill_duckdb}


def some(start=0, stop=ROWS):
    towns = ("Rom", "Bonn", None)
    return [(i, i / 8 if i % 4 else None, towns[i % 3], i % 2) for i in range(start, stop)]


@pytest.mark.parametrize("kind", FILL)
def test_rows_are_those_of_the_table(tmp_path, kind):
    path = tmp_path / "my flows.db"
    FILL[kind](path, some(0, 2000) if kind == "duckdb" else some())
    n = 2000 if kind == "duckdb" else ROWS
    source = open_source(f"{kind}:///{quote(str(path))}?query={QUERY}", ignore=["t"])
    found = everything(source)
    assert (found.n, found.bad) == (n, [])
    assert found.y == [i % 2 for i in range(n)]
    assert [row["town"] for row in found.X[:3]] == ["Rom", "Bonn", None]
    assert [row["a"] for row in found.X[1:4]] == [1 / 8, 2 / 8, 3 / 8]
    blocks = assert_restarts(source)
    assert blocks > 0
    place = list(source.blocks())[-1].end
    FILL[kind](path, some(n, n + 10))
    assert [len(block.examples) for block in source.blocks(place)] == [10]
    assert source.identity() == {"format": kind, "query": QUERY}


def test_another_order_is_refused(tmp_path):
    path = tmp_path / "a.db"
    fill_sqlite(path, some(0, 100))
    spec = f"sqlite:///{path}?query="
    place = list(open_source(spec + QUERY).blocks())[-1].end
    with pytest.raises(ValueError, match="row 100 is not what it was"):
        list(open_source(spec + QUERY + " DESC").blocks(place))
    fill_sqlite(path, [(-5, 1, "x", 0)])
    with pytest.raises(ValueError, match="row 100 is not what it was"):
        list(open_source(spec + QUERY).blocks(place))
    with pytest.raises(ValueError, match="fewer rows than were read before"):
        list(open_source(spec + QUERY + " LIMIT 50").blocks(place))
    assert any("no ORDER BY" in note for note in open_source(spec + "SELECT * FROM flows").notes)
    assert not any("ORDER BY" in note for note in open_source(spec + QUERY).notes)


def test_types_of_sqlite_are_those_of_values(tmp_path):
    path = tmp_path / "a.db"
    fill_sqlite(
        path, [(i, i, "x", 1) for i in range(40)] + [(40, "oops", b"\1", 1), (41, 1.5, 7, 0)]
    )
    found = everything(open_source(f"sqlite:///{path}?query={QUERY}", ignore=["t"]))
    (bad,) = found.bad
    assert (bad.line, bad.column, bad.reason) == (41, "a", "'oops' is no number")
    assert found.X[-1] == {"a": 1.5, "town": "7"}


@pytest.mark.parametrize("kind", FILL)
def test_mistakes_are_one_line(tmp_path, kind):
    path = tmp_path / "a.db"
    FILL[kind](path, some(0, 3))
    spec = f"{kind}:///{path}"
    for query, message in (
        ("SELECT * FROM nothing", "nothing"),
        ("SELEC 1", "(?i)syntax"),
        ("SELECT * FROM flows WHERE t > 99", "gives no row"),
        ("DROP TABLE flows", r"(?i)read-?only"),
        ("SELECT a, a FROM flows", r"'a' twice|'a:1'|is left"),
    ):
        with pytest.raises(ValueError, match=message) as told:
            list(open_source(f"{spec}?query={query}").blocks())
        assert "\n" not in str(told.value)
    with pytest.raises(ValueError, match="is no query"):
        open_source(spec)
    with pytest.raises(ValueError, match="no such database"):
        open_source(f"{kind}:///{tmp_path}/none.db?query={QUERY}")
    assert everything(open_source(f"{spec}?query={QUERY}")).n == 3


def test_rows_that_changed_within_the_last_block_are_refused(tmp_path):
    path = tmp_path / "a.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table t (n integer, y integer)")
        connection.executemany("insert into t values (?, ?)", [(i, i % 2) for i in range(300)])
    source = open_source(f"sqlite:///{path}?query=select n, y from t order by n")
    place = list(source.blocks())[-1].end
    assert list(source.blocks(place)) == []
    with sqlite3.connect(path) as connection:
        connection.execute("update t set y = 1 - y where n = 120")
    with pytest.raises(ValueError, match="row 300 is not what it was"):
        list(source.blocks(place))
