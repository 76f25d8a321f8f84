"""Proved bounds: no stream breaks one, and plot_bound draws what was paid below what is allowed."""

from __future__ import annotations

import math
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import NASTY, blobs, separable, streams

mpl.use("agg")

from matplotlib import pyplot as plt

import onlinesvm
from onlinesvm import (
    AlmaClassifier,
    ConfidenceWeightedClassifier,
    ExponentiatedGradientClassifier,
    ExponentiatedGradientRegressor,
    ForgetronClassifier,
    GradientDescentClassifier,
    GradientDescentRegressor,
    KernelPerceptron,
    MiraClassifier,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    ProjectronClassifier,
    RampSVC,
    RommaClassifier,
    WinnowClassifier,
)
from onlinesvm.model.bounds import rivals as rivals_of
from onlinesvm.report import plot_bound
from onlinesvm.report.bound import _as_seen, _fresh, _learn
from onlinesvm.stream import lessons

# Noise does not silence these; the others speak of streams without a mistake.
NOISY = [
    KernelPerceptron(kernel="linear", dtype="float64"),
    KernelPerceptron("voted", gamma=0.7, bias="kernel", dtype="float64"),
    ForgetronClassifier(100, gamma=0.7, dtype="float64"),
    ForgetronClassifier(kernel="linear", bias="kernel"),
    ProjectronClassifier(variant="plain", gamma=0.7, dtype="float64"),
    RommaClassifier(),
    RommaClassifier(2.0, variant="plain", bias="none"),
    RommaClassifier(kernel="poly", gamma=0.3, degree=2, coef0=1.0),
    MiraClassifier(),
    MiraClassifier(0.3, bias="none", average=False),
    MiraClassifier(5.0, kernel="rbf", gamma=0.7),
    PassiveAggressiveClassifier(),
    PassiveAggressiveClassifier(0.01, kernel="rbf", gamma=2.0),
    PassiveAggressiveClassifier(0.1, loss="squared_hinge", bias="none"),
    ConfidenceWeightedClassifier(covariance="full"),
    ConfidenceWeightedClassifier(covariance="full", C=5.0, bias="none"),
    GradientDescentClassifier("squared", scale=False, eta0=0.01),
    ExponentiatedGradientClassifier("squared", U=2.0, eta0=0.01, scale=False),
]
HARD = [
    RommaClassifier(math.inf),
    RommaClassifier(math.inf, variant="plain"),
    PassiveAggressiveClassifier(math.inf),
    AlmaClassifier(),
    AlmaClassifier(0.5, p=6.0, bias="none"),
    AlmaClassifier(1.0, kernel="rbf", gamma=0.5),
]
REGRESSORS = [
    PassiveAggressiveRegressor(),
    PassiveAggressiveRegressor(0.05, epsilon=0.0, bias="none"),
    PassiveAggressiveRegressor(1.0, kernel="rbf", gamma=0.5),
    GradientDescentRegressor(scale=False, eta0=0.02),
    GradientDescentRegressor(scale=False, eta0=0.04, bias="none", average=False),
    ExponentiatedGradientRegressor(U=3.0, eta0=0.01, scale=False),
    ExponentiatedGradientRegressor(variant="EG", U=1.5, eta0=0.02, scale=False, bias="none"),
]


def name(model: Any) -> str:
    return repr(model).replace("onlinesvm.", "")


def played(model: Any, X: np.ndarray, y: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """The learner, the rows as it saw them, and what it has paid after each."""
    learner = _fresh(model, X, y)
    paid = _learn(learner, X, y)
    return learner, _as_seen(learner, X)[0], paid


def check(model: Any, X: np.ndarray, y: np.ndarray, rivals: Any = ()) -> float:
    """Nothing paid exceeds a bound, after any row and beside any rival; the largest share of it."""
    learner, rows, paid = played(model, X, y)
    share = 0.0
    for u in (*rivals_of(learner, rows, y), *rivals):
        bound = learner._bound(rows, y, u)
        assert (np.diff(bound[np.isfinite(bound)]) >= -1e-9 * bound[0]).all()
        assert (paid <= bound * (1 + 1e-7) + 1e-9).all()
        share = max(share, paid[-1] / bound[-1])
    return share


# ---- no stream breaks a bound --------------------------------------------------------------------


@pytest.mark.parametrize("model", [*NOISY, *HARD], ids=name)
def test_random_streams(model):
    """Noisy ones, nasty ones and clean ones; a bound is worth little that is never approached."""
    closest = 0.0
    for seed in range(4):
        for stream in blobs(seed, 80, 3, noise=0.1), *(kind(seed, 40) for kind in NASTY):
            closest = max(closest, check(model, stream.X, stream.y))
        X, y, _ = separable(seed, 100, 0.2)
        closest = max(closest, check(model, X, y))
    assert closest > 0.002


@pytest.mark.parametrize("model", NOISY, ids=name)
@given(stream=streams())
def test_property_any_stream(model, stream):
    if len(set(stream.y.tolist())) == 2:
        check(model, stream.X, stream.y)


@pytest.mark.parametrize("model", REGRESSORS, ids=name)
def test_random_targets(model):
    closest = 0.0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1.5, 1.5, size=(150, 4))
        y = X @ [1.0, 0.0, -0.5, 0.0] + 0.3 * rng.normal(size=150)
        closest = max(closest, check(model, X, y))
    assert closest > 0.1


@given(st.integers(0, 10_000), st.floats(0.05, 3.0))
def test_property_any_rival_is_fair(seed, length):
    """Not only the rivals that are found: a bound holds beside any weights."""
    rng = np.random.default_rng(seed)
    stream = blobs(seed, 50, 3, noise=0.2)
    u = length * rng.normal(size=(4, 4))
    for model in RommaClassifier(0.5), PassiveAggressiveClassifier(0.3), MiraClassifier():
        check(model, stream.X, stream.y, rivals=u)


@pytest.mark.parametrize("variant", ["divide", "eliminate"])
@pytest.mark.parametrize("options", [{}, {"promotion": 1.3, "threshold": 20.0}])
def test_disjunctions_found_and_told(variant, options):
    closest = 0.0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = (rng.random((300, 30)) < 0.15).astype(float)
        y = np.where(X[:, :3].any(axis=1), 1.0, -1.0)
        told = np.r_[np.ones(3), np.zeros(27)]
        closest = max(closest, check(WinnowClassifier(variant, **options), X, y, rivals=[told]))
    assert closest > 0.15


def test_the_disjunction_found_is_one():
    X = np.array([[1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0.0]])
    y = np.array([1, 1, -1, 1.0])
    (u,) = WinnowClassifier("divide")._rivals(X, y)
    assert u.tolist() in ([1, 1, 0, 0], [1, 0, 1, 0])
    bound = WinnowClassifier("divide")._bound(X, np.array([1, 1, 1, 1.0]), u)
    assert np.isinf(bound).tolist() == [False, False, True, True]


def test_every_bound_is_met_here():
    every = {cls for cls in onlinesvm.all_estimators() if hasattr(cls, "_theorem")}
    assert every == {type(model) for model in (*NOISY, *HARD, *REGRESSORS)} | {WinnowClassifier}


# ---- the picture ---------------------------------------------------------------------------------


def test_lines_carry_what_was_paid_and_what_is_allowed():
    X, y, u = separable(0, 300, 0.3)
    model = KernelPerceptron(kernel="linear", dtype="float64")
    ax = plot_bound(model, lessons(X, y, size=7), u=u)
    paid, bound = ax.get_lines()
    assert bound.get_ydata() == pytest.approx(np.full(300, u @ u))
    mistakes = model.set_params(classes=[-1.0, 1.0]).partial_fit(X, y).mistakes_
    assert paid.get_ydata()[-1] == mistakes > 0
    assert (paid.get_label(), bound.get_label()[:14]) == ("mistakes", "bound of Freun")
    assert [text.get_text().split(": ")[1] for text in ax.texts] == [str(mistakes), "11"]
    assert ax.get_title(loc="left") == "KernelPerceptron"


def test_the_rival_found_is_no_worse_than_the_largest_margin():
    X, y, u = separable(1, 200, 0.3)
    found = plot_bound(RommaClassifier(bias="none"), [(X, y)]).get_lines()[1].get_ydata()[-1]
    told = plot_bound(RommaClassifier(bias="none"), [(X, y)], u=u).get_lines()[1].get_ydata()[-1]
    assert found <= told


def test_the_model_itself_learns_nothing():
    X, y, _ = separable(2, 60, 0.3)
    model = AlmaClassifier()
    plot_bound(model, [(X, y)])
    assert not hasattr(model, "classes_")


def test_coefficients_tell_a_rival_with_a_kernel():
    stream = blobs(3, 40, 2)
    model = PassiveAggressiveClassifier(kernel="rbf", gamma=0.5, bias="none")
    s = 0.1 * stream.y
    K = np.exp(-0.5 * ((stream.X[:, None] - stream.X) ** 2).sum(axis=2))
    allowed = s @ K @ s + 2 * np.maximum(0, 1 - stream.y * (K @ s)).sum()
    bound = plot_bound(model, lessons(stream.X, stream.y), u=s).get_lines()[1].get_ydata()
    assert bound[-1] == pytest.approx(allowed)


def test_words_for_gamma_mean_the_whole_stream():
    stream = blobs(4, 60, 2)
    ax = plot_bound(KernelPerceptron(), [(stream.X, stream.y)])
    fixed = KernelPerceptron(gamma=1 / (2 * stream.X.var()))
    paid = plot_bound(fixed, [(stream.X, stream.y)]).get_lines()[0].get_ydata()
    assert ax.get_lines()[0].get_ydata().tolist() == paid.tolist()


def test_a_bound_ends_where_the_theorem_does():
    X, y, u = separable(5, 100, 0.3)
    y[60] = -y[60]
    ax = plot_bound(AlmaClassifier(bias="none"), [(X, y)], u=u)
    assert ax.get_lines()[1].get_xdata()[-1] == 60


def test_far_bounds_are_drawn_on_a_log_scale():
    X, y, u = separable(6, 300, 0.3)
    model = KernelPerceptron(kernel="linear")
    near, far = (plot_bound(model, [(X, y)], u=k * u) for k in (1, 10))
    assert (near.get_yscale(), far.get_yscale()) == ("linear", "log")


@pytest.mark.parametrize(
    ("model", "options", "complaint"),
    [
        (RampSVC(), {}, r"model must have a proved bound, which RampSVC.*these have: Alma"),
        (KernelPerceptron(class_weight={-1.0: 2.0}), {}, "class_weight must be None"),
        (MiraClassifier(0.0), {}, "margin must be finite and > 0"),
        (AlmaClassifier(C=1.0), {}, r"C must be 1\.41.* for a proved bound, got 1\.0"),
        (GradientDescentClassifier(), {}, "loss must be 'squared' for a proved bound, got 'hinge'"),
        (WinnowClassifier(), {}, "variant must be 'divide' or 'eliminate'"),
        (WinnowClassifier("divide"), {}, "values from 0 to 1"),
        (
            KernelPerceptron(kernel="linear"),
            {"u": [1.0]},
            r"u must have 2 values, .*got shape \(1,",
        ),
        (KernelPerceptron(), {"u": [1.0, 2.0]}, "u must have 30 values, one for each row"),
        (
            ExponentiatedGradientClassifier("squared", U=1.0, eta0=0.01, scale=False),
            {"u": [3.0, 0.0]},
            "u must be a mixture of the features, summing to U=1",
        ),
        (
            GradientDescentClassifier("squared", scale=False, eta0=50.0),
            {},
            "stream has no bound by Kivinen",
        ),
    ],
)
def test_hostile_arguments(model, options, complaint):
    stream = blobs(0)
    with pytest.raises(ValueError, match=complaint):
        plot_bound(model, [(stream.X, stream.y)], **options)
    assert not plt.get_fignums()


def test_hostile_streams():
    with pytest.raises(ValueError, match="stream is empty"):
        plot_bound(KernelPerceptron(), [])
    with pytest.raises(ValueError, match="two classes, got 3"):
        plot_bound(KernelPerceptron(), [(np.eye(3), [0, 1, 2])])
