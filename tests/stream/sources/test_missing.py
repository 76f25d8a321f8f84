"""Gaps of one's own spelling, in every kind of source and column."""

from __future__ import annotations

import json

import numpy as np
import pytest
from command import refused, run

from onlinesvm.stream import open_source
from onlinesvm.stream.run import read_run
from onlinesvm.stream.sources import Schema

pa = pytest.importorskip("pyarrow")
pytest.importorskip("matplotlib")

ROWS = [(30, 1.5, "Bonn", "yes"), (9999, 2.5, "k.A.", "no"), (50, None, "Rom", "yes")] * 10
NAMES = ("age", "spent", "town", "buys")


def written(tmp_path, form):
    path = tmp_path / f"rows.{form}"
    if form == "csv":
        lines = [";".join("k.A." if v is None else str(v) for v in row) for row in ROWS]
        path.write_text("\n".join([";".join(NAMES), *lines]) + "\n")
    elif form == "jsonl":
        rows = (json.dumps(dict(zip(NAMES, row, strict=True))) for row in ROWS)
        path.write_text("\n".join(rows) + "\n")
    else:
        import pyarrow.parquet

        columns = map(list, zip(*ROWS, strict=True))
        pyarrow.parquet.write_table(pa.table(dict(zip(NAMES, columns, strict=True))), path)
    return path


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_a_word_and_a_number_are_gaps_wherever_they_stand(tmp_path, form):
    source = open_source(written(tmp_path, form), target="buys", missing=["k.A.", "9999"])
    (block,) = source.blocks()
    X = block.examples.X
    assert [c.kind for c in source.schema.columns] == ["number", "number", "category", "category"]
    assert not block.bad
    np.testing.assert_array_equal(X["age"][:3], [30, np.nan, 50])
    np.testing.assert_array_equal(X["spent"][:3], [1.5, 2.5, np.nan])
    assert X["town"][:3].tolist() == ["Bonn", None, "Rom"]


def test_a_number_is_missing_however_it_is_written(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,y\n" + "1,2,u\n9999.0,3,v\n 9999,x,u\n" * 4)
    source = open_source(path, missing=["9999"], types={"b": "number"})
    (block,) = source.blocks()
    assert np.isnan(block.examples.X[:, 0]).sum() == 4
    assert len(block.bad) == 4


def test_a_target_that_is_missing_is_a_bad_row(tmp_path):
    source = open_source(written(tmp_path, "csv"), target="buys", missing=["no", "k.A."])
    (block,) = source.blocks()
    assert {bad.reason for bad in block.bad} == {"no target"}


def test_the_schema_keeps_them_and_refuses_forged_ones(tmp_path):
    schema = open_source(written(tmp_path, "csv"), missing=["k.A."]).schema
    facts = json.loads(json.dumps(schema.to_json()))
    assert Schema.from_json(facts) == schema
    with pytest.raises(ValueError, match="missing"):
        Schema.from_json(facts | {"missing": [3]})
    (block,) = open_source(written(tmp_path, "csv"), schema=schema).blocks()
    assert np.isnan(block.examples.X["spent"]).sum() == 10


def test_one_word_that_turns_numbers_into_words_is_named(tmp_path):
    (note,) = open_source(written(tmp_path, "csv"), target="buys").notes
    assert note.startswith("column 'spent' is taken for words, for 'k.A.' comes 10 times")
    assert note.endswith("missing=['k.A.'] takes it for a gap")


def test_a_string_is_no_list(tmp_path):
    with pytest.raises(ValueError, match=r"missing must be a list of words.*put \[ \]"):
        open_source(written(tmp_path, "csv"), missing="k.A.")


def test_on_the_command_line_and_in_toml(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "csv")
    run("learn", "rows.csv", "--missing", "k.A., 9999", "-q")
    assert read_run("rows.run").schema.missing == ("k.A.", "9999")
    (tmp_path / "job.toml").write_text('source = "rows.csv"\nrun = "b.run"\nmissing = ["k.A."]\n')
    run("learn", "job.toml", "-q")
    assert read_run("b.run").schema.missing == ("k.A.",)
    assert "--missing x: the run in rows.run" in refused("learn", "rows.csv", "--missing", "x")
    assert "--target age: the run" in refused("learn", "rows.csv", "--target", "age")
    assert "--types town number" in refused("learn", "rows.csv", "--types", "town=number")
    run("learn", "rows.csv", "--missing", "9999,k.A.", "--target", "buys", "-q")


def test_a_word_that_makes_many_rows_bad_is_named_at_the_end(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{i % 9},{['no', 'yes'][i % 2]}" for i in range(400)]
    lines[150:157] = ["n. b.,yes"] * 7
    (tmp_path / "a.csv").write_text("x,y\n" + "\n".join(lines) + "\n")
    said = run("learn", "a.csv")
    assert "'n. b.' comes 7 times: --missing 'n. b.', in another --run, takes it for a gap" in said
