"""The core vector machine: the P2 solution from a core, with bounds that hold at every stop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from contract import Contract
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from oracles import Stream, alphas, blobs, box_qp, nasty_streams, signed_gram, streams
from tiers import examples

from onlinesvm import CoreVectorSVC, load
from onlinesvm.reference import CoreVector, Kernel
from onlinesvm.reference.stream_svm import enclosing_ball

# Settings under which a class behaves differently, and checks it is known to fail, with the reason.
CONTRACT = {
    "CoreVectorSVC": Contract(
        variants=[
            {"classes": "open", "sample": "all", "dtype": "float64", "C": 10.0},
            {"kernel": "laplacian", "bias": "kernel", "sample": 3},
            {"kernel": "linear", "class_weight": {"ash": 2.0}},
        ],
    ),
}

Array = NDArray[np.float64]
RBF = Kernel("rbf", gamma=0.5)
LINEAR = Kernel("linear")
POLY = Kernel("poly", gamma=0.5, degree=2, coef0=1.0)


def machine(kernel: Kernel = RBF, **params: Any) -> CoreVectorSVC:
    settled = {"tol": 1e-9, "dtype": "float64", "classes": [-1.0, 1.0]} | params
    shape = {"kernel": kernel.name, "gamma": kernel.gamma, "degree": int(kernel.degree)}
    return CoreVectorSVC(**shape, coef0=kernel.coef0, **settled)


def points(kernel: Kernel, stream: Stream, C: Array | float) -> Array:
    """Kt: inner products of the points Z_i."""
    slack = np.broadcast_to(1 / np.asarray(C, dtype=np.float64), len(stream.y))
    return signed_gram(kernel, stream.X, stream.y) + np.diag(slack)


def solution(Kt: Array) -> Array:
    """The multipliers of P2: no bound but 0, so a wide box does."""
    return box_qp(Kt, 1e4)


def smallest_radius(Kt: Array) -> float:
    """R*^2 = eta - rho*, rho* = 1 / sum alpha*."""
    return float(np.sqrt(max(0.0, Kt.diagonal().max() - 1 / solution(Kt).sum())))


# ---- the solution ------------------------------------------------------------------------------


def test_two_points_by_hand() -> None:
    model = machine(LINEAR, C=1.0).fit([[1.0], [-1.0]], [1.0, -1.0])
    assert np.allclose(model.dual_coef_, [[1 / 3, -1 / 3]])
    assert np.isclose(model.decision_function([[1.0]])[0], 2 / 3)
    assert np.allclose(model.radius_, np.sqrt(2 - 1.5))  # eta = 2, rho = (2 + 1) / 2


@pytest.mark.parametrize("sample", [59, 4, "all"])
@pytest.mark.parametrize("C", [0.1, 1.0, 50.0])
@pytest.mark.parametrize("kernel", [RBF, LINEAR, POLY], ids=lambda k: k.name)
def test_it_is_the_svm_with_squared_slack(kernel: Kernel, C: float, sample: Any) -> None:
    stream = blobs(3, n=60)
    Kt = points(kernel, stream, C)
    model = machine(kernel, C=C, sample=sample).fit(stream.X, stream.y)
    assert np.allclose(alphas(model, 60)[0], solution(Kt), atol=1e-7 * C)
    assert model.kkt_residual() <= 1e-8


@pytest.mark.parametrize("stream", nasty_streams(), ids=repr)
def test_nasty_streams(stream: Stream) -> None:
    for kernel in (RBF, LINEAR):
        if kernel is LINEAR and stream.name.startswith("huge"):
            continue  # 1e12 against a slack of 1: beyond what 53 bits tell
        model = machine(kernel, C=2.0).fit(stream.X, stream.y)
        f = signed_gram(kernel, stream.X, stream.y) @ solution(points(kernel, stream, 2.0))
        assert np.allclose(model.decision_function(stream.X) * stream.y, f, atol=1e-5)


def test_the_ball_alone_is_another_problem_where_points_differ_in_length() -> None:
    stream = blobs(0, n=40)
    Kt = points(LINEAR, stream, 1.0)
    w_ball = (enclosing_ball(Kt, np.zeros(40))[1] * stream.y) @ stream.X
    model = machine(LINEAR).fit(stream.X, stream.y)
    w = (model.dual_coef_ @ model.support_vectors_)[0]
    assert w @ w_ball / np.linalg.norm(w) / np.linalg.norm(w_ball) < 0.999
    w_svm = (solution(Kt) * stream.y) @ stream.X
    assert np.allclose(w, w_svm, atol=1e-6)


def test_where_they_do_not_it_is_the_smallest_ball() -> None:
    stream = blobs(1, n=40)
    R, _ = enclosing_ball(points(RBF, stream, 1.0), np.zeros(40))
    assert np.isclose(machine().fit(stream.X, stream.y).radius_[0], R, rtol=1e-8)


def test_the_twin_agrees() -> None:
    for stream in nasty_streams(20):
        if stream.name.startswith("huge"):
            continue
        twin = CoreVector(3.0, RBF, tol=1e-8).fit(stream.X, stream.y)
        model = machine(C=3.0, sample="all", tol=1e-8).fit(stream.X, stream.y)
        assert np.allclose(model.decision_function(stream.X), twin.decide(stream.X), atol=1e-6)
        assert np.isclose(model.radius_[0], twin.radii[-1], rtol=1e-7)


# ---- the bounds --------------------------------------------------------------------------------


@pytest.mark.parametrize("sample", [5, "all"])
@pytest.mark.parametrize("tol", [0.3, 1e-1, 1e-2, 1e-4])
def test_the_radius_is_within_one_plus_epsilon(tol: float, sample: Any) -> None:
    for seed in range(5):
        stream = blobs(seed, n=50)
        for kernel in (RBF, LINEAR):
            best = smallest_radius(points(kernel, stream, 1.0))
            model = machine(kernel, tol=tol, sample=sample).fit(stream.X, stream.y)
            R = model.radius_[0]
            assert best * (1 + 1e-12) >= R
            assert best <= (1 + tol) * R * (1 + 1e-12)
            assert model.kkt_residual() <= tol


def test_the_radius_rises_round_by_round() -> None:
    stream = blobs(2, n=60)
    radii = np.array(CoreVector(1.0, RBF).fit(stream.X, stream.y).radii)
    assert (np.diff(radii) >= -1e-15).all()
    model, R = machine(tol=1e-3), 0.0
    for i in range(60):
        model.partial_fit(stream.X[i : i + 1], stream.y[i : i + 1])
        assert model.radius_[0] >= R * (1 - 1e-12)
        R = model.radius_[0]


def test_the_core_is_small_where_the_tolerance_is_large() -> None:
    stream = blobs(4, n=400, noise=0.0)
    sizes = [
        len(machine(tol=tol, C=100.0, sample="all").fit(stream.X, stream.y).support_)
        for tol in (0.5, 1e-1, 1e-4)
    ]
    assert sizes[0] < sizes[1] <= sizes[2] < 400


def test_passes_are_counted() -> None:
    stream = blobs(5, n=500)
    every = machine(tol=1e-3, sample="all").fit(stream.X, stream.y)
    drawn = machine(tol=1e-3, sample=59).fit(stream.X, stream.y)
    assert every.passes_ >= len(every.support_) - 1  # one joins per pass, two begin
    assert 1 <= drawn.passes_ <= every.passes_ / 5
    assert every.partial_fit(stream.X[:1], stream.y[:1]).passes_ <= 3


@settings(max_examples=examples(60), deadline=None)
@given(stream=streams(), C=st.sampled_from([0.01, 1.0, 100.0]), sample=st.sampled_from([1, 59]))
def test_any_stream_property(stream: Stream, C: float, sample: int) -> None:
    model = machine(C=C, tol=1e-3, sample=sample).fit(stream.X, stream.y)
    alpha = alphas(model, len(stream.y))[0]
    Kt = points(RBF, stream, C)
    G = 1 - Kt @ alpha
    assert np.where(alpha > 0, np.abs(G), np.maximum(G, 0)).max() <= 1e-3
    assert (model.dual_coef_ * stream.y[model.support_] > 0).all()


# ---- going on, taking back ---------------------------------------------------------------------


def test_unlearning_is_never_having_learned() -> None:
    stream, rng = blobs(6, n=80), np.random.default_rng(0)
    model = machine(C=5.0).fit(stream.X, stream.y)
    left = np.arange(80)
    for size in (1, 10, 30):
        gone = rng.choice(left, size, replace=False)
        left = np.setdiff1d(left, gone)
        model.unlearn(gone)
        fresh = machine(C=5.0).fit(stream.X[left], stream.y[left])
        a, b = (m.decision_function(stream.X) for m in (model, fresh))
        assert np.allclose(a, b, atol=1e-7)
    model.unlearn(model.support_)  # the whole core at once
    assert model.kkt_residual() <= 1e-8
    model.unlearn(np.arange(80))
    assert not model.decision_function(stream.X).any()
    model.partial_fit(stream.X, stream.y)
    assert np.allclose(
        model.decision_function(stream.X),
        machine(C=5.0).fit(stream.X, stream.y).decision_function(stream.X),
        atol=1e-7,
    )


def test_weight_two_is_two_copies() -> None:
    stream = blobs(7, n=40)
    w = np.arange(40) % 3
    weighted = machine().fit(stream.X, stream.y, sample_weight=w)
    copies = machine().fit(np.repeat(stream.X, w, axis=0), np.repeat(stream.y, w))
    assert np.allclose(
        weighted.decision_function(stream.X), copies.decision_function(stream.X), atol=1e-7
    )
    Kt = points(RBF, Stream("kept", stream.X[w > 0], stream.y[w > 0]), w[w > 0])
    assert np.allclose(alphas(weighted, 40)[0][w > 0], solution(Kt), atol=1e-7)


def test_the_objective_is_that_of_p2() -> None:
    stream = blobs(8, n=40)
    model = machine(C=3.0).fit(stream.X, stream.y)
    alpha, Kt = solution(points(RBF, stream, 3.0)), points(RBF, stream, 3.0)
    assert np.isclose(model.objective(), alpha.sum() - alpha @ Kt @ alpha / 2, rtol=1e-8)


def test_many_classes_share_one_core() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = np.argmax(X + 0.3 * rng.normal(size=X.shape), axis=1)
    model = CoreVectorSVC(gamma=0.5, tol=1e-9, dtype="float64").fit(X, y)
    f = model.decision_function(X)
    for c in range(3):
        alone = CoreVectorSVC(gamma=0.5, tol=1e-9, dtype="float64").fit(X, y == c)
        assert np.allclose(f[:, c], alone.decision_function(X), atol=1e-7)
    late = CoreVectorSVC(gamma=0.5, tol=1e-9, dtype="float64", classes="open")
    order = np.argsort(y, kind="stable")
    for i in np.array_split(order, 7):
        late.partial_fit(X[i], y[i])
    assert np.allclose(late.decision_function(X), f, atol=1e-7)


def test_sparse_rows_a_small_cache_and_a_function_change_nothing() -> None:
    stream = blobs(9, n=70)
    X = np.where(np.abs(stream.X) < 0.3, 0.0, stream.X)
    f = machine(LINEAR).fit(X, stream.y).decision_function(X)
    packed = sp.csr_array(X)
    assert np.allclose(machine(LINEAR).fit(packed, stream.y).decision_function(packed), f)
    small = machine(LINEAR, cache_bytes=1000).fit(X, stream.y)
    assert np.array_equal(small.decision_function(X), f)
    own = CoreVectorSVC(kernel=lambda x, Z: (Z * x).sum(axis=1), tol=1e-9, dtype="float64")
    assert np.allclose(own.fit(X, stream.y).decision_function(X), f, atol=1e-7)


def test_saved_in_the_middle(tmp_path: Any) -> None:
    stream = blobs(10, n=60)
    model = machine(tol=1e-3, sample=3).fit(stream.X[:30], stream.y[:30])
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    for m in (model, again):
        m.partial_fit(stream.X[30:], stream.y[30:])
    assert np.array_equal(model.dual_coef_, again.dual_coef_)
    assert model.passes_ == again.passes_


@pytest.mark.parametrize("sample", [0, -1, 2.5, "some", None])
def test_bad_samples(sample: Any) -> None:
    with pytest.raises(ValueError, match="sample"):
        CoreVectorSVC(sample=sample).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.slow
def test_a_core_of_more_than_a_thousand() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 10))
    y = np.where(X[:, 0] + 0.8 * rng.normal(size=4000) > 0, 1.0, -1.0)
    model = CoreVectorSVC(C=1.0, gamma=0.1).fit(X, y)
    assert len(model.support_) > 1000
    assert model.kkt_residual() <= 1e-3  # in double, from float32 rows
