"""Partitions as parts: the same rows in the same order at every call, or a refusal."""

import os
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from onlinesvm import PegasosSVC, SmoSVC, StreamSVC
from onlinesvm.cluster import LocalParts, fit

pytest.importorskip("pyspark")

from pyspark import cloudpickle

from onlinesvm.cluster.spark import Columns, SparkParts
from onlinesvm.cluster.spark.parts import Packing, sorted_by_hash

# Executors cannot import this file, so what it defines travels to them as it is.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

COLUMNS = Columns(["a", "b"], "y", key="who")


def rows(n=900, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return X, X[:, 0] * X[:, 1] > 0, np.arange(n) // 10


@pytest.fixture(scope="module")
def df(spark):
    X, y, who = rows()
    names = ["red", "green"]
    columns = {"id": np.arange(len(X)), "a": X[:, 0], "b": X[:, 1], "y": y, "who": who}
    word = [names[int(v)] for v in y]
    return spark.createDataFrame(pa.table(columns | {"word": word})).repartition(3).cache()


def itself(part, _):
    return part


def to_bytes(model, tmp_path):
    model.save(tmp_path / "model")
    return (tmp_path / "model").read_bytes()


def plain(certificate):
    """Without what the road adds: bytes that travelled."""
    if certificate is None:
        return None
    return replace(certificate, bytes_down=0, bytes_up=0, seal="")


def test_a_part_does_not_depend_on_the_order_in_which_rows_arrive(rng):
    X, y, who = rows(300)
    X[10], y[10] = X[11], y[11]  # equal rows of two owners
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "y": y, "who": [f"k{k}" for k in who]})
    packing = Packing(COLUMNS, None, ())
    first = packing.part(table.to_batches(max_chunksize=37))
    for _ in range(5):
        mixed = table.take(rng.permutation(300))
        again = packing.part(mixed.to_batches(max_chunksize=11))
        for name in ("X", "y", "keys"):
            assert np.array_equal(getattr(first, name), getattr(again, name))
    assert sorted(map(tuple, first.X)) == sorted(map(tuple, X))
    ordered = Packing(COLUMNS, None, ("b",)).part(table.to_batches())
    assert (np.diff(ordered.X[:, 1]) >= 0).all()


def test_sparse_rows_have_the_order_of_dense_ones(rng):
    from onlinesvm.cluster import Part

    X = rng.integers(0, 3, size=(50, 7)).astype(float)
    X[3] = 0
    y = np.arange(50) % 2
    dense = sorted_by_hash(Part(X, y))
    sparse = sorted_by_hash(Part(sp.csr_array(X), y))
    assert np.array_equal(dense.X, sparse.X.toarray())
    assert np.array_equal(dense.y, sparse.y)


def test_every_row_is_in_one_part_and_there_are_empty_ones(df):
    cut = df.where("a > 1").coalesce(1).union(df.where("a <= 1")).union(df.where("a > 99"))
    with SparkParts(cut, COLUMNS, ids="id") as parts:
        got = parts.map(itself, None)
    X, y, who = rows()
    assert [part.number for part in got] == list(range(len(parts)))
    assert [len(part) for part in got] == parts.counts
    assert parts.counts.count(0) >= 3  # an empty partition is a part, too
    ids = np.concatenate([part.ids for part in got if len(part)])
    assert sorted(ids.tolist()) == list(range(len(X)))
    assert np.array_equal(np.concatenate([part.X for part in got if len(part)]), X[ids])
    assert np.array_equal(np.concatenate([part.y for part in got]), y[ids])
    assert np.array_equal(np.concatenate([part.keys for part in got if len(part)]), who[ids])


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(SmoSVC(C=10, gamma=1.0), id="cascade"),
        pytest.param(StreamSVC(C=1.0), id="balls", marks=pytest.mark.executors),
        pytest.param(PegasosSVC(), id="averaging", marks=pytest.mark.executors),
    ],
)
def test_spark_learns_what_the_same_parts_give_in_one_process(df, model, tmp_path):
    with SparkParts(df, COLUMNS, ids="id") as parts:
        here = fit(LocalParts(parts.map(itself, None)), model)
        there = fit(parts, model)
    assert to_bytes(there.model, tmp_path) == to_bytes(here.model, tmp_path)
    assert there.rounds == here.rounds
    assert plain(there.certificate) == plain(here.certificate)


def failing(part, who):
    raise ValueError(f"part {part.number} cannot do it")


def test_errors_come_through(df):
    from pyspark.errors import PythonException

    with SparkParts(df, COLUMNS) as parts:
        with pytest.raises(PythonException, match="cannot do it"):
            parts.map(failing, None)
        assert parts.run(partial(pow, 2), [3, 4, 5]) == [8, 16, 32]
    with pytest.raises(ValueError, match="there is no column 'nobody'"):
        SparkParts(df, Columns(["a"], "y", key="nobody"))
    with pytest.raises(ValueError, match="keep must be"):
        SparkParts(df, COLUMNS, keep="memory")


def blurred(batches):
    """What no source should do: other rows each time."""
    for batch in batches:
        noise = np.frombuffer(os.urandom(len(batch)), np.uint8) / 1e6
        yield batch.set_column(1, "a", pa.array(batch.column("a").to_numpy() + noise))


@pytest.mark.executors
def test_rows_that_change_are_refused_and_a_checkpoint_keeps_them(spark, df, tmp_path):
    from pyspark.errors import PythonException

    moving = df.mapInArrow(blurred, df.schema)
    parts = SparkParts(moving, COLUMNS)
    parts.close()  # as if every executor had been lost
    with pytest.raises(PythonException, match="has other rows than at first"):
        parts.map(itself, None)
    still = SparkParts(df, COLUMNS)
    still.close()
    assert len(still.map(itself, None)) == len(still)
    if spark.sparkContext.getCheckpointDir() is None:
        with pytest.raises(ValueError, match="setCheckpointDir"):
            SparkParts(moving, COLUMNS, keep="checkpoint")
    spark.sparkContext.setCheckpointDir(str(tmp_path))
    kept = SparkParts(moving, COLUMNS, keep="checkpoint")
    kept.close()
    assert len(kept.map(itself, None)) == len(kept)
