"""CSV and its kin, as people and programs write it."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stream.sources.reading import assert_restarts, everything, read, schema_of, written

from onlinesvm.stream.sources import Frame, Schema, open_source, raw

HOUSES = "rooms,town,sold,price\n3,Rom,yes,1.5\n4,,no,2\n,Bonn,NA,3\n"


def test_numbers_are_one_matrix(tmp_path):
    (block,) = open_source(written(tmp_path, "a,b,y\n1,true,0\n2.5,false,1\n,true,1\n")).blocks()
    X = block.examples.X
    assert X.dtype == np.float64
    assert X.flags.c_contiguous
    assert np.array_equal(X, [[1, 1], [2.5, 0], [np.nan, 1]], equal_nan=True)
    assert block.examples.y.tolist() == [0, 1, 1]
    assert block.examples.y.dtype == np.int64
    assert block.done == 1.0


def test_other_kinds_are_columns(tmp_path):
    (block,) = open_source(written(tmp_path, HOUSES), target="price").blocks()
    X = block.examples.X
    assert isinstance(X, Frame)
    assert X["rooms"].dtype == np.float64
    assert X["town"].tolist() == ["Rom", None, "Bonn"]
    assert X["sold"].tolist()[:2] == [1.0, 0.0]
    assert math.isnan(X["sold"][2])
    assert block.examples.y.tolist() == [1.5, 2.0, 3.0]


def test_a_frame_is_what_columns_read(tmp_path):
    from onlinesvm import OnlineColumns, OnlineImputer, OnlineOneHot

    (block,) = open_source(written(tmp_path, HOUSES), target="price").blocks()
    columns = OnlineColumns(
        [("n", OnlineImputer(), "numbers"), ("c", OnlineOneHot(max_categories=4), "categories")]
    )
    assert columns.fit_transform(block.examples.X).shape == (3, 6)
    assert columns.columns_ == {"n": ["rooms", "sold"], "c": ["town"]}


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " "])
def test_separators_are_found(tmp_path, separator):
    text = HOUSES.replace(",", separator)
    assert read(tmp_path, text, target="price").n == 3
    assert read(tmp_path, text, "table.tsv", target="price", separator=separator).n == 3


def test_decimal_commas(tmp_path):
    text = "a;b;y\n1,5;2;ja\n2,25;3;nein\n1.000,5;4;ja\n"
    found = read(tmp_path, text, types={"a": "number"})
    assert found.X == [[1.5, 2.0], [2.25, 3.0]]
    assert found.bad[0].reason == "'1.000,5' is no number"
    assert read(tmp_path, "1,5;2,5;0\n3,5;4,5;1\n").X == [[1.5, 2.5], [3.5, 4.5]]


def test_with_and_without_names(tmp_path):
    assert list(schema_of(tmp_path, "1,2,0\n3,4,1\n")) == ["x0", "x1", "x2"]
    assert list(schema_of(tmp_path, "a,b,y\n3,4,1\n")) == ["a", "b", "y"]
    assert list(schema_of(tmp_path, "p,x,s\np,y,s\ne,x,t\n")) == ["x0", "x1", "x2"]
    assert list(schema_of(tmp_path, "kind,cap,gill\np,x,s\ne,x,t\n")) == ["kind", "cap", "gill"]
    assert list(schema_of(tmp_path, "0,1,2,3\n.5,.2,.3,1\n.1,.2,.5,0\n")) == list("0123")
    assert list(schema_of(tmp_path, "a,b,y\nc,d,z\n", header=False)) == ["x0", "x1", "x2"]
    assert list(schema_of(tmp_path, "1,2,0\n3,4,1\n", header=True)) == ["1", "2", "0"]
    assert read(tmp_path, "1,2,0\n3,4,1\n").n == 2
    assert read(tmp_path, "1,2,0\n3,4,1\n", header=True).n == 1


def test_the_target_is_named_or_numbered(tmp_path):
    assert read(tmp_path, HOUSES, target="rooms").y == [3, 4]
    assert read(tmp_path, HOUSES, target=0).y == [3, 4]
    assert read(tmp_path, HOUSES, target="-2").y == ["yes", "no"]
    assert read(tmp_path, HOUSES, target="none").y == []
    source = open_source(written(tmp_path, HOUSES))
    assert source.schema.target == "price"
    assert any("last column, 'price'" in note for note in source.notes)
    assert not open_source(tmp_path / "data.csv", target="price").notes
    with pytest.raises(ValueError, match="target names 'prise', but the columns are 'rooms'"):
        open_source(tmp_path / "data.csv", target="prise")
    with pytest.raises(ValueError, match="no column is left"):
        open_source(tmp_path / "data.csv", target="price", ignore=["rooms", "town", "sold"])
    with pytest.raises(ValueError, match="'price' is the target"):
        open_source(tmp_path / "data.csv", target="price", key="price")


def test_a_label_may_be_called_none(tmp_path):
    found = read(tmp_path, "a,y\n1,none\n2,mild\n3,\n4,?\n")
    assert found.y == ["none", "mild"]
    assert [bad.reason for bad in found.bad] == ["no target", "no target"]


def test_keys(tmp_path):
    found = read(tmp_path, "who,a,y\n17,1,0\n18,2,1\n17,3,1\n", key="who")
    assert (found.keys, found.X) == ([17, 18, 17], [[1.0], [2.0], [3.0]])
    assert type(found.keys[0]) is int
    found = read(tmp_path, "who,a,y\n0017,1,0\nx 18,2,1\n,3,1\n", key="who")
    assert found.keys == ["0017", "x 18"]
    assert found.bad[0].reason == "no key"
    found = read(tmp_path, "who,a,y\n" + "7,1,0\n" * 20 + "1.5,2,1\n", key="who")
    assert found.bad[0].reason.startswith("is no whole number")


def test_quotes_newlines_and_marks(tmp_path):
    text = '\ufeff"a","b c","y"\r\n"1","x\r\ny","5"" pipe"\r\n\r\n2,5" z,q\r\n'
    found = read(tmp_path, text, types={"b c": "text"})
    assert found.X == [{"a": 1.0, "b c": "x\r\ny"}, {"a": 2.0, "b c": '5" z'}]
    assert found.y == ['5" pipe', "q"]


def test_space_around_values_is_none(tmp_path):
    found = read(tmp_path, "a, b, y\n39, Private, <=50K\n ?, ?, >50K\n")
    assert found.X[0] == {"a": 39.0, "b": "Private"}
    assert math.isnan(found.X[1]["a"])
    assert found.X[1]["b"] is None
    assert found.y == ["<=50K", ">50K"]


@pytest.mark.parametrize("how", ["gz", "bz2", "zst"])
def test_packed(tmp_path, how):
    text = "a,y\n" + "".join(f"{i},{i % 2}\n" for i in range(1000))
    pack = {"gz": gzip.compress, "bz2": bz2.compress}.get(
        how, lambda data: pa.compress(data, codec="zstd", asbytes=True)
    )
    found = read(tmp_path, pack(text.encode()), f"data.csv.{how}")
    assert [[float(i)] for i in range(1000)] == found.X
    assert read(tmp_path, pack(text.encode()), "nameless").n == 1000
    twice = pack(text.encode()) + pack(b"7,1\n")
    assert read(tmp_path, twice, f"twice.csv.{how}").n == 1001


def test_a_truncated_package(tmp_path):
    rng = np.random.default_rng(0)
    text = "a,y\n" + "".join(f"{v},1\n" for v in rng.normal(size=200_000))
    packed = gzip.compress(text.encode())
    source = open_source(written(tmp_path, packed[: len(packed) * 2 // 3], "data.csv.gz"))
    blocks = source.blocks()
    assert len(next(blocks).examples) > 1000
    with pytest.raises(ValueError, match=r"data\.csv\.gz: cannot be unpacked any further"):
        list(blocks)
    with pytest.raises(ValueError, match="cannot be unpacked"):
        read(tmp_path, b"\x1f\x8b" + b"nonsense" * 99, "junk.csv.gz")


BAD = [
    ("1,2", "has 2 fields, not 3", None),
    ("1,2,0,4", "has 4 fields, not 3", None),
    ("one,2,0", "'one' is no number", "a"),
    ("1,inf,0", "is infinite", "b"),
    ("1,-Infinity,0", "is infinite", "b"),
    ("1,1e999,0", "is infinite", "b"),
    ("1,2,", "no target", "y"),
    ("1,2,NA", "no target", "y"),
    ("\xff,2,0", "is not UTF-8", "a"),
]


@pytest.mark.parametrize(("line", "reason", "column"), BAD)
@pytest.mark.parametrize("rows", [0, 5000])
def test_bad_rows_are_told_and_the_others_kept(tmp_path, line, reason, column, rows):
    good = [f"{i},{-i},{i % 2}" for i in range(20 + rows)]
    lines = ["a,b,y", *good[:15], line, *good[15:]]
    text = "\r\n".join(lines).encode("latin-1")
    found = read(tmp_path, text, target="y")
    assert [[float(i), float(-i)] for i in range(20 + rows)] == found.X
    (bad,) = found.bad
    assert (bad.reason, bad.column, bad.line, bad.file) == (reason, column, 17, "data.csv")
    start = text.index(b"\n14,") + len(b"\n14,-14,0\r\n")
    assert bad.byte == start
    assert bad.text == line.replace("\xff", "\\xff")


def test_many_bad_rows(tmp_path):
    lines = [f"{i},{'x' if i % 3 == 0 else i},{i % 2}" for i in range(1, 3000)]
    text = "a,b,y\n" + "\n".join(lines)
    found = read(tmp_path, text, types={"b": "number"})
    assert [row[0] for row in found.X] == [i for i in range(1, 3000) if i % 3]
    assert [bad.line for bad in found.bad] == [i + 1 for i in range(1, 3000) if i % 3 == 0]


def test_flags_and_dates_can_be_bad(tmp_path):
    text = "f,d,y\n" + "yes,2026-01-01,1\n" * 30 + "maybe,2026-01-01,0\nno,soon,1\n"
    found = read(tmp_path, text, types={"f": "flag"})
    assert [(bad.column, bad.reason) for bad in found.bad] == [
        ("f", "'maybe' is neither yes nor no"),
        ("d", "'soon' is no date"),
    ]
    assert found.n == 30


def test_a_new_category_is_never_bad(tmp_path, monkeypatch):
    monkeypatch.setattr(raw, "BLOCK", 64)
    text = "c,y\n" + "red,1\nblue,0\n" * 20 + "3,1\n2026-01-01,0\nwhat is this now,1\n"
    found = read(tmp_path, text)
    assert not found.bad
    assert [row["c"] for row in found.X[-3:]] == ["3", "2026-01-01", "what is this now"]


def test_a_column_that_is_empty_at_first_takes_everything(tmp_path):
    rows = "".join(f",{i % 7},{i % 2}\n" for i in range(200_000))
    found = read(tmp_path, "late,v,y\n" + rows + "hello,1,1\n3.5,2,0\n")
    assert not found.bad
    assert [row["late"] for row in found.X[-2:]] == ["hello", "3.5"]


def test_every_place_is_a_start(tmp_path, monkeypatch):
    monkeypatch.setattr(raw, "BLOCK", 128)
    rows = "".join(f'{i},"t{i % 5}\n",{i % 2}\n' if i % 11 else f"{i},oops\n" for i in range(200))
    text = ("a,b,y\n" + rows).encode()
    for name, data in (("p.csv", text), ("p.csv.gz", gzip.compress(text))):
        assert assert_restarts(open_source(written(tmp_path, data, name))) > 10


def test_a_source_that_changed_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(raw, "BLOCK", 64)
    lines = [f"{i},{i % 2}\n" for i in range(100)]
    path = written(tmp_path, "a,y\n" + "".join(lines))
    source = open_source(path)
    place = list(source.blocks())[-1].end
    identity = source.identity()
    path.write_text("a,y\n" + "".join(lines) + "7,1\n")
    assert [block.examples.X.tolist() for block in source.blocks(place)] == [[[7.0]]]
    assert open_source(path).identity() == identity
    path.write_text("a,y\n" + "".join(lines[:50]))
    with pytest.raises(ValueError, match="shorter than when it was read before"):
        list(source.blocks(place))
    path.write_text("a,y\n" + "".join(reversed(lines)))
    with pytest.raises(ValueError, match="its first bytes are not those"):
        list(source.blocks(place))
    path.write_text("b,y\n" + "".join(lines))
    assert open_source(path).identity() != identity
    for wrong in (
        {},
        {"byte": -1, "line": 0},
        {"byte": "7", "line": 0},
        {"byte": 10**30, "line": 0},
    ):
        with pytest.raises(ValueError, match=r"the place has|first bytes"):
            list(source.blocks(wrong))


def test_a_last_line_that_grows_is_refused(tmp_path):
    path = written(tmp_path, "a,y\n1,0\n2,1")
    source = open_source(path)
    (block,) = source.blocks()
    assert list(source.blocks(block.end)) == []
    path.write_text("a,y\n1,0\n2,1\n")
    assert [len(b.examples) for b in source.blocks(block.end)] in ([], [0])
    path.write_text("a,y\n1,0\n2,12\n")
    with pytest.raises(ValueError, match="last line had been read and has grown"):
        list(source.blocks(block.end))


def test_a_known_schema_finds_its_columns(tmp_path):
    first = open_source(written(tmp_path, HOUSES), target="price")
    schema = Schema.from_json(first.schema.to_json())
    assert schema == first.schema
    found = read(tmp_path, "price,note,sold,rooms,town\n9,hm,yes,12,Rom\n", schema=schema)
    assert found.X == [{"rooms": 12.0, "town": "Rom", "sold": 1.0}]
    assert found.y == [9]
    found = read(tmp_path, "rooms,town,sold\n1,Bonn,no\n", schema=schema)
    assert (found.n, found.y) == (1, [])
    assert read(tmp_path, "7,Rom,yes,1\n", schema=schema).y == [1]
    assert read(tmp_path, "rooms,town,sold,price\n", schema=schema).n == 0
    with pytest.raises(ValueError, match="no column 'rooms', 'town', which the schema has"):
        read(tmp_path, "sold,price\nyes,1\n", schema=schema, header=True)
    with pytest.raises(ValueError, match="no column 'rooms', 'town', which the schema has"):
        read(tmp_path, "sold,a,b,c\nyes,1,2,3\n", schema=schema)  # names, though few are known
    with pytest.raises(ValueError, match="2 columns without names, the schema has 4"):
        read(tmp_path, "1,2\n", schema=schema)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"\n\r\n\n", "is empty"),
        (b"a,b,y\n", "no row under the names of its 3 columns"),
        ("a,y\nä,1\n".encode("utf-16"), "is UTF-16; convert it first: iconv"),
        ("größe,y\n1,2\n".encode("latin-1"), "is not UTF-8, perhaps Latin-1"),
        (b"a,y\n" + b"\xe4,1\n" * 9, "is not UTF-8, perhaps Latin-1"),
        (b"\x7fELF\0\0\1", "is no text"),
        (bytes(range(256)) * 9, "is no text"),
        (b"a,y\r1,2\r3,4\r", "bare carriage returns"),
        (b"a,b\n1\n2\n", "no other line has as many"),
    ],
)
def test_hopeless_files_are_refused_in_one_line(tmp_path, data, message):
    with pytest.raises(ValueError, match=message) as told:
        read(tmp_path, data, header=True)
    assert str(told.value).startswith("data.csv: ")
    assert "\n" not in str(told.value)


def test_no_file_is_one_line(tmp_path):
    with pytest.raises(ValueError, match=r"nothing\.csv: no such file"):
        open_source(tmp_path / "nothing.csv")
    with pytest.raises(ValueError, match="format must be one of csv"):
        open_source(written(tmp_path, HOUSES), format="xls")
    with pytest.raises(ValueError, match="separator must be one character"):
        open_source(written(tmp_path, HOUSES), separator="::")


def test_names_twice_or_not_at_all(tmp_path):
    source = open_source(written(tmp_path, "a,a,,y\n1,2,3,0\n4,5,6,1\n"))
    assert [c.name for c in source.schema.columns] == ["a", "a.2", "x2", "y"]
    assert any("'a.2', 'x2'" in note for note in source.notes)


def test_one_column_and_ten_thousand(tmp_path):
    assert read(tmp_path, "v\n1\n2\n\n3\n", target="none").X == [[1.0], [2.0], [3.0]]
    wide = 10_000
    text = ",".join(f"c{j}" for j in range(wide)) + "\n" + (",".join(["1.5"] * wide) + "\n") * 30
    blocks = list(open_source(written(tmp_path, text)).blocks())
    assert sum(len(block.examples) for block in blocks) == 30
    assert all(block.examples.X.shape[1] == wide - 1 for block in blocks)


def test_a_first_line_longer_than_a_block(tmp_path):
    names = ",".join(f"{j}_{'long' * 200}" for j in range(2000))
    row = ",".join(["1"] * 2000)
    found = read(tmp_path, f"{names}\n{row}\n{row}\n")
    assert found.n == 2


cell = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(repr),
    st.integers(-(10**6), 10**6).map(str),
    st.sampled_from(["", "NA", " 7 "]),
)


@given(st.lists(st.tuples(cell, cell), min_size=1, max_size=40), st.sampled_from([",", ";", "\t"]))
def test_numbers_are_those_of_python(tmp_path_factory, rows, separator):
    folder = tmp_path_factory.mktemp("rows")
    text = f"a{separator}b{separator}y\n" + "".join(
        f"{a}{separator}{b}{separator}1\n" for a, b in rows
    )
    types = {"a": "number", "b": "number"}
    found = read(folder, text, target="y", types=types, separator=separator)
    expected = [[float(v) if v not in ("", "NA") else math.nan for v in row] for row in rows]
    assert np.array_equal(np.array(found.X), np.array(expected), equal_nan=True)
    beside = read(
        folder, f"{text}x{separator}1\n", target="y", types=types, separator=separator, header=True
    )
    assert np.array_equal(np.array(beside.X), np.array(expected), equal_nan=True)


@given(
    st.lists(
        st.lists(st.text(alphabet='ab",\n ;', max_size=5), min_size=1, max_size=4), max_size=30
    ),
    st.sampled_from([16, 64, 1 << 20]),
)
def test_whatever_is_written_is_read_or_told(tmp_path_factory, rows, block):
    folder = tmp_path_factory.mktemp("rows")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerows([["a", "b", "y"], ["p", "q", "r"], *rows])
    types = {"a": "text", "b": "text", "y": "text"}
    options = {"header": True, "types": types, "separator": ",", "target": "none"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(raw, "BLOCK", block)
        found = read(folder, out.getvalue(), **options)
    even = [row for row in rows if len(row) == 3]
    assert found.n == 1 + len(even)
    assert len(found.bad) == len(rows) - len(even)
    got = [[row[name] for name in "aby"] for row in found.X[1:]]
    gaps = {"", "?", "-", "--", "."}
    assert got == [[None if v.strip() in gaps else v for v in row] for row in even]


def test_rejects_are_those_of_duckdb(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    rng = np.random.default_rng(3)
    lines = []
    for i in range(3000):
        line = f"{i},{rng.normal():.6f},{i % 2}"
        match rng.integers(0, 40):
            case 0:
                line = f"{i},oops,{i % 2}"
            case 1:
                line = f"{i},1.5"
            case 2:
                line = f"{i},1.5,0,9"
        lines.append(line)
    path = written(tmp_path, "a,b,y\n" + "\n".join(lines) + "\n")
    found = everything(open_source(path, types={"b": "number"}))
    connection = duckdb.connect()
    connection.execute(
        f"SELECT * FROM read_csv('{path}', header=true, store_rejects=true, "
        "columns={'a': 'DOUBLE', 'b': 'DOUBLE', 'y': 'DOUBLE'})"
    ).fetchall()
    rejects = connection.execute(
        "SELECT line, line_byte_position FROM reject_errors ORDER BY line"
    ).fetchall()
    theirs = sorted({(line, byte - 1) for line, byte in rejects})
    assert [(bad.line, bad.byte) for bad in found.bad] == theirs
    assert found.n == 3000 - len(theirs)


def test_lines_before_the_table(tmp_path):
    assert read(tmp_path, "sep=;\r\na;b;y\r\n1,5;2;0\r\n3;4;1\r\n").X == [[1.5, 2.0], [3.0, 4.0]]
    text = "# made by a program\n# on a day\na,b,y\n1,2,0\nx,4,1\n" + "5,6,1\n" * 9
    found = read(tmp_path, text)
    assert (found.n, found.bad[0].line) == (10, 5)
    assert list(schema_of(tmp_path, "# hm\n#a,b,y\n1,2,0\n3,4,1\n")) == ["#a", "b", "y"]
    assert assert_restarts(open_source(written(tmp_path, text))) == 1


def test_the_last_column_may_be_empty(tmp_path):
    source = open_source(written(tmp_path, "a,b,y,\n1,2,0,\n3,4,1,\n"))
    assert source.schema.target == "y"
    assert everything(source).y == [0, 1]


@pytest.mark.parametrize("name", ["p.csv", "p.csv.gz"])
@pytest.mark.parametrize("where", [0.5, 0.97])
def test_a_source_that_was_rewritten_far_behind_its_start_is_refused(tmp_path, name, where):
    def put(lines):
        text = ("a,y\n" + "".join(lines)).encode()
        return written(tmp_path, gzip.compress(text) if name.endswith("gz") else text, name)

    lines = [f"{i:06},{i % 2}\n" for i in range(4000)]
    source = open_source(put(lines))
    place = list(source.blocks())[-1].end
    put([*lines, "7,1\n"])
    assert sum(len(block.examples) for block in source.blocks(place)) == 1
    at = int(where * len(lines))
    flipped = [*lines[:at], lines[at].replace(f",{at % 2}", f",{1 - at % 2}"), *lines[at + 1 :]]
    removed = [*lines[: at - 5], *lines[at:], *lines[:5]]  # as long as before
    for changed in (flipped, removed):
        put([*changed, "7,1\n"])
        with pytest.raises(ValueError, match="has changed in what was read of it"):
            list(source.blocks(place))


def test_a_byte_order_mark_within_a_file_is_text(tmp_path, monkeypatch):
    monkeypatch.setattr(raw, "BLOCK", 64)
    mark, lines = "\ufeff", [f"t{i:04},{i},{i % 2}\n" for i in range(40)]
    lines[6:] = [f'{mark}"x,{i},{i % 2}\n' for i in range(34)]  # one begins a block
    source = open_source(written(tmp_path, "a,b,y\n" + "".join(lines)), types={"a": "category"})
    blocks = list(source.blocks())
    assert [bad.reason for block in blocks for bad in block.bad] == []
    found = [row["a"] for block in blocks for row in block.examples.X.to_dicts()]
    assert found[6:] == [f'{mark}"x'] * 34
