"""A mixture of kernels: every step against the twin, the bounds on its regret, what it is for."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from contract import Contract, weights_are_not_copies
from hypothesis import given
from oracles import NASTY, ONE_PASS, blobs, streams
from sklearn.metrics import log_loss

import onlinesvm
from onlinesvm import FourierFeatures, MultiKernelClassifier, MultiKernelRegressor
from onlinesvm.datasets import make_checkerboard
from onlinesvm.interop.river import to_river
from onlinesvm.reference.multi_kernel import MultiKernel

VARIANTS: list[dict[str, Any]] = [
    {"n_components": 20, "kernel": "laplacian", "classes": "open", "dtype": "float64"},
    {
        "n_components": 6,
        "n_bandwidths": 3,
        "linear": False,
        "gamma": 0.5,
        "share": 0.0,
        "max_iter": 1,
    },
]
COPIES = weights_are_not_copies("an example of weight 2 takes one longer step")
CONTRACT = {
    "MultiKernelClassifier": Contract(variants=VARIANTS, expected_failures=COPIES),
    "MultiKernelRegressor": Contract(
        variants=[
            {key: value for key, value in options.items() if key != "classes"}
            for options in VARIANTS
        ],
        expected_failures=COPIES,
    ),
}
LABELS = [-1.0, 1.0]


def waves_of(model: Any) -> np.ndarray:
    """The frequencies of the widest bandwidth, in radians, one per row."""
    values = model._core.state()["waves.frequencies"]
    return 2 * np.pi * values.reshape(model.n_features_in_, -1).T


def small(cls: Any = MultiKernelClassifier, **options: Any) -> Any:
    given = {"n_components": 14, "gamma": 0.4, "dtype": "float64", **ONE_PASS}
    return cls(**given | options)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("linear", [True, False])
@pytest.mark.parametrize("classes", [2, 4])
def test_equals_the_twin_after_every_example(kernel, linear, classes):
    rng = np.random.default_rng(classes)
    X, y = rng.normal(size=(70, 3)), rng.integers(0, classes, 70)
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], size=70)
    names = list(range(classes))
    model = small(kernel=kernel, linear=linear, n_bandwidths=5, share=0.01, classes=names)
    model.learn_one(X[0], 0, 0.0)
    W = waves_of(small(kernel=kernel, n_bandwidths=5).partial_fit(X[:1], [0], classes=names))
    twin = MultiKernel(
        W, n_bandwidths=5, linear=linear, share=0.01, outputs=1 if classes == 2 else classes
    )
    for x, label, weight in zip(X, y, weights, strict=True):
        model.learn_one(x, label, weight)
        twin.learn(x, label, weight)
        got = model.predict_proba(X[:6])
        np.testing.assert_allclose(got, [twin.predict(row) for row in X[:6]], atol=1e-9)
    experts = np.roll(twin.v, int(linear)), np.roll(twin.losses, int(linear))
    np.testing.assert_allclose(model.expert_weights_, experts[0], atol=1e-9)
    np.testing.assert_allclose(model.expert_losses_, experts[1], rtol=1e-8)
    assert model.loss_ == pytest.approx(twin.loss)


def test_the_regressor_equals_the_twin_after_every_example():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = 50 + 7 * np.sin(2 * X[:, 0]) + rng.normal(size=300)
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], size=300)
    model = small(MultiKernelRegressor, n_bandwidths=4)
    model.partial_fit(X[:1], y[:1], sample_weight=[0.0])
    W = waves_of(small(MultiKernelRegressor, n_bandwidths=4).partial_fit(X[:1], y[:1]))
    twin = MultiKernel(W, n_bandwidths=4, task="regression")
    for x, target, weight in zip(X, y, weights, strict=True):
        model.learn_one(x, target, weight)
        twin.learn(x, target, weight)
    got = model.predict(X[:9])
    np.testing.assert_allclose(got, [twin.predict(row)[0] for row in X[:9]], rtol=1e-9)
    assert model.loss_ == pytest.approx(twin.loss)
    np.testing.assert_allclose(model.expert_weights_, np.roll(twin.v, 1), atol=1e-9)


def test_a_third_class_changes_no_probability_of_the_two():
    stream = blobs(0, 60, 3)
    model = small(classes="open").partial_fit(stream.X, stream.y)
    before = model.predict_log_proba(stream.X)
    model.partial_fit(stream.X[:1], [7.0], sample_weight=[0.0])
    after = model.predict_log_proba(stream.X)
    apart = before[:, 1] - before[:, 0]
    np.testing.assert_allclose(after[:, 1] - after[:, 0], apart, rtol=0.5, atol=0.5)
    assert model.classes_.tolist() == [-1.0, 1.0, 7.0]


# ---- bounds --------------------------------------------------------------------------------------


def history(model: Any, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the mixture and each learner have lost after each row."""
    paid, lost = [], []
    for t in range(len(y)):
        model.partial_fit(X[t : t + 1], y[t : t + 1])
        paid.append(model.loss_)
        lost.append(model.expert_losses_)
    return np.array(paid), np.array(lost)


def regret_allowed(model: Any, n: np.ndarray | int, changes: int = 0) -> Any:
    """In nats, after n rows, beside a sequence of learners with so many changes."""
    experts = len(model.expert_weights_)
    allowed = math.log(experts) - (n - 1) * math.log1p(-model.share)
    return allowed + changes * (math.log(experts / model.share) if changes else 0.0)


def check_bound(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """The loss stays within the bound after any row; the largest share of the regret allowed."""
    paid, lost = history(model, X, y)
    n = np.arange(1, len(y) + 1)
    regret = paid - lost.min(axis=1)
    allowed = regret_allowed(model, n)
    assert (regret <= allowed * (1 + 1e-9) + 1e-9).all()
    for first, second in itertools.permutations(range(lost.shape[1]), 2):
        half = len(y) // 2
        follows = lost[half - 1, first] + lost[-1, second] - lost[half - 1, second]
        if model.share > 0:
            assert paid[-1] - follows <= regret_allowed(model, len(y), 1) * (1 + 1e-9) + 1e-9
    return float((regret / allowed).max())


@pytest.mark.parametrize("share", [0.0, 1e-3, 0.1])
def test_the_log_loss_stays_within_its_bound(share):
    closest = 0.0
    for seed in range(3):
        for stream in blobs(seed, 80, 3, noise=0.1), *(kind(seed, 40) for kind in NASTY):
            model = small(share=share, classes=sorted(set(stream.y.tolist())) or LABELS)
            closest = max(closest, check_bound(model, stream.X, stream.y))
    assert closest > 0.1


@given(stream=streams())
def test_property_any_stream_keeps_the_bound(stream):
    if len(set(stream.y.tolist())) == 2:
        check_bound(small(share=0.05, classes=LABELS), stream.X, stream.y)


def test_many_classes_keep_the_bound():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = rng.integers(0, 5, 200)
    check_bound(small(classes=range(5)), X, y)


@pytest.mark.parametrize("seed", range(4))
def test_the_squared_loss_stays_within_its_bound(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(300, 2))
    y = 1e3 + np.sin(3 * X[:, 0]) * X[:, 1] + 0.3 * rng.normal(size=300)
    model = small(MultiKernelRegressor, share=0.01)
    paid, lost = history(model, X, y)
    wide = np.maximum.accumulate(y) - np.minimum.accumulate(y)
    grew = np.cumsum(np.diff(wide, prepend=0) > 0)
    n = np.arange(1, 301)
    allowed = wide**2 * (2 * regret_allowed(model, n) + grew)
    assert (paid - lost.min(axis=1) <= allowed * (1 + 1e-9) + 1e-9).all()


# ---- what it is for ------------------------------------------------------------------------------


@pytest.mark.parametrize("cells", [0.5, 2])
def test_it_finds_the_bandwidth(cells):
    """Boards of few large and of many small cells: near the best of its own bandwidths alone."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(4000, 2))
    y = np.floor(X * cells).sum(axis=1).astype(int) % 2
    model = MultiKernelClassifier(classes=np.unique(y), linear=False)
    right = _prequential(model, X, y)
    alone = [
        _prequential(
            MultiKernelClassifier(
                classes=np.unique(y), linear=False, n_bandwidths=1, gamma=float(gamma)
            ),
            X,
            y,
        )
        for gamma in model.gammas_[2:]
    ]
    assert right > max(alone) - 0.01 > 0.6


def _prequential(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Accuracy of the second half, test, then train."""
    right = 0
    for start in range(0, len(y), 50):
        rows = slice(start, start + 50)
        if start >= len(y) // 2:
            right += int((model.predict(X[rows]) == y[rows]).sum())
        model.partial_fit(X[rows], y[rows])
    return right / (len(y) - len(y) // 2)


def test_it_follows_a_turn():
    """The labels turn round: so do the predictions."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(4000, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    y[2000:] = 1 - y[2000:]
    model = MultiKernelClassifier(classes=[0, 1]).partial_fit(X[:2000], y[:2000])
    assert model.score(X[1500:2000], y[1500:2000]) > 0.95
    model.partial_fit(X[2000:3000], y[2000:3000])
    assert model.score(X[3000:], y[3000:]) > 0.93


def test_probabilities_are_true_where_a_learner_fits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 4))
    odds = X @ [1.0, -1.0, 0.5, 0.0] + 0.5
    y = (rng.random(6000) < 1 / (1 + np.exp(-odds))).astype(int)
    model = MultiKernelClassifier().partial_fit(X[:5000], y[:5000], classes=[0, 1])
    chances = model.predict_proba(X[5000:])
    best = log_loss(y[5000:], 1 / (1 + np.exp(-odds[5000:])))
    assert log_loss(y[5000:], chances) < best + 0.02
    assert chances.sum(axis=1) == pytest.approx(1)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X[5000:])), chances)
    one = model.predict_proba_one(X[5000])
    assert list(one.values()) == pytest.approx(chances[0])


def test_weights_and_scales_do_not_matter_to_a_regressor():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(500, 2))
    y = np.sin(3 * X[:, 0]) * X[:, 1]
    plain = small(MultiKernelRegressor).partial_fit(X, y)
    scaled = small(MultiKernelRegressor).partial_fit(X, 1000 * y + 5000)
    np.testing.assert_allclose(scaled.predict(X), 1000 * plain.predict(X) + 5000, rtol=1e-6)


def test_gammas_are_octaves_of_the_bandwidth():
    X, y = blobs(0).X, blobs(0).y
    model = small(gamma=2.0).fit(X, y)
    assert model.gammas_.tolist() == [0, *(2.0 * 4.0 ** np.arange(-4, 4))]
    model = small(gamma=2.0, kernel="laplacian", linear=False, n_bandwidths=3).fit(X, y)
    assert model.gammas_.tolist() == [1.0, 2.0, 4.0]
    assert small(n_bandwidths=1, linear=False).fit(X, y).gammas_.tolist() == [0.4]


def test_its_waves_are_those_of_fourier_features():
    X, y = blobs(0).X, blobs(0).y
    model = small(gamma=2.0, n_bandwidths=1).fit(X, y)
    features = FourierFeatures(14, gamma=2.0, dtype="float64").fit(X)
    same = features._core.state()["frequencies"]
    assert np.array_equal(model._core.state()["waves.frequencies"], same)


def test_memory_does_not_grow_with_the_stream():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 5))
    y = X[:, 0] > 0
    model = MultiKernelClassifier(gamma=0.1).partial_fit(X, y, classes=[False, True])
    before = model.nbytes_
    assert model.partial_fit(X, y).nbytes_ <= before


def test_river_has_its_probabilities():
    model = to_river(small())
    for x, label in [({"a": 1.0}, "no"), ({"b": 1.0}, "yes")] * 20:
        model.learn_one(x, label)
    assert model.predict_proba_one({"b": 1.0})["yes"] > 0.9
    assert model.predict_one({"a": 1.0}) == "no"


def test_it_is_saved_and_goes_on(tmp_path):
    X, y = make_checkerboard(900, random_state=0)
    model = MultiKernelClassifier(classes=np.unique(y)).partial_fit(X[:600], y[:600])
    model.save(tmp_path / "model")
    again = onlinesvm.load(tmp_path / "model").partial_fit(X[600:], y[600:])
    model.partial_fit(X[600:], y[600:])
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(again.expert_losses_, model.expert_losses_)


def test_one_class_has_probability_one():
    model = MultiKernelClassifier(classes="open").partial_fit([[0.0], [1.0]], ["a", "a"])
    np.testing.assert_array_equal(model.predict_proba([[0.5]]), [[1.0]])
    assert model.predict_proba_one([0.5]) == {"a": 1.0}
