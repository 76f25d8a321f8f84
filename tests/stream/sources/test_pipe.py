"""Standard input: rows as they come, once."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading

import pytest
from stream.sources.reading import everything

from onlinesvm.stream.sources import open_source


@pytest.fixture
def given(monkeypatch):
    def use(data: bytes):
        file = io.TextIOWrapper(io.BufferedReader(io.BytesIO(data)))
        monkeypatch.setattr(sys, "stdin", file)

    return use


CSV = b"a,y\n" + b"".join(b"%d,%d\n" % (i, i % 2) for i in range(50_000))


@pytest.mark.parametrize("data", [CSV, gzip.compress(CSV)], ids=["plain", "packed"])
def test_everything_is_read_once(given, data):
    given(data)
    source = open_source("-")
    assert not source.replays
    assert [c.name for c in source.schema.columns] == ["a", "y"]
    blocks = source.blocks()
    first = next(blocks)
    rest = list(source.blocks(first.end))
    assert len(first.examples) + sum(len(block.examples) for block in rest) == 50_000
    assert ([first, *rest])[-1].end == {"byte": len(CSV), "line": 50_001}
    with pytest.raises(ValueError, match="standard input cannot be read again"):
        source.blocks()
    with pytest.raises(ValueError, match="standard input cannot be read again"):
        source.blocks(first.end)


@pytest.mark.parametrize(
    ("data", "n"),
    [(b'{"a": 1, "y": 0}\n{"a": 2, "y": 1}\n', 2), (b"1 1:2\n-1 2:3", 2), (b"1;2\n3;4\n5;6\n", 3)],
)
def test_formats_are_found(given, data, n):
    given(data)
    assert sum(len(block.examples) for block in open_source("-").blocks()) == n


def test_bad_rows_are_told(given):
    given(b"a,y\n1,0\nx,1\n3,1\n" + b"1,1\n" * 9)
    found = everything(open_source("-"))
    assert [(bad.line, bad.byte) for bad in found.bad] == [(3, 8)]


def test_other_formats_are_refused(given):
    given(b"")
    with pytest.raises(ValueError, match="standard input: is empty"):
        open_source("-")
    given(b"PAR1")
    with pytest.raises(ValueError, match="write it to a file first"):
        open_source("-", format="parquet")


def test_rows_come_before_the_pipe_ends(monkeypatch):
    receive, send = os.pipe()
    goes_on = threading.Event()

    def write():
        with os.fdopen(send, "wb", buffering=0) as writer:
            writer.write(b"a,y\n" + b"1,0\n" * 20_000 + b"7,")
            goes_on.wait()
            writer.write(b"0\n")

    other = threading.Thread(target=write)
    other.start()
    with os.fdopen(receive, "rb") as reader:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(reader))
        blocks, seen = open_source("-").blocks(), 0
        while seen < 20_000:  # none of them waits for the end
            seen += len(next(blocks).examples)
        goes_on.set()
        assert [block.examples.X.tolist() for block in blocks] == [[[7.0]]]
    other.join()


def test_a_named_pipe_is_one(tmp_path):
    path = tmp_path / "flows"
    os.mkfifo(path)
    other = threading.Thread(target=lambda: path.write_bytes(CSV))
    other.start()
    source = open_source(path)
    assert sum(len(block.examples) for block in source.blocks()) == 50_000
    assert (source.name, source.replays) == (str(path), False)
    other.join()
