"""Transformers keep the library's contract and scikit-learn's, and feed every linear class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from contract import scikit_learns_checks, weights_are_not_copies
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import onlinesvm
from onlinesvm import (
    FourierFeatures,
    NystroemFeatures,
    OnlineDates,
    OnlineHashing,
    OnlineImputer,
    OnlineOneHot,
    OnlineOrdinal,
    OnlineScaler,
    OnlineText,
    _core,
)
from onlinesvm.checks import parametrize
from onlinesvm.checks.streams import fingerprint, with_gamma
from onlinesvm.model.parameters import lists
from onlinesvm.model.transformer import KernelFeatures

LINEAR = [
    onlinesvm.SGDSVC(),
    onlinesvm.PegasosSVC(),
    onlinesvm.PassiveAggressiveClassifier(),
    onlinesvm.StreamSVC(),
    onlinesvm.RommaClassifier(),
    onlinesvm.NormaSVC(kernel="linear"),
]
FEATURES = [cls for cls in onlinesvm.all_transformers() if lists(cls, KernelFeatures)]
every_class = pytest.mark.parametrize("cls", FEATURES, ids=lambda cls: cls.__name__)


@parametrize(
    NystroemFeatures(gamma=0.25),
    NystroemFeatures(gamma=0.25, n_components=5, tol=0.3, dtype="float64"),
    NystroemFeatures(kernel="chi2", gamma=0.5, n_components=20),
    NystroemFeatures(kernel="poly", gamma=0.1, coef0=1.0, n_components=20),
    NystroemFeatures(kernel="linear", n_components=20),
    FourierFeatures(gamma=0.25),
    FourierFeatures(gamma=0.25, n_components=6, kernel="laplacian", dtype="float64"),
    OnlineScaler(),
    OnlineScaler(warm_up=40, dtype="float32"),
    OnlineScaler(method="robust", warm_up=40),
    OnlineScaler(after="move"),
    OnlineScaler(after="forget", warm_up=20),
    OnlineScaler(method="robust", after="forget", warm_up=20),
    OnlineImputer(),
    OnlineImputer(strategy="median", warm_up=40, indicator="columns"),
    OnlineImputer(strategy="constant", fill_value=-1.0, dtype="float32"),
    OnlineImputer(after="forget", warm_up=20),
    OnlineOneHot(),
    OnlineOneHot(unknown="infrequent", max_categories=5, dtype="float32"),
    OnlineOrdinal(max_categories=4),
    OnlineHashing(16),
    OnlineDates(),
    OnlineText(n_components=32, warm_up=40),
    OnlineText(vocabulary="hashing", n_components=32, after="move"),
)
def test_ours(estimator: Any, check: Any) -> None:
    check(estimator)


ORDER = "landmarks and categories are numbered in order of arrival, and the check shuffles them"


def expected_failures(estimator: Any) -> dict[str, str]:
    if isinstance(estimator, OnlineOneHot | OnlineOrdinal | OnlineText):
        return {"check_sample_weight_equivalence_on_dense_data": ORDER}
    return weights_are_not_copies(ORDER) if isinstance(estimator, NystroemFeatures) else {}


@scikit_learns_checks([cls() for cls in onlinesvm.all_transformers()], expected_failures)
def test_scikit_learns(estimator: Any, check: Any) -> None:
    if "sample_weight_equivalence" in str(check):  # copies of rows have another X.var()
        estimator = with_gamma(estimator)
    check(estimator)


def board(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A board of four fields, which no straight line parts."""
    X = np.random.default_rng(seed).uniform(-1, 1, (n, 2))
    return X, np.where(X[:, 0] * X[:, 1] > 0, "black", "white")


@every_class
@pytest.mark.parametrize("linear", LINEAR, ids=lambda model: type(model).__name__)
def test_a_linear_class_learns_what_is_not_linear(cls: type, linear: Any) -> None:
    (X, y), (X_test, y_test) = board(1500, 0), board(500, 1)
    model = make_pipeline(cls(gamma=2.0), clone(linear)).fit(X, y)
    assert model.score(X_test, y_test) > 0.9
    assert clone(linear).fit(X, y).score(X_test, y_test) < 0.7


@every_class
def test_gamma_by_word_does_not_depend_on_the_cut(cls: type) -> None:
    X, _ = board(400, 0)
    whole = cls().partial_fit(X)
    for size in (1, 60, 255, 257):
        model = cls()
        for start in range(0, 400, size):
            model.partial_fit(X[start : start + size])
        assert fingerprint(model) == fingerprint(whole)
        assert np.array_equal(model.transform(X), whole.transform(X))
    one_by_one = cls()
    for x in X:
        one_by_one.learn_one(x)
    assert fingerprint(one_by_one) == fingerprint(whole)


@every_class
def test_dicts_in_dicts_out(cls: type) -> None:
    model = cls(gamma=1.0, n_components=4)
    names = [f"{cls.__name__.lower()}{i}" for i in range(4)]
    assert model.transform_one({"a": 1.0}) == dict.fromkeys(names, 0.0)
    model.learn_one({"a": 1.0, "b": 2.0}).learn_one({"b": 1.0})
    one = model.transform_one({"a": 1.0, "never seen": 7.0})
    assert list(one) == names == model.get_feature_names_out().tolist()
    assert list(one.values()) == model.transform([{"a": 1.0}])[0].tolist()
    assert any(one.values())


@every_class
def test_frames_come_out_where_asked(cls: type) -> None:
    pandas = pytest.importorskip("pandas")
    X, _ = board(50, 0)
    model = cls(gamma=1.0, n_components=4).set_output(transform="pandas")
    frame = model.fit_transform(pandas.DataFrame(X, columns=["a", "b"]))
    assert frame.columns.tolist() == model.get_feature_names_out().tolist()


@every_class
def test_threads_and_company_do_not_change_a_bit(cls: type) -> None:
    X, _ = board(1000, 0)
    model = cls(gamma=1.0).fit(X)
    Z = model.transform(X)
    assert np.array_equal(model.set_params(n_jobs=3).transform(X), Z)
    assert np.array_equal(np.vstack([model.transform(X[i : i + 1]) for i in range(50)]), Z[:50])


@every_class
def test_ctrl_c_takes_a_call_back(cls: type) -> None:
    X, _ = board(900, 0)
    model = cls(gamma=1.0).partial_fit(X[:100])
    before = fingerprint(model)
    try:
        _core.interrupt_after(3)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X[100:])
    finally:
        _core.interrupt_after(0)
    assert fingerprint(model) == before
    whole = cls(gamma=1.0).partial_fit(X)
    assert fingerprint(model.partial_fit(X[100:])) == fingerprint(whole)
    try:
        _core.interrupt_after(2)
        with pytest.raises(KeyboardInterrupt):
            model.transform(X)
    finally:
        _core.interrupt_after(0)
    assert fingerprint(model) == fingerprint(whole)


@every_class
def test_parameters_of_a_model_that_has_begun(cls: type) -> None:
    X, _ = board(50, 0)
    model = cls(gamma=1.0, n_components=4).fit(X).set_params(n_components=6)
    with pytest.raises(ValueError, match=r"n_components=6 differs from n_components=4"):
        model.partial_fit(X)
    assert model.set_params(n_components=4).partial_fit(X).n_seen_ == 100


def test_forged_files_are_refused(tmp_path) -> None:
    """What the arrays say must fit together; see also tools/fuzz_models.py."""
    X, _ = board(50, 0)
    for model, name, forge in (
        (NystroemFeatures(gamma=1.0, n_components=4), "inverse", lambda v: v[:-1]),
        (NystroemFeatures(gamma=1.0, n_components=4), "inverse", lambda v: -v),
        (NystroemFeatures(gamma=1.0, n_components=4), "ids", lambda v: v[:-1]),
        (FourierFeatures(gamma=1.0, n_components=4), "frequencies", lambda v: v[:-1]),
        (FourierFeatures(gamma=1.0, n_components=4), "features", lambda v: v + 1),
    ):
        state = model.fit(X)._core.state()
        state[name] = np.ascontiguousarray(forge(state[name]))
        with pytest.raises(ValueError, match="state"):
            model._core.load(state)
