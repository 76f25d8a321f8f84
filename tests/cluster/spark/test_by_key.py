"""A model for each key on Spark is a plain loop over the sorted rows, to the bit."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone

from onlinesvm import SGDSVC, ModelBank, PassiveAggressiveClassifier, PassiveAggressiveRegressor

pytest.importorskip("pyspark")

from pyspark.sql import functions as F

from onlinesvm.cluster.spark import BankModel, Columns, fit_by_key, learn_by_key

NAMES = ["a", "b c", "d"]
MODEL = PassiveAggressiveClassifier(classes=["no", "yes"])


def rows(n=900, keys=40, seed=0, words=False):
    rng = np.random.default_rng(seed)
    key = rng.integers(keys, size=n)
    X = rng.normal(size=(n, len(NAMES)))
    y = np.where((X * rng.normal(size=(keys, len(NAMES)))[key]).sum(axis=1) > 0, "yes", "no")
    owner = [f"owner {k}" for k in key] if words else key
    return pa.table(
        {"who": pa.array(owner), "at": rng.permutation(n), "y": pa.array(y.tolist())}
        | {name: X[:, j] for j, name in enumerate(NAMES)}
    )


def loop(table, model=MODEL, label="y"):
    """The oracle: a dict of single models over the sorted rows."""
    table = table.sort_by("at")
    X = np.column_stack([table[name].to_numpy() for name in NAMES])
    y, singles = table[label].to_pylist(), {}
    for i, key in enumerate(table["who"].to_pylist()):
        one = singles.setdefault(key, clone(model))
        one.partial_fit(X[i : i + 1], [y[i]])
    return singles


def state_of(model):
    return {name: array.tobytes() for name, array in model._core.state().items()}


def demand_same(bank, singles):
    assert set(bank) == set(singles)
    for key, single in singles.items():
        assert state_of(bank.model(key)) == state_of(single), key


def by_place(frame):
    return frame.toArrow().sort_by("at")


@pytest.fixture(scope="module", params=[False, True], ids=["numbers", "words"])
def table(request):
    return rows(words=request.param)


@pytest.fixture(scope="module")
def fitted(spark, table):
    df = spark.createDataFrame(table).repartition(5)
    return fit_by_key(df, "who", MODEL, NAMES, "y", order="at", buckets=7)


def test_every_model_is_that_of_a_loop(fitted, table):
    singles = loop(table)
    told = fitted.banks.toArrow()
    assert sum(told["models"].to_pylist()) == len(singles)
    assert sum(told["rows"].to_pylist()) == table.num_rows
    demand_same(fitted.bank(), singles)
    key = table["who"][0].as_py()
    assert state_of(fitted.model(key)) == state_of(singles[key])
    with pytest.raises(ValueError, match="has no model"):
        fitted.model("nobody" if isinstance(key, str) else 4711)


def test_buckets_are_dealt_in_turn_and_partitions_not_joined(spark):
    """Few rows, much work: by their bytes Spark would put all of them into one."""
    df = spark.createDataFrame(rows(n=100))
    most = int(spark.conf.get("spark.sql.shuffle.partitions"))
    assert most > 2
    for buckets, wanted in ((2, 2), (8 * most, most)):
        banks = fit_by_key(df, "who", MODEL, NAMES, "y", order="at", buckets=buckets).banks
        places = banks.select("bucket", F.spark_partition_id().alias("place")).collect()
        assert banks.rdd.getNumPartitions() == wanted
        assert places
        assert all(row["place"] == row["bucket"] % wanted for row in places)


def test_rows_travel_once(spark):
    fitted = fit_by_key(spark.createDataFrame(rows(n=100)), "who", MODEL, NAMES, "y", order="at")
    plan = fitted.banks._jdf.queryExecution().executedPlan().toString()
    assert plan.count("Exchange ") == 1  # nothing has run yet: no final plan beside the first


def test_predictions_are_those_of_the_models(spark, fitted, table):
    singles, fresh = loop(table), rows(n=120, keys=60, seed=1, words=table["who"].type == "string")
    df = spark.createDataFrame(fresh.append_column("extra", pa.array(range(120)))).repartition(3)
    told = by_place(fitted.transform(df, decision="f"))
    fresh = fresh.sort_by("at")
    X = np.column_stack([fresh[name].to_numpy() for name in NAMES])
    for i, key in enumerate(fresh["who"].to_pylist()):
        known = singles.get(key)
        f = known.decision_function(X[i : i + 1])[0] if known else 0.0
        assert told["f"][i].as_py() == f
        assert told["prediction"][i].as_py() == ("yes" if f > 0 else "no")
    assert sorted(told["extra"].to_pylist()) == list(range(120))
    with pytest.raises(ValueError, match="both None"):
        fitted.transform(df, prediction=None)
    with pytest.raises(ValueError, match="no column"):
        fitted.transform(df.drop("who"))


def test_forgetting_is_fitting_without_them(spark, fitted, table):
    held = sorted(set(table["who"].to_pylist()))
    gone, strange = held[::6], ["nobody" if isinstance(held[0], str) else 4711]
    asked = spark.createDataFrame(pa.table({"who": [*gone, *strange, gone[0]]}))
    left, certificate = fitted.forget(asked)
    assert sorted(certificate.keys) == gone
    assert list(certificate.absent) == strange
    kept = pa.compute.is_in(table["who"], value_set=pa.array(gone))
    assert certificate.rows == pa.compute.sum(kept).as_py()
    without = table.filter(pa.compute.invert(kept))
    again = fit_by_key(
        spark.createDataFrame(without), "who", MODEL, NAMES, "y", order="at", buckets=7
    )
    assert left.bank().keys() == [key for key in fitted.bank() if key not in gone]
    demand_same(left.bank(), loop(without))
    banks = {row["bucket"]: bytes(row["bank"]) for row in left.banks.collect()}
    assert banks == {row["bucket"]: bytes(row["bank"]) for row in again.banks.collect()}
    assert certificate.holds_for(left)
    assert not certificate.holds_for(fitted)


def test_weights_other_tasks_and_short_numbers(spark):
    table = rows(n=300, keys=11)
    short = table.set_column(0, "who", table["who"].cast(pa.int16()))
    target = pa.array(np.arange(300.0) / 7)
    table = table.append_column("t", target).append_column("w", pa.array(np.full(300, 2.0)))
    model = PassiveAggressiveRegressor(C=0.1)
    whole = fit_by_key(
        spark.createDataFrame(table), "who", model, NAMES, "t", order=["at"], weight="w", buckets=3
    )
    alone = ModelBank(model)
    ordered = table.sort_by("at")
    X = np.column_stack([ordered[name].to_numpy() for name in NAMES])
    alone.learn_many(ordered["who"], X, ordered["t"].to_numpy(), ordered["w"].to_numpy())
    assert set(whole.bank()) == set(alone)
    for key in alone:
        assert state_of(whole.model(key)) == state_of(alone.model(key))
    told = by_place(whole.transform(spark.createDataFrame(short)))  # the hash of a long
    assert told["prediction"].to_pylist() == alone.predict(ordered["who"], X).tolist()


def test_banks_kept_as_a_table(spark, fitted, table, tmp_path):
    fitted.banks.write.parquet(str(tmp_path / "banks"))
    banks = spark.read.parquet(str(tmp_path / "banks"))
    empty = ModelBank(MODEL).to_bytes()
    again = BankModel(banks, Columns(NAMES, "y", key="who"), empty, 7)
    assert again.bank().to_bytes() == fitted.bank().to_bytes()
    assert "7 buckets" in repr(again)


def test_bad_columns_are_named(spark):
    df = spark.createDataFrame(rows(n=30))
    with pytest.raises(ValueError, match="no column 'nobody'"):
        fit_by_key(df, "nobody", MODEL, NAMES, "y", order="at")
    with pytest.raises(ValueError, match="no column 'when'"):
        fit_by_key(df, "who", MODEL, NAMES, "y", order="when")
    with pytest.raises(NotImplementedError, match="cannot be held"):
        fit_by_key(df, "who", SGDSVC(classes=[0, 1], kernel="rbf"), NAMES, "y", order="at")


def test_a_stream_gives_the_same_models(spark, tmp_path):
    pytest.importorskip("google.protobuf")
    provider = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", provider)
    table, source = rows(n=300, keys=12), tmp_path / "in"
    ordered = table.sort_by("at")
    whole = spark.createDataFrame(ordered)
    newest = {}

    def keep(batch, number):
        for row in batch.collect():
            newest[row["bucket"]] = bytes(row["bank"])

    def learn():
        stream = spark.readStream.schema(whole.schema).parquet(str(source))
        changed = learn_by_key(stream, "who", MODEL, NAMES, "y", order="at", buckets=3)
        query = changed.writeStream.outputMode("update").foreachBatch(keep)
        query = query.option("checkpointLocation", str(tmp_path / "state"))
        query.trigger(availableNow=True).start().awaitTermination(240)

    for part in range(2):  # the query ends and goes on from its checkpoint
        some = spark.createDataFrame(ordered.slice(150 * part, 150)).coalesce(1)
        some.write.mode("append").parquet(str(source))
        learn()
    bank = ModelBank(MODEL)
    for data in newest.values():
        bank.merge(ModelBank.from_bytes(data))
    demand_same(bank, loop(table))
