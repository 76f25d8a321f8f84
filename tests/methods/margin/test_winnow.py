"""Winnow: steps by hand, the twin, the mistake bounds, what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from contract import Contract, weights_are_not_copies
from oracles import NASTY, ONE_PASS, blobs

from onlinesvm import KernelPerceptron, WinnowClassifier
from onlinesvm.reference.winnow import Winnow

CONTRACT = {
    "WinnowClassifier": Contract(
        variants=[
            {"classes": "open", "class_weight": {"ash": 2.0}, "promotion": 1.2, "demotion": 0.9},
            {"average": False, "bias": "none", "dtype": "float32"},
        ],
        expected_failures=weights_are_not_copies(
            "an example of weight 2 takes one step with twice the exponent, not two steps"
        ),
        # A weight of 1000 is an exponent of 1000, which the first passes leave in any average.
        settings={"check_class_weight_classifiers": {"average": False}},
    ),
}

LABELS = [-1.0, 1.0]
positive = pytest.mark.parametrize("variant", ["divide", "eliminate"])


def plain(variant: str = "balanced", classes: Any = LABELS, **options: Any) -> WinnowClassifier:
    paper = {"bias": "none", "average": False, "classes": classes}
    return WinnowClassifier(variant, **paper | ONE_PASS | options)


def twin_of(model: WinnowClassifier, features: int, outputs: int = 1) -> Winnow:
    balanced = model.variant == "balanced"
    return Winnow(
        features,
        variant=model.variant,
        promotion=model.promotion or (1.5 if balanced else 2.0),
        demotion=model.demotion or 0.5,
        threshold=model.threshold,
        bias=balanced and model.bias == "constant",
        outputs=outputs,
    )


def literals(seed: int, n: int, d: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Bits, and whether any of the first k is set; few are, so that both classes are common."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, d)) < 0.7 / k).astype(float)
    return X, np.where(X[:, :k].any(axis=1), 1.0, -1.0)


# ---- the step ------------------------------------------------------------------------------------


@positive
def test_positive_weights_by_hand(variant):
    """D = 4, threshold 2: a miss doubles; then 2 + 1 + 1 >= 2 is a false alarm."""
    model = plain(variant).partial_fit([[1.0, 0.0, 0.0, 0.0]], [1.0])
    assert model.coef_.tolist() == [[2.0, 1.0, 1.0, 1.0]]
    assert model.intercept_.tolist() == [-2.0]
    model.learn_one(np.array([1.0, 1.0, 0.0, 1.0]), -1.0)
    down = 0.5 if variant == "divide" else 0.0
    assert model.coef_.tolist() == [[2 * down, down, 1.0, down]]
    assert model.mistakes_ == 2


def test_balanced_weights_by_hand():
    """u = v = 1; a tie is a mistake: u = 1.5, v = 0.5; then u = 0.75 and v = 0.75."""
    model = plain().partial_fit([[1.0, 0.0]], [1.0])
    assert model.coef_.tolist() == [[1.0, 0.0]]
    model.learn_one(np.array([1.0, 1.0]), -1.0)
    np.testing.assert_allclose(model.coef_, [[0.0, -1.0]], atol=1e-15)


@pytest.mark.parametrize("variant", ["divide", "eliminate", "balanced"])
@pytest.mark.parametrize("bits", [True, False])
def test_equals_the_twin_after_every_example(variant, bits):
    rng = np.random.default_rng(2)
    X = rng.random((120, 5))
    X[rng.random(X.shape) < 0.3] = 0.0
    X = np.round(X) if bits else X
    y = np.where(X[:, 0] + X[:, 1] > X[:, 2] + rng.normal(0, 0.3, 120), 1.0, -1.0)
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], size=120)
    weights[0] = 1.0
    mean, newest = plain(variant, average=True), plain(variant)
    sparse = plain(variant, average=True)
    twin = twin_of(mean, 5)
    for x, label, weight in zip(X, y, weights, strict=True):
        mean.learn_one(x, label, weight)
        newest.learn_one(x, label, weight)
        sparse.partial_fit(sp.csr_array(x[None]), [label], sample_weight=[weight])
        twin.learn(x, label, weight)
        np.testing.assert_allclose(newest.coef_, twin.W, rtol=1e-9, atol=1e-12)
        expected = [twin.averaged(row)[0] for row in X[:4]]
        for model in mean, sparse:
            np.testing.assert_allclose(
                model.decision_function(X[:4]), expected, rtol=1e-9, atol=1e-12
            )


@pytest.mark.parametrize("kind", NASTY, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("classes", [2, 3])
def test_balanced_equals_the_twin_on_nasty_streams(kind, classes):
    stream = kind(4, 60)
    y = stream.y if classes == 2 else np.arange(60) % 3
    names, outputs = (LABELS, 1) if classes == 2 else ([0, 1, 2], 3)
    model = plain("balanced", names, bias="constant").partial_fit(stream.X, y)
    twin = twin_of(model, stream.X.shape[1], outputs)
    for x, label in zip(stream.X, y, strict=True):
        twin.learn(x, label)
    w = np.column_stack([model.coef_, model.intercept_])
    np.testing.assert_allclose(w, twin.W, rtol=1e-8, atol=1e-10)


def test_a_weight_comes_back_from_very_far():
    """Up by 1.5^70, down by 0.5^80, and on, as the twin has it."""
    X = np.array([[1.0, 0.3]])
    model, twin = plain(average=False), Winnow(2, variant="balanced", promotion=1.5, demotion=0.5)
    for y, weight in [(1.0, 70.0), (-1.0, 41.3), (-1.0, 33.1), (1.0, 80.7), (-1.0, 17.9)] * 3:
        model.partial_fit(X, [y], sample_weight=[weight])  # weights that make no ties
        twin.learn(X[0], y, weight)
        np.testing.assert_allclose(model.coef_, twin.W, rtol=1e-8)


# ---- what the paper promises ---------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_mistake_bound_of_disjunctions(k):
    """Eliminating: at most a k (log_a theta + 1) + D / theta mistakes, on 300 streams."""
    worst = 0.0
    for seed in range(300):
        d = 20 + 10 * (seed % 5)
        X, y = literals(seed, 600, d, k)
        model = plain("eliminate").partial_fit(X, y)
        bound = model._bound(X, y, np.arange(d) < k)[-1]
        assert bound == pytest.approx(2 * k * (math.log2(d / 2) + 1) + 2)
        assert (y > 0).sum() > bound, "a model that never says yes would pass"
        assert 0 < model.mistakes_ <= bound
        worst = max(worst, model.mistakes_ / bound)
    assert worst > 0.3


def test_the_mistake_bound_of_dividing():
    """Winnow2, with theta = D and a = 3/2: at most 3 + 5/2 k (1 + log_a D), on 300 streams."""
    worst = 0.0
    for seed in range(300):
        d, k = 50, 1 + seed % 3
        X, y = literals(seed, 800, d, k)
        model = plain("divide", promotion=1.5, demotion=1 / 1.5, threshold=d).partial_fit(X, y)
        bound = model._bound(X, y, np.arange(d) < k)[-1]
        assert bound == pytest.approx(3 + 2.5 * k * (1 + math.log(d, 1.5)))
        assert 0 < model.mistakes_ <= bound
        worst = max(worst, model.mistakes_ / bound)
    assert worst > 0.3


def test_idle_features_cost_their_logarithm():
    mistakes = {}
    for d in (100, 2000):
        rng = np.random.default_rng(0)
        X = rng.integers(0, 2, size=(2000, d)).astype(float)
        y = np.where(X[:, :3].any(axis=1), 1.0, -1.0)
        perceptron = KernelPerceptron("plain", kernel="linear", bias="kernel", classes=LABELS)
        models = plain("divide"), perceptron
        mistakes[d] = [model.partial_fit(X, y).mistakes_ for model in models]
    assert mistakes[2000][0] < 3 * mistakes[100][0]
    assert mistakes[2000][0] < 0.5 * mistakes[2000][1]


def test_an_eliminated_feature_stays_so():
    model = plain("eliminate").partial_fit([[1.0, 1.0], [1.0, 0.0]], [-1.0, 1.0])
    assert model.coef_.tolist() == [[0.0, 0.0]]


# ---- what is refused, and what goes on -----------------------------------------------------------


@positive
@pytest.mark.parametrize("bad", [-0.1, 1.5])
def test_values_out_of_range_are_refused_and_nothing_changes(variant, bad):
    model = plain(variant).partial_fit([[1.0, 0.0]], [1.0])
    before = model.coef_
    with pytest.raises(ValueError, match=r"values from 0 to 1.*variant='balanced'"):
        model.partial_fit([[1.0, 1.0], [bad, 0.0]], [-1.0, 1.0])
    with pytest.raises(ValueError, match="values from 0 to 1"):
        model.learn_one(np.array([bad, 0.0]), 1.0)
    assert (model.coef_ == before).all()
    assert model.n_seen_ == 1


@positive
def test_positive_weights_tell_two_classes_only(variant):
    with pytest.raises(ValueError, match="variant"):
        plain(variant, [0, 1, 2]).partial_fit([[0.0], [1.0]], [0, 1])


def test_a_third_class_leaves_the_first_two_as_they_were():
    stream = blobs(2, 60, 3)
    model = plain("balanced", "open").partial_fit(stream.X, stream.y)
    before = model.predict(stream.X)
    model.partial_fit(np.zeros((1, 3)), [7.0], sample_weight=[0.0])
    f = model.decision_function(stream.X)
    assert (model.classes_[f[:, :2].argmax(axis=1)] == before).all()
    model.partial_fit(stream.X, np.array([-1.0, 1.0, 7.0])[np.arange(60) % 3])
    assert np.isfinite(model.coef_).all()


def test_features_may_appear_mid_stream():
    late, known = plain("divide", threshold=2.0), plain("divide", threshold=2.0)
    for x, y in [({"a": 1.0}, 1.0), ({"a": 1.0, "b": 1.0}, -1.0), ({"c": 1.0, "b": 1.0}, 1.0)]:
        late.learn_one(x, y)
        known.learn_one({"a": 0.0, "b": 0.0, "c": 0.0} | x, y)
    assert late.coef_.tolist() == known.coef_.tolist()


def test_defaults_learn_features_of_any_sign_and_scale():
    stream, clean = blobs(7, 2000, 10, noise=0.05), blobs(8, 2000, 10, noise=0.0)
    for scale in (1.0, 1e6):
        model = WinnowClassifier().fit(scale * stream.X, stream.y)
        assert model.score(scale * clean.X, clean.y) > 0.93
