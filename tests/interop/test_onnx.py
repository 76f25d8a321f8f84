"""What a graph answers in onnxruntime is what the model answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import is_classifier, is_outlier_detector

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

import onnxruntime as ort

import onlinesvm
import onlinesvm.interop.onnx
from onlinesvm import (
    LASVC,
    SGDSVC,
    FourierFeatures,
    IncrementalSVC,
    NystroemFeatures,
    OnlineColumns,
    OnlineImputer,
    OnlineOneHot,
    OnlineOrdinal,
    OnlineScaler,
    OnlineText,
    PassiveAggressiveClassifier,
    PegasosSVC,
    PokerSVC,
    RampSVC,
    make_online_pipeline,
)
from onlinesvm.interop.onnx import to_onnx

ESTIMATORS = [cls() for cls in onlinesvm.all_estimators() if getattr(cls, "_scores_are_sums", True)]
KERNELS = ["linear", "rbf", "poly", "laplacian", "chi2"]
RNG = np.random.default_rng(0)
X = RNG.uniform(0.1, 2.0, size=(600, 5))
TWO = X[:, 0] * X[:, 1] > 1
MANY = np.array(["c", "a", "b"])[np.digitize(X[:, 0] + X[:, 1], [1.5, 2.5])]


def answers(model: Any, rows: Any, **options: Any) -> list[Any]:
    graph = to_onnx(model, **options)
    settings = ort.SessionOptions()
    settings.intra_op_num_threads = 1
    settings.log_severity_level = 3
    session = ort.InferenceSession(graph.SerializeToString(), settings)
    return list(session.run(None, rows))


def learned(model: Any, target: Any = TWO) -> Any:
    if is_outlier_detector(model):
        return model.fit(X)
    return model.fit(X, target if is_classifier(model) else X @ [1, 2, 3, 2, 1])


def agree(model: Any, atol: float = 1e-4, **options: Any) -> None:
    rows = {"X": X.astype(options.get("dtype", "float32"))}
    *label, values = answers(model, rows, **options)
    mine = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
    scale = max(1.0, np.abs(mine).max())
    np.testing.assert_allclose(values.reshape(np.shape(mine)), mine, atol=atol * scale)
    if label:
        by = np.abs(mine) if np.ndim(mine) == 1 else np.diff(np.sort(mine, axis=1)[:, -2:])[:, 0]
        clear = by > 2 * atol * scale
        assert clear.mean() > 0.5
        assert (label[0] == model.predict(X))[clear].all()


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_every_estimator(model: Any) -> None:
    agree(learned(model))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_kernel(kernel: str, dtype: str) -> None:
    model = learned(RampSVC(kernel=kernel, bias="kernel", coef0=1.0, degree=2, dtype="float64"))
    agree(model, dtype=dtype, atol=1e-4 if dtype == "float32" else 1e-9)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("target", [TWO, MANY], ids=["two", "many"])
def test_the_operator_of_the_standard(kernel: str, target: Any) -> None:
    agree(learned(IncrementalSVC(kernel=kernel), target), op="svm")


LABELS = {
    "bool": TWO,
    "int": np.where(TWO, 7, -3),
    "float": np.where(TWO, 2.0, -1.0),
    "str": np.where(TWO, "yes", "no"),
    "many": MANY,
    "many ints": np.unique(MANY, return_inverse=True)[1] * 5,
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("cls", [LASVC, PassiveAggressiveClassifier])
def test_every_kind_of_label(cls: Any, kind: str) -> None:
    agree(learned(cls(), LABELS[kind]))


def test_classes_in_order_of_arrival_and_one_alone() -> None:
    model = LASVC(classes="open")
    for x, y in zip(X, MANY, strict=True):
        model.learn_one(x, y)
    agree(model)
    alone = PegasosSVC(classes="open").partial_fit(X[:5], ["only"] * 5)
    assert answers(alone, {"X": X.astype("float32")})[0].tolist() == ["only"] * len(X)


def test_sparse_and_compressed_models() -> None:
    import scipy.sparse as sp

    sparse = RampSVC().fit(sp.csr_array(X), TWO)
    _, scores = answers(sparse, {"X": X.astype("float32")})
    np.testing.assert_allclose(scores[:, 0], sparse.decision_function(sp.csr_array(X)), atol=1e-4)
    agree(learned(PokerSVC()).compress(0.1))


STEPS = [
    OnlineScaler(),
    OnlineScaler(method="robust"),
    FourierFeatures(20, gamma=0.5),
    FourierFeatures(21, gamma=0.5, kernel="laplacian"),
    NystroemFeatures(30, gamma=0.5),
    NystroemFeatures(400, gamma=0.5, kernel="laplacian", tol=0.1),
]


@pytest.mark.parametrize("step", STEPS, ids=repr)
def test_numeric_steps(step: Any) -> None:
    agree(make_online_pipeline(step, SGDSVC()).fit(X, TWO), atol=1e-3)


@pytest.mark.parametrize("indicator", ["none", "columns"])
@pytest.mark.parametrize("strategy", ["mean", "median", "constant"])
def test_gaps(strategy: str, indicator: str) -> None:
    gappy = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
    imputer = OnlineImputer(strategy=strategy, indicator=indicator)
    model = make_online_pipeline(imputer, OnlineScaler(), RampSVC()).fit(gappy, TWO)
    label, scores = answers(model, {"X": gappy.astype("float32")})
    np.testing.assert_allclose(scores[:, 0], model.decision_function(gappy), atol=1e-4)
    assert (label == model.predict(gappy)).mean() > 0.99


@pytest.mark.parametrize("unknown", ["zeros", "infrequent"])
def test_tables_with_categories(unknown: str) -> None:
    towns = RNG.choice(["Rom", "Bonn", "Oslo", ""], size=400)
    records = [
        {"age": float(age), "rank": int(rank), "town": town or None, "grade": grade, "id": 3.0}
        for age, rank, town, grade in zip(
            RNG.uniform(18, 80, 400),
            RNG.integers(0, 5, 400),
            towns,
            RNG.choice(["low", "high"], 400),
            strict=True,
        )
    ]
    y = [(r["age"] > 40) ^ (r["town"] == "Rom") for r in records]
    model = make_online_pipeline(
        OnlineColumns(
            [
                ("size", [OnlineImputer(), OnlineScaler()], ["age"]),
                ("kind", OnlineOneHot(max_categories=3, unknown=unknown), ["town", "rank"]),
                ("grade", OnlineOrdinal(), ["grade"]),
                ("rest", "drop", ["id"]),
            ]
        ),
        RampSVC(C=10),
    ).fit(records, y)
    records[0]["town"] = records[1]["town"] = "Kiel"  # never met
    records[2]["grade"] = "odd"
    numbers = {n: np.array([[r[n]] for r in records], "float32") for n in ("age", "id")}
    texts = {
        n: np.array([["" if r[n] is None else str(r[n])] for r in records], dtype=object)
        for n in ("town", "rank", "grade")
    }
    label, scores = answers(model, numbers | texts)
    np.testing.assert_allclose(scores[:, 0], model.decision_function(records), atol=1e-4)
    assert (label == model.predict(records)).all()


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_blocks_of_rows_of_any_number(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = learned(RampSVC(kernel=kernel), MANY)
    whole = answers(model, {"X": X.astype("float32")})
    monkeypatch.setattr(onlinesvm.interop.onnx, "_BLOCK", 1)  # 16 rows at a time
    for n in (0, 1, 15, 16, 17, 33, 600):
        label, scores = answers(model, {"X": X[:n].astype("float32")})
        assert label.tolist() == whole[0][:n].tolist()
        np.testing.assert_allclose(scores, whole[1][:n], atol=1e-5)


def test_a_runtime_of_another_make() -> None:
    from onnx.reference import ReferenceEvaluator

    model = learned(RampSVC())
    scores = ReferenceEvaluator(to_onnx(model)).run(["scores"], {"X": X[:9].astype("float32")})[0]
    np.testing.assert_allclose(scores[:, 0], model.decision_function(X[:9]), atol=1e-4)


def test_small_differences_of_large_distances() -> None:
    # Rows a hundred times as far from the middle as from each other, and coefficients up to 100.
    rare = np.where(RNG.random((600, 1)) < 0.5, 70.0, -70.0)
    rows = np.hstack([X, rare]).astype("float32")
    model = RampSVC(C=100, gamma=0.1, dtype="float64").fit(rows, TWO ^ (RNG.random(600) < 0.2))
    gaps = ((rows[:, None, :].astype(float) - model.support_vectors_) ** 2).sum(axis=2)
    exact = np.exp(-0.1 * gaps) @ model.dual_coef_[0] + model.intercept_
    _, scores = answers(model, {"X": rows})
    np.testing.assert_allclose(scores[:, 0], exact, atol=5e-5)


def test_what_cannot_be_written_is_said() -> None:
    model = learned(RampSVC())
    with pytest.raises(ValueError, match="op must be"):
        to_onnx(model, op="fast")
    with pytest.raises(ValueError, match="dtype must be"):
        to_onnx(model, dtype="float16")
    with pytest.raises(ValueError, match="float32 only"):
        to_onnx(model, op="svm", dtype="float64")
    with pytest.raises(ValueError, match="has no kernel 'laplacian'"):
        to_onnx(learned(RampSVC(kernel="laplacian")), op="svm")
    with pytest.raises(ValueError, match="is a function"):
        to_onnx(learned(RampSVC(kernel=lambda x, rows: rows @ x)))
    with pytest.raises(ValueError, match="scores neither by weights nor"):
        to_onnx(learned(onlinesvm.PassiveAggressiveOneClass()))
    texts = make_online_pipeline(OnlineText(), PegasosSVC())
    with pytest.raises(ValueError, match="OnlineText has no ONNX form"):
        to_onnx(texts.fit(np.array([["a b"], ["c d"]] * 20, dtype=object), [0, 1] * 20))
    odd = LASVC(classes="open").partial_fit(X[:4], np.array([1, "a", 1, "a"], dtype=object))
    with pytest.raises(ValueError, match="other kinds"):
        to_onnx(odd)
    with pytest.raises(Exception, match="not fitted"):
        to_onnx(RampSVC())


def test_gamma_that_is_not_settled() -> None:
    features = FourierFeatures(10)
    model = make_online_pipeline(features, SGDSVC(classes=[False, True]))
    model.partial_fit(X[:20], TWO[:20])
    with pytest.raises(ValueError, match="not settled"):
        to_onnx(model)
