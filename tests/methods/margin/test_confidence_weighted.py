"""Confidence-weighted: closed forms against a general solver, the twin, files and classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from contract import Contract, weights_are_not_copies
from oracles import NASTY, ONE_PASS, blobs
from scipy.optimize import minimize
from scipy.stats import norm

from onlinesvm import ConfidenceWeightedClassifier
from onlinesvm.reference.confidence_weighted import ConfidenceWeighted
from onlinesvm.report import plot_bound

CONTRACT = {
    "ConfidenceWeightedClassifier": Contract(
        variants=[
            {"variant": "SCW-I", "classes": "open", "class_weight": {"ash": 2.0}},
            {"variant": "SCW-II", "average": True, "bias": "none", "dtype": "float32"},
            {"covariance": "full", "C": 1.0},
        ],
        expected_failures=weights_are_not_copies(
            "an example of weight 2 takes one step with twice the C, not two steps"
        ),
    ),
}

LABELS = [-1.0, 1.0]
VARIANTS = ["AROW", "SCW-I", "SCW-II"]
variants = pytest.mark.parametrize("variant", VARIANTS)
kinds = pytest.mark.parametrize("covariance", ["diagonal", "full"])


def plain(variant: str = "AROW", **options: Any) -> ConfidenceWeightedClassifier:
    paper = {"bias": "none", "average": False, "classes": LABELS, "C": 0.3}
    return ConfidenceWeightedClassifier(variant, **paper | ONE_PASS | options)


def twin_of(
    model: ConfidenceWeightedClassifier, features: int, outputs: int = 1
) -> ConfidenceWeighted:
    return ConfidenceWeighted(
        features,
        variant=model.variant,
        C=model.C,
        phi=norm.ppf(model.confidence),
        full=model.covariance == "full",
        bias=model.bias == "constant",
        outputs=outputs,
    )


def weights(model: ConfidenceWeightedClassifier) -> np.ndarray:
    own = model.intercept_[:, None] if model.bias == "constant" else np.empty((len(model.coef_), 0))
    return np.hstack([model.coef_, own])


# ---- the step ------------------------------------------------------------------------------------


def test_two_steps_of_arow_by_hand():
    """r = 1: v = 9, mu = 3/10; Sigma = diag(1/10, 1). Then m = -.3, v = 1.1, alpha = 1.3 / 2.1."""
    for covariance in "diagonal", "full":
        model = plain(C=0.5, covariance=covariance).partial_fit([[3.0, 0.0]], [1.0])
        np.testing.assert_allclose(model.coef_, [[0.3, 0.0]], rtol=1e-14)
        model.learn_one(np.array([1.0, 1.0]), -1.0)
        np.testing.assert_allclose(model.coef_, [[0.3 - 0.13 / 2.1, -1.3 / 2.1]], rtol=1e-13)


@variants
@pytest.mark.parametrize("C", [0.05, 2.0])
def test_the_step_solves_its_optimisation_problem(variant, C):
    """The nearest normal distribution that trades distance against loss, by a general solver."""
    rng = np.random.default_rng(3)
    X, phi = rng.normal(size=(12, 2)), 1.2
    y = np.sign(X[:, 0] + 0.5 * rng.normal(size=12))
    twin = ConfidenceWeighted(2, variant=variant, C=C, phi=phi)
    steps = 0
    for x, label in zip(X, y, strict=True):
        mu, inverse = twin.W[0], twin.inverses[0].copy()
        twin.learn(x, label)
        if (twin.W[0] == mu).all():
            continue
        steps += 1
        found = _nearest(variant, C, phi, mu, inverse, x, label)
        np.testing.assert_allclose(twin.W[0], found[0], atol=2e-5)
        np.testing.assert_allclose(np.linalg.inv(twin.inverses[0]), found[1], atol=2e-5)
    assert steps >= 5


def test_a_diagonal_step_of_arow_is_the_best_diagonal_one():
    x, C, inverse = np.array([1.0, -2.0]), 0.7, np.diag([1.5, 4.0])
    twin = ConfidenceWeighted(2, C=C, full=False)
    twin.W, twin.inverses = np.array([[0.2, 0.1]]), inverse[None].copy()
    found = _nearest("AROW", C, 1.0, twin.W[0], inverse, x, -1.0, diagonal=True)
    twin.learn(x, -1.0)
    np.testing.assert_allclose(twin.W[0], found[0], atol=2e-5)
    np.testing.assert_allclose(np.linalg.inv(twin.inverses[0]), found[1], atol=2e-5)


def _nearest(variant, C, phi, mu0, inverse, x, y, diagonal=False):
    """mu and Sigma = L L', and a slack that stands for the loss."""

    def unpack(z):
        L = np.diag(z[2:4])
        L[1, 0] = 0.0 if diagonal else z[4]
        return z[:2], L @ L.T

    def price(z):
        mu, S = unpack(z)
        far = (
            np.trace(inverse @ S) - 2 * np.log(abs(z[2] * z[3])) + (mu - mu0) @ inverse @ (mu - mu0)
        )
        return (
            far / 2
            + C * (z[5] if variant == "SCW-I" else z[5] ** 2)
            + (C * x @ S @ x if variant == "AROW" else 0.0)
        )

    def room(z):
        mu, S = unpack(z)
        wanted = 1.0 if variant == "AROW" else phi * np.sqrt(x @ S @ x)
        return z[5] - wanted + y * (mu @ x)

    L = np.linalg.cholesky(np.linalg.inv(inverse))
    start = np.r_[mu0, L[0, 0], L[1, 1], L[1, 0], 1.0]
    limits = [{"type": "ineq", "fun": room}, {"type": "ineq", "fun": lambda z: z[5]}]
    best = minimize(
        price, start, method="SLSQP", constraints=limits, options={"ftol": 1e-14, "maxiter": 1000}
    )
    return unpack(best.x)


@variants
@kinds
@pytest.mark.parametrize("kind", NASTY, ids=lambda kind: kind.__name__)
def test_equals_the_twin_after_every_example(variant, covariance, kind):
    stream = kind(2, 50)
    rng = np.random.default_rng(0)
    w = rng.choice([0.0, 0.5, 1.0, 3.0], size=50)
    model = plain(variant, covariance=covariance, bias="constant")
    twin = twin_of(model, stream.X.shape[1])
    for x, label, weight in zip(stream.X, stream.y, w, strict=True):
        model.partial_fit(x[None], [label], sample_weight=[weight])
        twin.learn(x, label, weight)
        # a full Sigma is kept by subtracting: with rows of length 1e6, that costs it 12 digits
        digits = 1e-3 if kind.__name__ == "huge" and covariance == "full" else 1e-6
        np.testing.assert_allclose(weights(model), twin.W, rtol=digits, atol=1e-9)


@variants
@kinds
def test_three_classes_the_mean_and_sparse_rows_equal_the_twin(variant, covariance):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(90, 70)) * (rng.random((90, 70)) < 0.9)
    y = (X[:, :3] + 0.3 * rng.normal(size=(90, 3))).argmax(axis=1)
    names = {"classes": [0, 1, 2], "covariance": covariance, "bias": "constant"}
    newest, mean = plain(variant, **names), plain(variant, average=True, **names)
    sparse = plain(variant, average=True, **names)
    twin = twin_of(newest, 70, 3)
    for x, label in zip(X, y, strict=True):
        newest.learn_one(x, label)
        mean.learn_one(x, label)
        sparse.partial_fit(sp.csr_array(x[None]), [label])
        twin.learn(x, label)
    np.testing.assert_allclose(weights(newest), twin.W, rtol=1e-9, atol=1e-11)
    for model in mean, sparse:
        expected = [twin.averaged(row) for row in X[:4]]
        np.testing.assert_allclose(model.decision_function(X[:4]), expected, rtol=1e-9, atol=1e-11)


# ---- what it is for ------------------------------------------------------------------------------


@variants
def test_an_example_that_is_clear_enough_changes_nothing(variant):
    """AROW: a margin of 1; SCW: on its side with the probability asked for."""
    stream = blobs(3, 150, 3, noise=0.0)
    model, clear = plain(variant), 0
    twin = twin_of(model, 3)
    for x, label in zip(stream.X, stream.y, strict=True):
        m, v = label * (twin.W[0] @ x), x @ np.linalg.solve(twin.inverses[0], x)
        wanted = 1.0 if variant == "AROW" else norm.ppf(model.confidence) * np.sqrt(v)
        before = model.coef_ if twin.t > 1 else np.zeros((1, 3))
        model.learn_one(x, label)
        twin.learn(x, label)
        assert (model.coef_ == before).all() == (m >= wanted)
        clear += m >= wanted
    assert 10 < clear < 140


def test_features_of_any_scale_need_no_scaler():
    """One pass over scales from 1/100 to 100: within three points of the batch solution."""
    from sklearn.svm import LinearSVC

    rng = np.random.default_rng(0)
    Z = rng.normal(size=(6000, 30))
    y = np.where(Z @ rng.normal(size=30) + rng.normal(size=6000) > 0, 1.0, -1.0)
    X = Z * np.logspace(-1, 1, 30)
    ours = plain(covariance="full").partial_fit(X[:4000], y[:4000])
    batch = LinearSVC(fit_intercept=False).fit(Z[:4000], y[:4000])
    assert ours.score(X[4000:], y[4000:]) > batch.score(Z[4000:], y[4000:]) - 0.03
    assert plain().partial_fit(X[:4000], y[:4000]).score(X[4000:], y[4000:]) > 0.85


# ---- what is refused, and what goes on -----------------------------------------------------------


@kinds
def test_a_third_class_leaves_the_first_two_as_they_were(covariance):
    stream = blobs(2, 60, 3)
    model = plain(classes="open", covariance=covariance).partial_fit(stream.X, stream.y)
    before = model.predict(stream.X)
    model.partial_fit(np.zeros((1, 3)), [7.0], sample_weight=[0.0])
    f = model.decision_function(stream.X)
    assert (model.classes_[f[:, :2].argmax(axis=1)] == before).all()
    model.partial_fit(stream.X, np.array([-1.0, 1.0, 7.0])[np.arange(60) % 3])
    assert np.isfinite(model.coef_).all()


@kinds
@pytest.mark.parametrize("bias", ["none", "constant"])
def test_features_may_appear_mid_stream(covariance, bias):
    late, known = (plain(covariance=covariance, bias=bias) for _ in range(2))
    for x, y in [({"a": 1.0}, 1.0), ({"a": 1.0, "b": 2.0}, -1.0), ({"c": 1.0, "b": 1.0}, 1.0)]:
        late.learn_one(x, y)
        known.learn_one({"a": 0.0, "b": 0.0, "c": 0.0} | x, y)
    np.testing.assert_allclose(late.coef_, known.coef_, rtol=1e-14)
    assert np.count_nonzero(late.coef_) == 3


@pytest.mark.parametrize("settings", [{"variant": "SCW-I"}, {"covariance": "diagonal"}])
def test_a_bound_is_proved_for_arow_with_all_of_its_covariance(settings):
    model = ConfidenceWeightedClassifier(**{"covariance": "full"} | settings)
    stream = blobs(0)
    with pytest.raises(ValueError, match="for a proved bound"):
        plot_bound(model, [(stream.X, stream.y)])
