"""HullerSVC against scikit-learn's SVC, against its readable twin, and against its own promises."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from contract import Contract, inner
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from oracles import (
    KINDS,
    Stream,
    alphas,
    blobs,
    contradictory,
    nasty_streams,
    ncheckerboard,
    sorted_labels,
    streams,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from tiers import examples

import onlinesvm
from onlinesvm import HullerSVC
from onlinesvm.reference import Huller, Kernel

# Settings under which a class behaves differently, and checks it is known to fail, with the reason.
CONTRACT = {
    "HullerSVC": Contract(
        variants=[
            {"classes": "open", "reprocess": 3, "init": 2, "dtype": "float64"},
            {"kernel": "poly", "degree": 2, "coef0": 1.0, "class_weight": {"ash": 2.0}},
            {"kernel": inner, "C": 10.0},
        ],
    ),
}

Array = NDArray[np.float64]

TIGHT: dict[str, Any] = {"tol": 1e-8, "dtype": "float64"}
KERNELS = {"rbf": Kernel("rbf", gamma=2.0), "linear": Kernel("linear")}
SIGNS = [-1.0, 1.0]


def machine(kernel: str = "rbf", **params: Any) -> HullerSVC:
    return HullerSVC(**{"kernel": kernel, "gamma": 2.0, "classes": SIGNS, **params})


def clean(seed: int, n: int = 40) -> Stream:
    """Two clouds far enough apart for any kernel."""
    stream = blobs(seed, n, noise=0.0)
    return Stream(f"clean-{seed}", stream.X + 3.0 * stream.y[:, None], stream.y)


def svm(K: Array, y: Array, ridge: Any = 0.0) -> Array:
    """f of the batch SVM with squared slacks 1 / ridge on its own rows, by scikit-learn."""
    exact = SVC(C=1e9, kernel="precomputed", tol=1e-10).fit(K + ridge * np.eye(len(y)), y)
    return np.asarray(exact.decision_function(K))


def hull_coefficients(model: HullerSVC, n: int) -> Array:
    """a by id: alpha = 2 a / N2."""
    return np.asarray(alphas(model, n)[0] * model.objective() / 2)


def n2(K: Array, y: Array, a: Array) -> float:
    return float((y * a) @ K @ (y * a))


def check_hulls(model: HullerSVC, y: Array, longest: float = 1.0) -> None:
    a = hull_coefficients(model, len(y))
    assert (a >= 0).all()
    # alpha has the N2 of the steps in it, objective() computes it anew: a difference of squares.
    rounding = 1e-9 + 1e-15 * longest / model.objective()
    for sign in SIGNS:
        assert a[y == sign].sum() == pytest.approx(1.0, abs=rounding), "a class does not sum to 1"
    assert model.duality_gap() >= 0


# ---- the optimum ---------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.1, 1.0, 50.0])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_epochs_and_finish_give_the_svm_with_squared_slacks(kind, kernel, C):
    stream = kind(3, 40, d=2 if kernel == "rbf" else 5)
    model = machine(kernel, C=C, max_iter=200, **TIGHT).fit(stream.X, stream.y).finish()
    check_hulls(model, stream.y)
    K, alpha = KERNELS[kernel](stream.X, stream.X), alphas(model, 40)[0]
    f = model.decision_function(stream.X)
    slack = 1 - stream.y * f - alpha / C
    assert np.where(alpha > 0, np.abs(slack), slack).max() <= 1e-5, "not optimal over all examples"
    np.testing.assert_allclose(f, svm(K, stream.y, 1 / C), rtol=0, atol=1e-4)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("seed", range(3))
def test_epochs_and_finish_give_the_hard_margin(seed, kernel):
    stream = clean(seed)
    model = machine(kernel, C=np.inf, max_iter=200, **TIGHT).fit(stream.X, stream.y).finish()
    check_hulls(model, stream.y)
    f = model.decision_function(stream.X)
    assert (stream.y * f).min() == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(f, svm(KERNELS[kernel](stream.X, stream.X), stream.y), atol=1e-4)


def test_several_classes_give_one_svm_each():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 80)
    X = rng.normal(size=(80, 2)) + 1.5 * np.array([[0, 0], [1, 1], [1, -1], [-1, 1]])[y]
    model = HullerSVC(C=2.0, gamma=2.0, max_iter=200, **TIGHT).fit(X, y).finish()
    K = KERNELS["rbf"](X, X)
    exact = np.column_stack([svm(K, np.where(y == c, 1.0, -1.0), 0.5) for c in range(4)])
    np.testing.assert_allclose(model.decision_function(X), exact, atol=1e-5)
    assert model.intercept_.shape == (4,)


def test_weights_scale_the_slack_of_each_example():
    stream = blobs(8, 40)
    w = np.arange(40) % 3 + 0.5
    model = machine(C=0.7, max_iter=200, **TIGHT).fit(stream.X, stream.y, sample_weight=w).finish()
    exact = svm(KERNELS["rbf"](stream.X, stream.X), stream.y, 1 / (0.7 * w))
    np.testing.assert_allclose(model.decision_function(stream.X), exact, atol=1e-5)


def test_one_pass_comes_close():
    board, test = ncheckerboard(1, 1500, flips=0.0)
    model = HullerSVC(C=10.0, gamma=4.0, dtype="float64").fit(board.X, board.y)
    exact = SVC(C=10.0, gamma=4.0).fit(board.X, board.y)
    assert model.score(test.X, test.y) >= exact.score(test.X, test.y) - 0.03
    before = model.objective()
    assert before - 2 * model.duality_gap() <= model.finish().objective() <= before


@pytest.mark.parametrize(
    ("x", "y", "f", "distance"),
    [([1, -1], [1, -1], lambda x: x, 4.0), ([0, 2], [1, -1], lambda x: 1 - x, 4.0)],
)
def test_micro_cases(x, y, f, distance):
    X, labels = np.array(x, dtype=float)[:, None], np.array(y, dtype=float)
    model = machine("linear", C=np.inf, **TIGHT).fit(X, labels)
    grid = np.linspace(-3, 3, 7)
    np.testing.assert_allclose(model.decision_function(grid[:, None]), f(grid), atol=1e-12)
    np.testing.assert_allclose(alphas(model, 2)[0], [0.5, 0.5])
    assert model.objective() == pytest.approx(distance)


def test_the_slack_belongs_to_the_example():
    """Two equal positives share their weight: N2 = |1 - (-1)|^2 + (1/2 + 1) / C."""
    X, y = np.array([[1.0], [1.0], [-1.0]]), np.array([1.0, 1.0, -1.0])
    model = machine("linear", C=2.0, max_iter=200, **TIGHT).fit(X, y).finish()
    assert model.objective() == pytest.approx(4.0 + 1.5 / 2.0)
    np.testing.assert_allclose(hull_coefficients(model, 3), [0.5, 0.5, 1.0], atol=1e-7)


# ---- invariants ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("stream", nasty_streams(40), ids=lambda stream: stream.name)
def test_hulls_are_hulls_and_never_part(stream, kernel):
    model, last = machine(kernel, C=3.0, dtype="float64"), np.inf
    K = KERNELS[kernel](stream.X, stream.X) + np.eye(40) / 3
    for t in range(40):
        model.partial_fit(stream.X[t : t + 1], stream.y[t : t + 1])
        if len(np.unique(stream.y[: t + 1])) < 2:
            assert len(model.support_) == 0
            continue
        check_hulls(model, stream.y, K.max())
        now = n2(K, stream.y, hull_coefficients(model, 40))
        rounding = 1e-12 * np.abs(K).max()
        assert now <= last + rounding, f"example {t}: {last} rose to {now}"
        assert model.objective() == pytest.approx(now, rel=1e-6, abs=rounding)
        last = now


@settings(max_examples=examples(60))
@given(streams(max_size=20), st.sampled_from([0.3, 1.0, 20.0]), st.sampled_from(["rbf", "linear"]))
def test_any_stream(stream, C, kernel):
    model = machine(kernel, C=C, **TIGHT).partial_fit(stream.X, stream.y)
    assert model.finish().kkt_residual() <= 1e-6
    if len(np.unique(stream.y)) == 2:
        check_hulls(model, stream.y)


@settings(max_examples=examples(30))
@given(streams(max_size=20), st.sampled_from(["rbf", "linear"]))
def test_any_stream_without_slack(stream, kernel):
    """Overlap is said; whatever the stream, the hulls are hulls and the scores are numbers."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = machine(kernel, C=np.inf, max_iter=3, **TIGHT).fit(stream.X, stream.y).finish()
    f = model.decision_function(stream.X)
    assert np.isfinite(f).all()
    if len(np.unique(stream.y)) == 2 and not any("overlap" in str(w.message) for w in said):
        check_hulls(model, stream.y)
        assert model.kkt_residual() <= 1e-4


def test_products_do_not_drift():
    stream = blobs(1, 1500)
    model = machine(C=5.0, reprocess=5, dtype="float64").partial_fit(stream.X, stream.y)
    held = model.support_
    K = KERNELS["rbf"](stream.X[held], stream.X[held]) + np.eye(len(held)) / 5
    a = hull_coefficients(model, 1500)[held]
    assert model.objective() == pytest.approx(n2(K, stream.y[held], a), rel=1e-9)


def test_memory_is_the_support_vectors():
    stream = clean(9, 400)
    model = machine("linear", C=np.inf).partial_fit(stream.X, stream.y)
    assert model._core.held == len(model.support_) < 40


def test_overlap_without_slack_is_said():
    stream = contradictory(0, 40)
    with pytest.warns(ConvergenceWarning, match="finite C"):
        model = machine("linear", C=np.inf, max_iter=5).fit(stream.X, stream.y).finish()
    assert np.isfinite(model.decision_function(stream.X)).all()


# ---- the twin ------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [np.inf, 2.0])
@pytest.mark.parametrize(("init", "reprocess"), [(1, 1), (3, 1), (2, 0), (1, 4)])
@pytest.mark.parametrize("kind", [clean, blobs, sorted_labels], ids=lambda k: k.__name__)
def test_equals_its_twin_after_every_example(kind, init, reprocess, C):
    stream = kind(21, 40)
    options: dict[str, Any] = {"C": C, "init": init, "reprocess": reprocess}
    model = machine(random_state=7, **options, **TIGHT)
    twin = Huller(KERNELS["rbf"], seed=7, **options)
    for t, (x, y) in enumerate(zip(stream.X, stream.y, strict=True)):
        model.learn_one(x, y)
        twin.learn(x, y)
        f = twin.score(stream.X)
        close = {"rtol": 1e-7, "atol": 1e-7 * np.abs(f).max(), "err_msg": f"example {t}"}
        np.testing.assert_allclose(model.decision_function(stream.X), f, **close)
        np.testing.assert_array_equal(np.sort(model._core.state()["rows.ids"]), np.sort(twin.ids))
        if twin.complete:
            assert model.objective() == pytest.approx(twin.N2, rel=1e-8)
            assert model.duality_gap() == pytest.approx(twin.gap, rel=1e-6, abs=1e-9)
    if kind is clean or np.isfinite(C):
        gone = np.sort(twin.ids)[::3]
        model.unlearn(gone)
        twin.unlearn(*gone, tol=1e-7)
        f = twin.score(stream.X)
        np.testing.assert_allclose(model.decision_function(stream.X), f, atol=1e-3)


def test_passes_equal_the_twin_learning_again():
    stream = blobs(2, 50)
    model = machine(C=5.0, random_state=3, **TIGHT).fit(stream.X, stream.y)
    assert model.n_iter_ > 1
    twin = Huller(KERNELS["rbf"], C=5.0, seed=3)
    for number in range(1, model.n_iter_ + 1):
        for i in np.random.default_rng([3, number]).permutation(50):
            twin.learn(stream.X[i], stream.y[i], id=int(i))
        twin.finish(1e-12)
    np.testing.assert_allclose(model.decision_function(stream.X), twin.score(stream.X), atol=1e-7)
    assert model.n_seen_ == 50, "a pass brings no new example"
    assert model.partial_fit(stream.X, stream.y).n_seen_ == 100


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("laplacian", {"gamma": 0.7}),
        ("chi2", {"gamma": 0.7}),
        ("poly", {"gamma": 0.5, "coef0": 1.0, "degree": 2}),
    ],
)
def test_equals_its_twin_under_every_kernel(name, params):
    stream = blobs(5, 60)
    X = np.abs(stream.X)
    model = HullerSVC(kernel=name, classes=SIGNS, **params, **TIGHT).partial_fit(X, stream.y)
    twin = Huller(Kernel(name, **params), C=1.0)
    for x, y in zip(X, stream.y, strict=True):
        twin.learn(x, y)
    np.testing.assert_allclose(model.decision_function(X), twin.score(X), atol=1e-7)


# ---- unlearning ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_unlearning_gives_the_svm_of_the_rest_held(kind, kernel):
    stream = kind(4, 40, d=2 if kernel == "rbf" else 5)
    model = machine(kernel, C=3.0, max_iter=5, **TIGHT).fit(stream.X, stream.y)
    gone = [0, 3, 4, 5, 17, 22, 31]
    held = np.setdiff1d(model._core.state()["rows.ids"], gone)
    model.unlearn(gone)
    assert not np.isin(gone, model.support_).any()
    K = KERNELS[kernel](stream.X[held], stream.X[held])
    f = model.decision_function(stream.X[held])
    np.testing.assert_allclose(f, svm(K, stream.y[held], 1 / 3), atol=5e-5)


def test_unlearning_a_hull_of_one_example_moves_it():
    X, y = np.array([[1.0], [5.0], [-1.0]]), np.array([0, 0, 1])
    model = HullerSVC(C=np.inf, kernel="linear", classes=[0, 1, 2], **TIGHT)
    model.partial_fit(X, y).unlearn(0)
    assert model.predict([[1.0], [-1.0]]).tolist() in ([0, 1], [1, 1])
    assert np.isfinite(model.decision_function(X)).all()


# ---- parameters ----------------------------------------------------------------------------------


def test_the_seed_decides_and_the_cache_does_not():
    stream = blobs(1, 200)
    first, again, other = (
        machine(random_state=seed).partial_fit(stream.X, stream.y).decision_function(stream.X)
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    tiny = machine(random_state=1, cache_bytes=0).partial_fit(stream.X, stream.y)
    np.testing.assert_array_equal(first, tiny.decision_function(stream.X))


def test_reprocessing_removes_support_vectors():
    board, _ = ncheckerboard(3, 600, flips=0.0)
    never, once = (
        HullerSVC(C=100.0, gamma=2.0, reprocess=times).partial_fit(board.X, board.y, classes=SIGNS)
        for times in (0, 1)
    )
    assert len(once.support_) < len(never.support_)
    assert once.objective() < never.objective()


def test_a_saved_hard_margin_goes_on(tmp_path):
    stream = clean(2, 60)
    model = machine(C=np.inf).partial_fit(stream.X[:30], stream.y[:30])
    model.save(tmp_path / "model.npz")
    twin = onlinesvm.load(tmp_path / "model.npz")
    for one in (model, twin):
        one.partial_fit(stream.X[30:], stream.y[30:])
    np.testing.assert_array_equal(model.dual_coef_, twin.dual_coef_)
