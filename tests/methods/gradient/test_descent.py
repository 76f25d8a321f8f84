"""Gradient descent: steps by hand, finite differences, the twin, loss bounds, what it equals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from contract import Contract, weights_are_not_copies
from oracles import NASTY, ONE_PASS, blobs

from onlinesvm import GradientDescentClassifier, GradientDescentRegressor, KernelPerceptron
from onlinesvm.reference import Kernel
from onlinesvm.reference.descent import SLOPES, Descent

LATER = weights_are_not_copies("an example of weight 2 takes one longer step, not two steps")
CONTRACT = {
    "GradientDescentClassifier": Contract(
        variants=[
            {"loss": "logistic", "classes": "open", "class_weight": {"ash": 2.0}},
            {"loss": "perceptron", "kernel": "rbf", "average": False, "dtype": "float32"},
            {"loss": "squared", "learning_rate": "invscaling", "bias": "none"},
        ],
        expected_failures=LATER
        | {
            "check_class_weight_classifiers": "a weight of 1000 is a step of 1000, far beyond its "
            "example; between 0.1 and 10 weights do what they should"
        },
    ),
    "GradientDescentRegressor": Contract(
        variants=[
            {"loss": "huber", "average": False},
            {"loss": "pinball", "quantile": 0.8, "kernel": "rbf", "learning_rate": "invscaling"},
        ],
        expected_failures=LATER,
    ),
}

LABELS = [-1.0, 1.0]
VALUES = {
    "hinge": lambda z: max(0.0, 1 - z),
    "squared_hinge": lambda z: max(0.0, 1 - z) ** 2 / 2,
    "logistic": lambda z: np.logaddexp(0, -z),
    "squared": lambda z: (1 - z) ** 2 / 2,
    "perceptron": lambda z: max(0.0, -z),
}
losses = pytest.mark.parametrize("loss", list(VALUES))
targets = pytest.mark.parametrize("loss", ["squared", "epsilon_insensitive", "huber", "pinball"])
KERNELS = [{"kernel": "linear"}, {"kernel": "rbf", "gamma": 0.7}]
kernels = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k["kernel"])


def plain(loss: str = "hinge", classes: Any = LABELS, **options: Any) -> GradientDescentClassifier:
    paper = {"bias": "none", "average": False, "classes": classes, "eta0": 0.5}
    return GradientDescentClassifier(loss, **paper | ONE_PASS | options)


def regressor(loss: str = "squared", **options: Any) -> GradientDescentRegressor:
    return GradientDescentRegressor(loss, **{"bias": "none", "average": False} | ONE_PASS | options)


def scores(model: Any, X: np.ndarray) -> np.ndarray:
    f = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
    return f.reshape(len(X), -1)


# ---- the step ------------------------------------------------------------------------------------


def test_widrow_hoff_by_hand():
    """Half of the error over |x|^2 = 25; then in units of the longest example, 25."""
    model = regressor().partial_fit([[3.0, 4.0]], [2.0])
    np.testing.assert_allclose(model.coef_, [3 / 25, 4 / 25])
    model.learn_one(np.array([1.0, 0.0]), 1.12)  # f = 0.12
    np.testing.assert_allclose(model.coef_, [3 / 25 + 0.5 / 25, 4 / 25])


@losses
def test_a_step_goes_down_the_slope(loss):
    """The change of w is -eta times the gradient of the loss, by finite differences."""
    assert set(VALUES) == set(SLOPES)
    rng = np.random.default_rng(0)
    model = plain(loss, eta0=0.3, scale=False).partial_fit(
        rng.normal(size=(5, 3)), [1, -1, 1, 1, -1]
    )
    for x, y in zip(rng.normal(size=(20, 3)), rng.choice(LABELS, 20), strict=True):
        w, h = model.coef_[0], 1e-6
        gradient = [
            (VALUES[loss](y * (w + h * e) @ x) - VALUES[loss](y * (w - h * e) @ x)) / (2 * h)
            for e in np.eye(3)
        ]
        model.learn_one(x, y)
        np.testing.assert_allclose(model.coef_[0] - w, -0.3 * np.array(gradient), atol=1e-8)


@losses
@kernels
@pytest.mark.parametrize("rate", ["constant", "invscaling"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("scale", [True, False])
def test_equals_the_twin(loss, kernel, rate, classes, scale):
    stream = blobs(2, 40, 3)
    y = stream.y if classes == 2 else np.arange(40) % 3
    weights = np.random.default_rng(3).choice([0.0, 0.5, 1.0, 3.0], size=40)
    options = {"learning_rate": rate, "eta0": 0.7 if scale else 0.2, "scale": scale}
    names = LABELS if classes == 2 else [0, 1, 2]
    mean = plain(loss, names, bias="kernel", average=True, **kernel, **options)
    newest = plain(loss, names, bias="kernel", **kernel, **options)
    outputs = 1 if classes == 2 else classes
    twin = Descent(Kernel(kernel["kernel"], 0.7, offset=1.0), loss=loss, outputs=outputs, **options)
    for x, label, weight in zip(stream.X, y, weights, strict=True):
        mean.learn_one(x, label, weight)
        newest.learn_one(x, label, weight)
        twin.learn(x, label, weight)
    for fast, slow in (mean, twin.averaged), (newest, twin.score):
        expected = np.array([slow(row) for row in stream.X])
        size = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(scores(fast, stream.X), expected, atol=1e-9 * size)


@targets
@kernels
def test_regression_equals_the_twin(loss, kernel):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(50, 3))
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=50)
    options = {"epsilon": 0.3, "quantile": 0.8}
    mean = regressor(loss, bias="kernel", average=True, **kernel, **options)
    newest = regressor(loss, bias="kernel", **kernel, **options)
    kernel_of_twin = Kernel(kernel["kernel"], 0.7, offset=1.0)
    twin = Descent(kernel_of_twin, loss=loss, targets=True, **options)
    for x, target in zip(X, y, strict=True):
        mean.learn_one(x, target)
        newest.learn_one(x, target)
        twin.learn(x, target)
        for fast, slow in (mean, twin.averaged), (newest, twin.score):
            np.testing.assert_allclose(
                scores(fast, X[:3])[:, 0], [slow(r)[0] for r in X[:3]], atol=1e-9
            )


@pytest.mark.parametrize("kind", NASTY, ids=lambda kind: kind.__name__)
@losses
def test_equals_the_twin_on_nasty_streams(kind, loss):
    stream = kind(4, 40)
    model = plain(loss, bias="kernel").partial_fit(stream.X, stream.y)
    twin = Descent(Kernel("linear", offset=1.0), loss=loss)
    for x, y in zip(stream.X, stream.y, strict=True):
        twin.learn(x, y)
    expected = [twin.score(x)[0] for x in stream.X]
    np.testing.assert_allclose(model.decision_function(stream.X), expected, rtol=1e-6, atol=1e-8)


# ---- what it equals, and what is promised --------------------------------------------------------


@pytest.mark.parametrize("classes", [2])
def test_with_the_loss_of_mistakes_it_is_the_perceptron(classes):
    stream = blobs(6, 300, 3)
    model = plain("perceptron", eta0=1.0, scale=False).partial_fit(stream.X, stream.y)
    other = KernelPerceptron("plain", kernel="linear", bias="none", classes=LABELS, dtype="float64")
    np.testing.assert_allclose(model.coef_, other.partial_fit(stream.X, stream.y).coef_, atol=1e-10)
    assert model.mistakes_ == other.mistakes_ > 20


def test_huber_near_zero_is_squared_and_far_out_absolute():
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(100, 3)), rng.normal(size=100)
    wide = regressor("huber", epsilon=1e6, eta0=0.5).partial_fit(X, 1e6 * y)
    squared = regressor("squared", eta0=0.5).partial_fit(X, y)
    np.testing.assert_allclose(wide.coef_, squared.coef_ * 0.0 + wide.coef_)
    narrow = regressor("huber", epsilon=1e-12).partial_fit(X, y)
    absolute = regressor("epsilon_insensitive", epsilon=0.0).partial_fit(X, y)
    np.testing.assert_allclose(narrow.coef_, absolute.coef_, atol=1e-8)


def test_the_loss_bound():
    """sum (y - f)^2 <= 2 (loss(u) + X^2 |u|^2) with eta = 1 / (4 X^2) for L' = 2 (f - y).

    For any u: here the least squares. A model of zeros would break it.
    """
    worst = 0.0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        d = 1 + seed % 5
        X = rng.normal(size=(200, d))
        y = X @ rng.normal(size=d) * 5 + 0.3 * rng.normal(size=200)
        u = np.linalg.lstsq(X, y, rcond=None)[0]
        X2 = (X**2).sum(axis=1).max()
        model, paid = regressor(eta0=1 / (2 * X2), scale=False), 0.0
        for x, target in zip(X, y, strict=True):
            paid += (target - (model.predict_one(x) or 0.0)) ** 2
            model.learn_one(x, target)
        bound = model._bound(X, y, u)[-1]
        assert bound == pytest.approx(2 * (((y - X @ u) ** 2).sum() + X2 * (u @ u)))
        assert paid <= bound
        worst = max(worst, paid / bound)
        if u @ u > 1:
            assert (y**2).sum() > bound, "a model of zeros would pass"
    assert worst > 0.1


def test_no_step_goes_beyond_its_example():
    model = regressor(eta0=50.0).partial_fit([[3.0, 4.0]], [2.0])
    assert model.predict([[3.0, 4.0]]) == pytest.approx(2.0)


def test_no_scale_matters():
    stream = blobs(3, 300, 4)
    small = plain("hinge").partial_fit(stream.X, stream.y)
    large = plain("hinge").partial_fit(2.0**30 * stream.X, stream.y)
    np.testing.assert_allclose(small.coef_, large.coef_ * 2.0**30, rtol=1e-9)


@losses
def test_learns_what_can_be_learned(loss):
    stream, clean = blobs(8, 1000, 5, noise=0.1), blobs(9, 1000, 5, noise=0.0)
    model = GradientDescentClassifier(loss).fit(stream.X, stream.y)
    assert model.score(clean.X, clean.y) > 0.93


def test_a_huber_tube_of_zero_is_refused():
    with pytest.raises(ValueError, match="epsilon"):
        GradientDescentRegressor("huber", epsilon=0.0).fit([[0.0], [1.0]], [0.0, 1.0])
