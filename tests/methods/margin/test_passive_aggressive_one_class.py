"""One class: the ball by hand and by a general solver, the twin, what it comes to hold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from contract import Contract, weights_are_not_copies
from oracles import NASTY, ONE_PASS
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score

from onlinesvm import PassiveAggressiveOneClass
from onlinesvm.reference import Kernel
from onlinesvm.reference.passive_aggressive import Uniclass

CONTRACT = {
    "PassiveAggressiveOneClass": Contract(
        variants=[
            {"kernel": "linear", "C": math.inf},
            {"max_radius": 0.8, "loss": "epsilon_insensitive", "dtype": "float32"},
        ],
        expected_failures=weights_are_not_copies(
            "an example of weight 2 takes one step with twice the C, not two steps"
        ),
    ),
}

WORDS = {"PA": "epsilon_insensitive", "PA-I": "epsilon_insensitive"}
variants = pytest.mark.parametrize("variant", ["PA", "PA-I", "PA-II"])
KERNELS = [{"kernel": "linear"}, {"kernel": "rbf", "gamma": 0.7}]
kernels = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k["kernel"])


def plain(variant: str = "PA", **options: Any) -> PassiveAggressiveOneClass:
    if variant == "PA":
        options["C"] = math.inf
    loss = WORDS.get(variant, "squared_epsilon_insensitive")
    return PassiveAggressiveOneClass(**{"kernel": "linear", "loss": loss} | ONE_PASS | options)


def cloud(seed: int, n: int = 60, d: int = 3, at: float = 0.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d)) + at


def test_by_hand():
    """From 0, the second example is 2 away: B = beta = 2, and (2, 0) is sqrt(8) from (0, 2).

    The step of sqrt(8) - 2 goes 1 - 1/sqrt(2) of the way, to the radius sqrt(4 - 2).
    """
    model = plain().partial_fit([[0.0], [2.0]])
    np.testing.assert_allclose(model.center_, [2 - math.sqrt(2)])
    assert model.radius_ == pytest.approx(math.sqrt(2))
    np.testing.assert_allclose(model.decision_function([[2.0]]), [0.0], atol=1e-12)
    np.testing.assert_allclose(model.score_samples([[2.0]]), [-math.sqrt(2)])
    assert model.offset_ == -model.radius_


def test_an_example_inside_changes_nothing():
    model = plain().partial_fit([[0.0], [2.0]])
    before = model.center_, model.radius_
    model.partial_fit([[1.0], [0.5]])
    assert (model.center_, model.radius_) == before


@variants
def test_a_step_solves_its_optimisation_problem(variant):
    """argmin |c - c_t|^2 / 2 (+ C xi | + C xi^2) with |(x, 0) - c| <= B + xi, c = (w, beta)."""
    X, C, B, steps = cloud(1, 40), 0.05, 4.0, 0
    model = plain(variant, max_radius=B, **({} if variant == "PA" else {"C": C}))
    model.partial_fit(X[:1])
    for x in X[1:]:
        c = np.append(model.center_, math.sqrt(B**2 - model.radius_**2))
        point = np.append(x, 0.0)
        model.learn_one(x)
        new = np.append(model.center_, math.sqrt(B**2 - model.radius_**2))
        if np.linalg.norm(point - c) <= B:
            np.testing.assert_array_equal(new, c)
            continue

        def cost(v, c=c):
            price = {"PA": 0.0, "PA-I": C * v[-1], "PA-II": C * v[-1] ** 2}[variant]
            return (v[:-1] - c) @ (v[:-1] - c) / 2 + price

        def room(v, point=point):
            return B + v[-1] * (variant != "PA") - np.linalg.norm(point - v[:-1])

        limits = [{"type": "ineq", "fun": room}, {"type": "ineq", "fun": lambda v: v[-1]}]
        start = np.append(c, np.linalg.norm(point - c) - B)
        best = minimize(cost, start, constraints=limits, options={"ftol": 1e-16, "maxiter": 500})
        np.testing.assert_allclose(new, best.x[:-1], atol=2e-6)
        steps += 1
    assert steps >= 3


@kernels
@variants
@pytest.mark.parametrize("B", [None, 1.3])
def test_equals_the_twin_after_every_example(kernel, variant, B):
    X = cloud(2, 50, at=3.0)
    weights = np.random.default_rng(3).choice([0.0, 0.5, 1.0, 3.0], size=50)
    model = plain(variant, max_radius=B, **kernel | ({} if variant == "PA" else {"C": 0.3}))
    C = 1.0 if variant == "PA" else 0.3
    twin = Uniclass(Kernel(kernel["kernel"], gamma=0.7), variant=variant, C=C, B=B)
    for x, weight in zip(X, weights, strict=True):
        if weight == 0.0 and not hasattr(model, "n_iter_"):
            continue
        model.learn_one(x, None, weight)
        twin.learn(x, weight=weight)
        assert model.radius_ == pytest.approx(twin.radius, rel=1e-7, abs=1e-8)
        expected = [twin.radius - twin.distance(row) for row in X[:5]]
        np.testing.assert_allclose(model.decision_function(X[:5]), expected, atol=1e-7)


@pytest.mark.parametrize("kind", NASTY, ids=lambda kind: kind.__name__)
def test_equals_the_twin_on_nasty_streams(kind):
    X = kind(4, 40).X
    model, twin = plain("PA-II", C=0.5).partial_fit(X), Uniclass(Kernel("linear"), C=0.5)
    for x in X:
        twin.learn(x)
    scale = np.abs(X).max()
    np.testing.assert_allclose(model.center_, twin.w[0], atol=1e-7 * scale)
    assert model.radius_ == pytest.approx(twin.radius, abs=1e-6 * scale)


def test_the_kernel_of_the_linear_model_is_the_linear_model():
    X = cloud(6)
    curved = plain(kernel=lambda x, X: X @ x).partial_fit(X)
    np.testing.assert_allclose(
        curved.decision_function(X), plain().partial_fit(X).decision_function(X), atol=1e-8
    )


@pytest.mark.parametrize("seed", range(20))
def test_the_radius_grows_to_hold_all_and_not_much_more(seed):
    """Never beyond B; never shrinking; with plain PA and passes enough, all examples are inside.

    Loss bound (theorem 2, with the ball of centre c and radius R): the sum of squared losses is at
    most the squared distance of the start from (c, sqrt(B^2 - R^2)).
    """
    X = cloud(seed, 100, at=100.0)
    B, before, paid = 8.0, 0.0, 0.0
    model = plain(max_radius=B).partial_fit(X[:1])
    for x in X[1:]:
        beta2 = B**2 - model.radius_**2
        paid += max(0.0, math.sqrt(((x - model.center_) ** 2).sum() + beta2) - B) ** 2
        model.learn_one(x)
        assert before <= model.radius_ * (1 + 1e-12) <= B * (1 + 1e-12)
        before = model.radius_
    c = X.mean(axis=0)
    R = np.linalg.norm(X - c, axis=1).max()
    bound = ((X[0] - c) ** 2).sum() + (B - math.sqrt(B**2 - R**2)) ** 2
    assert bound / 100 < paid <= bound * (1 + 1e-9)
    for _ in range(300):
        model.partial_fit(X)
    assert (model.decision_function(X) > -1e-2).all()
    assert model.radius_ < 2.2 * R


def test_where_the_data_is_and_its_scale_do_not_matter():
    X = cloud(3, 300, 4)
    here = plain("PA-II", C=0.5).partial_fit(X)
    there = plain("PA-II", C=0.5).partial_fit(1e3 * X + 1e5)
    np.testing.assert_allclose(there.radius_, 1e3 * here.radius_, rtol=1e-4)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_defaults_tell_what_is_not_usual(kernel):
    rng = np.random.default_rng(0)
    usual, other = rng.normal(size=(1000, 5)) + 7.0, rng.normal(size=(200, 5)) * 3 + 12.0
    model = PassiveAggressiveOneClass(kernel=kernel).fit(usual[:500])
    scores = model.decision_function(np.vstack([usual[500:], other]))
    assert roc_auc_score([1] * 500 + [0] * 200, scores) > 0.97
    assert (model.predict(usual[500:]) == 1).mean() > 0.8
    assert (model.predict(other) == -1).mean() > 0.6
