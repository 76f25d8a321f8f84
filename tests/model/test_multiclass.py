"""One machine for each pair of classes: scikit-learn's SVC, and binary models by themselves."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_digits, load_iris
from sklearn.svm import SVC

import onlinesvm
from onlinesvm import (
    LASVC,
    CalibratedOnline,
    CertificateError,
    IncrementalSVC,
    LabelDesk,
    OnlineScaler,
    RampSVC,
    SmoSVC,
    load,
    make_online_pipeline,
    verify,
)
from onlinesvm.queries import Margin

CLASSES = [SmoSVC, IncrementalSVC, RampSVC, LASVC]
NAMES = np.array(["oak", "ash", "fir", "elm"])


def blobs(n: int = 240, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    """Four classes of very unlike size, whose names do not come in their order."""
    rng = np.random.default_rng(seed)
    code = rng.choice(4, n, p=[0.5, 0.3, 0.15, 0.05])
    X = rng.normal(size=(n, 3)) + np.array([[0, 0, 0], [2, 0, 0], [0, 2, 0], [1, 1, 2]])[code]
    return X, NAMES[code]


def pairs(cls: Any, **params: Any) -> Any:
    return cls(multiclass="one-vs-one", gamma=0.3, dtype="float64", **params)


def assert_same_as_svc(model: Any, batch: SVC, X: Any, atol: float) -> None:
    theirs = batch.set_params(decision_function_shape="ovo").decision_function(X)
    np.testing.assert_allclose(model.pairwise_decision_function(X), theirs, atol=atol)
    votes = batch.set_params(decision_function_shape="ovr").decision_function(X)
    clear = (np.abs(theirs) > 2 * atol).all(axis=1)
    np.testing.assert_allclose(model.decision_function(X)[clear], votes[clear], atol=len(X) * atol)
    by = np.diff(np.sort(votes, axis=1)[:, -2:])[:, 0]
    clear &= by > 10 * atol
    assert clear.mean() > 0.9
    assert (model.predict(X) == batch.set_params(break_ties=True).predict(X))[clear].all()


@pytest.mark.parametrize("data", [load_iris, load_digits], ids=["iris", "digits"])
@pytest.mark.parametrize("cls", [SmoSVC, IncrementalSVC])
def test_it_is_svc(cls: Any, data: Any) -> None:
    X, y = data(return_X_y=True)
    X, y = X[::3] / X.max(), y[::3]
    model = cls(C=5.0, gamma=2.0, tol=1e-9, dtype="float64", multiclass="one-vs-one").fit(X, y)
    assert_same_as_svc(model, SVC(C=5.0, gamma=2.0, tol=1e-9).fit(X, y), X, 1e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_attributes_are_those_of_svc(kernel: str) -> None:
    X, y = blobs()
    batch = SVC(kernel=kernel, gamma=0.3, tol=1e-9).fit(X, y)
    model = pairs(SmoSVC, kernel=kernel, tol=1e-9).fit(X, y)
    assert_same_as_svc(model, batch, X, 1e-5)  # SVC's own kernel values are float32
    assert (model.n_support_ == batch.n_support_).all()
    # scikit-learn's come class by class, ours by id
    order = np.lexsort((batch.support_, y[batch.support_]))
    ours = np.lexsort((model.support_, y[model.support_]))
    assert (model.support_[ours] == batch.support_[order]).all()
    np.testing.assert_allclose(model.dual_coef_[:, ours], batch.dual_coef_[:, order], atol=1e-4)
    np.testing.assert_allclose(model.intercept_, batch.intercept_, atol=1e-5)
    assert model.n_iter_.shape == batch.intercept_.shape
    if kernel == "linear":
        np.testing.assert_allclose(model.coef_, batch.coef_, atol=1e-4)


@pytest.mark.parametrize("cls", CLASSES)
def test_each_pair_is_the_binary_model(cls: Any) -> None:
    X, y = blobs()
    model = pairs(cls, classes=NAMES).partial_fit(X, y)
    f = model.pairwise_decision_function(X)
    for column, (first, second) in enumerate(combinations(model.classes_, 2)):
        of = np.isin(y, [first, second])
        alone = pairs(cls, classes=[first, second]).partial_fit(X[of], y[of])
        np.testing.assert_allclose(-f[:, column], alone.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("cls", [RampSVC, IncrementalSVC])
def test_a_class_that_comes_late_is_as_if_it_had_been_known(cls: Any) -> None:
    X, y = blobs()
    order = np.argsort(y == "oak", kind="stable")  # the largest class last
    X, y = X[order], y[order]
    known = pairs(cls, classes=NAMES, settle="example").partial_fit(X, y)
    late = pairs(cls, classes="open", settle="example")
    for start in range(0, len(X), 50):
        late.partial_fit(X[start : start + 50], y[start : start + 50])
    np.testing.assert_allclose(
        known.pairwise_decision_function(X), late.pairwise_decision_function(X), atol=1e-12
    )
    assert (known.support_ == late.support_).all()


@pytest.mark.parametrize("cls", [SmoSVC, IncrementalSVC])
def test_unlearning_is_never_having_seen(cls: Any) -> None:
    X, y = blobs()
    gone = np.arange(0, len(X), 4)
    stay = np.setdiff1d(np.arange(len(X)), gone)
    model = pairs(cls, tol=1e-8).fit(X, y).unlearn(gone)
    fresh = pairs(cls, tol=1e-8).fit(X[stay], y[stay])
    np.testing.assert_allclose(
        model.pairwise_decision_function(X), fresh.pairwise_decision_function(X), atol=1e-6
    )
    assert not np.isin(model.support_, gone).any()
    assert model.kkt_residual() <= 1e-8


def test_rows_are_kept_once() -> None:
    """Wide rows of ten classes: nine machines have each of them, and nobody a copy."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2000)), np.arange(300) % 10
    small = {"dtype": "float32", "gamma": 1e-4, "cache_bytes": 1 << 16}
    one = RampSVC(multiclass="one-vs-one", **small).fit(X, y)
    rest = RampSVC(multiclass="one-vs-rest", **small).fit(X, y)
    assert X.size * 4 < one.nbytes_ < 1.5 * rest.nbytes_


def test_pairs_have_little_memory_of_their_own() -> None:
    """k (k - 1) / 2 machines of n / k rows each are no k^2 n."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1200, 2)), np.arange(1200)
    bytes_of = {
        k: IncrementalSVC(multiclass="one-vs-one", gamma=1.0, cache_bytes=1 << 16, C=1e-3)
        .fit(X, y % k)
        .nbytes_
        for k in (10, 40)
    }
    assert bytes_of[40] < 6 * bytes_of[10]


def test_many_rare_classes_are_told_apart() -> None:
    """Twenty classes in a row, each a sliver: against the rest a sliver loses everywhere."""
    rng = np.random.default_rng(0)
    place = rng.uniform(0, 20, 1200)
    X, y = np.c_[place, rng.normal(size=1200)], place.astype(int)
    scores = {
        how: SmoSVC(multiclass=how, kernel="linear").fit(X[:900], y[:900]).score(X[900:], y[900:])
        for how in ("one-vs-one", "one-vs-rest")
    }
    assert scores["one-vs-one"] > 0.9
    assert scores["one-vs-one"] > scores["one-vs-rest"] + 0.3


@pytest.mark.parametrize("cls", CLASSES)
def test_two_classes_are_the_same_either_way(cls: Any) -> None:
    X, y = blobs()
    y = y == "oak"
    one, rest = pairs(cls).fit(X, y), cls(gamma=0.3, dtype="float64").fit(X, y)
    np.testing.assert_allclose(one.decision_function(X), rest.decision_function(X), atol=1e-12)
    assert (one.pairwise_decision_function(X) == one.decision_function(X)).all()
    assert (one.dual_coef_ == rest.dual_coef_).all()


def test_set_c_and_weights_go_to_the_new_solution() -> None:
    X, y = blobs()
    model = pairs(IncrementalSVC).fit(X, y).set_C(3.0)
    fresh = pairs(IncrementalSVC, C=3.0).fit(X, y)
    f = fresh.pairwise_decision_function(X)
    np.testing.assert_allclose(model.pairwise_decision_function(X), f, atol=1e-6)
    weights = np.where(np.arange(len(X)) < 20, 0.25, 1.0)
    model.reweight(np.arange(20), 0.25)
    fresh.fit(X, y, sample_weight=weights)
    f = fresh.pairwise_decision_function(X)
    np.testing.assert_allclose(model.pairwise_decision_function(X), f, atol=1e-6)
    with pytest.raises(ValueError, match="no example with id 9999"):
        model.reweight([3, 9999], 0.5)
    np.testing.assert_allclose(model.pairwise_decision_function(X), f, atol=1e-6)


def test_less_cache_changes_nothing() -> None:
    X, y = blobs()
    model = pairs(IncrementalSVC, classes="open").partial_fit(X, y)
    model.cache_bytes = 4096
    model.partial_fit(X, y)
    twin = pairs(IncrementalSVC, classes="open").partial_fit(X, y).partial_fit(X, y)
    np.testing.assert_allclose(
        model.pairwise_decision_function(X), twin.pairwise_decision_function(X), atol=1e-6
    )


def test_queries_see_margins_and_not_votes() -> None:
    X, y = blobs()
    model = pairs(SmoSVC).fit(X, y)
    asked = model.wants_label(X)
    f = model.pairwise_decision_function(X)
    best = np.searchsorted(model.classes_, model.predict(X))
    own = [
        [column for column, pair in enumerate(combinations(range(4), 2)) if c in pair]
        for c in range(4)
    ]
    nearest = np.array([np.abs(row[own[c]]).min() for row, c in zip(f, best, strict=True)])
    assert (asked[nearest <= 1]).all()
    assert 0 < asked.mean() < 1
    model = make_online_pipeline(OnlineScaler(), pairs(SmoSVC, classes=NAMES))
    desk = LabelDesk(model, query=Margin())
    desk.model.partial_fit(X, y)
    worth = [bool(desk.ask(x)) for x in X[:20]]
    assert len(worth) == 20


def test_probabilities_of_votes() -> None:
    X, y = blobs(600)
    model = CalibratedOnline(pairs(RampSVC)).partial_fit(X, y, classes=NAMES)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert (model.classes_[proba.argmax(axis=1)] == y).mean() > 0.6


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_an_onnx_graph_votes_too(kernel: str) -> None:
    pytest.importorskip("onnx")
    ort = pytest.importorskip("onnxruntime")
    from onlinesvm.interop.onnx import to_onnx

    X, y = blobs()
    model = pairs(RampSVC, kernel=kernel, bias="kernel").fit(X, y)
    graph = to_onnx(model, dtype="float64").SerializeToString()
    label, scores = ort.InferenceSession(graph).run(None, {"X": X})
    np.testing.assert_allclose(scores, model.decision_function(X), atol=1e-9)
    assert (label == model.predict(X)).all()


def test_leave_one_out_of_pairs_is_retraining() -> None:
    X, y = blobs(60)
    left = pairs(IncrementalSVC).fit(X, y).leave_one_out()
    for i in range(0, len(X), 7):
        rest = np.arange(len(X)) != i
        without = pairs(IncrementalSVC, classes=NAMES).fit(X[rest], y[rest])
        np.testing.assert_allclose(left.scores[i], without.decision_function(X[[i]])[0], atol=1e-6)
        assert left.predictions[i] == without.predict(X[[i]])[0]
    assert (left.labels == y).all()


@pytest.mark.parametrize("cls", [SmoSVC, IncrementalSVC, RampSVC])
def test_certificates_of_pairs_hold_and_are_checked(cls: Any) -> None:
    X, y = blobs()
    model = pairs(cls, classes=NAMES).fit(X, y)
    proof = model.unlearn([3, 17], certificate=True)
    assert verify(proof, model)
    assert "pairwise_decision_function(x) is within" in proof.statement
    if cls is not RampSVC:
        stay = np.setdiff1d(np.arange(len(X)), [3, 17])
        exact = pairs(SmoSVC, classes=NAMES, tol=1e-10).fit(X[stay], y[stay])
        off = model.pairwise_decision_function(X) - exact.pairwise_decision_function(X)
        assert np.abs(off).max() <= proof.distance + proof.bias_distance + 1e-8
    state = model._core.state()
    at = next(name for name, s in state.items() if name.endswith(".s") and (s != 0).any())
    state[at] = state[at] * 0.5
    model._core.load(state)
    with pytest.raises(CertificateError, match="other coefficients"):
        verify(proof, model)


@pytest.mark.parametrize("cls", CLASSES)
def test_a_compressed_copy_votes_as_its_model(cls: Any, tmp_path: Path) -> None:
    X, y = blobs()
    model = pairs(cls).fit(X, y)
    few = model.compress(0.05)
    f = model.pairwise_decision_function(X)
    assert np.abs(few.pairwise_decision_function(X) - f).max() <= few.compression_.bound <= 0.05
    assert len(few.support_) <= len(model.support_)
    clear = (np.abs(f) > 0.05).all(axis=1)
    assert (few.predict(X) == model.predict(X))[clear].all()
    assert [few.predict_one(x) for x in X[:20]] == few.predict(X[:20]).tolist()
    assert few.dual_coef_.shape == (6, len(few.support_))
    assert (few.n_support_ == (few.dual_coef_ != 0).sum(axis=1)).all()
    few.save(tmp_path / "few.svm")
    again = load(tmp_path / "few.svm")
    assert (again.decision_function(X) == few.decision_function(X)).all()


@pytest.mark.parametrize("cls", CLASSES)
def test_auto_takes_pairs_where_all_classes_are_known(cls: Any) -> None:
    X, y = blobs()
    auto = cls(gamma=0.3, dtype="float64").fit(X, y)
    assert (auto.decision_function(X) == pairs(cls).fit(X, y).decision_function(X)).all()
    stream = cls(gamma=0.3).partial_fit(X, y, classes=NAMES)
    assert stream.pairwise_decision_function(X).shape == (len(X), 6)
    many = cls(classes=np.arange(31)).partial_fit(X, np.arange(len(X)) % 31)
    for rest in (
        cls(classes="open").partial_fit(X, y),
        cls(multiclass="one-vs-rest").fit(X, y),
        many,
    ):
        with pytest.raises(NotImplementedError, match="one machine for each class"):
            rest.pairwise_decision_function(X)


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("classes", [None, "open"])
def test_auto_is_saved_and_goes_on(cls: Any, classes: Any, tmp_path: Path) -> None:
    X, y = blobs()
    model = cls(gamma=0.3, classes=classes).fit(X, y)
    model.save(tmp_path / "model.svm")
    again = load(tmp_path / "model.svm")
    for one in (model, again):
        one.partial_fit(X, y)
    assert (again.decision_function(X) == model.decision_function(X)).all()


@pytest.mark.parametrize(
    ("cls", "name", "value"),
    [
        (RampSVC, "max_support", 10),
        (RampSVC, "budget", "1MB"),
        (RampSVC, "query", Margin()),
        (LASVC, "query", "greedy"),
    ],
)
def test_auto_is_one_vs_rest_with_bounds_and_queries(cls: Any, name: str, value: Any) -> None:
    X, y = blobs()
    model = cls(**{name: value}).fit(X, y)
    assert not model._core.has_pairs
    assert model.decision_function(X).shape == (len(X), 4)


@pytest.mark.parametrize(
    ("cls", "name", "value"),
    [
        (RampSVC, "max_support", 10),
        (RampSVC, "budget", "1MB"),
        (RampSVC, "query", "margin"),
        (LASVC, "query", "greedy"),
    ],
)
def test_bounds_and_queries_are_of_one_vs_rest(cls: Any, name: str, value: Any) -> None:
    X, y = blobs()
    with pytest.raises(ValueError, match=f"{name}=.* is for multiclass='one-vs-rest'"):
        pairs(cls, **{name: value}).fit(X, y)


def test_the_choice_is_made_once() -> None:
    X, y = blobs()
    model = RampSVC(classes="open").partial_fit(X, y)
    model.multiclass = "one-vs-one"
    with pytest.raises(ValueError, match="multiclass='one-vs-one' differs"):
        model.partial_fit(X, y)
    with pytest.raises(NotImplementedError, match="use multiclass='one-vs-one'"):
        RampSVC(multiclass="one-vs-rest").fit(X, y).pairwise_decision_function(X)
    with pytest.raises(ValueError, match="multiclass must be"):
        RampSVC(multiclass="ovo").fit(X, y)


def test_others_do_not_have_the_word() -> None:
    having = [c for c in onlinesvm.all_estimators() if "multiclass" in c().get_params()]
    assert {c.__name__ for c in having} == {c.__name__ for c in CLASSES}
