"""A folder that grows, and files that grow in it."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from stream.sources.reading import everything

from onlinesvm.stream.sources import open_source, raw


class Reader:
    """Reads on from where it was, through the JSON of a checkpoint, by a source of its own."""

    def __init__(self, folder):
        self.folder, self.place, self.bad = folder, None, []
        self.schema = open_source(folder).schema

    def more(self):
        rows = []
        for block in open_source(self.folder, schema=self.schema).blocks(self.place):
            rows += block.examples.X[:, 0].tolist()
            self.bad += block.bad
            self.place = json.loads(json.dumps(block.end))
        return rows


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "flows"
    path.mkdir()
    (path / "01.csv").write_text("a,y\n1,0\n2,1\n")
    return path


def test_files_are_read_in_order_once(folder):
    reader = Reader(folder)
    assert reader.more() == [1, 2]
    assert reader.more() == []
    (folder / "03.csv").write_text("y,a\n1,4\n")
    (folder / "02.csv").write_text("a,y\n3,0\n")
    assert reader.more() == [3, 4]
    assert reader.more() == []
    assert reader.bad == []


def test_a_file_under_way_is_read_to_its_last_whole_line(folder):
    reader = Reader(folder)
    last = folder / "02.csv"
    last.write_text("a,")
    assert reader.more() == [1, 2]
    last.write_text("a,y\n3,0\n4,")
    assert reader.more() == [3]
    last.write_text("a,y\n3,0\n4,1\n5")
    assert reader.more() == [4]
    last.write_text("a,y\n3,0\n4,1\n5,1")
    assert reader.more() == []
    (folder / "03.csv").write_text("a,y\n6,0\n")
    assert reader.more() == [5, 6]
    assert reader.bad == []


def test_places_and_blocks(folder, monkeypatch):
    monkeypatch.setattr(raw, "BLOCK", 64)
    for name in ("02.csv", "03.csv"):
        (folder / name).write_text("a,y\n" + "".join(f"{i},{i % 2}\n" for i in range(100)))
    source = open_source(folder)
    assert source.live
    blocks = list(source.blocks())
    for i, block in enumerate(blocks):
        rest = [b.examples.X.tolist() for b in source.blocks(block.end)]
        assert rest == [b.examples.X.tolist() for b in blocks[i + 1 :]]
    assert sum(len(b.examples) for b in blocks) == 202


def test_bad_rows_name_their_file(folder):
    (folder / "02.csv").write_text("a,y\n1,0\noops,1\n")
    (bad,) = everything(open_source(folder)).bad
    assert (bad.file, bad.line) == ("02.csv", 3)


def test_a_file_that_cannot_be_read_is_told_and_passed(folder):
    reader = Reader(folder)
    (folder / "02.csv").write_bytes(b"\0\1\2")
    assert reader.more() == [1, 2]
    assert reader.bad == []  # it may still become one
    (folder / "03.csv").write_text("a,y\n3,0\n")
    assert reader.more() == [3]
    assert [bad.file for bad in reader.bad] == ["02.csv"]
    assert "is no text" in reader.bad[0].reason
    assert reader.more() == []
    assert len(reader.bad) == 1


def test_a_late_file_is_told(folder):
    reader = Reader(folder)
    (folder / "05.csv").write_text("a,y\n5,0\n")
    assert reader.more() == [1, 2, 5]
    (folder / "03.csv").write_text("a,y\n3,0\n")
    assert reader.more() == []
    assert "names that sort behind" in reader.bad[0].reason
    assert reader.more() == []
    assert len(reader.bad) == 1
    (folder / "01.csv").unlink()  # what has been read may go
    (folder / "06.csv").write_text("a,y\n6,0\n")
    assert reader.more() == [6]


def test_hidden_and_temporary_files_wait(folder):
    for name in (".hidden.csv", "02.csv.tmp", "03.csv.part"):
        (folder / name).write_text("a,y\n9,9\n")
    (folder / "04").mkdir()
    assert Reader(folder).more() == [1, 2]


def test_an_empty_folder_waits_for_a_schema(tmp_path):
    with pytest.raises(ValueError, match="has no file with rows yet"):
        open_source(tmp_path)
    (tmp_path / "1.csv").write_text("a,y\n1,0\n")
    schema = open_source(tmp_path).schema
    (tmp_path / "1.csv").unlink()
    assert list(open_source(tmp_path, schema=schema).blocks()) == []
    for wrong in ({"file": 7, "passed": 0}, {"file": "x", "passed": 0, "at": 3}):
        with pytest.raises(ValueError, match="of another source than a folder"):
            list(open_source(tmp_path, schema=schema).blocks(wrong))


def test_other_formats(tmp_path):
    for k in range(3):
        pq.write_table(
            pa.table({"a": np.arange(5.0) + k, "y": [0, 1] * 2 + [k]}), tmp_path / f"{k}.parquet"
        )
    reader = Reader(tmp_path)
    assert len(reader.more()) == 15
    whole = (tmp_path / "2.parquet").read_bytes()
    (tmp_path / "3.parquet").write_bytes(whole[:100])
    assert reader.more() == []
    (tmp_path / "3.parquet").write_bytes(whole)
    assert reader.more() == [2, 3, 4, 5, 6]
    assert reader.bad == []
