"""Five sets over 2 to 8 partitions, cut in every way, through Spark: the model of one machine."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.preprocessing import StandardScaler

from onlinesvm import OnlineScaler, SmoSVC, make_online_pipeline
from onlinesvm.datasets import make_checkerboard, make_waveform

pytest.importorskip("pyspark")

from pyspark.sql import functions as F

from onlinesvm.cluster.spark import SparkEstimator

# A cascade learns one class against the rest.
TIGHT = {"tol": 1e-8, "dtype": "float64", "multiclass": "one-vs-rest"}


def sets():
    """Rows, labels and parameters."""
    cancer, iris, digits = load_breast_cancer(), load_iris(), load_digits()
    scaled, some = StandardScaler().fit_transform, digits.target < 4
    return {
        "checkerboard": (*make_checkerboard(500, noise=0.1, random_state=0), {"C": 10, "gamma": 4}),
        "waveform": (*make_waveform(400, random_state=0), {"C": 1, "gamma": 0.05}),
        "breast cancer": (scaled(cancer.data), cancer.target, {"C": 5}),
        "iris": (scaled(iris.data), iris.target, {"C": 3, "kernel": "linear"}),
        "digits": (digits.data[some] / 16, digits.target[some], {"C": 2, "gamma": "auto"}),
    }


SETS = sets()


def place_of(y, parts, cut):
    """The partition of each row."""
    n, rng = len(y), np.random.default_rng(0)
    by_class = np.argsort(np.argsort(y, kind="stable"))
    if cut == "sorted":
        return by_class * parts // n
    if cut == "skewed":
        share = np.cumsum(np.geomspace(1, 200, parts))
        return np.searchsorted(share / share[-1], rng.random(n))
    if cut == "one class each":  # as many partitions as that takes
        classes = np.unique(y, return_inverse=True)[1]
        each = max(1, parts // (classes.max() + 1))
        return classes * each + np.arange(n) % each
    assert cut == "with empty ones"
    return rng.integers(0, parts - 1, n) + 1 if parts > 2 else np.ones(n, int)


def through_spark(spark, X, y, places, parts):
    """A DataFrame whose partitions are these, empty ones included, and no other."""
    flat = pa.array(np.ascontiguousarray(X, dtype=np.float64).ravel())
    ends = pa.array(np.arange(0, X.size + 1, X.shape[1], dtype=np.int32))
    columns = {"id": np.arange(len(y)), "place": places.astype(np.int64), "label": y.astype(int)}
    columns["features"] = pa.ListArray.from_arrays(ends, flat)
    df = spark.createDataFrame(pa.table(columns))
    return df.repartitionById(parts, F.col("place").cast("int"))


CUTS = ("sorted", "skewed", "one class each", "with empty ones")
EVERY = [(name, parts, cut) for name in SETS for parts in (2, 5, 8) for cut in CUTS]
# One of each set, of each number and of each cut; `make test-spark` has all of them.
FEW = [
    ("checkerboard", 2, "with empty ones"),
    ("waveform", 3, "skewed"),
    ("breast cancer", 5, "sorted"),
    ("iris", 6, "one class each"),
    ("digits", 8, "with empty ones"),
]
OTHERS = [pytest.param(*one, marks=pytest.mark.executors) for one in EVERY if one not in FEW]


@pytest.mark.parametrize(("name", "parts", "cut"), [*FEW, *OTHERS])
def test_any_cut_is_one_machine(spark, name, parts, cut):
    X, y, params = SETS[name]
    places = place_of(y, parts, cut)
    parts = max(parts, int(places.max()) + 1)
    df = through_spark(spark, X, y, places, parts)
    model = SparkEstimator(SmoSVC(**TIGHT, **params), idCol="id").fit(df)
    one = SmoSVC(**TIGHT, **params).fit(X, y)
    assert model.certificate.holds
    # Spark's partitions are the cut that was meant.
    counts = np.bincount(places, minlength=parts).tolist()
    assert sorted(model.certificate.rows) == sorted(counts)
    if cut == "with empty ones":
        assert 0 in counts
    f, g = model.model.decision_function(X), one.decision_function(X)
    np.testing.assert_allclose(f, g, rtol=0, atol=2e-4)
    assert model.certificate.objective == pytest.approx(one.objective(), rel=1e-6)
    assert model.model.support_.tolist() == one.support_.tolist()


def test_a_pipeline_prepares_in_every_partition(spark):
    X, y, params = SETS["breast cancer"]
    raw = X * np.linspace(1, 1e4, X.shape[1])
    scaler = OnlineScaler(warm_up=100).fit(raw[:200])
    df = through_spark(spark, raw, y, place_of(y, 3, "sorted"), 3)
    pipeline = make_online_pipeline(scaler, SmoSVC(**TIGHT, **params))
    fitted = SparkEstimator(pipeline, idCol="id").fit(df)
    one = SmoSVC(**TIGHT, **params).fit(scaler.transform(raw), y)
    np.testing.assert_allclose(
        fitted.model.decision_function(raw), one.decision_function(scaler.transform(raw)), atol=2e-4
    )
    told = fitted.transform(df).toArrow().sort_by("id")
    assert np.array_equal(told["prediction"].to_numpy(), fitted.model.predict(raw))
    with pytest.raises(ValueError, match="fit it to a sample of all rows first"):
        SparkEstimator(make_online_pipeline(OnlineScaler(), SmoSVC())).fit(df)
