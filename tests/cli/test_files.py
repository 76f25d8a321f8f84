"""Files as people bring them, and as they had better not."""

import bz2
import gzip

import numpy as np
import pytest
from scipy import sparse

from onlinesvm.cli.files import read_examples

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
    from onlinesvm.cli.files import _tidy_labels

    assert _tidy_labels(np.array(["1", "-1", "2.0"])).tolist() == [1, -1, 2]
    assert _tidy_labels(np.array(["1", "2.5"])).tolist() == [1.0, 2.5]
    assert _tidy_labels(np.array([" yes", "no "])).tolist() == ["yes", "no"]


def test_a_table_as_wide_as_the_model_has_no_label(write):
    path = write("new.csv", "0.5,-1\n2,3.25\n0,1e-3\n")
    assert read_examples(path, width=2).y is None
    assert read_examples(path, width=1).y.tolist() == pytest.approx([-1, 3.25, 1e-3])


@pytest.mark.parametrize("pack", [lambda raw: raw, gzip.compress, bz2.compress])
def test_libsvm_text(write, pack):
    suffix = {gzip.compress: ".gz", bz2.compress: ".bz2"}.get(pack, "")
    path = write(f"data.libsvm{suffix}", pack(b"1 1:0.5 2:-1\n-1 1:2 2:3.25\n1 2:0.001\n"))
    examples = read_examples(path, width=4)
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
        ("ragged.csv", "1,2,0\n1,2\n", "(?i)columns?"),
        ("one.csv", "1\n2\n", "only one column"),
        ("noise.csv", bytes(range(128, 256)), "not a text table"),
        ("wrong.libsvm", "hello world\n", "not LIBSVM text"),
        ("wrong.npz", "hello world\n", "not a plain .npz"),
        ("table.xlsx", "PK", "unknown format '.xlsx'; give .csv"),
        ("nothing", "1,2", "unknown format"),
    ],
)
def test_hostile_files(write, name, content, complaint):
    with pytest.raises(ValueError, match=complaint) as caught:
        read_examples(write(name, content))
    assert name in str(caught.value)


def test_hostile_archives(tmp_path):
    path = tmp_path / "a.npz"
    for arrays, complaint in (
        ({"Z": X}, "need an array X"),
        ({"X": X[0], "y": [1]}, "two-dimensional"),
        ({"X": X, "y": [1]}, "one label for each of the 3 rows"),
        ({"X": X[:0], "y": []}, "no rows"),
        ({"X": np.array([object()])}, "not a plain .npz"),
    ):
        np.savez(path, **arrays)
        with pytest.raises(ValueError, match=complaint):
            read_examples(path)


def test_unknown_target_and_missing_file(write, tmp_path):
    path = write("a.csv", "a,b,c\n1,2,3\n")
    with pytest.raises(ValueError, match="no column 'd'; it has a, b, c"):
        read_examples(path, target="d")
    with pytest.raises(ValueError, match="no such file"):
        read_examples(tmp_path / "absent.csv")
    with pytest.raises(ValueError, match="--target is for"):
        read_examples(write("a.libsvm", "1 1:1\n"), target="d")
