"""MIRA: the projection against a general solver, the twin, invariants, the start from zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from contract import Contract, weights_are_not_copies
from family_kernels import kernels
from hypothesis import given
from hypothesis import strategies as st
from oracles import NASTY, ONE_PASS, blobs, separable, streams
from scipy.optimize import minimize

from onlinesvm import KernelPerceptron, MiraClassifier, PassiveAggressiveClassifier
from onlinesvm.reference import Kernel
from onlinesvm.reference.mira import Mira, project

CONTRACT = {
    "MiraClassifier": Contract(
        variants=[
            {"margin": 0.0, "classes": "open", "class_weight": {"ash": 2.0}},
            {"kernel": "rbf", "average": False, "dtype": "float32"},
        ],
        expected_failures=weights_are_not_copies(
            "an example of weight 2 takes one step that may be twice as long, not two steps"
        ),
    ),
}

LABELS = [-1.0, 1.0]
margins = pytest.mark.parametrize("margin", [0.0, 1.0, 0.3])


def plain(classes: int = 2, **options: Any) -> MiraClassifier:
    labels = LABELS if classes == 2 else [float(r) for r in range(classes)]
    paper = {"bias": "none", "average": False, "classes": labels}
    return MiraClassifier(**paper | ONE_PASS | options)


def twin_of(model: MiraClassifier, outputs: int = 1) -> Mira:
    names = {k: getattr(model, k) for k in ("gamma", "degree", "coef0")}
    if names["gamma"] == "scale":
        names["gamma"] = 1.0
    kernel = Kernel(model.kernel, **names, offset=float(model.bias == "kernel"))
    return Mira(kernel, margin=model.margin, outputs=outputs)


def rows(seed: int, n: int, d: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    F = X @ rng.normal(size=(d, classes)) + 0.5 * rng.normal(size=(n, classes))
    return X, F.argmax(axis=1).astype(float) if classes > 2 else np.where(
        F[:, 0] > F[:, 1], 1, -1.0
    )


# ---- the step ------------------------------------------------------------------------------------


def test_steps_by_hand():
    """w = (1, 0), of a perceptron's step; then -w.x / |x|^2 = 1/2, and no further than to 0."""
    model = plain(margin=0.0).partial_fit([[1.0, 0.0]], [1.0])
    assert model.coef_.tolist() == [[1.0, 0.0]]
    model.learn_one(np.array([2.0, 0.0]), -1.0)
    assert model.coef_.tolist() == [[0.0, 0.0]]
    model.learn_one(np.array([0.5, 0.0]), -1.0)  # from zero again
    assert model.coef_.tolist() == [[-0.5, 0.0]]
    model.learn_one(np.array([0.1, 0.0]), 1.0)  # no further than x
    np.testing.assert_allclose(model.coef_, [[-0.4, 0.0]])


def test_first_step_for_three_classes_by_hand():
    """Two thirds up, a third down each, over |x|^2."""
    model = plain(3).partial_fit([[3.0, 4.0]], [0.0])
    np.testing.assert_allclose(model.coef_[:, 0], [2 / 25, -1 / 25, -1 / 25])


@margins
@pytest.mark.parametrize("classes", [3, 5])
@pytest.mark.parametrize("weight", [1.0, 0.05])
def test_each_step_is_the_projection(margin, classes, weight):
    """min sum_r |M_r + tau_r x|^2 subject to tau_r <= [r = y], sum tau_r = 0, by a general solver.

    With a margin, rivals count as if they were that much higher.
    """
    X, y = rows(1, 60, 4, classes)
    model = plain(classes, margin=margin).partial_fit(X[:10], y[:10])
    steps = 0
    for x, label in zip(X[10:], y[10:], strict=True):
        M, true = model.coef_, np.arange(classes) == label
        model.learn_one(x, label, weight)
        tau = (model.coef_ - M) @ x / (x @ x)
        raised = M @ x + np.where(true, 0.0, margin)

        def cost(tau, b=raised, A=x @ x):
            return (tau @ tau * A / 2 + tau @ b) / A

        best = minimize(
            cost,
            np.zeros(classes),
            jac=lambda tau, b=raised, A=x @ x: tau + b / A,
            bounds=[(None, weight if hit else 0.0) for hit in true],
            constraints=[{"type": "eq", "fun": np.sum, "jac": np.ones_like}],
            options={"ftol": 1e-16, "maxiter": 500},
        )
        np.testing.assert_allclose(tau, best.x, atol=1e-7)
        np.testing.assert_allclose(model.coef_, M + np.outer(tau, x), atol=1e-12)
        steps += bool(tau.any())
    assert steps >= 10


@given(st.lists(st.floats(-3, 3), min_size=2, max_size=7), st.integers(0, 6), st.floats(0.01, 5))
def test_the_projection_of_the_twin(b, y, cap):
    """Its sum is 0, and it cannot be improved by moving any two rows."""
    b = np.array(b)
    caps = np.where(np.arange(len(b)) == y % len(b), cap, 0.0)
    tau = project(b, caps)
    assert abs(tau.sum()) <= 1e-12
    assert (tau <= caps + 1e-15).all()
    slope = tau + b  # equal where free, no larger than theirs where at the cap
    free = tau < caps - 1e-12
    assert np.ptp(slope[free]) <= 1e-9
    assert (slope[~free] <= slope[free].max(initial=-np.inf) + 1e-9).all()


@kernels
@margins
@pytest.mark.parametrize("classes", [2, 4])
def test_equals_the_twin_after_every_example(kernel, margin, classes):
    X, y = rows(2, 40, 3, classes)
    weights = np.random.default_rng(3).choice([0.0, 0.5, 1.0, 3.0], size=40)
    options = kernel | {"margin": margin, "bias": "kernel"}
    mean, newest = plain(classes, **options, average=True), plain(classes, **options)
    outputs = 1 if classes == 2 else classes
    twin = twin_of(mean, outputs)
    for x, label, weight in zip(X, y, weights, strict=True):
        mean.learn_one(x, label, weight)
        newest.learn_one(x, label, weight)
        twin.learn(x, label, weight)
        for fast, slow in (mean, twin.averaged), (newest, twin.score):
            found = fast.decision_function(X[:5]).reshape(5, outputs)
            np.testing.assert_allclose(found, [slow(row) for row in X[:5]], atol=1e-8)


@pytest.mark.parametrize("kind", NASTY, ids=lambda kind: kind.__name__)
@margins
def test_equals_the_twin_on_nasty_streams(kind, margin):
    stream = kind(4, 40)
    model = plain(margin=margin, bias="kernel").partial_fit(stream.X, stream.y)
    twin = twin_of(model)
    for x, y in zip(stream.X, stream.y, strict=True):
        twin.learn(x, y)
    expected = np.array([twin.score(x)[0] for x in stream.X])
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(model.decision_function(stream.X), expected, atol=1e-6 * scale)


def test_a_linear_kernel_function_is_the_linear_model():
    X, y = rows(9, 80, 3, 4)
    curved = plain(4, kernel=lambda x, X: X @ x, average=True).partial_fit(X, y)
    linear = plain(4, average=True).partial_fit(X, y)
    np.testing.assert_allclose(curved.decision_function(X), linear.decision_function(X), atol=1e-9)


def test_two_classes_with_a_margin_are_passive_aggressive():
    stream = blobs(3, 200, 4)
    model = plain(margin=1.0, bias="kernel").partial_fit(stream.X, stream.y)
    other = PassiveAggressiveClassifier(1.0, average=False, classes=LABELS)
    np.testing.assert_allclose(model.coef_, other.partial_fit(stream.X, stream.y).coef_, atol=1e-12)


# ---- what the paper promises ---------------------------------------------------------------------


@given(stream=streams(), classes=st.sampled_from([2, 3, 5]))
def test_invariants(stream, classes):
    """Steps sum to 0, only rows above the true one fall, and |M| never rises without a margin."""
    model = plain(classes, margin=0.0)
    rng = np.random.default_rng(len(stream.y))
    y = stream.y if classes == 2 else rng.integers(0, classes, len(stream.y)).astype(float)
    M = np.zeros((1 if classes == 2 else classes, stream.X.shape[1]))
    for x, label in zip(stream.X, y, strict=True):
        model.learn_one(x, label)
        new = model.coef_
        if np.linalg.norm(M) > 1e-7:
            assert np.linalg.norm(new) <= np.linalg.norm(M) * (1 + 1e-9)
        if classes > 2:
            np.testing.assert_allclose(new.sum(axis=0), 0.0, atol=1e-9)
            f = M @ x
            fallen = (new - M) @ x < -1e-12
            assert (f[fallen] >= f[int(label)] - 1e-12).all()
        M = new


def test_the_mistake_bound():
    """In one pass at most max(R^2, 1) |u|^2 mistakes, for u with margins of at least 1."""
    worst = 0.0
    for seed in range(300):
        X, y, u = separable(seed, 200, 0.25)
        model = plain(margin=1.0).partial_fit(X, y)
        bound = model._bound(X, y, u)[-1]
        assert bound == pytest.approx(u @ u)
        assert bound < len(y) / 2, "a model of zeros would pass"
        assert 0 < model.mistakes_ <= bound
        worst = max(worst, model.mistakes_ / bound)
    assert worst > 0.2


@margins
def test_learns_in_any_case(margin):
    """Also from zero, also features that are new: rows of one feature each, in turn."""
    X, y = np.tile(np.eye(6), (5, 1)), np.tile([0.0, 1.0, 2.0], 10)
    model = plain(3, margin=margin).partial_fit(X, y)
    right = (model.predict(X) == y).mean()
    assert right == 1.0 if margin else right > 0.3


def test_from_zero_without_margin_is_a_perceptron_first():
    stream = blobs(1, 1, 3)
    model = plain(margin=0.0).partial_fit(stream.X, stream.y)
    perceptron = KernelPerceptron("plain", kernel="linear", bias="none", classes=LABELS)
    perceptron.partial_fit(stream.X, stream.y)
    np.testing.assert_allclose(model.coef_, perceptron.coef_, rtol=1e-6)
