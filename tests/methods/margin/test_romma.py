"""ROMMA: steps by hand, the constrained minimum, the twin, the bound, the largest margin."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from contract import Contract, weights_are_not_copies
from family_kernels import kernels
from hypothesis import given
from oracles import NASTY, ONE_PASS, blobs, separable, streams
from scipy.optimize import minimize

from onlinesvm import RommaClassifier
from onlinesvm.reference import Kernel
from onlinesvm.reference.romma import Romma

CONTRACT = {
    "RommaClassifier": Contract(
        variants=[
            {"variant": "plain", "kernel": "rbf", "classes": "open", "class_weight": {"ash": 2.0}},
            {"C": math.inf, "average": False, "bias": "none", "dtype": "float32"},
        ],
        expected_failures=weights_are_not_copies(
            "an example of weight 2 takes one longer step, not two steps"
        ),
    ),
}

variants = pytest.mark.parametrize("variant", ["plain", "aggressive"])
LABELS = [-1.0, 1.0]


def plain(**options: Any) -> RommaClassifier:
    """The paper's setting, in one pass; variants and C are the test's."""
    paper = {"C": math.inf, "bias": "none", "average": False, "classes": LABELS}
    return RommaClassifier(**paper | ONE_PASS | options)


def twin_of(model: RommaClassifier, outputs: int = 1) -> Romma:
    names = {k: getattr(model, k) for k in ("gamma", "degree", "coef0")}
    if names["gamma"] == "scale":
        names["gamma"] = 1.0
    kernel = Kernel(model.kernel, **names, offset=float(model.bias == "kernel"))
    return Romma(kernel, C=model.C, aggressive=model.variant == "aggressive", outputs=outputs)


def norm2(model: RommaClassifier) -> np.ndarray:
    return model._core.state()["f.outputs.norm2"]


# ---- the step ------------------------------------------------------------------------------------


def test_two_steps_by_hand():
    """w = (1/2, 0), then the shortest with -w.(1, 1) >= 1 and w_1 >= 1/2: (1/2, -3/2)."""
    model = plain().partial_fit([[2.0, 0.0]], [1.0])
    assert model.coef_.tolist() == [[0.5, 0.0]]
    model.partial_fit([[1.0, 1.0]], [-1.0])
    np.testing.assert_allclose(model.coef_, [[0.5, -1.5]], rtol=1e-15)
    assert norm2(model)[0] == pytest.approx(2.5)


def test_the_example_alone_binds():
    """w = (1, 0), x = (1/4, 0): y w.x = 1/4 >= |x|^2 |w|^2 = 1/16; x / |x|^2 is longer than w."""
    model = plain().partial_fit([[1.0, 0.0], [0.25, 0.0]], [1.0, 1.0])
    np.testing.assert_allclose(model.coef_, [[4.0, 0.0]])


def test_what_cannot_be_repaired_is_passed_over():
    """No w has both margins on one line, and x = 0 has none."""
    model = plain().partial_fit([[1.0, 0.0], [2.0, 0.0], [0.0, 0.0]], [1.0, -1.0, 1.0])
    np.testing.assert_allclose(model.coef_, [[1.0, 0.0]])


@variants
@pytest.mark.parametrize("C", [math.inf, 1.0, 0.05])
def test_each_step_is_the_constrained_minimum(variant, C):
    """Against a general solver, in the space with a slack coordinate for every example."""
    stream = blobs(1, 12, 3, noise=0.2)
    model = plain(variant=variant, C=C)
    points = np.hstack([stream.X, np.eye(12) / math.sqrt(C)])  # 0 where C is infinite
    w = np.zeros(15)
    for i, (x, y) in enumerate(zip(stream.X, stream.y, strict=True)):
        z, before = y * points[i], w
        m = z @ w
        if m < 1 if variant == "aggressive" else m <= 0:
            limits = [
                {"type": "ineq", "fun": lambda v, z=z: z @ v - 1},
                {"type": "ineq", "fun": lambda v, w=before: w @ v - w @ w},
            ]
            start = before + (1 - m) * z / (z @ z)
            w = minimize(lambda v: v @ v / 2, start, constraints=limits, options={"ftol": 1e-15}).x
        model.learn_one(x, y)
        np.testing.assert_allclose(model.coef_[0], w[:3], atol=2e-5 * max(1, np.abs(w).max()))
        w = np.r_[model.coef_[0], w[3:]]  # the solver's own error must not add up


@kernels
@variants
@pytest.mark.parametrize("C", [math.inf, 0.3])
def test_equals_the_twin_after_every_example(kernel, variant, C):
    stream = blobs(2, 40, 3)
    weights = np.random.default_rng(3).choice([0.0, 0.5, 1.0, 3.0], size=40)
    model = plain(variant=variant, C=C, bias="kernel", average=True, **kernel)
    newest = plain(variant=variant, C=C, bias="kernel", **kernel)
    twin = twin_of(model)
    for x, y, weight in zip(stream.X, stream.y, weights, strict=True):
        model.learn_one(x, y, weight)
        newest.learn_one(x, y, weight)
        twin.learn(x, y, weight)
        scale = 1 + np.abs(twin.s).max(initial=0)
        for fast, slow in (model, twin.averaged), (newest, twin.score):
            expected = [slow(row)[0] for row in stream.X[:5]]
            np.testing.assert_allclose(
                fast.decision_function(stream.X[:5]), expected, atol=1e-7 * scale
            )
    np.testing.assert_allclose(norm2(newest), twin.norm2, rtol=1e-6)


def taken_anew(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The paper's rule, with |w|^2 from w itself in every step, in extended precision."""
    X, w = X.astype(np.longdouble), np.zeros(X.shape[1], np.longdouble)
    for x, label in zip(X, y, strict=True):
        m, size, length = label * (w @ x), x @ x, w @ w
        D = size * length - m**2
        if m >= 1:
            continue
        if m >= size * length or 1e-12 * size * length >= D:
            w = w if m < 0 else label * x / size
        else:
            w = ((size * length - m) * w + length * (1 - m) * label * x) / D
    return w.astype(float)


@pytest.mark.parametrize("average", [True, False])
def test_the_norm_that_is_kept_does_not_drift(average):
    """A tenth of wrong labels in a plane: each multiplies the error of what is kept."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 2))
        y = np.sign(X @ rng.normal(size=2)) * np.where(rng.random(60) < 0.1, -1, 1)
        expected = taken_anew(X, y)
        model = plain(average=average).partial_fit(X, y)
        w2 = norm2(model)[0]
        assert w2 == pytest.approx(expected @ expected, rel=1e-9)
        if not average:
            f = model.decision_function(np.eye(2))
            np.testing.assert_allclose(f, expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("kind", NASTY, ids=lambda kind: kind.__name__)
def test_equals_the_twin_on_nasty_streams(kind):
    stream = kind(4, 40)
    model = plain(C=1.0, bias="kernel").partial_fit(stream.X, stream.y)
    twin = twin_of(model)
    for x, y in zip(stream.X, stream.y, strict=True):
        twin.learn(x, y)
    expected = np.array([twin.score(x)[0] for x in stream.X])
    scale = np.abs(expected).max()
    np.testing.assert_allclose(model.decision_function(stream.X), expected, atol=1e-6 * scale)


def test_more_classes_are_one_against_the_rest():
    X, y = np.random.default_rng(5).normal(size=(80, 3)), np.arange(80) % 3
    model = plain(C=1.0, classes=[0, 1, 2]).partial_fit(X, y)
    for r in range(3):
        alone = plain(C=1.0).partial_fit(X, np.where(y == r, 1.0, -1.0))
        np.testing.assert_allclose(
            model.decision_function(X)[:, r], alone.decision_function(X), atol=1e-9
        )


# ---- what the paper promises ---------------------------------------------------------------------


@variants
@given(stream=streams())
def test_invariants_of_every_step(variant, stream):
    """The example has its margin, the half-space is respected, and |w| never falls."""
    model = plain(variant=variant, C=2.0)
    before = 0.0
    for x, y in zip(stream.X, stream.y, strict=True):
        model.learn_one(x, y)
        after = norm2(model)[0]
        assert after >= before * (1 - 1e-9)
        before = after


@variants
def test_the_mistake_bound(variant):
    """In one pass at most max |x|^2 |u|^2 mistakes, for any u with all margins at least 1."""
    for seed in range(20):
        X, labels, u = separable(seed, 200, 0.1)
        model, mistakes = plain(variant=variant), 0
        for x, y in zip(X, labels, strict=True):
            mistakes += y * model.decide_one(x) <= 0
            model.learn_one(x, y)
        bound = model._bound(X, labels, u)[-1]
        assert bound == pytest.approx(u @ u)  # rows have length 1
        assert 0 < mistakes <= bound


def test_aggressive_passes_tend_to_the_largest_margin():
    """|w| from below to that of the hard-margin SVM without bias, found by a general solver."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(40, 3))
    u = np.array([1.0, -2.0, 0.5])
    X, y = X[np.abs(X @ u) > 0.8], np.sign(X @ u)[np.abs(X @ u) > 0.8]
    margins = [{"type": "ineq", "fun": lambda v: y * (X @ v) - 1}]
    best = minimize(lambda v: v @ v / 2, 3 * u, constraints=margins, options={"ftol": 1e-15}).x
    model = plain(max_iter=2000, tol=None, shuffle=True).fit(X, y)
    w = model.coef_[0]
    assert 0.99 < np.linalg.norm(w) / np.linalg.norm(best) <= 1 + 1e-6
    assert w @ best > 0.999 * np.linalg.norm(w) * np.linalg.norm(best)


def test_noise_is_borne_with_a_slack_and_a_mean():
    noisy, clean = blobs(7, 2000, 10, noise=0.15), blobs(7, 2000, 10, noise=0.0)
    soft = RommaClassifier().fit(noisy.X, noisy.y)
    hard = RommaClassifier(C=math.inf, average=False, max_iter=5, tol=None).fit(noisy.X, noisy.y)
    assert soft.score(clean.X, clean.y) > 0.93
    assert norm2(hard)[0] > 1e3 * norm2(soft)[0]
