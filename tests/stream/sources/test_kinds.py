"""What columns are taken for."""

from __future__ import annotations

import pytest
from stream.sources.reading import read, schema_of, written

from onlinesvm.stream.sources import open_source


def kind_of(tmp_path, cells, **options):
    text = "v,y\n" + "".join(f"{cell},1\n" for cell in cells)
    column = schema_of(tmp_path, text, target="y", **options)["v"]
    return f"{column.kind}:{column.form}".rstrip(":")


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "-2.5", "+1e3", ".5", "7."], "number"),
        (["1", "", "NA", "?", "nan", "null", "None", "-", "2"], "number"),
        (["true", "FALSE", "True", ""], "flag"),
        (["yes", "no"], "flag"),
        (["y", "n"], "flag"),
        (["n", "n"], "category"),
        (["true", "no"], "category"),
        (["red", "blue", "red"], "category"),
        (["01234", "98765"], "category"),
        (["-07", "5"], "category"),
        (["0", "0.5", "-0.25"], "number"),
        (["", "NA"], "category"),
        (["2026-11-30", "2026-12-01"], "date:iso"),
        (["2026-11-30 10:15", "2026-12-01T11:12:13.5"], "date:iso"),
        (["2026-11-30T10:15:00Z", "2026-12-01T11:12:13.123456789+02:00"], "date:iso zone"),
        (["30.11.2026", "01.12.2026"], "date:%d.%m.%Y"),
        (["11/30/2026 10:15", "12/01/2026 23:59"], "date:%m/%d/%Y %H:%M"),
        (["30/11/2026", "01/12/2026"], "date:%d/%m/%Y"),
        (["20261130", "20261201"], "number"),
        (["1.2.3.4", "10.0.0.1"], "category"),
        (["ok"] * 5 + ["what a fine day it is"], "category"),
        (["free prize call this number", "are we on for tonight then", "see you at ten"], "text"),
    ],
)
def test_kinds(tmp_path, cells, kind):
    assert kind_of(tmp_path, cells) == kind


def test_a_typo_leaves_a_column_of_numbers(tmp_path):
    cells = [str(i) for i in range(1, 40)] + ["4o"]
    assert kind_of(tmp_path, cells) == "number"
    assert kind_of(tmp_path, ["1", "2", "x"]) == "category"
    source = open_source(tmp_path / "data.csv")
    assert not any("4o" in note for note in source.notes)
    text = "v,y\n" + "".join(f"{cell},1\n" for cell in cells)
    source = open_source(written(tmp_path, text))
    assert any("'4o'" in note for note in source.notes)
    (bad,) = read(tmp_path, text).bad
    assert (bad.column, bad.reason, bad.line) == ("v", "'4o' is no number", 41)


def test_long_whole_numbers_are_ids_unless_told(tmp_path):
    text = "v,w,y\n12345678901234567,1,1\n12345678901234568,2,0\n"
    assert schema_of(tmp_path, text)["v"].part == "ignored"
    told = schema_of(tmp_path, text, types={"v": "category"})["v"]
    assert (told.kind, told.part) == ("category", "feature")
    assert read(tmp_path, text, types={"v": "category"}).X[0]["v"] == "12345678901234567"


def test_what_counts_the_rows_is_pointed_out(tmp_path):
    rows = "".join(f"{i},{i % 3},{i % 2}\n" for i in range(5, 30))
    notes = open_source(written(tmp_path, "n,v,y\n" + rows)).notes
    assert any("'n'" in note and "counts the rows" in note for note in notes)
    rows = "".join(f"{(i * 7) % 25},{i % 3},{i % 2}\n" for i in range(25))
    notes = open_source(written(tmp_path, "flow_id,v,y\n" + rows)).notes
    assert any("'flow_id'" in note and "twice" in note for note in notes)
    notes = open_source(written(tmp_path, "speed,v,y\n" + rows)).notes
    assert not any("'speed'" in note for note in notes)


def test_types_can_be_told(tmp_path):
    text = "a,when,y\n1,1 Feb 2026,0\n2,13 Mar 2026,1\n"
    types = {"a": "category", "when": "date:%d %b %Y"}
    found = read(tmp_path, text, types=types)
    assert found.X == [
        {"a": "1", "when": 1769904000.0},
        {"a": "2", "when": 1773360000.0},
    ]
    with pytest.raises(ValueError, match="types says date for 'when'"):
        schema_of(tmp_path, text, types={"when": "date"})
    with pytest.raises(ValueError, match="types names 'b', but the columns are 'a', 'when', 'y'"):
        schema_of(tmp_path, text, types={"b": "number"})
    with pytest.raises(ValueError, match="types has 'int' for 'a'; use one of number, category"):
        schema_of(tmp_path, text, types={"a": "int"})


def test_times_are_seconds_in_utc(tmp_path):
    text = "t,y\n1970-01-02T00:00:00+01:00,1\n1970-01-01T00:00:01.5Z,0\n,1\n"
    values = [row["t"] for row in read(tmp_path, text).X]
    assert values[:2] == [82800.0, 1.5]
    assert values[2] != values[2]
    (epoch,) = read(tmp_path, "t,y\n1700000000,1\n", types={"t": "date"}).X
    assert epoch == {"t": 1700000000.0}
