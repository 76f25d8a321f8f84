"""The estimator of pyspark.ml: in pipelines, saved and loaded, forgetting whom it must."""

import numpy as np
import pyarrow as pa
import pytest

import onlinesvm
from onlinesvm import PassiveAggressiveClassifier, SmoSVC
from onlinesvm.unlearn.certificate import CertificateError

pytest.importorskip("pyspark")

from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.evaluation import BinaryClassificationEvaluator, MulticlassClassificationEvaluator
from pyspark.ml.feature import StandardScaler, VectorAssembler

from onlinesvm.cluster.spark import SparkEstimator, SparkModel

N = 800


def rows():
    X = np.random.default_rng(3).normal(size=(N, 2))
    return X, (X[:, 0] * X[:, 1] > 0).astype(float), np.arange(N) // 8


@pytest.fixture(scope="module")
def df(spark):
    X, y, who = rows()
    words = np.array(["red", "green", "blue"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    columns = {"id": np.arange(N), "a": X[:, 0], "b": X[:, 1], "label": y, "who": who}
    columns["word"] = words.tolist()
    frame = spark.createDataFrame(pa.table(columns)).repartition(3)
    return VectorAssembler(inputCols=["a", "b"], outputCol="raw").transform(frame).cache()


@pytest.fixture(scope="module")
def fitted(df):
    machine = SparkEstimator(SmoSVC(C=10, gamma=1.0), keyCol="who", idCol="id")
    scaler = StandardScaler(inputCol="raw", outputCol="features")
    return Pipeline(stages=[scaler, machine]).fit(df)


def test_in_a_pipeline_it_is_the_model_of_one_machine(df, fitted):
    X, y, _ = rows()
    learned = fitted.stages[-1]
    assert learned.certificate.holds
    assert sum(learned.certificate.rows) == N
    one = SmoSVC(C=10, gamma=1.0, tol=1e-6, dtype="float64").fit(X / X.std(axis=0, ddof=1), y)
    told = fitted.transform(df).toArrow().sort_by("id")
    distance = told["rawPrediction"].to_numpy() - one.decision_function(X / X.std(axis=0, ddof=1))
    assert np.abs(distance).max() < 0.02  # as far as tol = 1e-3 lets both be
    assert np.array_equal(told["prediction"].to_numpy(), (told["rawPrediction"].to_numpy() > 0) * 1)


def test_evaluators_of_spark_take_its_columns(df, fitted):
    told = fitted.transform(df).cache()
    right = told.where("prediction = label").count() / N
    metric = MulticlassClassificationEvaluator(metricName="accuracy")
    assert metric.evaluate(told) == pytest.approx(right)
    assert BinaryClassificationEvaluator().evaluate(told) > 0.98


def test_saved_and_loaded_it_says_the_same(df, fitted, tmp_path):
    fitted.save(str(tmp_path / "fitted"))
    again = PipelineModel.load(str(tmp_path / "fitted"))
    one, other = fitted.stages[-1], again.stages[-1]
    assert isinstance(other, SparkModel)
    assert (other.uid, other.rounds, other.certificate) == (one.uid, one.rounds, one.certificate)
    assert fitted.transform(df).toArrow() == again.transform(df).toArrow()
    (file,) = (tmp_path / "fitted").rglob("model.onlinesvm")
    assert onlinesvm.load(file).support_.tolist() == one.model.support_.tolist()
    recipe = SparkEstimator(SmoSVC(C=3), inputCols=["a", "b"], labelCol="word")
    recipe.write().overwrite().save(str(tmp_path / "recipe"))
    loaded = SparkEstimator.load(str(tmp_path / "recipe"))
    assert loaded.model.get_params() == recipe.model.get_params()
    assert loaded.getLabelCol() == "word"
    with pytest.raises(ValueError, match="function"):
        SparkEstimator(SmoSVC(kernel=lambda x, rows: rows @ x)).save(str(tmp_path / "no"))


@pytest.mark.executors
def test_words_stay_words(df):
    model = SparkEstimator(
        PassiveAggressiveClassifier(), inputCols=["a", "b"], labelCol="word", rawPredictionCol=""
    ).fit(df)
    told = model.transform(df)
    assert "rawPrediction" not in told.columns
    right = told.where("prediction = word").count()
    assert right > 0.6 * N
    assert model.certificate is None
    with pytest.raises(ValueError, match="has no certificate"):
        model.verify(df)


def test_whoever_is_unlearned_was_never_there(spark, df, fitted):
    X, y, who = rows()
    data = fitted.stages[0].transform(df)
    learned = fitted.stages[-1]
    gone = [3, 4, 77]
    left = learned.unlearn(data, spark.createDataFrame([(k,) for k in gone], "who long"))
    assert left.certificate.holds
    assert sorted(left.certificate.ids_removed) == np.flatnonzero(np.isin(who, gone)).tolist()
    remaining = data.where("who not in (3, 4, 77)")
    assert left.verify(remaining)
    with pytest.raises(CertificateError, match="other rows than those certified"):
        left.verify(remaining.where("who != 5"))
    stays = ~np.isin(who, gone)
    Z = X / X.std(axis=0, ddof=1)
    one = SmoSVC(C=10, gamma=1.0, tol=1e-6, dtype="float64").fit(Z[stays], y[stays])
    distance = left.model.decision_function(Z) - one.decision_function(Z)
    assert np.abs(distance).max() < 0.02
    assert learned.model.keys_held()  # the one before is as it was
    with pytest.raises(ValueError, match="no row of any part bears"):
        learned.unlearn(data, [100_000])


def test_what_cannot_be_is_said(df):
    with pytest.raises(ValueError, match="parts have no row"):
        SparkEstimator(SmoSVC(), inputCols=["a", "b"]).fit(df.where("a > 99"))
    with pytest.raises(ValueError, match="there is no column 'features'"):
        SparkEstimator(SmoSVC()).fit(df)
