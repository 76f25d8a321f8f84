"""What Spark says of a row is what the model says of it, to the bit."""

import numpy as np
import pyarrow as pa
import pytest

from onlinesvm import (
    CalibratedOnline,
    OnlineScaler,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    PokerOneClassSVM,
    RampSVC,
    make_online_pipeline,
)

pytest.importorskip("pyspark")

from pyspark.ml.functions import array_to_vector

from onlinesvm.cluster.spark import predict_udf, transform

NAMES = ["a b", "b", "c.d"]


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(1).normal(size=(600, 3))


@pytest.fixture(scope="module")
def df(spark, X):
    columns = {"id": np.arange(len(X))} | {name: X[:, j] for j, name in enumerate(NAMES)}
    table = pa.table(columns | {"list": pa.array(X.tolist())})
    frame = spark.createDataFrame(table).withColumn("vector", array_to_vector("list"))
    return frame.repartition(3).cache()


def by_id(frame):
    return frame.toArrow().sort_by("id")


def words(X):
    return np.array(["no", "yes"])[(X[:, 0] * X[:, 1] > 0).astype(int)]


def three(X):
    return np.digitize(X[:, 0], [-0.5, 0.5])


@pytest.mark.parametrize(
    ("model", "label"),
    [
        (RampSVC(C=10, gamma=1.0), words),
        (RampSVC(C=10, gamma=1.0), lambda X: X[:, 0] > 0),
        (make_online_pipeline(OnlineScaler(), PassiveAggressiveClassifier()), three),
        (CalibratedOnline(PassiveAggressiveClassifier()), lambda X: 1.0 * three(X)),
        (PassiveAggressiveRegressor(), lambda X: X.sum(axis=1)),
        (PokerOneClassSVM(gamma=1.0), lambda X: None),
    ],
    ids=["words", "flags", "pipeline of three", "calibrated", "regressor", "detector"],
)
def test_every_kind_of_model_says_what_it_says_here(df, X, model, label):
    model.fit(X, label(X))
    wanted = {"prediction": "p"}
    if hasattr(model, "decision_function"):
        wanted["decision"] = "f"
    if hasattr(model, "predict_proba"):
        wanted["probability"] = "chances"
    told = by_id(transform(df, model, NAMES, **wanted))
    assert told["p"].to_pylist() == model.predict(X).tolist()
    alone = by_id(transform(df, model, NAMES))
    assert alone["prediction"].to_pylist() == model.predict(X).tolist()
    assert alone["prediction"].type == told["p"].type
    if "f" in told.column_names:
        assert told["f"].to_pylist() == model.decision_function(X).tolist()
    if "chances" in told.column_names:
        assert told["chances"].to_pylist() == model.predict_proba(X).tolist()


def test_vectors_arrays_and_columns_are_the_same_rows(df, X):
    model = RampSVC(C=10, gamma=1.0).fit(X, words(X))
    score = predict_udf(model, output="decision")
    told = df.select("id", score("vector").alias("v"), score("list").alias("l"), "`a b`", "b")
    told = by_id(told)
    assert told["v"].to_pylist() == told["l"].to_pylist() == model.decision_function(X).tolist()


def test_in_sql_and_over_empty_partitions(spark, df, X):
    model = RampSVC(C=10, gamma=1.0).fit(X, words(X))
    spark.udf.register("label_of", predict_udf(model))
    df.where("id < 2").repartition(5).createOrReplaceTempView("rows")
    told = spark.sql("select id, label_of(list) p from rows where label_of(list) is not null")
    assert by_id(told)["p"].to_pylist() == model.predict(X[:2]).tolist()


def test_what_cannot_be_is_said_before_a_job_runs(df, X):
    model = RampSVC(C=10, gamma=1.0).fit(X, words(X))
    with pytest.raises(ValueError, match=r"CalibratedOnline\(model\) has them"):
        transform(df, model, NAMES, probability="p")
    with pytest.raises(ValueError, match="there is no column 'd'; the DataFrame has id, a b"):
        transform(df, model, ["b", "d"])
    with pytest.raises(ValueError, match="name one of them"):
        transform(df, model, NAMES, prediction=None)
    with pytest.raises(ValueError, match="output must be"):
        predict_udf(model, output="label")
    with pytest.raises(ValueError, match="function"):
        transform(df, RampSVC(kernel=lambda x, rows: rows @ x).fit(X[:9], words(X)[:9]), NAMES)


def test_a_null_is_named(spark, X):
    from pyspark.errors import PythonException

    model = RampSVC(C=10, gamma=1.0).fit(X[:, :2], words(X))
    holed = spark.createDataFrame([(1.0, 2.0), (None, 1.0)], "a double, b double")
    with pytest.raises(PythonException, match="column 'a' has 1 nulls among"):
        transform(holed.coalesce(1), model, ["a", "b"]).collect()
