"""Files as people bring them, and as they had better not."""

import bz2
import gzip

import numpy as np
import pytest
from scipy import sparse

from onlinesvm.cli import lines
from onlinesvm.cli.files import Wanted, read_examples
from onlinesvm.cli.tables import tidy_labels

X = np.array([[0.5, -1.0], [2.0, 3.25], [0.0, 1e-3]])


@pytest.fixture
def write(tmp_path):
    def _write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return _write


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plain.csv", "0.5,-1,a\n2,3.25,b\n0,1e-3,a\n"),
        ("header.csv", "width,height,kind\n0.5,-1,a\n2,3.25,b\n0,1e-3,a\n"),
        ("quoted.csv", '"width","height","kind"\n0.5,-1,"a"\n2,3.25,"b"\n0,1e-3,"a"\n'),
        ("mark.csv", "\ufeffwidth,height,kind\n0.5,-1,a\n2,3.25,b\n0,1e-3,a\n"),
        ("windows.csv", "0.5,-1,a\r\n2,3.25,b\r\n0,1e-3,a\r\n"),
        ("tabs.tsv", "0.5\t-1\ta\n2\t3.25\tb\n0\t1e-3\ta"),
        ("SHOUT.CSV", "0.5,-1,a\n2,3.25,b\n0,1e-3,a\n"),
    ],
)
def test_tables(write, name, text):
    examples = read_examples(write(name, text))
    np.testing.assert_allclose(examples.X, X)
    assert examples.y.tolist() == ["a", "b", "a"]


@pytest.mark.parametrize("target", ["kind", "0", "-3"])
def test_the_label_column_may_be_elsewhere(write, target):
    path = write("first.csv", "kind,width,height\na,0.5,-1\nb,2,3.25\na,0,1e-3\n")
    examples = read_examples(path, target=target)
    np.testing.assert_allclose(examples.X, X)
    assert examples.y.tolist() == ["a", "b", "a"]


def test_labels_become_whole_numbers_where_they_are():
    assert tidy_labels(np.array(["1", "-1", "2.0"])).tolist() == [1, -1, 2]
    assert tidy_labels(np.array(["1", "2.5"])).tolist() == [1.0, 2.5]
    assert tidy_labels(np.array([" yes", "no "])).tolist() == ["yes", "no"]
    long = ["9007199254740992", "9007199254740993"]  # one and the same as a float
    assert tidy_labels(np.array(long)).tolist() == long


def test_a_table_as_wide_as_the_model_has_no_label(write):
    path = write("new.csv", "0.5,-1\n2,3.25\n0,1e-3\n")
    assert read_examples(path, wanted=Wanted(2)).y is None
    assert read_examples(path, wanted=Wanted(1)).y.tolist() == pytest.approx([-1, 3.25, 1e-3])
    with pytest.raises(ValueError, match="1 features, the model learnt from 5"):
        read_examples(path, wanted=Wanted(5))


@pytest.mark.parametrize("pack", [lambda raw: raw, gzip.compress, bz2.compress])
def test_libsvm_text(write, pack):
    suffix = {gzip.compress: ".gz", bz2.compress: ".bz2"}.get(pack, "")
    path = write(f"data.libsvm{suffix}", pack(b"1 1:0.5 2:-1\n-1 1:2 2:3.25\n1 2:0.001\n"))
    examples = read_examples(path, wanted=Wanted(4))
    assert sparse.issparse(examples.X)
    assert examples.X.shape == (3, 4)
    assert examples.X.toarray()[:, :2] == pytest.approx(X)
    assert examples.y.tolist() == [1, -1, 1]


def test_archives(tmp_path):
    dense, packed, bare = (tmp_path / f"{name}.npz" for name in ("dense", "packed", "bare"))
    np.savez(dense, X=X, y=[1, 2, 1])
    csr = sparse.csr_matrix(X)
    np.savez(
        packed, data=csr.data, indices=csr.indices, indptr=csr.indptr, shape=csr.shape, y=[1, 2, 1]
    )
    np.savez(bare, X=X)
    for path in (dense, packed):
        examples = read_examples(path)
        assert sparse.csr_array(examples.X).toarray() == pytest.approx(X)
        assert examples.y.tolist() == [1, 2, 1]
    assert read_examples(bare).y is None


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("empty.csv", "", "no rows"),
        ("header.csv", "a,b,c\n", "no rows"),
        ("text.csv", "1,2,0\n1,red,0\n", "could not convert string 'red'.*columns of numbers"),
        ("hole.csv", "1,2,0\n1,,0\n", "could not convert"),
        ("ragged.csv", "1,2,0\n1,2\n", "line 2 has 2 columns, the first 3"),
        ("more.csv", "1,2,0\n1,2,0,7\n", "line 2 has 4 columns, the first 3"),
        ("quoted.csv", '1,2,"a,b"\n1,2,"a,b",7\n', "line 2 has 4 columns, the first 3"),
        ("mixed.csv", "?,2,0\n1,2,0\n", "--header or --no-header"),
        ("one.csv", "1\n2\n", "only one column"),
        ("noise.csv", bytes(range(128, 256)), "not a text table"),
        ("wrong.libsvm", "hello world\n", "not LIBSVM text"),
        ("zero.libsvm", "1 0:1 2:3\n", "features from 1 on"),
        ("far.libsvm", "1 2000000000:1\n", "feature 2,000,000,000 is beyond"),
        ("beyond.libsvm", "1 99999999999999999999:1\n", "not LIBSVM text"),
        ("cut.libsvm.gz", gzip.compress(b"1 1:1\n", mtime=0)[:-4], "not LIBSVM text"),
        ("wrong.npz", "hello world\n", "not a plain .npz"),
        ("table.xlsx", "PK", "unknown format '.xlsx'; give .csv"),
        ("nothing", "1,2", "unknown format"),
    ],
)
def test_hostile_files(write, name, content, complaint):
    with pytest.raises(ValueError, match=complaint) as caught:
        read_examples(write(name, content))
    assert name in str(caught.value)


def test_a_line_without_end_is_not_read_to_its_end(write, monkeypatch):
    monkeypatch.setattr(lines, "LONGEST", 1000)
    for name, content in (
        ("first.csv", "1," * 600 + "1\n"),
        ("later.csv", "1,2,0\n" + "1," * 600 + "1\n"),
        ("long.libsvm", "1 1:1\n1 2:" + "1" * 1000),
        ("packed.libsvm.gz", gzip.compress(b"1 1:" + b"1" * 1000)),
    ):
        with pytest.raises(ValueError, match=r"line \d is longer than 1,000 characters"):
            read_examples(write(name, content))


# ---- which line names the columns ----------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "0,1,cls\n0.5,-1,1\n2,3.25,2\n0,1e-3,1\n",  # a word above numbers
        "2019,2020,cls\n0.5,-1,1\n2,3.25,2\n0,1e-3,1\n",
        "width,height,0\n0.5,-1,1\n2,3.25,2\n0,1e-3,1\n",  # features are never words
    ],
)
def test_a_header_is_not_an_example(write, text):
    examples = read_examples(write("a.csv", text))
    np.testing.assert_allclose(examples.X, X)
    assert examples.y.tolist() == [1, 2, 1]
    assert examples.names == text.splitlines()[0].split(",")[:2]
    assert "labels are taken from column" in examples.notes[0]


@pytest.mark.parametrize(
    "text",
    [
        "0,1,a\n2,3.25,b\n0,1e-3,a\n",  # the word comes again
        "0,1,1\n2,3.25,2\n0,1e-3,1\n",
        "3,1,2\n2,3.25,2\n0,1e-3,1\n",
        "0.0,1.0,2.0\n2,3.25,2\n0,1e-3,1\n",
    ],
)
def test_an_example_is_not_a_header(write, text):
    examples = read_examples(write("a.csv", text))
    assert examples.n == 3
    assert examples.names is None
    assert "the first line is an example" in examples.notes[0]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("0,1,cls\n2,3.25,b\n0,1e-3,a\n", ["0", "1"]),
        ("0,1,2\n2,3.25,2\n0,1e-3,1\n", ["0", "1"]),
        ("1,2,3\n2,3.25,2\n0,1e-3,1\n", ["1", "2"]),
        ("2019,2020,2021\n2,3.25,2\n0,1e-3,1\n", ["2019", "2020"]),
        ("5,7,cls\n2,3.25,b\n0,1e-3,a\n", ["5", "7"]),
    ],
)
def test_what_could_be_either_is_asked(write, text, first):
    path = write("a.csv", text)
    with pytest.raises(ValueError, match=r"may be column names or an example.*--no-header"):
        read_examples(path)
    named, bare = read_examples(path, header=True), read_examples(path, header=False)
    assert (named.n, named.names) == (2, first)
    assert (bare.n, bare.names) == (3, None)


def test_what_a_mixed_first_line_is_must_be_said(write):
    path = write("a.csv", "width,2020,kind\n0.5,-1,a\n2,3.25,b\n0,1e-3,a\n")
    with pytest.raises(ValueError, match="--header or --no-header"):
        read_examples(path)
    np.testing.assert_allclose(read_examples(path, header=True).X, X)
    np.testing.assert_allclose(read_examples(path, target="kind").X, X)


def test_names_must_tell_columns_apart(write):
    with pytest.raises(ValueError, match="two columns are called 'a'"):
        read_examples(write("twice.csv", "a,a,kind\n1,2,x\n"))
    with pytest.raises(ValueError, match="no name; if it holds row numbers"):
        read_examples(write("index.csv", ",a,kind\n0,2,x\n"))


# ---- columns by name -----------------------------------------------------------------------------

MODEL = Wanted(2, ("width", "height"))


@pytest.mark.parametrize(
    "text",
    [
        "width,height,kind\n0.5,-1,a\n2,3.25,b\n0,1e-3,a\n",
        "height,width,kind\n-1,0.5,a\n3.25,2,b\n1e-3,0,a\n",
        "depth,height,width,kind\n9,-1,0.5,a\n9,3.25,2,b\n9,1e-3,0,a\n",
    ],
)
def test_columns_are_found_by_name(write, text):
    examples = read_examples(write("a.csv", text), wanted=MODEL)
    np.testing.assert_allclose(examples.X, X)
    assert examples.y.tolist() == ["a", "b", "a"]
    assert ("ignored: 'depth'" in examples.notes[0]) == text.startswith("depth")


def test_labels_by_name_or_none_at_all(write):
    first = write("first.csv", "kind,height,width\na,-1,0.5\n")
    assert read_examples(first, wanted=MODEL).y is None
    assert read_examples(first, wanted=MODEL, target="kind").y.tolist() == ["a"]
    bare = write("bare.csv", "height,width\n-1,0.5\n")
    assert read_examples(bare, wanted=MODEL).X.tolist() == [[0.5, -1]]


def test_a_missing_column_is_named(write):
    with pytest.raises(ValueError, match="no column 'width', which the model learnt from"):
        read_examples(write("a.csv", "breadth,height,kind\n1,2,a\n"), wanted=MODEL)


def test_numbers_as_names(write):
    path = write("a.csv", "1,0,cls\n-1,0.5,1\n3.25,2,2\n")
    np.testing.assert_allclose(read_examples(path, wanted=Wanted(2, ("0", "1"))).X, X[:2])


def test_without_names_order_counts_and_is_said(write):
    bare, named = write("a.csv", "0.5,-1\n"), write("b.csv", "a,b\n0.5,-1\n")
    for path, wanted in ((bare, MODEL), (named, Wanted(2))):
        examples = read_examples(path, wanted=wanted)
        assert examples.X.tolist() == [[0.5, -1.0]]
        assert "no column names" in examples.notes[0]


def csr(**changes):
    """The members of one sparse row, some of them lying."""
    return {"data": [1.0, 2.0], "indices": [0, 1], "indptr": [0, 2], "shape": [1, 2]} | changes


def test_hostile_archives(tmp_path):
    path = tmp_path / "a.npz"
    for arrays, complaint in (
        ({"Z": X}, "need an array X"),
        ({"X": X[0], "y": [1]}, "two-dimensional"),
        ({"X": X, "y": [1]}, "one label for each of the 3 rows"),
        ({"X": X[:0], "y": []}, "no rows"),
        ({"X": np.array([object()])}, "not a plain .npz"),
        ({"X": np.array([["a", "b"]])}, "X must hold numbers"),
        ({"X": X * 1j}, "X must hold numbers"),
        ({"X": np.array(3.0)}, "two-dimensional"),
        ({"X": X, "y": np.array([b"a", b"b", b"c"])}, "y must hold numbers or text"),
        ({"X": X, "y": np.zeros(3, "M8[s]")}, "y must hold numbers or text"),
        ({"X": X, "y": np.zeros((3, 1))}, "one label for each"),
        (csr(indptr=[0, 9]), "not a CSR matrix"),
        (csr(indices=[7, 0]), "not a CSR matrix"),
        (csr(indices=[-1, 0]), "not a CSR matrix"),
        (csr(shape=[1, 2, 3]), "not a CSR matrix"),
        (csr(shape=[-1, 2]), "not a CSR matrix"),
        (csr(shape=[1.5, np.inf]), "not a CSR matrix"),
        (csr(shape=["a", "b"]), "not a CSR matrix"),
    ):
        np.savez(path, **arrays)
        with pytest.raises(ValueError, match=complaint):
            read_examples(path)


def test_unknown_target_and_missing_file(write, tmp_path):
    path = write("a.csv", "a,b,c\n1,2,3\n")
    with pytest.raises(ValueError, match="no column 'd'; the first line is a, b, c"):
        read_examples(path, target="d")
    with pytest.raises(ValueError, match="no such file"):
        read_examples(tmp_path / "absent.csv")
    with pytest.raises(ValueError, match="--target is for"):
        read_examples(write("a.libsvm", "1 1:1\n"), target="d")


def test_archives_in_name_only(tmp_path):
    import zipfile

    path = tmp_path / "a.npz"
    for member, content in (
        ("X.npy", b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'shape': (9, 9), }" + b" " * 60 + b"\n"),
        ("X.npy", b"\x93NUMPY\x07\x00"),
        ("X.npy", b""),
        ("X", b"text"),
    ):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(member, content)
        with pytest.raises(ValueError, match=r"a\.npz"):
            read_examples(path)
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"PK\x01\x02", b"PK\x01\x03"))
    with pytest.raises(ValueError, match="not a plain"):
        read_examples(path)
