"""The cascade against one machine, against scikit-learn and a QP, in any cut of the rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from oracles import balanced_qp, blobs, signed_gram, streams
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from tiers import examples

from onlinesvm import IncrementalSVC, KernelPerceptron, PokerSVC, RampSVC, SmoSVC, load
from onlinesvm.cluster import ClusterCertificate, LocalParts, Part, cascade, fit, verify
from onlinesvm.cluster.cascade import Solved, _Solver
from onlinesvm.cluster.examples import Examples
from onlinesvm.datasets import make_checkerboard, make_waveform
from onlinesvm.reference import Kernel
from onlinesvm.unlearn.certificate import CertificateError

Array = NDArray[np.float64]
TIGHT: dict[str, Any] = {"multiclass": "one-vs-rest", "tol": 1e-8, "dtype": "float64"}


def cuts(y: NDArray[Any], parts: int, seed: int = 0) -> dict[str, list[NDArray[np.intp]]]:
    """Every kind of partitioning: row numbers of each part."""
    n = len(y)
    rng = np.random.default_rng(seed)
    shuffled, by_class = rng.permutation(n), np.argsort(y, kind="stable")
    shares = np.cumsum(np.geomspace(1, 200, parts))
    one_class = [np.flatnonzero(y == label) for label in np.unique(y)]
    empty = np.zeros(0, np.intp)
    return {
        "shuffled": np.array_split(shuffled, parts),
        "sorted": np.array_split(by_class, parts),
        "skewed": np.split(shuffled, (shares[:-1] / shares[-1] * n).astype(int)),
        "one class each": [p for c in one_class for p in np.array_split(c, max(1, parts // 2))],
        "with empty ones": [empty, *np.array_split(shuffled, parts - 1), empty],
    }


def sets() -> dict[str, tuple[Array, NDArray[Any], dict[str, Any]]]:
    """Five of them: rows, labels and parameters."""
    cancer, iris, digits = load_breast_cancer(), load_iris(), load_digits()
    board = make_checkerboard(500, noise=0.1, random_state=0)
    wave = make_waveform(400, random_state=0)
    scaled = StandardScaler().fit_transform
    some = digits.target < 4
    return {
        "checkerboard": (board[0], board[1], {"C": 10.0, "gamma": 4.0}),
        "waveform": (wave[0], wave[1], {"C": 1.0, "gamma": 0.05}),
        "breast cancer": (scaled(cancer.data), cancer.target, {"C": 5.0}),
        "iris": (scaled(iris.data), iris.target, {"C": 3.0, "kernel": "linear"}),
        "digits": (digits.data[some] / 16, digits.target[some], {"C": 2.0, "gamma": "auto"}),
    }


SETS = sets()


def equals(model: Any, one: Any, X: Array, atol: float = 2e-4) -> None:
    f, g = model.decision_function(X), one.decision_function(X)
    np.testing.assert_allclose(f, g, rtol=0, atol=atol)
    np.testing.assert_array_equal(model.classes_, one.classes_)


# ---- equality ------------------------------------------------------------------------------------


@pytest.mark.parametrize("parts", [2, 3, 8])
@pytest.mark.parametrize("name", SETS)
def test_any_cut_is_one_machine(name, parts):
    X, y, params = SETS[name]
    one = SmoSVC(**TIGHT, **params).fit(X, y)
    for cut, rows in cuts(y, parts).items():
        learned = cascade(LocalParts.cut(X, y, rows), SmoSVC(**TIGHT, **params))
        proof = learned.certificate
        assert proof.holds, cut
        assert sum(proof.rows) == len(X), cut
        assert proof.objective == pytest.approx(one.objective(), rel=1e-6), cut
        equals(learned.model, one, X)


@pytest.mark.parametrize("name", SETS)
def test_is_what_scikit_learn_finds(name):
    """Each output beside an SVC of its own, which knows nothing of this library."""
    X, y, params = SETS[name]
    learned = cascade(LocalParts.cut(X, y, cuts(y, 4)["sorted"]), SmoSVC(**TIGHT, **params))
    f = learned.model.decision_function(X).reshape(len(X), -1)
    labels = np.unique(y)
    for output, label in enumerate(labels[-1:] if len(labels) == 2 else labels):
        batch = SVC(tol=1e-9, **params).fit(X, y == label)
        np.testing.assert_allclose(f[:, output], batch.decision_function(X), atol=2e-4)


@pytest.mark.parametrize("model", [IncrementalSVC(C=2.0), IncrementalSVC(C=2.0, settle="call")])
def test_the_incremental_machine_is_exact(model):
    X, y, _ = SETS["breast cancer"]
    for cut, rows in cuts(y, 5).items():
        learned = cascade(LocalParts.cut(X, y, rows), model)
        one = clone(model).fit(X, y)
        np.testing.assert_allclose(
            learned.model.decision_function(X), one.decision_function(X), atol=1e-6, err_msg=cut
        )
        assert learned.certificate.kkt_residual <= 1e-8
        assert learned.model.settle == model.settle
        learned.model.partial_fit(X[:1] + 9, y[:1]).unlearn(learned.model.n_seen_ - 1)


@settings(max_examples=examples(40), deadline=None)
@given(stream=streams(max_size=14), data=st.data())
def test_any_rows_in_any_cut_solve_the_qp(stream, data):
    """Duplicates, contradictions, one class; more parts than rows."""
    n = len(stream.y)
    where = np.array(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))
    rows = [np.flatnonzero(where == part) for part in range(5)]
    parts = LocalParts.cut(stream.X, stream.y, rows)
    model = SmoSVC(C=2.0, gamma=2.0, classes=[-1.0, 1.0], **TIGHT)
    learned = cascade(parts, model)
    Q = signed_gram(Kernel("rbf", gamma=2.0), stream.X, stream.y)
    exact = balanced_qp(Q, stream.y, 2.0)
    f = stream.y * (learned.model.decision_function(stream.X) - learned.model.intercept_[0])
    np.testing.assert_allclose(f, Q @ exact, rtol=0, atol=1e-4)
    assert learned.certificate.objective == pytest.approx(
        exact.sum() - exact @ Q @ exact / 2, abs=1e-5
    )


def test_more_parts_than_rows():
    X, y = np.array([[0.0], [1.0], [3.0]]), np.array([0, 1, 1])
    learned = cascade(LocalParts.cut(X, y, 7), SmoSVC(gamma=1.0, **TIGHT))
    equals(learned.model, SmoSVC(gamma=1.0, **TIGHT).fit(X, y), X)


def test_a_bias_that_is_an_interval_is_in_its_middle():
    """No support vector on the margin, and a row of no use to its part bounds the bias: 2.2."""
    near = [-3.0, 2.2, 3.0, 2.9, 2.8, 2.7, 2.6, 2.5, 2.4]
    one_part = [*near, *np.linspace(-2.9, 0, 500), *np.linspace(5.0, 6.0, 7)]
    other = [-3.1, 2.1, *np.linspace(-2.95, 0.05, 500)]
    X = np.array([*one_part, *other])[:, None]
    y = np.where(X[:, 0] > 4, 1, -1)
    model = SmoSVC(C=1e-3, kernel="linear", **TIGHT)
    one = clone(model).fit(X, y)
    assert (np.abs(one.dual_coef_) == 1e-3).all()  # all at their bounds
    cut = [np.arange(len(one_part)), np.arange(len(one_part), len(X))]
    learned = cascade(LocalParts.cut(X, y, cut), model)
    assert learned.model.intercept_ == pytest.approx(one.intercept_, abs=1e-9)


@pytest.mark.parametrize("parts", [1, 4])
def test_weights_of_rows_and_classes(parts):
    X, y, params = SETS["checkerboard"]
    weight = np.random.default_rng(1).integers(0, 4, len(X)) / 2
    for class_weight in ("balanced", {-1: 0.5, 1: 3.0}, None):
        model = SmoSVC(**TIGHT, **params, class_weight=class_weight)
        one = clone(model).fit(X, y, sample_weight=weight)
        learned = cascade(LocalParts.cut(X, y, parts, sample_weight=weight), model)
        equals(learned.model, one, X)
        assert learned.certificate.holds
        assert sum(learned.certificate.rows) == (weight > 0).sum()


def test_words_are_settled_over_all_parts():
    X, y, _ = SETS["waveform"]
    X = X + 1e4  # where moments must be taken with care
    for word in ("scale", "auto"):
        learned = cascade(LocalParts.cut(X, y, 3), SmoSVC(gamma=word))
        assert learned.model.gamma_ == pytest.approx(SmoSVC(gamma=word).fit(X, y).gamma_)
        assert learned.model.gamma == learned.model.gamma_


def test_without_a_bias_and_sparse():
    X, y, params = SETS["digits"]
    model = SmoSVC(**TIGHT, **params, bias="none")
    learned = cascade(LocalParts.cut(sp.csr_array(X), y, 4), model)
    assert sp.issparse(learned.model.support_vectors_)
    equals(learned.model, clone(model).fit(sp.csr_array(X), y), sp.csr_array(X))


def test_float32_keeps_its_promise():
    X, y, params = SETS["breast cancer"]
    learned = cascade(LocalParts.cut(X, y, 4), SmoSVC(**params))
    assert learned.certificate.kkt_residual <= 1e-3
    assert learned.model.kkt_residual() <= 1e-3
    assert learned.model.support_vectors_.dtype == np.float32


# ---- ids, keys, the model ------------------------------------------------------------------------


def test_ids_are_those_of_one_machine():
    X, y, params = SETS["checkerboard"]
    parts = LocalParts.cut(X, y, 5, keys=[f"customer {i % 50}" for i in range(len(X))])
    model = cascade(parts, SmoSVC(**TIGHT, **params)).model
    np.testing.assert_array_equal(model.support_, SmoSVC(**TIGHT, **params).fit(X, y).support_)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    assert set(model.ids_of("customer 7") % 50) == {7}


def test_ids_of_ones_own():
    X, y, params = SETS["checkerboard"]
    ids = np.random.default_rng(0).permutation(len(X)) + 1000
    model = cascade(LocalParts.cut(X, y, 3, ids=ids), SmoSVC(**TIGHT, **params)).model
    back = {number: row for row, number in enumerate(ids.tolist())}
    rows = [back[number] for number in model.support_.tolist()]
    np.testing.assert_array_equal(model.support_vectors_, X[rows])


def test_the_model_given_stays_and_the_one_returned_goes_on(tmp_path):
    X, y, params = SETS["checkerboard"]
    given_model = SmoSVC(**params)
    model = cascade(LocalParts.cut(X[:400], y[:400], 3), given_model).model
    assert not given_model.__sklearn_is_fitted__()
    model.save(tmp_path / "model")
    again = load(tmp_path / "model").partial_fit(X[400:], y[400:])
    assert again.kkt_residual() <= 1e-3


def test_equal_calls_give_equal_bits():
    X, y, params = SETS["digits"]
    one, two = (cascade(LocalParts.cut(X, y, 4), SmoSVC(**params)) for _ in range(2))
    assert one.certificate == two.certificate
    np.testing.assert_array_equal(one.model.dual_coef_, two.model.dual_coef_)


# ---- the certificate -----------------------------------------------------------------------------


def test_the_certificate_tells_the_truth(tmp_path):
    X, y, _ = SETS["checkerboard"]
    parts = LocalParts.cut(X, y, cuts(y, 4)["skewed"])
    learned = cascade(parts, SmoSVC(C=10.0, gamma=4.0, tol=1e-2))
    proof, model = learned.certificate, learned.model
    # The violation of every row, from the model's own faces.
    s = np.zeros(len(X))
    order = np.concatenate(cuts(y, 4)["skewed"])
    s[order[model.support_]] = model.dual_coef_[0]
    h = y - model.decision_function(X)
    free_way = np.where(h > 0, s < np.maximum(0, 10.0 * y), s > np.minimum(0, 10.0 * y))
    off = np.where(free_way, np.abs(h), 0)
    for rows, said in zip(cuts(y, 4)["skewed"], proof.violations, strict=True):
        assert off[rows].max(initial=0) == pytest.approx(said, abs=1e-4)
    assert proof.kkt_residual == max(proof.violations)
    exact = SVC(C=10.0, gamma=4.0, tol=1e-9).fit(X, y)
    f = model.decision_function(X) - model.intercept_
    assert np.abs(f - (exact.decision_function(X) - exact.intercept_)).max() <= proof.distance
    assert verify(proof, model, parts)
    proof.save(tmp_path / "proof.json")
    assert ClusterCertificate.load(tmp_path / "proof.json") == proof
    assert proof["rows"] == [len(rows) for rows in cuts(y, 4)["skewed"]]


def test_the_duality_gap_is_that_of_all_rows():
    X, y, _ = SETS["checkerboard"]
    proof = (learned := cascade(LocalParts.cut(X, y, 3), SmoSVC(10.0, gamma=4.0))).certificate
    one = SmoSVC(10.0, gamma=4.0, **TIGHT).fit(X, y)
    f = learned.model.decision_function(X)
    w2 = float(learned.model.dual_coef_[0] @ (f[learned.model.support_] - learned.model.intercept_))
    primal = w2 / 2 + 10 * np.maximum(0, 1 - y * f).sum()
    assert proof.duality_gap == pytest.approx(primal - proof.objective, rel=1e-2)
    assert proof.objective <= one.objective() + 1e-6 <= primal + 1e-6
    assert proof.distance == pytest.approx(math.sqrt(2 * proof.duality_gap))


def test_verify_refuses():
    X, y, params = SETS["checkerboard"]
    parts = LocalParts.cut(X, y, 3)
    learned = cascade(parts, SmoSVC(**params))
    proof, model = learned.certificate, learned.model
    altered = type(proof)(**{**proof, "tol": 1.0})
    with pytest.raises(CertificateError, match="altered"):
        verify(altered, model, parts)
    with pytest.raises(CertificateError, match="is about a SmoSVC"):
        verify(proof, IncrementalSVC(), parts)
    bent = X.copy()
    bent[0] += 1e-3
    with pytest.raises(CertificateError, match="other rows"):
        verify(proof, model, LocalParts.cut(bent, y, 3))
    lied = type(proof)(**{**proof, "violations": [0.0] * 3}).sealed()
    with pytest.raises(CertificateError, match="violates its condition"):
        verify(lied, model, parts)
    model.partial_fit([[0.5, 0.5]], [1])
    with pytest.raises(CertificateError, match="other coefficients"):
        verify(proof, model, parts)


def test_too_few_rounds_are_said():
    X, y, params = SETS["checkerboard"]
    parts = LocalParts.cut(X, y, cuts(y, 4)["one class each"])
    with pytest.warns(ConvergenceWarning, match="raise max_rounds=1"):
        learned = cascade(parts, SmoSVC(**params), max_rounds=1)
    assert not learned.certificate.holds
    assert learned.certificate.rounds == 1


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "error", "says"),
    [
        (RampSVC(), TypeError, "many solutions"),
        (KernelPerceptron(), TypeError, "not KernelPerceptron"),
        (PokerSVC(), TypeError, "SmoSVC or IncrementalSVC, not PokerSVC"),
        (SmoSVC(multiclass="one-vs-one"), ValueError, "multiclass='one-vs-rest'"),
        (SmoSVC(classes=[3, 4]), ValueError, "unknown label 0"),
    ],
)
def test_models_it_cannot_learn(model, error, says):
    with pytest.raises(error, match=says):
        fit(LocalParts.cut(np.eye(4), np.array([0, 1, 0, 1]), 2), model)


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ([], "no part"),
        ([Part(np.zeros((0, 2)), np.zeros(0))], "no row"),
        ([Part(np.eye(2), np.array([0, 1, 1]))], "part 0: y has 3 entries for 2 rows"),
        ([Part(np.eye(2), np.arange(2)), Part(np.eye(3), np.arange(3))], "2 and 3 features"),
        ([Part(np.eye(2), np.arange(2)), Part(np.eye(2), np.array(["a", "b"]))], "several kinds"),
        ([Part(np.eye(2), np.arange(2)), Part(sp.csr_array(np.eye(2)), np.arange(2))], "sparse"),
        ([Part(np.eye(2) * np.nan, np.arange(2))], "part 0: X contains NaN"),
        ([Part(np.eye(2), np.arange(2), np.array([1.0, -1.0]))], "sample_weight must be finite"),
        ([Part(np.eye(2), np.arange(2), np.zeros(2))], "zero everywhere"),
        (
            [Part(np.eye(2), np.arange(2), ids=np.arange(2)), Part(np.eye(2), np.arange(2))],
            "some parts have ids",
        ),
        (
            [Part(blobs(s).X, blobs(s).y, ids=np.arange(30)) for s in (0, 1)],
            "not distinct",
        ),
    ],
)
def test_parts_that_do_not_fit(parts, says):
    with pytest.raises(ValueError, match=says):
        cascade(LocalParts(parts), SmoSVC(gamma=1.0))


def test_what_travels_brings_its_coefficients():
    """Aligned with its rows whatever their order, and none where most are inside their bounds."""
    rng = np.random.default_rng(0)
    X, y, params = SETS["waveform"]
    ids = rng.permutation(5000)[: len(X)]
    rows = Examples(X, y, np.ones(len(X)), ids)
    for C, handed_on in ((0.01, True), (1000.0, False)):
        solver = _Solver.like(SmoSVC(**TIGHT, gamma=params["gamma"], C=C), np.unique(y))
        found = solver.support(Solved.fresh(rows, solver.outputs))
        assert found.s.any() == handed_on
        np.testing.assert_array_equal(found.rows.X, X[np.isin(ids, found.rows.ids)])
        if handed_on:
            again = solver.support(found)  # at the solution of these rows already
            np.testing.assert_allclose(again.s, found.s[:, np.isin(found.rows.ids, again.rows.ids)])
            halves = [found.picked(np.arange(len(found)) % 2 == k) for k in (1, 0)]
            whole = Solved.joined(halves)
            order = np.argsort(found.rows.ids)
            np.testing.assert_array_equal(whole.s, found.s[:, order])
