"""JSON Lines, with msgspec and without."""

from __future__ import annotations

import json
import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stream.sources.reading import assert_restarts, everything, read, written

from onlinesvm.stream.sources import json_text, open_source, raw


@pytest.fixture(params=["msgspec", "json"], autouse=True)
def library(request, monkeypatch):
    if request.param == "json":
        monkeypatch.setitem(sys.modules, "msgspec", None)
    else:
        pytest.importorskip("msgspec")
    json_text._decoder.cache_clear()
    yield
    json_text._decoder.cache_clear()


def lines(*rows) -> str:
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)


def test_objects_are_rows(tmp_path):
    text = lines(
        {"a": 1, "ok": True, "town": "Rom", "y": "up"},
        {"town": None, "a": 2.5, "y": "down", "more": 1},
        {"ok": False, "y": "up", "a": "NA", "town": "Bonn"},
    )
    source = open_source(written(tmp_path, text, "flows.jsonl"), target="y", ignore=["more"])
    kinds = {c.name: (c.kind, c.part) for c in source.schema.columns}
    assert kinds["ok"] == ("flag", "feature")
    assert kinds["town"] == ("category", "feature")
    assert kinds["y"] == ("category", "target")
    found = everything(source)
    assert found.X[0] == {"a": 1.0, "ok": 1.0, "town": "Rom"}
    assert found.X[1]["town"] is None
    assert math.isnan(found.X[1]["ok"])
    assert math.isnan(found.X[2]["a"])
    assert found.y == ["up", "down", "up"]


def test_numbers_are_one_matrix(tmp_path):
    found = read(tmp_path, lines({"a": 1, "y": 0}, {"y": 1, "a": "2.5"}), "f.jsonl")
    assert (found.X, found.y) == ([[1.0], [2.5]], [0, 1])
    assert read(tmp_path, lines({"a": 1, "y": 0}, {"y": 1, "a": 2}), "unnamed").n == 2


def test_nan_is_a_gap_as_python_writes_it(tmp_path):
    found = read(tmp_path, '{"a": NaN, "y": 0}\n{"a": 2, "y": 1}\n', "f.jsonl")
    assert math.isnan(found.X[0][0])


BAD = [
    ('{"a": 1', "is no JSON: "),
    ("[1, 2]", "is no JSON object"),
    ("17", "is no JSON object"),
    ('{"a": "x", "y": 1}', "'x' is no number"),
    ('{"a": [1], "y": 1}', "'[1]' is no number"),
    ('{"a": Infinity, "y": 1}', "is infinite"),
    ('{"a": 1e999, "y": 1}', "is infinite"),
    ('{"a": 1' + "0" * 400 + ', "y": 1}', "is infinite"),
    ('{"a": 1}', "no target"),
    ('{"a": 1, "y": null}', "no target"),
    ('{"a": 1, "c": {"d": 2}, "y": 1}', "is a list or an object"),
    ('{"a": 1, "c": "\\ud800", "y": 1}', "is not UTF-8"),
    ('{"a": ' * 100_000, "is nested too deeply"),
]


@pytest.mark.parametrize(("line", "reason"), BAD)
def test_bad_rows_are_told_and_the_others_kept(tmp_path, line, reason):
    good = [json.dumps({"a": i, "c": "red", "y": i % 2}) for i in range(30)]
    text = "\n".join([*good[:15], "", line, *good[15:]])
    found = read(tmp_path, text, "f.jsonl", target="y")
    assert [row["a"] for row in found.X] == list(range(30))
    (bad,) = found.bad
    assert bad.reason.startswith(reason)
    assert (bad.line, bad.byte) == (17, text.index("\n\n") + 2)
    assert bad.text[:99] == line[:99]


def test_undecodable_bytes(tmp_path):
    text = lines(*({"c": "red", "y": 1} for _ in range(50))).encode() + b'{"c": "\xff", "y": 1}\n'
    (bad,) = read(tmp_path, text, "f.jsonl").bad
    assert (bad.reason, bad.line) == ("is not UTF-8", 51)


def test_nested_values_are_left_out_and_told(tmp_path):
    text = lines({"a": 1, "b": {"c": 2}, "y": 1}, {"a": 2, "b": {"c": 3}, "y": 0})
    source = open_source(written(tmp_path, text, "f.jsonl"), target="y")
    assert "column 'b' holds lists or objects: ignored" in source.notes
    assert everything(source).X == [[1.0], [2.0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("[1]\n[2]\n", "its first row is no JSON object"),
        ("{'a': 1}\n", "its first row is no JSON: "),
    ],
)
def test_hopeless_files_are_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, text, "f.jsonl")


def test_a_known_schema(tmp_path):
    source = open_source(written(tmp_path, lines({"a": 1, "c": "x", "y": 0}), "f.jsonl"))
    found = read(tmp_path, lines({"a": 7, "y": 3}), "g.jsonl", schema=source.schema)
    assert (found.X, found.y) == ([{"a": 7.0, "c": None}], [3])
    with pytest.raises(ValueError, match="no name in it is one of the schema; it has 'b'"):
        read(tmp_path, lines({"b": 7}), "g.jsonl", schema=source.schema)


def test_every_place_is_a_start(tmp_path, monkeypatch):
    monkeypatch.setattr(raw, "BLOCK", 128)
    rows = [{"a": i, "c": "é" * (i % 3), "y": 1} if i % 7 else {"a": i} for i in range(90)]
    assert assert_restarts(open_source(written(tmp_path, lines(*rows), "f.jsonl"), target="y")) > 5


values = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4))


@given(st.lists(st.dictionaries(st.sampled_from("abcy"), values), min_size=1, max_size=20))
def test_whatever_is_written_is_read_or_told(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("rows")
    kinds = {"a": "number", "b": "category", "c": "text"}
    first = {"a": 1, "b": "b", "c": "c", "y": 1}
    found = read(folder, lines(first, *rows), "f.jsonl", types=kinds, target="y")
    assert found.n + len(found.bad) == 1 + len(rows)
    assert len(found.y) == found.n
