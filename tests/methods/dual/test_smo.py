"""SmoSVC against batch solvers, against its readable twin, and against its own promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from contract import Contract, bell
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from oracles import (
    NASTY,
    alphas,
    balanced_qp,
    blobs,
    box_qp,
    ncheckerboard,
    signed_gram,
    streams,
    svm_kkt,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from tiers import examples

from onlinesvm import IncrementalSVC, RampSVC, SmoSVC, _core
from onlinesvm.reference import SMO, Kernel

# Settings under which a class behaves differently, and checks it is known to fail, with the reason.
CONTRACT = {
    "SmoSVC": Contract(
        variants=[
            {"classes": "open", "C": 50.0, "order": "first", "dtype": "float64"},
            {"kernel": "laplacian", "bias": "none", "class_weight": {"ash": 2.0}},
            {"multiclass": "one-vs-one", "kernel": "laplacian"},
            {"kernel": bell},  # rows of length 1e4 under a linear kernel are beyond any SMO
        ],
    ),
}

Array = NDArray[np.float64]

KERNELS = {"rbf": Kernel("rbf", gamma=2.0), "linear": Kernel("linear")}
SIGNS = [-1.0, 1.0]
MILD = [kind for kind in NASTY if kind.__name__ not in ("huge", "tiny")]


def machine(kernel: str = "rbf", **params: Any) -> SmoSVC:
    tight = {"tol": 1e-8, "dtype": "float64", "classes": SIGNS} | params
    return SmoSVC(kernel=kernel, gamma=2.0, **tight)


def residual(model: SmoSVC, kernel: str, X: Array, y: Array, C: Array | float) -> float:
    return svm_kkt(model, KERNELS[kernel], X, y, C)


# ---- exactness -----------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.1, 1.0, 50.0])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", [blobs, *MILD], ids=lambda kind: kind.__name__)
def test_is_the_solution_of_the_qp(kind, kernel, C):
    stream = kind(1 + int(10 * C), 50)
    Q = signed_gram(KERNELS[kernel], stream.X, stream.y)
    for bias, exact in (("free", balanced_qp(Q, stream.y, C)), ("none", box_qp(Q, C))):
        for order in ("second", "first"):
            model = machine(kernel, C=C, bias=bias, order=order).fit(stream.X, stream.y)
            where = f"{stream}, bias {bias}, order {order}"
            assert residual(model, kernel, stream.X, stream.y, C) <= 1e-6, where
            assert model.kkt_residual() <= 1e-6, where
            f = stream.y * (model.decision_function(stream.X) - model.intercept_[0])
            np.testing.assert_allclose(f, Q @ exact, rtol=0, atol=1e-5, err_msg=where)
            dual = exact.sum() - exact @ Q @ exact / 2
            assert model.objective() == pytest.approx(dual, rel=1e-6, abs=1e-6), where


@pytest.mark.parametrize("order", ["second", "first"])
@pytest.mark.parametrize("bias", ["free", "none"])
@pytest.mark.parametrize("kind", [blobs, *MILD], ids=lambda kind: kind.__name__)
def test_equals_its_twin(kind, bias, order):
    stream = kind(3, 40)
    model = machine(C=3.0, bias=bias, order=order).fit(stream.X, stream.y)
    twin = SMO(KERNELS["rbf"], C=3.0, tol=1e-8, bias=bias, order=order).fit(stream.X, stream.y)
    np.testing.assert_allclose(model.decision_function(stream.X), twin.score(stream.X), atol=1e-6)
    assert (np.diff([*twin.duals, twin.dual()]) >= -1e-12).all(), "a step lowered the dual"
    gone = np.arange(0, 40, 3)
    model.unlearn(gone)
    twin.unlearn(*gone)
    np.testing.assert_allclose(model.decision_function(stream.X), twin.score(stream.X), atol=1e-6)


@settings(max_examples=examples(60), deadline=None)
@given(
    streams(max_size=24),
    st.sampled_from([0.1, 1.0, 50.0]),
    st.sampled_from(sorted(KERNELS)),
    st.sampled_from(["free", "none"]),
    st.data(),
)
def test_any_stream_in_any_pieces_and_any_removal(stream, C, kernel, bias, data):
    n = len(stream.y)
    cut = data.draw(st.integers(0, n - 1), label="cut")
    model = machine(kernel, C=C, bias=bias)
    model.partial_fit(stream.X[: cut + 1], stream.y[: cut + 1])
    if cut + 1 < n:
        model.partial_fit(stream.X[cut + 1 :], stream.y[cut + 1 :])
    assert residual(model, kernel, stream.X, stream.y, C) <= 1e-6
    gone = data.draw(st.lists(st.integers(0, n - 1), unique=True), label="gone")
    held = np.setdiff1d(np.arange(n), gone)
    model.unlearn(np.array(gone, dtype=int))
    assert model.kkt_residual() <= 1e-6
    assert np.isin(model.support_, held).all()
    if len(held):
        fresh = machine(kernel, C=C, bias=bias).partial_fit(stream.X[held], stream.y[held])
        f, other = model.decision_function(stream.X), fresh.decision_function(stream.X)
        np.testing.assert_allclose(f, other, rtol=0, atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_solvers_of_one_problem_agree(seed):
    stream = blobs(seed, 80)
    free = machine(C=5.0).fit(stream.X, stream.y)
    other = IncrementalSVC(C=5.0, gamma=2.0).fit(stream.X, stream.y)
    np.testing.assert_allclose(
        free.decision_function(stream.X), other.decision_function(stream.X), atol=1e-6
    )
    fixed = machine(C=5.0, bias="none").fit(stream.X, stream.y)
    ramp = RampSVC(C=5.0, gamma=2.0, s=-np.inf, bias="none", tol=1e-9, dtype="float64")
    ramp.fit(stream.X, stream.y)
    np.testing.assert_allclose(
        fixed.decision_function(stream.X), ramp.decision_function(stream.X), atol=1e-6
    )


def test_at_the_default_tolerance_it_is_as_good_as_svc():
    train, test = ncheckerboard(2, 1500)
    model = SmoSVC(C=50.0, gamma=8.0).fit(train.X, train.y)
    svc = SVC(C=50.0, gamma=8.0).fit(train.X, train.y)
    assert model.kkt_residual() <= 1e-3
    f, g = model.decision_function(test.X), svc.decision_function(test.X)
    assert np.mean(np.sign(f) == np.sign(g)) > 0.995
    assert np.abs(f - g).mean() < 1e-2
    assert abs(len(model.support_) - len(svc.support_)) < 0.02 * len(svc.support_)


# ---- micro cases ---------------------------------------------------------------------------------


def solved(X: Any, y: Any, kernel: str = "linear", **params: Any) -> tuple[SmoSVC, Array]:
    X = np.array(X, dtype=np.float64)[:, None]
    model = SmoSVC(kernel=kernel, classes=SIGNS, tol=1e-10, dtype="float64", **params)
    return model.fit(X, np.array(y, dtype=np.float64)), alphas(model, len(X))[0]


def test_without_a_bias_w_is_unique_though_alpha_is_not():
    model, alpha = solved((1, -1), (1, -1), C=10.0, bias="none")
    assert alpha.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(model.decision_function([[1.0], [0.0]]), [1.0, 0.0], atol=1e-9)
    assert model.intercept_.tolist() == [0.0]


@pytest.mark.parametrize(("bias", "f"), [("free", 1.0), ("none", 0.0)])
def test_one_class_alone(bias, f):
    model, alpha = solved((0, 0, 0), (1, 1, 1), bias=bias)
    assert not alpha.any() or bias == "none"
    assert (model.decision_function([[-3.0], [0.0]]) == f).all()


# ---- going on, and back --------------------------------------------------------------------------


def test_a_warm_start_takes_fewer_steps():
    stream = blobs(1, 600)
    model = SmoSVC(C=10.0, gamma=2.0).fit(stream.X[:590], stream.y[:590])
    model.partial_fit(stream.X[590:], stream.y[590:])
    fresh = SmoSVC(C=10.0, gamma=2.0).fit(stream.X, stream.y)
    assert 0 < model.n_iter_[0] < fresh.n_iter_[0]
    assert model.objective() == pytest.approx(fresh.objective(), rel=1e-5)


def test_weights_are_bounds_of_their_own():
    stream, rng = blobs(8, 60), np.random.default_rng(0)
    weight = rng.choice([0.1, 1.0, 7.0], 60)
    for bias in ("free", "none"):
        model = machine(C=2.0, bias=bias).fit(stream.X, stream.y, sample_weight=weight)
        assert residual(model, "rbf", stream.X, stream.y, 2.0 * weight) <= 1e-6
        copies = np.repeat(np.arange(60), (10 * weight).astype(int))
        other = machine(C=0.2, bias=bias).fit(stream.X[copies], stream.y[copies])
        np.testing.assert_allclose(
            model.decision_function(stream.X), other.decision_function(stream.X), atol=1e-5
        )


def test_one_vs_rest_equals_binary_machines():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 2)), rng.integers(3, size=150)
    tight = {"C": 3.0, "gamma": 2.0, "tol": 1e-8, "dtype": "float64"}
    together = SmoSVC(classes="open", **tight).partial_fit(X[:90], y[:90])
    together.partial_fit(X[90:], y[90:]).unlearn(np.arange(0, 150, 4))
    rest = np.arange(150) % 4 != 0
    for k, label in enumerate(together.classes_.tolist()):
        alone = SmoSVC(**tight).fit(X[rest], y[rest] == label)
        np.testing.assert_allclose(
            together.decision_function(X)[:, k], alone.decision_function(X), atol=1e-5
        )
    assert together.n_iter_.shape == (3,)


@pytest.mark.parametrize("bias", ["free", "none"])
def test_a_small_cache_changes_nothing(bias):
    stream = ncheckerboard(3, 400)[0]
    ample = machine(C=30.0, tol=1e-4, bias=bias).fit(stream.X, stream.y)
    tight = machine(C=30.0, tol=1e-4, bias=bias, cache_bytes=1 << 12).fit(stream.X, stream.y)
    np.testing.assert_array_equal(
        ample.decision_function(stream.X), tight.decision_function(stream.X)
    )
    np.testing.assert_array_equal(ample.n_iter_, tight.n_iter_)


# ---- limits and interruptions --------------------------------------------------------------------


@pytest.mark.parametrize("bias", ["free", "none"])
def test_a_limit_warns_and_leaves_a_valid_model(bias):
    stream = ncheckerboard(1, 300)[0]
    model = machine(C=100.0, bias=bias, max_iter=50)
    with pytest.warns(ConvergenceWarning, match="SmoSVC stopped before"):
        model.fit(stream.X, stream.y)
    assert model.n_iter_[0] == 50
    alpha = alphas(model, 300)[0]
    assert ((alpha >= 0) & (alpha <= 100.0)).all()
    if bias == "free":
        assert abs(stream.y @ alpha) <= 1e-10
    assert model.kkt_residual() > 1e-8
    assert np.isfinite(model.decision_function(stream.X)).all()
    model.set_params(max_iter=None)
    fresh = machine(C=100.0, bias=bias).fit(stream.X, stream.y)
    assert model.objective() < fresh.objective()


def test_interrupted_it_holds_what_it_has_and_goes_on():
    stream = ncheckerboard(1, 300)[0]
    model = machine(C=100.0, tol=1e-6)
    _core.interrupt_after(3000)  # in the middle of a round
    with pytest.raises(KeyboardInterrupt):
        model.fit(stream.X, stream.y)
    alpha = alphas(model, 300)[0]
    assert ((alpha >= 0) & (alpha <= 100.0)).all()
    assert abs(stream.y @ alpha) <= 1e-9
    assert np.isfinite(model.decision_function(stream.X)).all()
    before, far = model.objective(), model.kkt_residual()
    model._solve()
    assert model.objective() > before > 0
    assert model.kkt_residual() <= 1e-6 < far


def test_a_kernel_that_fails_leaves_a_model_that_can_go_on():
    stream = blobs(1, 60)
    calls = {"left": 90}  # 60 are k(x, x) of the rows as they come

    def moody(x, X):
        calls["left"] -= 1
        if calls["left"] == 0:
            raise RuntimeError("not now")
        return np.exp(-2.0 * ((X - x) ** 2).sum(axis=1))

    model = machine(moody, C=3.0)
    with pytest.raises(RuntimeError, match="not now"):
        model.fit(stream.X, stream.y)
    assert not model.__sklearn_is_fitted__(), "a fit that failed left something behind"
    assert model.fit(stream.X, stream.y).kkt_residual() <= 1e-6


def test_a_long_solution_shows_its_progress(capsys, monkeypatch):
    monkeypatch.setattr("onlinesvm.model.progress._PATIENCE", 0.0)
    stream = ncheckerboard(1, 300)[0]
    SmoSVC(C=100.0, gamma=8.0, verbose=True).fit(stream.X, stream.y)
    shown = capsys.readouterr().err
    assert "SmoSVC" in shown
    assert "violation" in shown


@pytest.mark.parametrize(
    ("params", "argument"),
    [
        ({"C": 0.0}, "C"),
        ({"tol": 0.0}, "tol"),
        ({"bias": "kernel"}, "bias"),
        ({"order": 2}, "order"),
        ({"max_iter": 0}, "max_iter"),
        ({"cache_bytes": -1}, "cache_bytes"),
    ],
)
def test_bad_arguments_are_named(params, argument):
    with pytest.raises(ValueError, match=rf"\b{argument}\b"):
        SmoSVC(**params).fit([[0.0], [1.0]], [0, 1])
