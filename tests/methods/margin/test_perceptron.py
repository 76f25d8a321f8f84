"""The perceptron: mistakes only, the lazy average against the explicit one, the vote, the bound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from contract import Contract, weights_are_not_copies
from family_kernels import kernels
from hypothesis import given
from oracles import NASTY, ONE_PASS, blobs, separable, streams

from onlinesvm import KernelPerceptron
from onlinesvm.reference import Kernel, Perceptron

# Settings under which a class behaves differently, and checks it is known to fail, with the reason.
CONTRACT = {
    "KernelPerceptron": Contract(
        variants=[
            {"variant": "voted", "classes": "open", "class_weight": {"ash": 2.0}},
            {"kernel": "linear", "bias": "kernel", "dtype": "float64"},
        ],
        expected_failures=weights_are_not_copies(
            "an example of weight 2 takes one step of twice the size, not two steps"
        ),
    ),
}

VARIANTS = ["plain", "averaged", "voted"]
variants = pytest.mark.parametrize("variant", VARIANTS)


def fast(variant: str, classes: Any = (-1.0, 1.0), **options: Any) -> KernelPerceptron:
    options = {"kernel": "linear", "dtype": "float64", **ONE_PASS} | options
    return KernelPerceptron(variant, classes=list(classes), **options)


def twin_of(kernel: dict[str, Any], offset: float = 0.0, outputs: int = 1) -> Perceptron:
    options = {name: value for name, value in kernel.items() if name != "kernel"}
    return Perceptron(Kernel(kernel["kernel"], offset=offset, **options), outputs=outputs)


def by_definition(twin: Perceptron, variant: str, x: np.ndarray) -> np.ndarray:
    return {"plain": twin.score, "averaged": twin.averaged, "voted": twin.voted}[variant](x)


def scores(model: Any, X: Any) -> np.ndarray:
    return model.decision_function(X).reshape(X.shape[0], -1)


# ---- the step ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variant", "f"),
    [("plain", [0.0, -1.0]), ("averaged", [2.0 / 4, -1.0 / 4]), ("voted", [2.0 / 3, -1.0 / 3])],
)
def test_three_rounds_by_hand(variant, f):
    """w = (1, 0), kept in round 2, then (0, -1); hypotheses (0,0), (1,0), (1,0), (0,-1)."""
    model = fast(variant)
    model.fit([[1.0, 0.0], [2.0, 1.0], [1.0, 1.0]], [1.0, 1.0, -1.0])
    np.testing.assert_allclose(model.decision_function(np.eye(2)), f, rtol=1e-15)


def test_a_tie_is_a_mistake_and_weights_scale_the_step():
    model = fast("plain").partial_fit([[3.0, 4.0]], [-1.0], sample_weight=[0.5])
    assert model.coef_.tolist() == [[-1.5, -2.0]]
    assert model.intercept_.tolist() == [0.0]


def test_rivals_share_the_blame():
    model = fast("plain", classes=[0, 1, 2]).partial_fit([[2.0]], [1])
    assert model.coef_.ravel().tolist() == [-1.0, 2.0, -1.0]


@variants
@kernels
@pytest.mark.parametrize("bias", ["none", "kernel"])
def test_equals_the_twin_after_every_example(variant, kernel, bias):
    stream = blobs(1, 60, 3)
    weights = np.random.default_rng(2).choice([0.0, 0.5, 1.0, 3.0], size=60)
    model = fast(variant, bias=bias, **kernel)
    twin = twin_of(kernel, float(bias == "kernel"))
    for x, y, weight in zip(stream.X, stream.y, weights, strict=True):
        model.learn_one(x, y, weight)
        twin.learn(x, y, weight)
        expected = [by_definition(twin, variant, x) for x in stream.X[:4]]
        np.testing.assert_allclose(scores(model, stream.X[:4]), expected, rtol=1e-9, atol=1e-10)


@variants
@kernels
def test_classes_equal_the_twin(variant, kernel):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 3))
    y = (X @ rng.normal(size=(3, 4))).argmax(axis=1)
    model = fast(variant, classes=range(4), **kernel).fit(X, y)
    twin = twin_of(kernel, outputs=4)
    for x, label in zip(X, y, strict=True):
        twin.learn(x, label)
    expected = [by_definition(twin, variant, x) for x in X[:20]]
    np.testing.assert_allclose(scores(model, X[:20]), expected, rtol=1e-9, atol=1e-10)


@variants
@pytest.mark.parametrize("kind", NASTY, ids=lambda kind: kind.__name__)
def test_equals_the_twin_on_nasty_streams(kind, variant):
    stream = kind(4, 40)
    model = fast(variant, bias="kernel").fit(stream.X, stream.y)
    twin = twin_of({"kernel": "linear"}, 1.0)
    for x, y in zip(stream.X, stream.y, strict=True):
        twin.learn(x, y)
    expected = [by_definition(twin, variant, x)[0] for x in stream.X]
    np.testing.assert_allclose(model.decision_function(stream.X), expected, rtol=1e-6, atol=1e-9)


@given(streams())
def test_only_mistakes_change_it(stream):
    model = fast("plain")
    w = np.zeros(stream.X.shape[1])
    for x, y in zip(stream.X, stream.y, strict=True):
        mistake = y * (w @ x) <= 0
        model.learn_one(x, y)
        new = model.coef_[0]
        assert (new == (w + y * x if mistake else w)).all()
        w = new


# ---- what is promised ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(30))
def test_mistake_bound(seed):
    """Novikoff: mistakes <= max |x|^2 |u|^2 for every u with all margins at least 1."""
    X, y, u = separable(seed, 1000, margin=0.3)
    model, mistakes = fast("plain"), 0
    bound = model._bound(X, y, u)[-1]
    assert bound == pytest.approx(u @ u)  # rows have length 1
    assert bound < 12 < len(X) / 2, "a bound that a model which learns nothing would keep"
    for x, label in zip(X, y, strict=True):
        mistakes += label * model.decide_one(x) <= 0
        model.learn_one(x, label)
    assert 0 < mistakes <= bound
    voted = fast("voted").partial_fit(X, y)  # keeps its mistakes
    assert len(voted.support_) == mistakes


def test_average_over_a_long_stream_is_the_explicit_one():
    stream = blobs(5, 3000, 4)
    model = fast("averaged")
    w, total = np.zeros(4), np.zeros(4)
    for x, y in zip(stream.X, stream.y, strict=True):
        w = w + y * x if y * (w @ x) <= 0 else w
        total += w
    model.fit(stream.X, stream.y)
    np.testing.assert_allclose(model.coef_[0], total / 3001, rtol=1e-10)


def test_the_average_is_worth_having():
    train, test = blobs(0, 3000, 5, noise=0.1), blobs(1, 2000, 5, noise=0.0)
    accuracy = {v: fast(v).fit(train.X, train.y).score(test.X, test.y) for v in VARIANTS}
    assert accuracy["averaged"] > accuracy["plain"] + 0.02
    assert accuracy["voted"] > accuracy["plain"] + 0.02


@variants
def test_linear_kernel_function_is_the_linear_model(variant):
    stream = blobs(6, 100, 3)
    linear = fast(variant, bias="kernel").fit(stream.X, stream.y)
    by_kernel = fast(variant, bias="kernel", kernel=lambda x, X: X @ x).fit(stream.X, stream.y)
    f, g = linear.decision_function(stream.X), by_kernel.decision_function(stream.X)
    np.testing.assert_allclose(f, g, atol=1e-10)
    np.testing.assert_allclose(linear.intercept_, by_kernel.intercept_, atol=1e-10)


@pytest.mark.parametrize("variant", ["plain", "averaged"])
def test_coefficients_are_those_that_predict(variant):
    stream = blobs(7, 80, 2)
    model = fast(variant, kernel="rbf", gamma=0.5).fit(stream.X, stream.y)
    K = Kernel("rbf", gamma=0.5)(model.support_vectors_, stream.X)
    np.testing.assert_allclose(model.dual_coef_[0] @ K, model.decision_function(stream.X))


@variants
def test_a_third_class_leaves_the_first_two_as_they_were(variant):
    stream = blobs(2, 60)
    model = KernelPerceptron(variant, gamma=0.5, classes="open").partial_fit(stream.X, stream.y)
    before = model.predict(stream.X)
    model.partial_fit(np.zeros((1, 2)), [7.0], sample_weight=[0.0])
    f = model.decision_function(stream.X)
    assert f.shape == (60, 3)
    assert (model.classes_[f[:, :2].argmax(axis=1)] == before).all()


def test_what_is_not_there_is_named():
    stream = blobs(0)
    with pytest.raises(AttributeError, match="see coef_"):
        _ = fast("plain").fit(stream.X, stream.y).support_
    with pytest.raises(AttributeError, match="see dual_coef_"):
        _ = fast("voted").fit(stream.X, stream.y).coef_
