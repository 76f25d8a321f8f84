"""The learn loop: it reports, it can be stopped, and it lives in scikit-learn's world."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from onlinesvm import (
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    RampSVC,
)
from onlinesvm.checks import fingerprint
from onlinesvm.model import learning, progress
from onlinesvm.model.learning import _slabs

Data = tuple[np.ndarray, np.ndarray]


@pytest.fixture
def data() -> Data:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


# --- slabs, progress, interruption --------------------------------------------------------------


@pytest.mark.parametrize("watching", [True, False])
@pytest.mark.parametrize(("n", "cuts"), [(1, []), (5000, []), (5000, [0, 1, 17, 4999]), (3, [1])])
def test_slabs_cover_every_row_once_and_begin_at_cuts(
    n: int, cuts: list[int], watching: bool
) -> None:
    slabs = list(_slabs(n, cuts, 1024, watching))
    assert [start for start, _ in slabs] == [0, *(stop for _, stop in slabs[:-1])]
    assert slabs[-1][1] == n
    assert set(cuts) <= {start for start, _ in slabs}


def test_verbose_shows_a_bar_and_changes_nothing(data: Data, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", -1.0)
    loud = RampSVC(C=10, verbose=True).fit(*data)
    shown = capsys.readouterr().err
    assert "RampSVC" in shown
    assert "support vectors" in shown
    assert "accuracy" in shown
    assert "/s" in shown
    assert fingerprint(loud) == fingerprint(RampSVC(C=10).fit(*data))


def test_short_work_shows_nothing(data: Data, capsys: Any) -> None:
    X, y = data
    PassiveAggressiveRegressor(verbose=True).fit(X[:10], y[:10])
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_an_interrupt_leaves_a_model_of_whole_slabs(data: Data, monkeypatch: Any) -> None:
    X, y = data
    slabs = learning._slabs

    def three_slabs(*args: Any) -> Any:
        for number, slab in enumerate(slabs(*args)):
            if number == 3:
                raise KeyboardInterrupt
            yield slab

    monkeypatch.setattr(learning, "_SLAB_ROWS", 100)
    monkeypatch.setattr(learning, "_SLAB_SECONDS", 0.0)
    monkeypatch.setattr(learning, "_slabs", three_slabs)
    model = RampSVC(C=10)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    monkeypatch.undo()
    seen = model.n_seen_
    assert seen == 300 < len(X)
    model.partial_fit(X[:50], y[:50])
    assert model.n_seen_ == seen + 50
    assert model.predict(X[:5]).shape == (5,)


@pytest.mark.parametrize("begun", ["afresh", "begun"])
def test_weights_of_many_features_are_remembered_once_a_call(begun: str) -> None:
    """A copy of all weights for every thousand rows took most of the time of text."""
    rng = np.random.default_rng(0)
    X = sp.random_array((5000, 1 << 16), density=1e-4, format="csr", rng=rng)
    y = rng.integers(0, 2, size=5000)
    model = PassiveAggressiveClassifier(classes=[0, 1])
    before = 0
    if begun == "begun":
        before = model.partial_fit(X[:10], y[:10])._core.changes
    model.partial_fit(X, y)
    assert model._core.changes == before + 1 + (begun == "afresh")  # and one to know the classes
    cut = PassiveAggressiveClassifier(classes=[0, 1])
    if begun == "begun":
        cut.partial_fit(X[:10], y[:10])
    for start in range(0, 5000, 700):
        cut.partial_fit(X[start : start + 700], y[start : start + 700])
    assert fingerprint(cut) == fingerprint(model)


def test_a_solver_that_stops_short_warns(data: Data) -> None:
    class Capped:
        capped = True

    model = RampSVC().fit(*data)
    model._core = Capped()
    with pytest.warns(ConvergenceWarning, match="RampSVC stopped before it reached tol=0.01"):
        model._warn_if_capped()


# --- attributes ---------------------------------------------------------------------------------


def test_support_attributes_make_the_decision(data: Data) -> None:
    X, y = data[0][:300], data[1][:300]
    model = RampSVC(C=10, gamma=0.5, bias="kernel", dtype="float64").fit(X, y)
    assert np.array_equal(model.support_vectors_, X[model.support_])
    d2 = np.square(X[:, None] - model.support_vectors_).sum(-1)
    f = np.exp(-0.5 * d2) @ model.dual_coef_[0] + model.intercept_[0]
    assert np.allclose(f, model.decision_function(X))
    assert model.n_support_.sum() == len(model.support_)
    assert model.intercept_.shape == (1,)
    positive = (y[model.support_] == model.classes_[1]).sum()
    assert model.n_support_[1] == positive


def test_unfitted_models_say_so(data: Data) -> None:
    with pytest.raises(NotFittedError):
        RampSVC().predict(data[0])
    for name in ("support_", "n_seen_", "nbytes_", "classes_", "labels_used_"):
        assert not hasattr(RampSVC(), name)


def test_capabilities_name_who_can(data: Data) -> None:
    model = PassiveAggressiveClassifier().fit(*data)
    with pytest.raises(NotImplementedError, match=r"it keeps a summary.*RampSVC.* can\."):
        model.unlearn(0)
    assert not hasattr(model, "labels_used_")


# --- scikit-learn's world -----------------------------------------------------------------------


def test_pipelines_and_searches(data: Data) -> None:
    X, y = data[0][:400], data[1][:400]
    pipeline = make_pipeline(StandardScaler(), RampSVC(gamma=1.0))
    search = GridSearchCV(pipeline, {"rampsvc__C": [0.01, 10.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.85
    assert OneVsRestClassifier(RampSVC(C=10)).fit(X, y).score(X, y) > 0.85


def test_metadata_can_be_routed() -> None:
    model = RampSVC()
    assert hasattr(model, "set_fit_request")
    assert hasattr(model, "set_partial_fit_request")
    assert {"ids", "classes", "sample_weight"} <= set(
        inspect.signature(model.partial_fit).parameters
    )


def test_nothing_is_warned_about(data: Data) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RampSVC().fit(*data).predict(data[0])


def test_labels_survive_learn_one_in_any_numeric_type() -> None:
    model = PassiveAggressiveClassifier(classes=[0, 1])
    for y in (0, 1, np.int64(0), np.uint8(1), np.float64(1.0), True):
        model.learn_one(np.ones(2), y)
    assert model.n_seen_ == 6
    assert model.classes_.tolist() == [0, 1]


def test_float64_values_beyond_float32_are_refused() -> None:
    model = PassiveAggressiveClassifier(classes=[0, 1], dtype="float32")
    with pytest.raises(ValueError, match="too large"):
        model.partial_fit([[1e300]], [1])
    model.learn_one(np.ones(1), 1)
    with pytest.raises(ValueError, match="too large"):
        model.learn_one(np.array([1e300]), 1)
    assert model.n_seen_ == 1


@pytest.mark.parametrize("cls", [RampSVC, PassiveAggressiveClassifier])
def test_records_take_the_short_way_of_a_model_with_named_columns(cls: Any) -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    options = {"classes": [0, 1]} | ({"gamma": 0.5} if cls is RampSVC else {})
    model = cls(**options).partial_fit(pd.DataFrame(X[:20], columns=["a", "b", "c"]), y[:20])
    plain = cls(**options).partial_fit(X[:20], y[:20])
    for x, label in zip(X[20:], y[20:], strict=True):
        record = {"c": x[2], "a": x[0], "b": x[1]}
        assert model.decide_one(record) == plain.decide_one(x)
        assert model.decide_one({"b": x[1]}) == plain.decide_one(np.array([0.0, x[1], 0.0]))
        model.learn_one(record, label)
        plain.learn_one(x, label)
    assert np.array_equal(model._scores(model_rows(X)), plain._scores(X))
    for bad in ({"d": 1.0}, {"a": "text"}, {"a": np.nan}):
        for verb in (model.decide_one, lambda x: model.learn_one(x, 1)):
            with pytest.raises(ValueError, match=r"'d'|text|NaN"):
                verb(bad)
    assert model.n_seen_ == 40


def model_rows(X: Any) -> Any:
    return [dict(zip("abc", x, strict=True)) for x in X.tolist()]


def test_the_straight_way_closes_with_whatever_it_was_opened_for() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    model = PassiveAggressiveClassifier(classes="open")
    for x, label in zip(X[:20], y, strict=False):
        model.learn_one(x, label)
    assert model._door.straight is not None
    model.learn_one(X[42], 2)  # a label that nobody knew
    assert model.learn_one(X[43], 2).classes_.tolist() == [0, 1, 2]
    old = model._door.straight
    model.fit(X[20:40], y[20:40])  # another core
    model.learn_one(X[40], y[40]).learn_one(X[41], y[41])
    assert model._door.straight not in (None, old)
    twin = PassiveAggressiveClassifier(classes="open").fit(X[20:40], y[20:40])
    twin.partial_fit(X[40:42], y[40:42])
    assert np.array_equal(model.coef_, twin.coef_)
    model.C = 0.5  # a parameter to be looked at
    assert model._door.straight is None


@pytest.mark.parametrize(
    "x", [np.ones(2), np.ones((1, 3)), np.array([1.0, np.nan, 1.0]), np.ones(3, dtype=complex), 3]
)
def test_the_straight_way_leaves_bad_rows_to_those_who_name_the_fault(x: Any) -> None:
    model = PassiveAggressiveClassifier(classes=[0, 1])
    for label in (0, 1, 0):
        model.learn_one(np.full(3, label + 0.5), label)
    assert model._door.straight is not None
    was = fingerprint(model)
    with pytest.raises(ValueError, match=r"[xX]"):
        model.learn_one(x, 1)
    for label in (7, [1], None):
        with pytest.raises(ValueError, match="y"):
            model.learn_one(np.ones(3), label)
    assert fingerprint(model) == was
    model.learn_one(np.ma.masked_array(np.ones(3), mask=False), 1)
    model.learn_one(np.ones(6)[::2], 1)
    model.learn_one(np.ones(3, dtype=np.int64), 1)
    model.learn_one(np.ones(3, dtype=">f8"), 1)
    assert model.n_seen_ == 7


def test_dicts_go_the_straight_way_until_they_bring_a_name() -> None:
    records = [{"a": 1.0, "b": -1}, {"b": 2.0}, {"b": 1, "c": 4.0}, {"a": True, "c": -0.5}]
    model = PassiveAggressiveClassifier(classes=[0, 1])
    for i in range(12):
        model.learn_one(records[i % 4], i % 2)
    twin = PassiveAggressiveClassifier(classes=[0, 1])
    twin.partial_fit([records[i % 4] for i in range(12)], [i % 2 for i in range(12)])
    assert model.n_features_in_ == 3
    assert np.array_equal(model.coef_, twin.coef_)
