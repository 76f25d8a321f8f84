"""The Forgetron: every step against the twin, the damage it may do, and its bound on mistakes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from contract import Contract, weights_are_not_copies
from oracles import NASTY, ONE_PASS, blobs

from onlinesvm import ForgetronClassifier, KernelPerceptron
from onlinesvm.reference import Kernel
from onlinesvm.reference.forgetron import Forgetron

CONTRACT = {
    "ForgetronClassifier": Contract(
        variants=[
            {"budget": 10, "classes": "open", "kernel": "poly"},
            {"budget": 10, "dtype": "float64", "bias": "kernel", "class_weight": {"ash": 2.0}},
            {"budget": "64kB", "kernel": "linear"},
        ],
        expected_failures=weights_are_not_copies("an example of weight 2 takes one longer step"),
    )
}
LABELS = [-1.0, 1.0]


def small(**options: Any) -> ForgetronClassifier:
    given = {"budget": 6, "gamma": 0.7, "dtype": "float64", "classes": LABELS}
    return ForgetronClassifier(**given | ONE_PASS | options)


def twin_of(model: ForgetronClassifier, outputs: int = 1) -> Forgetron:
    kernel = Kernel(model.kernel, gamma=model.gamma, offset=float(model.bias == "kernel"))
    return Forgetron(kernel, budget=model.budget, outputs=outputs)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "laplacian"])
@pytest.mark.parametrize("classes", [2, 4])
def test_equals_the_twin_after_every_example(kernel, classes):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(90, 3)), rng.integers(0, classes, 90)
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], size=90)
    names = LABELS if classes == 2 else list(range(classes))
    model = small(kernel=kernel, bias="kernel", classes=names)
    twin = twin_of(model, 1 if classes == 2 else classes)
    for x, label, weight in zip(X, y, weights, strict=True):
        model.learn_one(x, names[label], weight)
        twin.learn(x, names[label], weight)
        got = model.decision_function(X[:8]).reshape(8, -1)
        np.testing.assert_allclose(got, [twin.score(row) for row in X[:8]], atol=1e-9)
    assert twin.M > 12
    assert len(model.support_) == 6


def test_the_oldest_goes():
    """Three mistakes and room for two: of a, a', b with b alone on its side, a goes."""
    model = small(budget=2, gamma=1.0)
    for x, y in [([0.0], 1.0), ([3.0], -1.0), ([1.5], 1.0)]:
        model.learn_one(np.array(x), y)
    assert set(model.support_) == {1, 2}
    model = small(budget=2, gamma=1.0)
    for x, y in [([3.0], -1.0), ([0.0], 1.0), ([1.5], 1.0)]:
        model.learn_one(np.array(x), y)
    assert set(model.support_) == {0, 2}  # 0 is the only one of its class


def test_a_budget_that_is_never_reached_is_the_perceptron():
    stream = blobs(4, 80, 3)
    model = small(budget=1000).partial_fit(stream.X, stream.y)
    plain = KernelPerceptron(
        "plain", gamma=0.7, bias="none", dtype="float64", classes=LABELS
    ).partial_fit(stream.X, stream.y)
    assert model.mistakes_ == plain.mistakes_
    np.testing.assert_allclose(
        model.decision_function(stream.X), plain.decision_function(stream.X), atol=1e-12
    )


@pytest.mark.parametrize("kind", NASTY, ids=lambda kind: kind.__name__)
def test_budget_damage_and_classes_after_every_call(kind):
    stream = kind(5, 80)
    model = small(budget=5)
    twin = twin_of(model)
    seen: set[float] = set()
    for x, y in zip(stream.X, stream.y, strict=True):
        before = seen & set(np.sign(np.ravel(model.dual_coef_))) if seen else set()
        model.learn_one(x, y)
        twin.learn(x, y)
        seen = seen | {y}
        assert len(model.support_) <= 5
        assert twin.Q <= 15 * twin.M / 32 + 1e-9
        assert before <= set(np.sign(np.ravel(model.dual_coef_))), "a class vanished"
        assert np.isfinite(model.decision_function(stream.X)).all()


def test_the_bound_on_mistakes():
    """The theorem, for B >= 84 and the longest u that it admits.

    Rows of length one around a direction and its opposite, so that u has a margin on most: a model
    that always says 0 breaks the bound.
    """
    worst, zeros = 0.0, 0
    longest = 0.25 * math.sqrt(85 / math.log(85))
    for seed in range(300):
        rng = np.random.default_rng(seed)
        n, d = 300, int(rng.integers(2, 12))
        u = rng.normal(size=d)
        u *= longest / np.linalg.norm(u)
        y = rng.choice([-1.0, 1.0], n)
        X = rng.normal(size=(n, d))
        X -= np.outer(X @ u, u) / (u @ u)
        X /= np.linalg.norm(X, axis=1)[:, None]
        cos = rng.uniform(rng.choice([0.5, 0.9]), 1.0, size=(n, 1))
        X = y[:, None] * (cos * u / longest + np.sqrt(1 - cos**2) * X)
        y = np.where(rng.random(n) < rng.choice([0.0, 0.02]), -y, y)
        model = small(kernel="linear", budget=84).partial_fit(X, y)
        bound = model._bound(X, y, u)[-1]
        assert bound == pytest.approx(2 * longest**2 + 4 * np.maximum(0, 1 - y * (X @ u)).sum())
        assert 0 < model.mistakes_ <= bound
        worst = max(worst, model.mistakes_ / bound)
        zeros += n > bound
    assert worst > 0.2
    assert zeros > 250


def test_a_budget_in_bytes_has_no_proved_bound():
    with pytest.raises(ValueError, match=r"^budget must be a number of examples"):
        small(budget="64kB")._bound(np.eye(2), np.ones(2), np.ones(2))


def test_forgetting_follows_a_drift():
    rng = np.random.default_rng(8)
    X = rng.uniform(-1, 1, size=(6000, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    y[3000:] *= -1
    model = small(budget=60, gamma=4.0).partial_fit(X, y)
    assert model.score(X[5500:], y[5500:]) > 0.85
