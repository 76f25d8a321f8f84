"""gamma by word: scikit-learn's meaning for fit, settled by the first rows of a stream."""

from __future__ import annotations

import copy
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.svm import SVC

import onlinesvm
from onlinesvm import (
    LASVC,
    IncrementalSVC,
    NormaOneClassSVM,
    NormaSVC,
    PassiveAggressiveClassifier,
    PokerSVR,
    RampSVC,
    SmoSVC,
    StreamSVC,
)
from onlinesvm.checks import fingerprint
from onlinesvm.model.gamma import WARM_UP

RNG = np.random.default_rng(0)
X = RNG.normal(3.0, 20.0, size=(400, 4))
Y = np.where(X[:, 0] * X[:, 1] > 9, "in", "out")


def settled(word: str, rows: Any) -> float:
    return 1 / rows.shape[1] if word == "auto" else 1 / (rows.shape[1] * rows.var())


# ---- what the words mean -------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["scale", "auto"])
@pytest.mark.parametrize("model", [RampSVC(), SmoSVC(kernel="laplacian"), PokerSVR()], ids=repr)
def test_fit_takes_the_words_as_scikit_learn_does(model: Any, word: str) -> None:
    y = np.arange(60) % 2
    model = clone(model).set_params(gamma=word).fit(X[:60], y)
    assert model.gamma_ == SVC(gamma=word).fit(X[:60], y)._gamma
    sparse = clone(model).fit(sp.csr_array(X[:60] * (X[:60] > 3)), y)
    expected = SVC(gamma=word).fit(sp.csr_array(X[:60] * (X[:60] > 3)), y)._gamma
    assert np.isclose(sparse.gamma_, expected, rtol=1e-12)


def test_rows_without_any_variance_are_taken_as_scikit_learn_does() -> None:
    same = np.full((6, 2), 0.5)
    assert RampSVC().fit(same, [0, 1] * 3).gamma_ == SVC().fit(same, [0, 1] * 3)._gamma == 1.0
    assert RampSVC(classes=[0, 1]).learn_one(np.array([5.0]), 1).gamma_ == 1.0


def test_a_number_is_a_number_and_some_kernels_have_none() -> None:
    assert RampSVC(gamma=0.3).fit(X, Y).gamma_ == 0.3
    for model in (RampSVC(kernel="linear"), PassiveAggressiveClassifier()):
        assert not hasattr(model.fit(X, Y), "gamma_")
    assert not hasattr(RampSVC(), "gamma_")


@pytest.mark.parametrize("extreme", [1e-150, 1e150])
def test_values_of_any_size_give_a_gamma_that_can_be_used(extreme: float) -> None:
    model = RampSVC(dtype="float64").fit(X[:20] * extreme, Y[:20])
    assert 0 < model.gamma_ < np.inf


# ---- in a stream ---------------------------------------------------------------------------------


def test_the_first_rows_settle_it_by_doubling_and_then_it_stays() -> None:
    model = RampSVC(classes=["in", "out"], settle="example")
    for n, (x, y) in enumerate(zip(X, Y, strict=True), 1):
        model.learn_one(x, y)
        last = min(WARM_UP, 1 << (n.bit_length() - 1))
        if n in (1, 2, 3, 4, 7, 8, 100, 255, 256, 257, 400):
            assert model.gamma_ == 1 / (4 * X[:last].var()) if n > 0 else True
        assert model.n_seen_ == n
    assert model._held is None
    assert model._door.target is not None, "the fast path is open again"


@pytest.mark.parametrize("n", [5, 100, 255, 256, 300])
@pytest.mark.parametrize(
    "model",
    [
        RampSVC(settle="example"),
        LASVC(),
        IncrementalSVC(settle="example"),
        StreamSVC(kernel="rbf"),
        NormaSVC(truncation=50),
    ],
    ids=lambda model: type(model).__name__,
)
def test_any_cut_gives_the_same_bits(model: Any, n: int) -> None:
    model = clone(model).set_params(classes="open")
    whole = clone(model).partial_fit(X[:n], Y[:n])
    for size in (3, 64, 250):
        pieces = clone(model)
        for start in range(0, n, size):
            pieces.partial_fit(X[start : min(n, start + size)], Y[start : min(n, start + size)])
        assert fingerprint(whole) == fingerprint(pieces)


def test_it_is_what_a_number_would_have_given() -> None:
    """Once settled, the model is that of the same stream with the settled number."""
    for n in (1, 6, 64, 256, 400):
        by_word = IncrementalSVC(classes="open").partial_fit(X[:n], Y[:n])
        by_number = IncrementalSVC(classes="open", gamma=by_word.gamma_).partial_fit(X[:n], Y[:n])
        assert np.array_equal(by_word.decision_function(X), by_number.decision_function(X))
        assert np.array_equal(by_word.support_, by_number.support_)


@pytest.mark.parametrize("n", [3, 40])
def test_settling_survives_saving_copying_and_pickling(n: int, tmp_path: Path) -> None:
    for model, data in (
        (RampSVC(classes="open", settle="example"), X),
        (RampSVC(classes="open", query="margin"), X),
        (RampSVC(classes="open", settle="example"), sp.csr_array(X * (X > 3))),
        (NormaOneClassSVM(), X),
    ):
        model.partial_fit(data[:n], Y[:n])
        model.save(tmp_path / "model")
        copies = [
            onlinesvm.load(tmp_path / "model"),
            copy.deepcopy(model),
            pickle.loads(pickle.dumps(model)),
        ]
        model.partial_fit(data[n:300], Y[n:300])
        for other in copies:
            other.partial_fit(data[n:300], Y[n:300])
            assert fingerprint(other) == fingerprint(model)


def test_records_are_counted_by_the_names_that_occur() -> None:
    records = [{f"f{j}": float(v) for j, v in enumerate(x[: 2 + i % 3])} for i, x in enumerate(X)]
    model = RampSVC(classes=["in", "out"], settle="example")
    for n, (record, y) in enumerate(zip(records[:40], Y[:40], strict=True), 1):
        model.learn_one(record, y)
        first = records[: 1 << (n.bit_length() - 1)]
        width = max(map(len, first))
        rows = np.array([[r.get(f"f{j}", 0.0) for j in range(width)] for r in first])
        assert np.isclose(model.gamma_, settled("scale", rows), rtol=1e-12)
    whole = RampSVC(classes=["in", "out"], settle="example").partial_fit(records[:40], Y[:40])
    assert fingerprint(whole) == fingerprint(model)


# ---- what it must not break ----------------------------------------------------------------------


def test_unlearned_examples_do_not_come_back() -> None:
    model = IncrementalSVC(classes=["in", "out"]).partial_fit(X[:100], Y[:100])
    model.unlearn([3, 40, 99])
    model.partial_fit(X[100:300], Y[100:300])
    assert not {3, 40, 99} & set(model._core.labels()[0].tolist())
    stay = np.setdiff1d(np.arange(300), [3, 40, 99])
    other = IncrementalSVC(gamma=model.gamma_).fit(X[stay], Y[stay])
    assert np.allclose(model.decision_function(X), other.decision_function(X), atol=1e-6)
    first = stay[:256]  # as if the others had never come
    assert model.gamma_ == 1 / (4 * X[first].var())
    model.unlearn([257])
    assert model.unlearn([270], certificate=True).settled == {"gamma": model.gamma_}
    everyone = IncrementalSVC(classes=["in", "out"]).partial_fit(X[:3], Y[:3]).unlearn([0, 1, 2])
    everyone.partial_fit(X[3:10], Y[3:10])
    assert everyone.n_seen_ == 10


def test_weights_ids_and_counts_stay_right() -> None:
    w = np.where(np.arange(300) % 3 == 0, 0.0, 1.5)
    ids = np.arange(300)[::-1] * 2
    options = {"classes": ["in", "out"], "class_weight": {"in": 2.0}, "settle": "example"}
    whole = IncrementalSVC(**options).partial_fit(X[:300], Y[:300], sample_weight=w, ids=ids)
    pieces = IncrementalSVC(**options)
    for start in range(0, 300, 7):
        part = slice(start, start + 7)
        pieces.partial_fit(X[:300][part], Y[:300][part], sample_weight=w[part], ids=ids[part])
    assert fingerprint(whole) == fingerprint(pieces)
    assert whole.n_seen_ == 300
    number = IncrementalSVC(**options, gamma=whole.gamma_)
    number.partial_fit(X[:300], Y[:300], sample_weight=w, ids=ids)
    assert np.array_equal(number.decision_function(X), whole.decision_function(X))
    warm = IncrementalSVC(**options).partial_fit(X[:50], Y[:50])
    warm.reweight([4, 5], [9.0, 0.0]).partial_fit(X[50:70], Y[50:70])
    v = np.ones(70)
    v[4], v[5] = 9.0, 1e-300
    other = IncrementalSVC(**options, gamma=warm.gamma_)
    other.partial_fit(X[:70], Y[:70], sample_weight=v)
    assert np.allclose(warm.decision_function(X), other.decision_function(X), atol=1e-6)


@pytest.mark.parametrize(
    "model",
    [RampSVC(query="margin"), RampSVC(query="greedy"), LASVC(query="margin")],
    ids=repr,
)
def test_no_label_that_was_paid_for_is_lost(model: Any) -> None:
    """While gamma settles every label that comes is used; then the query has its say."""
    model = clone(model).set_params(classes=["in", "out"])
    for n, (x, y) in enumerate(zip(X[:WARM_UP], Y[:WARM_UP], strict=True), 1):
        model.learn_one(x, y)
        assert model.labels_used_ == n
    model.partial_fit(X[WARM_UP:], Y[WARM_UP:])
    assert WARM_UP < model.labels_used_ < 400


def test_open_classes_may_come_while_it_settles() -> None:
    y = np.where(np.arange(300) < 90, Y[:300], "late")
    whole = RampSVC(classes="open", settle="example").partial_fit(X[:300], y)
    single = RampSVC(classes="open", settle="example")
    for x, label in zip(X[:300], y, strict=True):
        single.learn_one(x, label)
    assert fingerprint(whole) == fingerprint(single)
    assert single.classes_.tolist() == ["in", "late", "out"]


def test_a_refused_call_leaves_it_as_it_was() -> None:
    model = RampSVC(classes=["in", "out"]).partial_fit(X[:60], Y[:60])
    before = fingerprint(model)
    for bad in ([["x"] * 4], [[np.nan] * 4], X[:5, :2]):
        with pytest.raises(ValueError):
            model.partial_fit(bad, Y[: len(bad)])
        assert fingerprint(model) == before


# ---- rows that turn out otherwise ----------------------------------------------------------------


def test_rows_far_from_the_first_are_told_once() -> None:
    model = RampSVC(classes=["in", "out"]).partial_fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(X * 1.5, Y)
    with pytest.warns(UserWarning, match=r"gamma='scale' was settled at .*would give"):
        model.partial_fit(X * 100, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(X * 100, Y)
        RampSVC(gamma=0.1).fit(X, Y).partial_fit(X * 100, Y)
    with pytest.warns(UserWarning, match="gamma"):
        RampSVC().fit(X, Y).partial_fit(X * 100, Y)


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine, load_digits])
@pytest.mark.parametrize("cls", [RampSVC, IncrementalSVC, SmoSVC, LASVC])
def test_raw_data_do_not_end_at_the_majority(cls: Any, load: Any) -> None:
    data, y = load(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))[:600]
    data, y = data[order], y[order]
    n = len(y) * 2 // 3
    batch = SVC().fit(data[:n], y[:n]).score(data[n:], y[n:])
    fitted = cls().fit(data[:n], y[:n]).score(data[n:], y[n:])
    passed = cls().partial_fit(data[:n], y[:n], classes=np.unique(y)).score(data[n:], y[n:])
    assert min(fitted, passed) > batch - 0.05
