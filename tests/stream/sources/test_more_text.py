"""JSON arrays, ARFF, and columns that runs of spaces part."""

from __future__ import annotations

import json

import numpy as np
import pytest
from command import run

from onlinesvm.stream import open_source
from onlinesvm.stream.sources import raw

pytest.importorskip("pyarrow")

OBJECTS = [{"a": i, "s": '}{"\\[' * (i % 3), "y": "uv"[i % 2]} for i in range(500)]


def all_rows(source, since=None):
    blocks = list(source.blocks(since))
    return blocks, [key for b in blocks for key in b.examples.X["a"].tolist()]


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("name", ["rows.json", "rows.jsonl", "rows.txt"])
def test_an_array_is_read_object_by_object_from_any_place(tmp_path, monkeypatch, indent, name):
    path = tmp_path / name
    path.write_text(json.dumps(OBJECTS, indent=indent) + "\n")
    monkeypatch.setattr(raw, "BLOCK", 2000)
    source = open_source(path)
    blocks, values = all_rows(source)
    assert values == list(range(500))
    assert len(blocks) > 5
    assert not any(b.bad for b in blocks)
    for k, block in enumerate(blocks):
        rest, _ = all_rows(source, block.end)
        assert [b.end for b in rest] == [b.end for b in blocks[k + 1 :]]


def test_a_broken_object_costs_its_line(tmp_path):
    lines = [json.dumps(row) for row in OBJECTS]
    lines[77] = '{"a": }'
    lines[99] = '{"a": 3, "s": "", "y": "u"'
    path = tmp_path / "rows.json"
    path.write_text("[" + ",\n".join(lines[:98]) + "]\n")
    (block,) = open_source(path).blocks()
    assert [(bad.line, bad.text) for bad in block.bad] == [(78, '{"a": }')]
    assert len(block.examples) == 97


def test_an_empty_array_is_refused(tmp_path):
    (tmp_path / "rows.json").write_text("[]")
    with pytest.raises(ValueError, match="empty array"):
        open_source(tmp_path / "rows.json")


ARFF = """% a comment
@RELATION 'iris of mine'

@attribute 'petal length' NUMERIC
@ATTRIBUTE wide {yes, no}
@attribute code integer
@attribute class {Iris-a, 'Iris b'}
@DATA
% another

1.5,yes,1,Iris-a
?,no,2,'Iris b'
2.5,?,3,'Iris b'
x,no,4,Iris-a
"""


def test_arff_has_the_columns_that_its_head_names(tmp_path):
    path = tmp_path / "iris.arff"
    path.write_text(ARFF)
    source = open_source(path, ignore=["code"])
    kinds = {c.name: (c.kind, c.part) for c in source.schema.columns}
    assert kinds == {
        "petal length": ("number", "feature"),
        "wide": ("category", "feature"),
        "code": ("number", "ignored"),
        "class": ("category", "target"),
    }
    (block,) = source.blocks()
    assert block.examples.y.tolist() == ["Iris-a", "Iris b", "Iris b"]
    np.testing.assert_array_equal(block.examples.X["petal length"], [1.5, np.nan, 2.5])
    assert block.examples.X["wide"].tolist() == ["yes", "no", None]
    assert [(bad.line, bad.column) for bad in block.bad] == [(14, "petal length")]
    (again,) = open_source(path, schema=source.schema).blocks()
    assert again.examples.y.tolist() == block.examples.y.tolist()


def test_arff_is_known_by_its_content_and_sparse_rows_are_refused(tmp_path):
    path = tmp_path / "iris.txt"
    path.write_text(ARFF)
    assert open_source(path).schema.target == "class"
    path.write_text(ARFF.partition("1.5,")[0] + "{0 1.5, 3 Iris-a}\n")
    with pytest.raises(ValueError, match="rows are sparse"):
        open_source(path)
    path.write_text("@relation x\n@attribute a numeric\n")
    with pytest.raises(ValueError, match="no line @data"):
        open_source(path)


def test_runs_of_spaces_part_columns(tmp_path):
    path = tmp_path / "housing.data"
    rows = [(0.5 * i, 100 * i, ["low", "very high"][i % 2]) for i in range(40)]
    lines = [f'  {a:8.2f}   {b:6d}  "{c}"  ' for a, b, c in rows]
    lines.insert(20, "   ")
    lines.insert(30, "   1.0     7")
    path.write_text("\n".join(lines) + "\n")
    source = open_source(path)
    (block,) = source.blocks()
    np.testing.assert_array_equal(block.examples.X, [row[:2] for row in rows])
    assert block.examples.y.tolist() == [row[2] for row in rows]
    assert [(bad.line, bad.reason) for bad in block.bad] == [(31, "has 2 fields, not 3")]


def test_one_may_learn_and_predict_with_all_of_them(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.json").write_text(json.dumps(OBJECTS, indent=2))
    (tmp_path / "iris.arff").write_text(ARFF)
    (tmp_path / "t.dat").write_text("a   b    y\n" + " 1   2   u\n 3  4  v\n" * 9)
    run("learn", "rows.json", "-q")
    run("predict", "rows.run", "rows.json", "--out", "out.jsonl")
    told = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["a"] for row in told] == list(range(500))
    assert all("prediction" in row for row in told)
    for name, out in (("iris.arff", "iris.run"), ("t.dat", "t.run")):
        run("learn", name, "-q")
        run("predict", out, name, "--out", "out.csv")
        assert "prediction" in (tmp_path / "out.csv").read_text().splitlines()[0]
