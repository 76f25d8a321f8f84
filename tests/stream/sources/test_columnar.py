"""Parquet, Arrow IPC and NumPy archives: the same rows as in memory."""

from __future__ import annotations

import datetime as dt
import math

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from stream.sources.reading import assert_restarts, everything, written

from onlinesvm.stream.sources import open_source

N = 20_000


def table(n: int = N) -> pa.Table:
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "a": pa.array(rng.normal(size=n)),
            "n": pa.array(np.where(np.arange(n) % 5, np.arange(n) * 3.0, np.nan), from_pandas=True),
            "i": pa.array(np.arange(n, dtype=np.int32) % 7),
            "ok": pa.array((np.arange(n) % 2).astype(bool)),
            "town": pa.array(["Rom", "Bonn", None, "Oslo"] * (n // 4)).dictionary_encode(),
            "when": pa.array([dt.datetime(2026, 1, 1) + dt.timedelta(hours=k) for k in range(n)]),
            "list": pa.array([[1, 2]] * n),
            "y": pa.array(["up", "down"] * (n // 2)),
        }
    )


def save(path, kind: str, data: pa.Table) -> None:
    if kind == "parquet":
        pq.write_table(data, path, row_group_size=7000)
    elif kind == "feather":
        feather.write_feather(data, path, chunksize=6000)
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, data.schema) as writer:
            writer.write_table(data, max_chunksize=6000)


@pytest.mark.parametrize("kind", ["parquet", "feather", "arrows"])
def test_rows_are_those_of_the_table(tmp_path, kind):
    data, path = table(), tmp_path / f"a.{kind}"
    save(path, kind, data)
    source = open_source(path)
    kinds = {c.name: c.kind for c in source.schema.features}
    assert kinds == {
        "a": "number",
        "n": "number",
        "i": "number",
        "ok": "flag",
        "town": "category",
        "when": "date",
    }
    assert any("'list' holds what is neither" in note for note in source.notes)
    found = everything(source)
    assert (found.n, found.bad) == (N, [])
    assert found.y == data["y"].to_pylist()
    for name in ("a", "i", "town"):
        assert [row[name] for row in found.X] == data[name].to_pylist()
    assert [row["ok"] for row in found.X] == [float(v) for v in data["ok"].to_pylist()]
    assert all(
        math.isnan(row["n"]) if v is None else row["n"] == v
        for row, v in zip(found.X, data["n"].to_pylist(), strict=True)
    )
    start = dt.datetime(2026, 1, 1, tzinfo=dt.UTC).timestamp()
    assert [row["when"] for row in found.X[:3]] == [start, start + 3600, start + 7200]
    assert assert_restarts(source) >= 3
    assert max(len(block.examples) for block in source.blocks()) <= (1 << 17) // 8
    assert list(source.blocks())[-1].done == 1.0
    (tmp_path / "nameless").write_bytes(path.read_bytes())
    assert everything(open_source(tmp_path / "nameless")).n == N


@pytest.mark.parametrize("kind", ["parquet", "feather", "arrows"])
def test_bad_rows_and_other_files(tmp_path, kind):
    path = tmp_path / f"a.{kind}"
    save(path, kind, pa.table({"a": [1.0, math.inf, None, 4.0], "y": [1, 0, 1, None]}))
    source = open_source(path)
    (block,) = source.blocks()
    assert [(bad.line, bad.column, bad.reason) for bad in block.bad] == [
        (2, "a", "is infinite"),
        (4, "y", "no target"),
    ]
    assert block.bad[0].text == "{'a': inf, 'y': 0}"
    assert block.examples.y.tolist() == [1, 1]
    save(path, kind, pa.table({"a": [2.0], "y": [1]}))
    with pytest.raises(ValueError, match="first bytes are not those"):
        list(open_source(path).blocks(block.end))
    save(path, kind, pa.table({"b": [2.0], "y": [1]}))
    with pytest.raises(ValueError, match="no column 'a', which the schema has"):
        open_source(path, schema=source.schema)
    save(path, kind, pa.table({"y": [1], "a": [2.0]}))
    assert everything(open_source(path, schema=source.schema)).X == [[2.0]]
    save(path, kind, pa.table({"a": pa.array([], "float64"), "y": pa.array([], "int64")}))
    with pytest.raises(ValueError, match="has no row"):
        open_source(path)
    whole = path.read_bytes()
    for cut in (0, 3, len(whole) // 2, len(whole) - 3):
        path.write_bytes(whole[:cut])
        with pytest.raises(ValueError, match=r"cannot be read as|has no row"):
            open_source(path)


def test_types_can_be_told(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"zip": [1067, 80331], "t": ["1", "2"], "y": [1, 0]}), path)
    found = everything(open_source(path, types={"zip": "category"}))
    assert found.X == [{"zip": "1067", "t": 1.0}, {"zip": "80331", "t": 2.0}]
    assert everything(open_source(path, key="zip")).keys == [1067, 80331]


@pytest.mark.parametrize("pack", [np.savez, np.savez_compressed])
def test_archives(tmp_path, pack):
    rng = np.random.default_rng(0)
    X, path = rng.normal(size=(50_000, 9)).astype(np.float32), tmp_path / "a.npz"
    pack(path, X=X, y=np.where(X[:, 0] > 0, "up", "down"))
    source = open_source(path)
    found = everything(source)
    assert np.array_equal(np.array(found.X), X.astype(np.float64))
    assert found.y[:5] == np.where(X[:5, 0] > 0, "up", "down").tolist()
    assert assert_restarts(source) == 4
    pack(path, X=X)
    assert next(iter(open_source(path).blocks())).examples.y is None
    pack(path, X=[[1.0], [np.inf], [3.0]], y=[1.0, 2.0, np.nan])
    found = everything(open_source(path))
    assert [(bad.line, bad.reason) for bad in found.bad] == [(2, "is infinite"), (3, "no target")]
    assert found.y == [1]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"Z": [1]}, "needs an array X, and y for labels; it has Z"),
        ({"X": [1, 2]}, "X must be a table"),
        ({"X": [["a"]]}, "X must hold numbers"),
        ({"X": np.array([[None]])}, "X must hold numbers or text, not object"),
        ({"X": np.zeros((2, 2)), "y": [1]}, "y must have one label for each row"),
        ({"X": np.asfortranarray(np.ones((3, 2)))}, "X is stored by columns"),
        ({"X": np.zeros((0, 1 << 30))}, "at most 1,048,576 columns"),
    ],
)
def test_archives_that_are_none(tmp_path, arrays, message):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        open_source(tmp_path / "a.npz")


def test_archives_cut_off(tmp_path):
    with pytest.raises(ValueError, match="is no NumPy archive"):
        open_source(written(tmp_path, b"PK nonsense", "a.npz"))


def test_a_file_that_was_written_anew_is_another_one(tmp_path):
    y = np.arange(20_000) % 2
    for kind in ("parquet", "feather"):
        path = tmp_path / f"a.{kind}"
        save(path, kind, pa.table({"a": np.arange(20_000.0), "y": y}))
        before = open_source(path).identity()
        assert open_source(path).identity() == before
        flipped = y.copy()
        flipped[9000:9020] = 1 - flipped[9000:9020]
        save(path, kind, pa.table({"a": np.arange(20_000.0), "y": flipped}))
        assert open_source(path).identity() != before
