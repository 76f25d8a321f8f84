"""NORMA: the explicit recursion, the nu-property, the truncation, three tasks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from contract import Contract, weights_are_not_copies
from oracles import NASTY, ONE_PASS, blobs

from onlinesvm import NormaOneClassSVM, NormaSVC, NormaSVR
from onlinesvm.reference import Kernel, Norma
from onlinesvm.reference.norma import novelty, regression

# Settings under which a class behaves differently, and checks it is known to fail, with the reason.
CONTRACT = {
    "NormaOneClassSVM": Contract(
        variants=[{"truncation": 7, "dtype": "float64"}],
        expected_failures=weights_are_not_copies(
            "an example of weight 2 takes one step of twice the size, not two steps"
        ),
    ),
    "NormaSVC": Contract(
        variants=[
            {"classes": "open", "truncation": 7, "nu": 0.2, "bias": "free"},
            {"kernel": "linear", "learning_rate": "optimal", "class_weight": {"ash": 2.0}},
            {"kernel": "linear", "truncation": None, "budget": 12},
        ],
        expected_failures=weights_are_not_copies(
            "an example of weight 2 takes one step of twice the size, not two steps"
        ),
    ),
    "NormaSVR": Contract(
        variants=[
            {"truncation": 7, "nu": 0.2, "bias": "none", "loss": "epsilon_insensitive"},
            {"loss": "huber"},
        ],
        expected_failures=weights_are_not_copies(
            "an example of weight 2 takes one step of twice the size, not two steps"
        ),
    ),
}

RBF = {"kernel": "rbf", "gamma": 0.7}
SETTINGS: list[dict[str, Any]] = [
    {"truncation": None},
    {"truncation": 7},
    {"truncation": 7, "nu": 0.3},
    {"truncation": None, "nu": 0.3, "learning_rate": "invscaling"},
    {"truncation": 20, "learning_rate": "optimal"},
]
settings = pytest.mark.parametrize("options", SETTINGS, ids=str)
biases = pytest.mark.parametrize("bias", ["none", "kernel", "free"])


def twin_of(options: dict[str, Any], bias: str = "none", **more: Any) -> Norma:
    shared = {k: v for k, v in options.items() if k in ("learning_rate", "nu")}
    return Norma(
        Kernel("rbf", gamma=0.7, offset=float(bias == "kernel")),
        lam=0.2,
        eta0=0.5,
        tau=options["truncation"],
        bias="free" if bias == "free" else "none",
        **shared,
        **more,
    )


def fast(cls: type, **options: Any) -> Any:
    tube = {"loss": "epsilon_insensitive", "bias": "none"} if cls is NormaSVR else {}
    return cls(**{"alpha": 0.2, "eta0": 0.5, "dtype": "float64"} | RBF | ONE_PASS | tube | options)


WEIGHTS = np.random.default_rng(2).choice([0.0, 0.5, 1.0, 3.0], size=60)


# ---- the explicit recursion ----------------------------------------------------------------------


@settings
@biases
def test_classifier_equals_the_twin_after_every_example(options, bias):
    stream = blobs(1, 60, 3)
    model = fast(NormaSVC, classes=[-1, 1], bias=bias, **options)
    twin = twin_of(options, bias)
    for x, y, weight in zip(stream.X, stream.y, WEIGHTS, strict=True):
        model.learn_one(x, int(y), weight)
        twin.learn(x, y, weight)
        expected = [twin.score(x)[0] for x in stream.X[:3]]
        np.testing.assert_allclose(model.decision_function(stream.X[:3]), expected, atol=1e-12)
        assert model.margin_ == pytest.approx(twin.level, abs=1e-12)
        assert len(model.support_) == len(twin.support)


@settings
@biases
def test_classes_equal_the_twin(options, bias):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 3))
    y = (X @ rng.normal(size=(3, 4))).argmax(axis=1)
    model = fast(NormaSVC, classes=range(4), bias=bias, **options).fit(X, y)
    twin = twin_of(options, bias, outputs=4)
    for x, label in zip(X, y, strict=True):
        twin.learn(x, label)
    expected = [twin.score(x) for x in X[:10]]
    np.testing.assert_allclose(model.decision_function(X[:10]), expected, atol=1e-12)
    constant = model.intercept_ if bias == "free" else np.zeros(4)
    np.testing.assert_allclose(constant, twin.b, atol=1e-12)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared", "huber", "pinball"])
@pytest.mark.parametrize("truncation", [None, 7])
@biases
def test_regressor_equals_the_twin(loss, truncation, bias):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 2))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=60)
    options = {"truncation": truncation}
    model = fast(NormaSVR, loss=loss, epsilon=0.2, quantile=0.3, bias=bias, **options)
    twin = twin_of(options, bias, task=regression(loss, 0.3), level=0.2)
    for x, target, weight in zip(X, y, WEIGHTS, strict=True):
        model.learn_one(x, target, weight)
        twin.learn(x, target, weight)
        assert model.predict_one(X[0]) == pytest.approx(twin.score(X[0])[0], abs=1e-12)


def test_tube_equals_the_twin():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] ** 2
    model = fast(NormaSVR, nu=0.4, truncation=9)
    twin = twin_of({"nu": 0.4, "truncation": 9}, task=regression(), level=0.1)
    for x, target in zip(X, y, strict=True):
        model.learn_one(x, target)
        twin.learn(x, target)
        assert model.epsilon_ == pytest.approx(twin.level, abs=1e-12)
        assert model.epsilon_ >= 0.0


@pytest.mark.parametrize("truncation", [None, 7])
def test_one_class_equals_the_twin(truncation):
    X = np.random.default_rng(6).normal(size=(60, 2))
    options = {"nu": 0.2, "truncation": truncation}
    model = fast(NormaOneClassSVM, **options)
    twin = twin_of(options, task=novelty, level=0.0)
    for x, weight in zip(X, WEIGHTS, strict=True):
        model.learn_one(x, w=weight)
        twin.learn(x, weight=weight)
        expected = [twin.score(x)[0] for x in X[:3]]
        np.testing.assert_allclose(model.score_samples(X[:3]), expected, atol=1e-12)
        assert model.offset_ == pytest.approx(twin.level, abs=1e-12)


@pytest.mark.parametrize("kind", NASTY, ids=lambda kind: kind.__name__)
def test_equals_the_twin_on_nasty_streams(kind):
    stream = kind(4, 40)
    model = fast(NormaSVC, truncation=11).fit(stream.X, stream.y)
    twin = twin_of({"truncation": 11})
    for x, y in zip(stream.X, stream.y, strict=True):
        twin.learn(x, y)
    expected = [twin.score(x)[0] for x in stream.X]
    np.testing.assert_allclose(model.decision_function(stream.X), expected, atol=1e-9)


@biases
def test_linear_kernel_function_is_the_linear_model(bias):
    stream = blobs(6, 100, 3)
    options: dict[str, Any] = {"bias": bias, "dtype": "float64", "truncation": None} | ONE_PASS
    linear = NormaSVC(kernel="linear", **options).fit(stream.X, stream.y)
    by_kernel = NormaSVC(kernel=lambda x, X: X @ x, **options).fit(stream.X, stream.y)
    f, g = linear.decision_function(stream.X), by_kernel.decision_function(stream.X)
    np.testing.assert_allclose(f, g, atol=1e-10)
    np.testing.assert_allclose(linear.intercept_, by_kernel.intercept_, atol=1e-10)
    np.testing.assert_allclose(stream.X @ linear.coef_[0] + linear.intercept_, f, atol=1e-10)
    never = NormaSVC(kernel="linear", **options | {"truncation": 1000}).fit(stream.X, stream.y)
    np.testing.assert_allclose(never.decision_function(stream.X), f, atol=1e-10)


# ---- what the paper promises ---------------------------------------------------------------------


@pytest.mark.parametrize("nu", [0.1, 0.2, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_nu_property(nu, seed):
    """The share of errors, told before each example is learned, comes within 0.02 of nu."""
    rng = np.random.default_rng(seed)
    n = 2000
    X = rng.normal(size=(n, 2))
    y = np.where(rng.random(n) < 0.05, -1, 1) * np.sign(X[:, 0] + 1e-9)
    novel = NormaOneClassSVM(nu, alpha=0.1, gamma=0.5)  # its level starts at 0 and settles soon
    inside = NormaSVC(nu=nu, gamma=0.5, classes=[-1.0, 1.0])
    tube = NormaSVR(0.01, loss="epsilon_insensitive", eta0=0.3, bias="none", nu=nu, gamma=0.5)
    novel.learn_one(X[0])
    inside.learn_one(X[0], y[0])
    tube.learn_one(X[0], 0.0)
    errors = np.zeros(3)
    for x, label in zip(X, y, strict=True):
        target = np.sin(x[0]) + 0.3 * x[1]
        errors += [
            novel.decide_one(x) < 0,
            label * inside.decide_one(x) < inside.margin_,
            abs(target - tube.predict_one(x)) > tube.epsilon_,
        ]
        novel.learn_one(x)
        inside.learn_one(x, label)
        tube.learn_one(x, target)
    assert np.abs(errors / n - nu).max() <= 0.02


@pytest.mark.parametrize("cls", [NormaSVC, NormaOneClassSVM])
def test_truncation_bounds_memory_after_every_call(cls):
    stream = blobs(7, 200, 2)
    model = cls(truncation=13, nu=0.5)
    if cls is NormaSVC:
        model.set_params(classes=[-1.0, 1.0])
    for i, (x, y) in enumerate(zip(stream.X, stream.y, strict=True)):
        model.learn_one(x, y)
        assert len(model.support_) <= 13
        assert not len(model.support_) or model.support_.min() > i - 13


def test_truncated_scores_are_close():
    """|f - f_truncated| <= X (1 - eta alpha)^tau / alpha."""
    stream = blobs(8, 600, 2)
    options: dict[str, Any] = {
        "alpha": 0.1,
        "eta0": 0.3,
        "dtype": "float64",
        "gamma": 0.5,
    } | ONE_PASS
    whole = NormaSVC(truncation=None, **options).fit(stream.X, stream.y)
    for tau in (20, 60, 150):
        cut = NormaSVC(truncation=tau, **options).fit(stream.X, stream.y)
        bound = (1 - 0.03) ** tau / 0.1
        gap = np.abs(whole.decision_function(stream.X) - cut.decision_function(stream.X)).max()
        assert gap <= 2 * bound  # the two learn from slightly different margins
    auto = NormaSVC(**options).fit(stream.X, stream.y)
    assert auto._core_settings["truncation"] == 227  # the least with 0.97^tau / 0.1 <= 0.01
    gap = np.abs(whole.decision_function(stream.X) - auto.decision_function(stream.X)).max()
    assert gap <= 0.01


def test_it_follows_a_stream_that_turns_round():
    before, after = blobs(0, 1500, 2, noise=0.0), blobs(1, 1500, 2, noise=0.0)
    model = NormaSVC(0.05, eta0=0.5, classes=[-1.0, 1.0])
    model.partial_fit(before.X, before.y).partial_fit(after.X, -after.y)
    assert model.score(before.X, -before.y) > 0.8


@settings
def test_unlearning_strikes_off_the_term(options):
    stream = blobs(3, 60, 3)
    model, twin = fast(NormaSVC, classes=[-1, 1], bias="free", **options), twin_of(options, "free")
    rng = np.random.default_rng(0)
    for i, (x, y) in enumerate(zip(stream.X, stream.y, strict=True)):
        model.learn_one(x, int(y))
        twin.learn(x, y)
        if i % 7 == 0:
            gone = rng.choice(i + 1, min(3, i + 1), replace=False)
            model.unlearn(gone)
            for g in gone:
                twin.unlearn(int(g) + 1)
            assert not set(gone) & set(model.support_.tolist())
        expected = [twin.score(x)[0] for x in stream.X[:3]]
        np.testing.assert_allclose(model.decision_function(stream.X[:3]), expected, atol=1e-12)
    model.unlearn(np.arange(60))
    assert not len(model.support_)


def test_unlearning_is_forgotten_in_time():
    """After the lesson both models see the same; what it left behind fades."""
    stream = blobs(4, 400, 2)
    with_it, without = (fast(NormaSVC, classes=[-1, 1], truncation=None) for _ in range(2))
    with_it.learn_one(np.array([0.1, 0.1]), 1).unlearn(0)
    with_it.partial_fit(stream.X, stream.y)
    without.partial_fit(stream.X, stream.y)
    gap = with_it.decision_function(stream.X) - without.decision_function(stream.X)
    assert np.abs(gap).max() < 1e-6


def test_a_sum_of_examples_does_not_unlearn():
    stream = blobs(5, 30, 2)
    model = NormaSVC(kernel="linear", truncation=None).fit(stream.X, stream.y)
    with pytest.raises(NotImplementedError, match="truncation it can"):
        model.unlearn(0)
    NormaSVC(kernel="linear", truncation=20).fit(stream.X, stream.y).unlearn([0, 29])


def test_outlier_verbs_agree():
    X = np.random.default_rng(0).normal(size=(300, 2))
    model = NormaOneClassSVM(gamma=0.5)
    assert model.predict_one(X[0]) is None
    labels = model.fit_predict(X)
    f = model.decision_function(X)
    assert set(labels) == {-1, 1}
    assert ((labels == -1) == (f < 0)).all()
    np.testing.assert_allclose(model.score_samples(X) - model.offset_, f)
    assert [model.predict_one(x) for x in X[:20]] == labels[:20].tolist()


@pytest.mark.parametrize(
    ("model", "complaint"),
    [
        (NormaSVC(0.5, eta0=2.0), "eta0 must be below"),
        (NormaSVC(nu=1.0), "nu must be"),
        (NormaSVC(truncation=0), "truncation must be"),
        (NormaSVR(loss="squared", nu=0.5), "nu sizes the tube"),
        (NormaSVR(loss="huber", epsilon=0.0), "epsilon must be"),
    ],
)
def test_bad_settings_are_named(model, complaint):
    stream = blobs(0)
    with pytest.raises(ValueError, match=complaint):
        model.fit(stream.X, stream.y)


def test_a_budget_keeps_the_newest():
    stream = blobs(9, 120)
    model = NormaSVC(budget=9, truncation=None, gamma=0.7, classes=[-1, 1])
    for x, y in zip(stream.X, stream.y, strict=True):
        model.learn_one(x, y)
        assert len(model.support_) <= 9
    free = NormaSVC(truncation=None, gamma=0.7, classes=[-1, 1]).partial_fit(stream.X, stream.y)
    newest = sorted(free.support_)[-9:]
    assert len(set(newest) & set(model.support_)) >= 7  # f differs, and with it who is wrong
