"""Passive-aggressive: the paper's closed forms, its invariants and bounds, the readable twin."""

from __future__ import annotations

import gc
import warnings
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from contract import Contract, weights_are_not_copies
from hypothesis import given
from hypothesis import strategies as st
from oracles import NASTY, ONE_PASS, Stream, blobs, separable, streams
from scipy.optimize import minimize
from sklearn import linear_model

from onlinesvm import PassiveAggressiveClassifier, PassiveAggressiveRegressor
from onlinesvm.reference import Kernel, PassiveAggressive
from onlinesvm.reference.function import Task, hinge, tube

# Settings under which a class behaves differently, and checks it is known to fail, with the reason.
CONTRACT = {
    "PassiveAggressiveClassifier": Contract(
        variants=[
            {"classes": "open", "dtype": "float64"},
            {"kernel": "rbf", "class_weight": {"ash": 2.0}},
        ],
        expected_failures=weights_are_not_copies(
            "an example of weight 2 takes one step with twice the C, not two steps"
        ),
    ),
    "PassiveAggressiveRegressor": Contract(
        variants=[{"kernel": "rbf", "dtype": "float64"}],
        expected_failures=weights_are_not_copies(
            "an example of weight 2 takes one step with twice the C, not two steps"
        ),
    ),
}

INF = float("inf")
VARIANTS = ["PA", "PA-I", "PA-II"]


@dataclass(frozen=True)
class Problem:
    """A task with the fast learner and the twin for it, under the paper's names."""

    name: str
    outputs: int = 1

    def fast(self, variant: str, C: float, **options: Any) -> Any:
        options = ONE_PASS | {"average": False} | options
        C = INF if variant == "PA" else C
        squared = variant == "PA-II"
        if self.name == "regression":
            loss = "squared_epsilon_insensitive" if squared else "epsilon_insensitive"
            return PassiveAggressiveRegressor(C, loss=loss, **options)
        loss = "squared_hinge" if squared else "hinge"
        return PassiveAggressiveClassifier(C, loss=loss, classes=self.labels, **options)

    def twin(self, kernel: Kernel, variant: str, C: float) -> PassiveAggressive:
        task, level = self.task
        return PassiveAggressive(
            kernel, task=task, level=level, variant=variant, C=C, outputs=self.outputs
        )

    @property
    def task(self) -> tuple[Task, float]:
        return (tube, 0.1) if self.name == "regression" else (hinge, 1.0)

    @property
    def labels(self) -> list[float]:
        return [-1.0, 1.0] if self.outputs == 1 else [float(r) for r in range(self.outputs)]

    def stream(self, seed: int = 0, n: int = 60, d: int = 4) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, d))
        F = X @ rng.normal(size=(d, max(2, self.outputs))) + rng.normal(size=(n, 1))
        if self.name == "regression":
            return X, F[:, 0]
        return X, np.array(self.labels)[F.argmax(axis=1)]


PROBLEMS = [Problem("binary"), Problem("multiclass", 4), Problem("regression")]
problems = pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: p.name)
variants = pytest.mark.parametrize("variant", VARIANTS)


def scores(model: Any, X: Any) -> np.ndarray:
    """Outputs of the fast learner, one column each, whatever the task."""
    f = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
    return f.reshape(X.shape[0], -1)


# ---- the step ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variant", "C", "w"),
    [("PA", 1.0, (0.12, 0.16)), ("PA-I", 0.01, (0.03, 0.04)), ("PA-II", 1.0, (3 / 25.5, 4 / 25.5))],
)
def test_first_step_by_hand(variant, C, w):
    model = PROBLEMS[0].fast(variant, C, bias="none")
    model.learn_one(np.array([3.0, 4.0]), 1.0)
    np.testing.assert_allclose(model.coef_, [w], rtol=1e-15)
    assert model.intercept_.tolist() == [0.0]


@problems
@variants
def test_step_solves_its_optimisation_problem(variant, problem):
    """argmin |W - W_t|^2 / 2 (+ C xi | + C xi^2) subject to loss <= xi, by a general solver."""
    X, y = problem.stream(3, 20)
    C, steps = 0.05, 0
    model = problem.fast(variant, C, bias="none").fit(X[:8], y[:8])
    for x, target in zip(X[8:], y[8:], strict=True):
        before = np.atleast_2d(model.coef_)
        task, level = problem.task
        loss, direction = task(before @ x, target, level)
        model.learn_one(x, target)
        if loss <= 0:
            assert (np.atleast_2d(model.coef_) == before).all(), "not passive"
            continue

        step = np.atleast_2d(model.coef_) - before
        np.testing.assert_allclose(
            _cheapest_repair(x, loss, direction, variant, C), step, atol=1e-6
        )
        steps += 1
    assert steps >= 3


def _cheapest_repair(x, loss, direction, variant, C):
    """The change of W that minimises its norm plus the price of the remaining loss xi."""
    shape = len(direction), len(x)

    def cost(v):
        price = {"PA": 0.0, "PA-I": C * v[-1], "PA-II": C * v[-1] ** 2}[variant]
        return (v[:-1] @ v[:-1]) / 2 + price

    def room(v):
        xi = 0.0 if variant == "PA" else v[-1]
        return xi - (loss - direction @ v[:-1].reshape(shape) @ x)

    constraints = [{"type": "ineq", "fun": room}, {"type": "ineq", "fun": lambda v: v[-1]}]
    start = np.append(np.zeros(shape[0] * shape[1]), loss)
    best = minimize(cost, start, constraints=constraints, options={"ftol": 1e-13})
    return best.x[:-1].reshape(shape)


@problems
@variants
@pytest.mark.parametrize("intercept", [False, True])
def test_equals_the_twin_after_every_example(problem, variant, intercept):
    X, y = problem.stream(1, 80)
    weights = np.random.default_rng(2).choice([0.0, 0.5, 1.0, 3.0], size=80)
    fast = problem.fast(variant, 0.3, bias="kernel" if intercept else "none")
    twin = problem.twin(Kernel("linear", offset=float(intercept)), variant, 0.3)
    for x, target, weight in zip(X, y, weights, strict=True):
        fast.learn_one(x, target, weight)
        twin.learn(x, target, weight)
        np.testing.assert_allclose(np.atleast_2d(fast.coef_), twin.w, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(fast.intercept_, intercept * twin.s.sum(axis=1), atol=1e-12)
        np.testing.assert_allclose(scores(fast, X[:3])[0], twin.score(X[0]), atol=1e-12)


@pytest.mark.parametrize("kind", NASTY, ids=lambda kind: kind.__name__)
@variants
def test_equals_the_twin_on_nasty_streams(kind, variant):
    stream = kind(4, 40)
    fast = PROBLEMS[0].fast(variant, 0.7).fit(stream.X, stream.y)
    twin = PROBLEMS[0].twin(Kernel("linear", offset=1.0), variant, 0.7)
    for x, y in zip(stream.X, stream.y, strict=True):
        twin.learn(x, y)
    expected = [twin.score(x)[0] for x in stream.X]
    np.testing.assert_allclose(fast.decision_function(stream.X), expected, rtol=1e-6, atol=1e-9)


@variants
def test_zero_example_without_intercept_changes_nothing(variant):
    model = PROBLEMS[0].fast(variant, 1.0, bias="none")
    model.learn_one(np.zeros(3), 1.0)
    assert model.coef_.tolist() == [[0.0, 0.0, 0.0]]


# ---- what the paper promises ---------------------------------------------------------------------


@given(streams(), st.sampled_from(VARIANTS), st.sampled_from([0.01, 1.0, 50.0]))
def test_invariants(stream, variant, C):
    model = PROBLEMS[0].fast(variant, C)
    w = np.zeros(stream.X.shape[1] + 1)
    for x, y in zip(stream.X, stream.y, strict=True):
        loss = max(0.0, 1 - y * (w[:-1] @ x + w[-1]))
        model.learn_one(x, y)
        new = np.append(model.coef_[0], model.intercept_)
        norm = np.sqrt(x @ x + 1)
        tau = np.linalg.norm(new - w) / norm
        if loss == 0:
            assert (new == w).all(), "passive"
        if variant == "PA":
            assert 1 - y * (new[:-1] @ x + new[-1]) <= 1e-9, "aggressive"
        if variant == "PA-I":
            assert tau <= C * (1 + 1e-9)
        w = new


@pytest.mark.parametrize("seed", range(30))
def test_loss_bounds(seed):
    """Theorems 2 and 5: sum of squared losses <= R^2 |u|^2 when u separates; PA-II in general."""
    X, y, u = separable(seed, 2000, margin=0.3)
    nothing = float(len(X))  # what a model that stays at zero pays
    model = PROBLEMS[0].fast("PA", 1.0, bias="none")
    bound = model._bound(X, y, u)[-1]
    assert bound == pytest.approx(u @ u)  # all rows have length one
    assert bound < nothing / 100
    paid = _cumulative_loss(model, X, y)
    assert bound / 100 < paid <= bound * (1 + 1e-9)
    noisy = np.where(np.random.default_rng(seed).random(len(X)) < 0.02, -y, y)
    C = 0.1
    rival = (np.maximum(0, 1 - noisy * (X @ u)) ** 2).sum()
    model = PROBLEMS[0].fast("PA-II", C, bias="none")
    bound = model._bound(X, noisy, u)[-1]
    assert bound == pytest.approx((1 + 1 / (2 * C)) * (u @ u + 2 * C * rival))
    assert bound < nothing / 2
    paid = _cumulative_loss(model, X, noisy)
    assert bound / 10 < paid <= bound * (1 + 1e-9)


def _cumulative_loss(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    total = 0.0
    for x, label in zip(X, y, strict=True):
        total += max(0.0, 1 - label * model.decide_one(x)) ** 2
        model.learn_one(x, label)
    return total


def test_cap_on_noise_pays():
    stream = blobs(0, 4000, 10, noise=0.2)
    clean = blobs(1, 2000, 10, noise=0.0)
    accuracy = {C: _accuracy(C, stream, clean) for C in (0.001, INF)}
    assert accuracy[0.001] > accuracy[INF] + 0.03


def _accuracy(C: float, train: Stream, test: Stream) -> float:
    model = PassiveAggressiveClassifier(C, average=False).fit(train.X, train.y)
    return float(model.score(test.X, test.y))


# ---- kernels -------------------------------------------------------------------------------------

KERNELS = [
    {"kernel": "rbf", "gamma": 0.7},
    {"kernel": "poly", "gamma": 0.3, "degree": 2, "coef0": 1.0},
    {"kernel": "laplacian", "gamma": 0.4},
    {"kernel": "chi2", "gamma": 0.5},
]
kernels = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k["kernel"])


def twin_kernel(kernel: dict[str, Any], offset: float = 1.0) -> Kernel:
    return Kernel(
        kernel["kernel"], **{k: v for k, v in kernel.items() if k != "kernel"}, offset=offset
    )


@problems
@kernels
def test_kernel_equals_the_twin(problem, kernel):
    X, y = problem.stream(4, 70)
    X = np.abs(X)  # chi2 takes no negative values
    for variant in VARIANTS:
        fast = problem.fast(variant, 0.4, **kernel).fit(X, y)
        twin = problem.twin(twin_kernel(kernel), variant, 0.4)
        for x, target in zip(X, y, strict=True):
            twin.learn(x, target)
        assert len(fast.support_) == twin.s.shape[1]
        np.testing.assert_allclose(fast.support_vectors_, twin.X)
        np.testing.assert_allclose(fast.dual_coef_, twin.s, rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(scores(fast, X)[5], twin.score(X[5]), rtol=1e-7, atol=1e-10)


@problems
def test_linear_kernel_function_is_the_linear_model(problem):
    X, y = problem.stream(5)
    by_kernel = problem.fast("PA-I", 0.2, kernel=lambda x, X: X @ x).fit(X, y)
    linear = problem.fast("PA-I", 0.2).fit(X, y)
    np.testing.assert_allclose(scores(by_kernel, X), scores(linear, X), atol=1e-10)
    np.testing.assert_allclose(by_kernel.intercept_, linear.intercept_, atol=1e-10)


def test_a_third_class_leaves_the_first_two_as_they_were_with_a_kernel():
    X, y = PROBLEMS[0].stream(2, 40)
    model = PassiveAggressiveClassifier(classes="open", kernel="rbf").partial_fit(X, y)
    before = model.predict(X)
    model.partial_fit(np.zeros((1, 4)), [7.0], sample_weight=[0.0])
    f = model.decision_function(X)
    assert (model.classes_[f[:, :2].argmax(axis=1)] == before).all()


@pytest.mark.parametrize(
    ("kernel", "complaint"),
    [
        (lambda x, X: np.zeros(1), "one number per row"),
        (lambda x, X: X @ x * np.nan, "NaN"),
        (lambda x, X: "words", "one number per row"),
    ],
)
def test_misbehaving_kernel_function_is_named(kernel, complaint):
    X, y = PROBLEMS[0].stream(0)
    with pytest.raises(ValueError, match=f"kernel: .*{complaint}"):
        PROBLEMS[0].fast("PA-I", 1.0, kernel=kernel).fit(X, y)


def test_model_and_its_kernel_function_can_be_collected():
    class Holder:
        pass

    X, y = PROBLEMS[0].stream(0)
    holder = Holder()
    holder.model = PROBLEMS[0].fast("PA-I", 1.0, kernel=lambda x, X, held=holder: X @ x)
    holder.model.fit(X, y)
    gone = weakref.ref(holder)
    del holder
    gc.collect()
    assert gone() is None, "a cycle through the compiled core is never freed"


def test_weights_and_support_vectors_are_there_for_whom_they_make_sense():
    X, y = PROBLEMS[0].stream(0)
    linear = PassiveAggressiveClassifier().fit(X, y)
    curved = PassiveAggressiveClassifier(kernel="rbf").fit(X, y)
    assert not hasattr(linear, "support_vectors_")
    assert not hasattr(curved, "coef_")
    assert curved.n_support_.sum() == len(curved.support_)


# ---- other ways in -------------------------------------------------------------------------------


@problems
def test_dense_sparse_and_named_rows_agree(problem):
    X, y = problem.stream(6, 50, 7)
    X[np.random.default_rng(0).random(X.shape) < 0.5] = 0.0
    dense = problem.fast("PA-I", 0.5).fit(X, y)
    sparse = problem.fast("PA-I", 0.5).fit(sp.csr_array(X), y)
    named = problem.fast("PA-I", 0.5)
    for x, target in zip(X, y, strict=True):
        named.learn_one({f"f{j}": v for j, v in enumerate(x)}, target)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-12)
    np.testing.assert_allclose(named.coef_, dense.coef_, atol=1e-12)
    np.testing.assert_allclose(
        scores(sparse, sp.csr_array(X[:9])), scores(dense, X[:9]), atol=1e-12
    )


def test_features_may_appear_mid_stream():
    model = PassiveAggressiveClassifier(classes=["no", "yes"], average=False)
    model.learn_one({"a": 1.0}, "yes")
    model.learn_one({"b": 2.0, "c": -1.0}, "no")
    model.learn_one({"c": 1.0, "a": 0.5}, "yes")
    twin = PROBLEMS[0].twin(Kernel("linear", offset=1.0), "PA-I", 1.0)
    for x, y in [([1, 0, 0], 1.0), ([0, 2, -1], -1.0), ([0.5, 0, 1], 1.0)]:
        twin.learn(x, y)
    np.testing.assert_allclose(model.coef_, twin.w, atol=1e-12)
    assert model.predict_one({"never seen": 5.0, "a": 1.0}) == "yes"


def test_a_third_class_leaves_the_first_two_as_they_were():
    X, y = PROBLEMS[0].stream(2, 40)
    model = PassiveAggressiveClassifier(classes="open").partial_fit(X, y)
    before = model.predict(X)
    model.partial_fit(np.zeros((1, 4)), [7.0], sample_weight=[0.0])
    f = model.decision_function(X)
    assert f.shape == (40, 3)
    assert (model.classes_[f[:, :2].argmax(axis=1)] == before).all()


def test_weight_multiplies_C():
    X, y = PROBLEMS[0].stream(8)
    weighted = PassiveAggressiveClassifier(0.1).fit(X, y, sample_weight=np.full(len(y), 2.0))
    assert (weighted.coef_ == PassiveAggressiveClassifier(0.2).fit(X, y).coef_).all()
    by_class = PassiveAggressiveClassifier(0.1, class_weight={-1.0: 2.0, 1.0: 2.0}).fit(X, y)
    assert (by_class.coef_ == weighted.coef_).all()


def test_float32_rows_keep_float64_weights():
    X, y = PROBLEMS[0].stream(9, 300)
    narrow = PassiveAggressiveClassifier(0.1, dtype="float32").fit(X.astype(np.float32), y)
    wide = PassiveAggressiveClassifier(0.1).fit(X.astype(np.float32).astype(np.float64), y)
    assert narrow.coef_.dtype == np.float64
    np.testing.assert_allclose(narrow.coef_, wide.coef_, rtol=1e-9)


# ---- scikit-learn's class of the same name -------------------------------------------------------


def check_equals_scikit_learn(cls, X, y, params, **known):
    old = getattr(linear_model, cls.__name__, None)
    if old is None:
        pytest.skip(f"this scikit-learn has no {cls.__name__}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        theirs = old(fit_intercept=False, shuffle=False, **params).partial_fit(X, y, **known)
    ours = cls(bias="none", average=False, **params, **ONE_PASS).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.03, 1.0])
def test_equals_scikit_learn_classifier(loss, C):
    X, y = PROBLEMS[0].stream(11, 200, 6)
    params = {"C": C, "loss": loss}
    check_equals_scikit_learn(PassiveAggressiveClassifier, X, y, params, classes=[-1, 1])


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_equals_scikit_learn_regressor(loss):
    X, y = PROBLEMS[2].stream(12, 200, 6)
    check_equals_scikit_learn(PassiveAggressiveRegressor, X, y, {"C": 0.2, "loss": loss})


@problems
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_average_is_the_twins(problem, kernel):
    X, y = problem.stream(5, 40)
    model = problem.fast("PA-I", 0.3, average=True, kernel=kernel, gamma=0.5, bias="none")
    twin = problem.twin(Kernel(kernel, gamma=0.5), "PA-I", 0.3)
    for x, target in zip(X, y, strict=True):
        model.learn_one(x, target)
        twin.learn(x, target)
        expected = [twin.averaged(x) for x in X[:3]]
        np.testing.assert_allclose(scores(model, X[:3]), expected, rtol=1e-8, atol=1e-9)


def test_the_unit_of_the_target_does_not_matter_by_default():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X @ [1.0, -2.0, 0.5, 0.0] + rng.normal(size=300)
    one = PassiveAggressiveRegressor(epsilon=0.1, tol=None, max_iter=3).fit(X, y)
    other = PassiveAggressiveRegressor(epsilon=100.0, tol=None, max_iter=3).fit(X, 1000 * y)
    np.testing.assert_allclose(other.predict(X), 1000 * one.predict(X), rtol=1e-9)
    assert one.score(X, y) > 0.8
