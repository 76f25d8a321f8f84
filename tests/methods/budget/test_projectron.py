"""The Projectron: every step against the twin, its span, its size, and what a step may gain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from contract import Contract, weights_are_not_copies
from oracles import NASTY, ONE_PASS, blobs

from onlinesvm import KernelPerceptron, ProjectronClassifier
from onlinesvm.reference import Kernel
from onlinesvm.reference.projectron import Projectron

CONTRACT = {
    "ProjectronClassifier": Contract(
        variants=[
            {"budget": 10, "classes": "open", "kernel": "poly"},
            {"variant": "plain", "dtype": "float64", "class_weight": {"ash": 2.0}},
            {"budget": "64kB", "kernel": "linear", "bias": "kernel"},
        ],
        expected_failures=weights_are_not_copies("an example of weight 2 takes one longer step"),
    )
}
LABELS = [-1.0, 1.0]
variants = pytest.mark.parametrize("variant", ["++", "plain"])


def small(**options: Any) -> ProjectronClassifier:
    given = {"eta": 0.2, "gamma": 0.7, "dtype": "float64", "classes": LABELS}
    return ProjectronClassifier(**given | ONE_PASS | options)


def twin_of(model: ProjectronClassifier, outputs: int = 1) -> Projectron:
    kernel = Kernel(model.kernel, gamma=model.gamma, offset=float(model.bias == "kernel"))
    return Projectron(
        kernel,
        eta=model.eta,
        budget=model.budget,
        plus=model.variant == "++",
        outputs=outputs,
    )


@variants
@pytest.mark.parametrize("kernel", ["rbf", "linear", "laplacian"])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("budget", [None, 5])
def test_equals_the_twin_after_every_example(variant, kernel, classes, budget):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(90, 3)), rng.integers(0, classes, 90)
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], size=90)
    names = LABELS if classes == 2 else list(range(classes))
    model = small(kernel=kernel, bias="kernel", classes=names, variant=variant, budget=budget)
    twin = twin_of(model, 1 if classes == 2 else classes)
    for x, label, weight in zip(X, y, weights, strict=True):
        model.learn_one(x, names[label], weight)
        twin.learn(x, names[label], weight)
        expected = np.array([twin.score(row) for row in X[:8]])
        got = model.decision_function(X[:8]).reshape(8, -1)
        np.testing.assert_allclose(got, expected, atol=1e-7 * (1 + np.abs(expected).max()))
    assert len(model.support_) == len(twin.X) >= 3


def test_by_hand():
    """A linear kernel in the plane: two examples span it, the third is projected."""
    model = small(kernel="linear", eta=0.1)
    for x, y in [([1.0, 0.0], 1.0), ([0.0, 2.0], -1.0), ([1.0, 1.0], 1.0)]:
        model.learn_one(np.array(x), y)
    assert model.support_.tolist() == [0, 1]
    step = np.sqrt(0.5)
    np.testing.assert_allclose(
        model.decision_function(np.eye(2)), [1 + step, -1 + step], atol=1e-12
    )


def test_where_nothing_is_near_it_is_the_perceptron():
    stream = blobs(4, 80, 3)
    model = small(variant="plain", eta=0.01, gamma=50.0).partial_fit(stream.X, stream.y)
    plain = KernelPerceptron(
        "plain", gamma=50.0, bias="none", dtype="float64", classes=LABELS
    ).partial_fit(stream.X, stream.y)
    assert model.mistakes_ == plain.mistakes_ == len(model.support_)
    np.testing.assert_allclose(
        model.decision_function(stream.X), plain.decision_function(stream.X), atol=1e-9
    )


@variants
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", NASTY, ids=lambda kind: kind.__name__)
def test_what_is_stored_is_apart_after_every_call(variant, dtype, kind):
    """Each lies further than eta from the span of those before it; a budget holds."""
    stream = kind(5, 60)
    model = small(variant=variant, dtype=dtype, budget=20)
    for x, y in zip(stream.X, stream.y, strict=True):
        model.learn_one(x, y)
        assert len(model.support_) <= 20
        assert np.isfinite(model.decision_function(stream.X)).all()
    Z = model.support_vectors_
    K = Kernel("rbf", gamma=0.7)(Z, Z)
    for n in range(1, len(Z)):
        outside = 1 - K[n, :n] @ np.linalg.solve(K[:n, :n], K[:n, n])
        assert outside > model.eta**2 * 0.98


def test_its_size_comes_to_a_rest():
    """In a square, a wide kernel has few directions that count: more examples do not add any."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(20_000, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    model = small(gamma=1.0, eta=0.1).partial_fit(X[:5000], y[:5000])
    rest = len(model.support_)
    assert len(model.partial_fit(X[5000:], y[5000:]).support_) <= rest + 2 < 40
    assert model.score(X[15_000:], y[15_000:]) > 0.97


def test_plus_makes_fewer_mistakes():
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, size=(3000, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    counts = {v: small(variant=v, gamma=2.0).partial_fit(X, y).mistakes_ for v in ("++", "plain")}
    assert counts["++"] < counts["plain"]


def test_the_bound_on_mistakes():
    """Plain: f stays near the perceptron's; against any u with |u| <= 1/(2 eta):
    M (1 - 2 eta |u|) <= |u|^2 + 2 sum of hinge losses of u."""
    worst = 0.0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        Z, s = rng.normal(size=(5, 3)), rng.normal(size=5)
        kernel = Kernel("rbf", gamma=0.3)
        s *= rng.uniform(0.5, 4.0) / np.sqrt(s @ kernel(Z, Z) @ s)
        norm = float(np.sqrt(s @ kernel(Z, Z) @ s))
        X = rng.normal(size=(300, 3))
        u = kernel(X, Z) @ s
        y = np.where(u > 0, 1.0, -1.0)
        y = np.where(rng.random(300) < rng.choice([0.0, 0.1, 0.4]), -y, y)
        model = small(variant="plain", eta=0.05, gamma=0.3).partial_fit(X, y)
        bound = (norm**2 + 2 * np.maximum(0, 1 - y * u).sum()) / (1 - 2 * 0.05 * norm)
        assert 0 < model.mistakes_ <= bound
        worst = max(worst, model.mistakes_ / bound)
    assert worst > 0.2
