"""OISVM: general solvers on the same basis, the twin after every example, windows, the way back."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from contract import Contract, bell
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from oracles import KINDS, NASTY, balanced_qp, blobs, box_qp, crossed, streams, zeros
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC, LinearSVR
from tiers import examples

from onlinesvm import IndependentSVC, IndependentSVR, load
from onlinesvm.core import revive
from onlinesvm.reference import Kernel
from onlinesvm.reference.independent import Independent

CONTRACT = {
    "IndependentSVC": Contract(
        variants=[
            {"classes": "open", "dtype": "float32", "C": 50.0, "bias": "none"},
            {"kernel": "linear", "class_weight": {"ash": 2.0}, "window": 25},
            {"kernel": bell, "eta": 0.01},
            {"budget": 5, "window": 30, "eta": 1e-3},
        ],
    ),
    "IndependentSVR": Contract(
        variants=[
            {"kernel": "poly", "bias": "none", "epsilon": 0.0, "eta": 0.5},
            {"budget": 5, "window": 30, "dtype": "float32"},
        ],
    ),
}

Array = NDArray[np.float64]
SIGNS = [-1.0, 1.0]
KERNELS = {
    "rbf": Kernel("rbf", gamma=0.7),
    "linear": Kernel("linear"),
    "poly": Kernel("poly", gamma=0.5, degree=2, coef0=1.0),
}


def params(kernel: str) -> dict[str, Any]:
    k = KERNELS[kernel]
    return {"kernel": kernel, "gamma": k.gamma, "degree": int(k.degree), "coef0": k.coef0}


def svc(kernel: str = "rbf", **more: Any) -> IndependentSVC:
    return IndependentSVC(classes=SIGNS, **params(kernel) | more)


def svr(kernel: str = "rbf", **more: Any) -> IndependentSVR:
    return IndependentSVR(**params(kernel) | more)


def twin_of(model: Any) -> Independent:
    bounds = {name: getattr(model, name) or np.inf for name in ("budget", "window")}
    return Independent(
        KERNELS[model.kernel],
        C=model.C,
        eta=model.eta,
        bias=model.bias,
        epsilon=getattr(model, "epsilon", None),
        max_rounds=100,
        **bounds,
    )


def one_by_one(model: Any, X: Array, y: Array) -> Any:
    for i in range(len(y)):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    return model


def f_of(model: Any, X: Array) -> Array:
    return model.predict(X) if isinstance(model, IndependentSVR) else model.decision_function(X)


def on_the_basis(model: Any, X: Array, y: Array, C: Array, bias: bool) -> Array:
    """f at X of the squared hinge on rows X, in the span of the model's basis, by a general QP.

    The dual of P2 for the kernel that the span leaves, K_XB K_BB^-1 K_BX.
    """
    kernel, B = KERNELS[model.kernel], model.support_vectors_
    K = kernel(X, B) @ np.linalg.solve(kernel(B, B), kernel(B, X))
    Q = np.outer(y, y) * K + np.diag(1 / C)
    most = 50 * C.max()
    alpha = balanced_qp(Q, y, most) if bias else box_qp(Q, most)
    f = K @ (y * alpha)
    if not bias:
        return f
    held = alpha > 1e-4 * alpha.max()
    return f + np.median((y * (1 - alpha / C) - f)[held])


# ---- against general solvers ---------------------------------------------------------------------


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize(("kind", "kernel", "C"), crossed((*KINDS, zeros), KERNELS, (0.1, 1, 20)))
def test_is_the_optimum_in_the_span_of_its_basis(kind, kernel, C, bias):
    stream = kind(3, 40)
    model = svc(kernel, C=C, bias=bias, eta=0.05)
    for stop, (x, y) in enumerate(zip(stream.X, stream.y, strict=True), 1):
        model.learn_one(x, y)
        assert model.kkt_residual() <= 1e-8 * max(1.0, C), f"{stream}, example {stop}"
        assert not model._core.capped
        X, labels = stream.X[:stop], stream.y[:stop]
        if stop not in (15, 40) or len(set(labels)) < 2:
            continue
        expected = on_the_basis(model, X, labels, np.full(stop, float(C)), bias == "free")
        loose = 1e-5 if bias == "free" else 1e-7
        np.testing.assert_allclose(model.decision_function(X), expected, atol=loose)


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("task", ["svc", "svr"])
def test_is_what_a_general_minimiser_finds(task, bias):
    stream = blobs(4, 40)
    y = stream.y if task == "svc" else np.sin(stream.X[:, 0])
    make = svc if task == "svc" else svr
    model = make(C=3.0, bias=bias).partial_fit(stream.X, y)
    B, kernel = model.support_vectors_, KERNELS["rbf"]
    K, Z = kernel(B, B), kernel(stream.X, B)

    def value(theta: Array) -> float:
        h = y - Z @ theta[1:] - theta[0] * (bias == "free")
        loss = np.maximum(0, y * h) if task == "svc" else np.maximum(0, np.abs(h) - 0.1)
        return float(theta[1:] @ K @ theta[1:] + 3.0 * loss @ loss) / 2

    ours = np.r_[model.intercept_, model.dual_coef_[0]]
    found = minimize(value, np.zeros_like(ours), method="BFGS", options={"gtol": 1e-9})
    assert value(ours) <= found.fun + 1e-10
    assert value(ours) == pytest.approx(model.objective(), rel=1e-10)
    np.testing.assert_allclose(Z @ found.x[1:], Z @ ours[1:], atol=1e-3)


def test_a_linear_kernel_is_liblinear():
    """A basis of as many vectors as features spans everything; liblinear has C for our C / 2."""
    stream = blobs(5, 200, 4)
    model = svc("linear", C=2.0, bias="none", eta=1e-3).partial_fit(stream.X, stream.y)
    assert len(model.support_) == 4
    batch = LinearSVC(C=1.0, loss="squared_hinge", fit_intercept=False, tol=1e-12, max_iter=10**6)
    expected = batch.fit(stream.X, stream.y).decision_function(stream.X)
    np.testing.assert_allclose(model.decision_function(stream.X), expected, atol=1e-6)

    target = stream.X @ [1.0, -2.0, 0.5, 0.0] + 0.3 * stream.y
    regression = svr("linear", C=2.0, bias="none", eta=1e-3).partial_fit(stream.X, target)
    loss = "squared_epsilon_insensitive"
    batch = LinearSVR(epsilon=0.1, C=1.0, loss=loss, fit_intercept=False, tol=1e-12, max_iter=10**6)
    expected = batch.fit(stream.X, target).predict(stream.X)
    np.testing.assert_allclose(regression.predict(stream.X), expected, atol=1e-6)


def test_a_small_eta_is_the_machine_of_all_examples():
    stream = blobs(6, 40)
    K = KERNELS["rbf"](stream.X, stream.X)
    alpha = box_qp(np.outer(stream.y, stream.y) * K + np.eye(40) / 2.0, 100.0)
    exact = K @ (stream.y * alpha)
    off = []
    for eta in (0.3, 0.03, 1e-3, 1e-6):
        model = svc(C=2.0, bias="none", eta=eta).partial_fit(stream.X, stream.y)
        off.append(np.abs(model.decision_function(stream.X) - exact).max())
    assert off == sorted(off, reverse=True)
    assert off[-1] < 1e-4


def test_known_answers():
    """x = +1 and -1: w = 2C / (1 + 2C). A contradiction: w = 0. x = 0: in no basis."""
    model = svc("linear", C=10.0, bias="none").partial_fit([[1.0], [-1.0]], SIGNS[::-1])
    assert model.decision_function([[1.0]])[0] == pytest.approx(20 / 21, abs=1e-14)
    assert len(model.support_) == 1
    pair = svc("linear", C=10.0).partial_fit([[1.0], [1.0]], SIGNS)
    np.testing.assert_allclose(pair.decision_function([[1.0], [5.0]]), 0, atol=1e-9)
    nothing = svc("linear", bias="none").partial_fit([[0.0]], [1.0])
    assert len(nothing.support_) == 0
    assert nothing.decision_function([[3.0]])[0] == 0
    one_class = svc("linear").partial_fit([[1.0], [2.0]], [1.0, 1.0])
    np.testing.assert_allclose(one_class.decision_function([[1.0], [-7.0]]), 1, atol=1e-8)


# ---- the twin ------------------------------------------------------------------------------------


@pytest.mark.parametrize("bias", ["free", "none"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("task", ["svc", "svr"])
@pytest.mark.parametrize("bounds", [{}, {"budget": 4}, {"window": 12}, {"budget": 4, "window": 9}])
def test_equals_the_twin_after_every_example(task, kernel, bias, bounds):
    stream = blobs(7, 50, 3)
    weights = np.random.default_rng(8).choice([0.0, 0.5, 1.0, 3.0], size=50)
    y = stream.y if task == "svc" else stream.X[:, 0] ** 2
    model = (svc if task == "svc" else svr)(kernel, C=5.0, bias=bias, **bounds)
    twin = twin_of(model)
    for x, label, weight in zip(stream.X, y, weights, strict=True):
        model.learn_one(x, label, weight)
        twin.learn(x, label, weight)
        expected = twin.f(stream.X)
        np.testing.assert_allclose(f_of(model, stream.X), expected, atol=1e-8)
        np.testing.assert_array_equal(
            model.support_vectors_, np.reshape(twin.basis, (-1, 3)), strict=True
        )
        assert model._core.held == len(twin.X)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", NASTY, ids=lambda kind: kind.__name__)
def test_nasty_streams_end_at_an_optimum(kind, kernel):
    stream = kind(9, 40)
    model = svc(kernel, budget=30)
    for x, y in zip(stream.X, stream.y, strict=True):
        model.learn_one(x, y)
        f = model.decision_function(stream.X)
        assert np.isfinite(f).all()
        assert len(model.support_) <= 30
    scale = max(1.0, np.abs(KERNELS[kernel](stream.X, stream.X)).max())
    assert model.kkt_residual() <= 1e-8 * scale


@settings(max_examples=examples(60))
@given(
    streams(),
    st.sampled_from([0.1, 1.0, 50.0]),
    st.sampled_from(sorted(KERNELS)),
    st.sampled_from(["free", "none"]),
    st.sampled_from([None, 3]),
    st.data(),
)
def test_property_any_stream_any_window_any_removal(stream, C, kernel, bias, window, data):
    model = svc(kernel, C=C, bias=bias, window=window, eta=0.01)
    twin = twin_of(model)
    held: list[int] = []
    for i, (x, y) in enumerate(zip(stream.X, stream.y, strict=True)):
        model.learn_one(x, y)
        twin.learn(x, y)
        held = [*held, i][-(window or 99) :]
        if data.draw(st.booleans()):
            gone = data.draw(st.sampled_from(held))
            twin.unlearn(held.index(gone))
            held.remove(gone)
            model.unlearn(gone)
            assert gone not in model.support_
        assert model.kkt_residual() <= 1e-7 * max(1.0, C)
        expected = twin.f(stream.X)
        off = np.abs(model.decision_function(stream.X) - expected).max()
        assert off <= 1e-6 * (1 + np.abs(expected).max())


# ---- what it promises ----------------------------------------------------------------------------


def board(seed: int, n: int, flips: float = 0.0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 4, size=(n, 2))
    y = np.where(np.floor(X).sum(axis=1) % 2, 1.0, -1.0)
    return X, np.where(rng.random(n) < flips, -y, y)


def test_the_basis_stops_growing_and_the_optimum_is_kept():
    """4,000 noisy examples: thousands of changes of the violating set, and no drift."""
    X, y = board(10, 4000, 0.1)
    model = svc(C=10.0, gamma=2.0)
    sizes = []
    for part in np.array_split(np.arange(4000), 8):
        model.partial_fit(X[part], y[part])
        sizes.append(len(model.support_))
        assert model.kkt_residual() <= 1e-8
    assert sizes[-1] <= 1.05 * sizes[3]
    assert sizes[-1] < 80
    clean, truth = board(11, 2000)
    assert model.score(clean, truth) > 0.94


def test_a_window_is_the_optimum_of_its_rows():
    X, y = board(12, 300, 0.1)
    model = svc(C=10.0, gamma=2.0, window=50, bias="none").set_params(gamma=0.7)
    model.partial_fit(X, y)
    expected = on_the_basis(model, X[-50:], y[-50:], np.full(50, 10.0), bias=False)
    np.testing.assert_allclose(model.decision_function(X[-50:]), expected, atol=1e-6)
    assert model._core.held == 50
    assert (model.support_ == -1).any()
    named = model.support_[model.support_ >= 0]
    assert named.min(initial=300) >= 250


def test_memory_is_bounded_by_window_and_budget():
    X, y = board(13, 6000, 0.1)
    model = svc(C=10.0, gamma=2.0, window=200, budget=30)
    sizes = []
    for part in np.array_split(np.arange(6000), 60):
        model.partial_fit(X[part], y[part])
        sizes.append(model.nbytes_)
        assert len(model.support_) <= 30
        assert model._core.held <= 200
    assert max(sizes[30:]) <= 1.1 * max(sizes[:30])


@pytest.mark.parametrize("make", [svc, svr])
def test_unlearning_is_never_having_learned(make):
    """Exactly where the example is not in the basis; the optimum in the span where it is."""
    stream = blobs(15, 60)
    model = make(C=20.0).partial_fit(stream.X, stream.y)
    before = f_of(model, stream.X)
    outside = np.setdiff1d(np.arange(60), model.support_)
    assert len(outside) > 20
    for i in outside[:10]:
        with_it = make(C=20.0).partial_fit(stream.X, stream.y)
        with_it.partial_fit(stream.X[i : i + 1] + 1e-3, -stream.y[i : i + 1])
        assert 60 not in with_it.support_
        assert np.abs(f_of(with_it, stream.X) - before).max() > 1e-4
        with_it.unlearn(60)
        np.testing.assert_allclose(f_of(with_it, stream.X), before, atol=1e-6)
    inside = model.support_[3]
    model.unlearn(inside)
    assert inside not in model.support_
    assert model.kkt_residual() <= 1e-8
    model.unlearn(np.arange(60))
    assert not f_of(model, stream.X).any()
    model.partial_fit(stream.X, stream.y)
    assert f_of(model, stream.X).any()


def test_many_classes_share_the_basis():
    rng = np.random.default_rng(16)
    X = rng.normal(size=(90, 2))
    y = np.digitize(X[:, 0] + X[:, 1], [-0.7, 0.7])
    model = IndependentSVC(5.0, gamma=0.7, classes="open")
    for x, label in zip(X, y, strict=True):
        model.learn_one(x, label)
    for c in range(3):
        alone = svc(C=5.0).partial_fit(X, np.where(y == c, 1.0, -1.0))
        np.testing.assert_array_equal(alone.support_, model.support_)
        np.testing.assert_allclose(
            model.decision_function(X)[:, c], alone.decision_function(X), atol=1e-8
        )


@pytest.mark.parametrize("make", [svc, svr])
def test_the_objective_never_rises_from_round_to_round(make):
    """A heavy example turns everything over; as many rounds as it takes, one more each time."""
    stream = blobs(21, 80, noise=0.3)
    model = make(C=50.0, bias="none").partial_fit(stream.X, stream.y)
    values = []
    for rounds in range(1, 9):
        settings = {**model._core_settings, "max_rounds": rounds}
        core = revive(model._core_name, settings, model._core.state())
        row = stream.X[:1] + 0.1
        core.learn_dense(row, np.array([float(stream.y[0] < 0)]), np.array([1e4]), np.array([80]))
        values.append(core.objective())
    assert values[0] > values[-1] * (1 + 1e-6)
    assert np.diff(values).max() <= 1e-9 * values[0]
    assert values[-1] == values[-2]
    assert core.kkt_residual() <= 1e-6


def test_too_few_rounds_are_said():
    stream = blobs(18, 40)
    model = svc(C=50.0, max_rounds=1)
    with pytest.warns(ConvergenceWarning, match="max_rounds=1"):
        one_by_one(model, stream.X, stream.y)
    assert np.isfinite(model.decision_function(stream.X)).all()


def test_stopped_short_it_is_saved_and_goes_on(tmp_path):
    """The factor is up to date even where the last round changed the violating set."""
    stream = blobs(22, 60, noise=0.3)
    model, capped = svc(C=50.0, max_rounds=1), 0
    for i in range(60):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.partial_fit(stream.X[i : i + 1], stream.y[i : i + 1])
        if not model._core.capped:
            continue
        capped += 1
        model.save(tmp_path / "model")
        again = load(tmp_path / "model")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            for each in (model, again):
                each.partial_fit(stream.X[:1], stream.y[:1])
        assert np.array_equal(model.decision_function(stream.X), again.decision_function(stream.X))
    assert capped > 5


# ---- files ---------------------------------------------------------------------------------------


def test_saved_while_examples_wait_for_a_look(tmp_path):
    """What need not be looked at soon is not in the file, and changes nothing."""
    X, y = board(19, 900, 0.1)
    model = svc(C=10.0, gamma=2.0, window=400).partial_fit(X[:600], y[:600])
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    for each in (model, again):
        each.partial_fit(X[600:], y[600:])
    assert np.array_equal(model.decision_function(X), again.decision_function(X))


FORGERIES = {
    "another function": ("machine0.theta", lambda a: a * 1.5),
    "another side": ("machine0.side", lambda a: (a + 1) % 2),
    "a side that is not there": ("machine0.side", lambda a: np.full_like(a, 7)),
    "another matrix": ("machine0.equations.matrix", lambda a: a * 1.01),
    "another factor": ("machine0.equations.factor", lambda a: a * 1.01),
    "another right side": ("machine0.equations.q", lambda a: a + 1),
    "another constant": ("machine0.constant", lambda a: a + 1),
    "another inverse": ("basis.inverse.values", lambda a: a * 2),
    "no cost": ("examples.C", lambda a: a * 0),
    "an unknown class": ("examples.y", lambda a: a + 2),
    "a later arrival": ("examples.arrival", lambda a: a + 10**6),
    "a basis of strangers": ("basis.names", lambda a: a + 10**6),
    "a basis out of order": ("basis.rows.ids", lambda a: a[::-1].copy()),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_states_are_refused(name):
    stream = blobs(20, 40)
    core = svc(C=5.0).partial_fit(stream.X, stream.y)._core
    key, change = FORGERIES[name]
    state = dict(core.state())
    state[key] = np.asarray(change(state[key]), dtype=state[key].dtype)
    with pytest.raises(ValueError, match=r"state:|y: "):
        core.load(state)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kernel", ["linear", "poly"])
@pytest.mark.parametrize("cls", [IndependentSVC, IndependentSVR])
@pytest.mark.parametrize("power", [10, 15, 30, 100])
def test_one_huge_row_is_refused_or_leaves_a_model_that_predicts(cls, kernel, power):
    """Whatever ``learn_one`` accepts, later predictions are numbers."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(8, 3))
        model = cls(kernel=kernel, gamma=1.0)
        for i, x in enumerate(X):
            model.learn_one(x, i % 2)
        for x in [rng.normal(size=3) * 10.0**power, *X[:4]]:
            with suppress(ValueError):
                model.learn_one(x, 0)
        assert np.isfinite(f_of(model, X)).all()
