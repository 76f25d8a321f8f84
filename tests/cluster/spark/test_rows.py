"""Arrow batches as rows: no Spark is started here."""

import numpy as np
import pytest
import scipy.sparse as sp

pa = pytest.importorskip("pyarrow")

from onlinesvm.cluster.spark.rows import Columns  # noqa: E402
from onlinesvm.stream.sources import Frame  # noqa: E402

VECTOR = pa.struct(
    [
        pa.field("type", pa.int8(), nullable=False),
        pa.field("size", pa.int32()),
        pa.field("indices", pa.list_(pa.int32())),
        pa.field("values", pa.list_(pa.float64())),
    ]
)


def dense(*values):
    return {"type": 1, "size": None, "indices": None, "values": list(values)}


def sparse(size, indices, values):
    return {"type": 0, "size": size, "indices": indices, "values": values}


def test_columns_of_numbers_become_rows_in_memory():
    batch = pa.record_batch(
        {
            "a": pa.array([1, 2, 3], pa.int32()),
            "b": pa.array([True, False, True]),
            "c": pa.array([0.5, 1.5, 2.5], pa.float32()),
            "y": pa.array([0, 1, 0], pa.int16()),
            "w": pa.array([1.0, 2.0, 3.0], pa.float32()),
            "k": ["ann", "bob", "ann"],
        }
    )
    rows = Columns(["c", "a", "b"], "y", "w", "k").read(batch)
    assert rows.X.flags.c_contiguous
    assert rows.X.dtype == np.float64
    assert rows.X.tolist() == [[0.5, 1, 1], [1.5, 2, 0], [2.5, 3, 1]]
    assert rows.y.dtype == np.int64
    assert rows.weight.dtype == np.float64
    assert rows.keys.tolist() == ["ann", "bob", "ann"]
    assert Columns(["c"]).read(batch).X.dtype == np.float32


@pytest.mark.parametrize("kind", [pa.list_, pa.large_list, lambda t: pa.list_(t, 2)])
@pytest.mark.parametrize("cut", [slice(0, 3), slice(1, 3), slice(2, 2)])
def test_arrays_are_rows_wherever_their_batch_was_cut(kind, cut):
    whole = pa.record_batch({"f": pa.array([[1, 2], [3, 4], [5, 6]], kind(pa.float64()))})
    X = Columns("f").read(whole.slice(cut.start, cut.stop - cut.start)).X
    assert X.tolist() == [[1, 2], [3, 4], [5, 6]][cut]
    assert X.flags.c_contiguous


@pytest.mark.parametrize("start", [0, 1, 2])
def test_vectors_dense_and_sparse(start):
    vectors = [dense(0, 7, 8), sparse(3, [1], [5.0]), dense(1, 2, 3), sparse(3, [], [])]
    table = [[0, 7, 8], [0, 5, 0], [1, 2, 3], [0, 0, 0]]
    batch = pa.record_batch({"f": pa.array(vectors, VECTOR)}).slice(start)
    X = Columns("f").read(batch).X
    assert sp.issparse(X)
    assert X.toarray().tolist() == table[start:]
    full = pa.table({"f": pa.chunked_array([pa.array([dense(1, 2)], VECTOR)] * 2)})
    assert Columns("f").read(full).X.tolist() == [[1, 2], [1, 2]]


def test_a_word_among_the_features_makes_a_table_with_names():
    batch = pa.record_batch({"age": [20, None], "town": ["Rom", None]})
    read = Columns(["age", "town"], nulls="keep").read(batch).X
    expected = Frame({"age": np.array([20.0, np.nan]), "town": np.array(["Rom", None], object)})
    assert read == expected


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (Columns(["a", "hole"]), "column 'hole' has 1 nulls among 2 rows"),
        (Columns(["a"], label="hole"), "column 'hole' has 1 nulls"),
        (Columns(["a"], weight="hole"), "column 'hole' has"),
        (Columns(["a"], key="hole"), "column 'hole' has 1 nulls"),
        (Columns("holey"), "column 'holey' has nulls in 1 of 2 rows"),
        (Columns("ragged"), "column 'ragged' has rows of 1 and of 2 numbers"),
        (Columns(["a"], label="list"), "column 'list' is of type list"),
        (Columns(["a"], weight="word"), "column 'word' is of type string"),
        (Columns(["a"], key="a"), "a key is a whole number or a word"),
        (Columns(["a", "ragged"]), "column 'ragged' is of type list"),
        (Columns("nowhere"), "there is no column 'nowhere'"),
    ],
)
def test_what_cannot_be_read_is_named(columns, words):
    batch = pa.record_batch(
        {
            "a": [1.5, 2.5],
            "hole": [1, None],
            "holey": pa.array([[1.0], [None]], pa.list_(pa.float64())),
            "ragged": [[1.0], [1.0, 2.0]],
            "list": [[1.0], [2.0]],
            "word": ["x", "y"],
        }
    )
    with pytest.raises(ValueError, match=words):
        columns.read(batch)


def test_faults_are_told_for_each_row():
    batch = pa.record_batch(
        {
            "a": [1, None, 3, 4],
            "f": pa.array([[1.0], [2.0], [None], None], pa.list_(pa.float64())),
            "y": [0, None, 1, 1],
        }
    )
    assert Columns(["a"], "y").faults(batch).tolist() == [None, "column 'a' is null", None, None]
    kept = Columns(["a"], "y", nulls="keep").faults(batch).tolist()
    assert kept == [None, "column 'y' is null", None, None]
    assert [why is None for why in Columns("f").faults(batch)] == [True, True, False, False]
