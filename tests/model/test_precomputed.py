"""``kernel="precomputed"``: rows of kernel values, by the conventions of scikit-learn and by id."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_outlier_detector, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import SVC, SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

import onlinesvm
from onlinesvm.checks import fingerprint, parametrize

Array = NDArray[Any]
N, HELD_OUT = 120, 40
KERNELS: dict[str, dict[str, Any]] = {
    "rbf": {"gamma": 0.5},
    "linear": {},
    "poly": {"gamma": 0.25, "degree": 2, "coef0": 1.0},
}
EXACT = {"tol": 1e-9, "dtype": "float64"}
# A distance from a centre needs k(x, x) of the row to predict.
REFUSES = {"PassiveAggressiveOneClass"}


def methods() -> list[Any]:
    """Every public class that takes any kernel and any of its words."""
    found = [cls() for cls in onlinesvm.all_estimators()]
    return [
        model
        for model in found
        if "precomputed" in getattr(type(model)._parameters.get("kernel"), "words", ())
    ]


METHODS = [model for model in methods() if type(model).__name__ not in REFUSES]
by_name = pytest.mark.parametrize("model", METHODS, ids=lambda model: type(model).__name__)


def examples(seed: int = 0, classes: int = 2) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N + HELD_OUT, 3))
    f = X[:, 0] ** 2 + X[:, 1] - 0.5 + 0.2 * rng.normal(size=len(X))
    return X, np.digitize(f, np.quantile(f, np.linspace(0, 1, classes + 1)[1:-1]))


def gram(X: Array, name: str = "rbf") -> tuple[Array, Array]:
    """The square matrix of the first examples, and the rows of those held out."""
    K = np.asarray(pairwise_kernels(X, X[:N], metric=name, **KERNELS[name]))
    return K[:N], K[N:]


def sharp(model: Any, **params: Any) -> Any:
    """A copy in float64 that solves its problem as sharply as it can."""
    known = model.get_params()
    exact = {name: EXACT[name] for name in EXACT.keys() & known.keys()}
    return clone(model).set_params(**exact, **params)


def targets(model: Any, y: Array) -> Array | None:
    if is_outlier_detector(model):
        return None
    return y + 0.1 * np.arange(len(y)) / len(y) if is_regressor(model) else y


def scores(model: Any, X: Array) -> Array:
    return np.asarray(model.predict(X) if is_regressor(model) else model.decision_function(X))


def streamed(model: Any, K: Array, y: Array | None, *sizes: int) -> Any:
    """A copy that learned the rows in pieces of these sizes, the last one repeated."""
    model, start, k = clone(model), 0, 0
    if is_classifier(model):
        model.set_params(classes=np.unique(y))
    while start < len(K):
        stop = start + sizes[min(k, len(sizes) - 1)]
        model.partial_fit(K[start:stop], None if y is None else y[start:stop])
        start, k = stop, k + 1
    return model


def streams(model: Any) -> bool:
    return hasattr(model, "partial_fit")


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


# --- the same function as from the features ----------------------------------------------------


@pytest.mark.parametrize("name", KERNELS)
@by_name
def test_values_or_features(model: Any, name: str) -> None:
    """In order, and where no optimum is sought in one pass: what differs is rounding."""
    X, y = examples(seed=1)
    y = targets(model, y)
    once: dict[str, Any] = {"shuffle": False} if "shuffle" in model.get_params() else {}
    if "n_iter_no_change" in model.get_params():
        once["max_iter"] = 1
    if name == "linear" and "maintenance" in model.get_params():
        once["maintenance"] = "remove"  # weights have nothing to maintain
    by_values = sharp(model, kernel="precomputed", **once)
    by_features = sharp(model, kernel=name, **KERNELS[name], **once)
    if "maintenance" in model.get_params() and name != "linear":
        by_features.set_params(maintenance="project")  # values of merged vectors are not there
    if name == "rbf" and "truncation" in model.get_params():
        by_values.set_params(truncation=50), by_features.set_params(truncation=50)
    K, K_test = gram(X, name)
    by_values.fit(K, None if y is None else y[:N])
    by_features.fit(X[:N], None if y is None else y[:N])
    left, right = scores(by_values, K_test), scores(by_features, X[N:])
    np.testing.assert_allclose(left, right, rtol=1e-4, atol=1e-5 * np.abs(right).max())
    assert by_values.n_features_in_ == N


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("cls", [onlinesvm.IncrementalSVC, onlinesvm.SmoSVC])
def test_scikit_learn(cls: type, name: str) -> None:
    for seed in range(3):
        X, y = examples(seed)
        K, K_test = gram(X, name)
        ours = cls(C=2.0, kernel="precomputed", tol=1e-8, dtype="float64").fit(K, y[:N])
        theirs = SVC(C=2.0, kernel="precomputed", tol=1e-8).fit(K, y[:N])
        np.testing.assert_allclose(
            ours.decision_function(K_test), theirs.decision_function(K_test), atol=1e-4
        )
        assert set(theirs.support_) >= set(ours.support_[np.abs(ours.dual_coef_[0]) > 1e-6])


def test_scikit_learns_regression() -> None:
    X, y = examples()
    y = y + 0.1 * X[:, 0]
    K, K_test = gram(X)
    options = {"C": 2.0, "epsilon": 0.05, "kernel": "precomputed", "tol": 1e-8}
    ours = onlinesvm.PokerSVR(**options, dtype="float64").fit(K, y[:N])
    np.testing.assert_allclose(
        ours.predict(K_test), SVR(**options).fit(K, y[:N]).predict(K_test), atol=1e-5
    )


@pytest.mark.parametrize("cls", [onlinesvm.IncrementalSVC, onlinesvm.SmoSVC])
def test_folds_and_grids_slice_both_axes(cls: type) -> None:
    X, y = examples(seed=2)
    K, y = gram(X)[0], y[:N]
    ours, theirs = cls(kernel="precomputed", tol=1e-6, dtype="float64"), SVC(kernel="precomputed")
    assert ours.__sklearn_tags__().input_tags.pairwise
    assert not ours.__sklearn_tags__().input_tags.sparse
    assert not cls().__sklearn_tags__().input_tags.pairwise
    assert np.array_equal(cross_val_score(ours, K, y, cv=4), cross_val_score(theirs, K, y, cv=4))
    grid = {"C": [0.1, 1.0, 10.0]}
    searches = [GridSearchCV(model, grid, cv=3).fit(K, y) for model in (ours, theirs)]
    assert searches[0].best_params_ == searches[1].best_params_
    tests = [search.cv_results_["mean_test_score"] for search in searches]
    np.testing.assert_array_equal(*tests)


@pytest.mark.parametrize("shape", ["one-vs-rest", "one-vs-one"])
@pytest.mark.parametrize(
    "cls", [onlinesvm.IncrementalSVC, onlinesvm.SmoSVC, onlinesvm.LASVC, onlinesvm.RampSVC]
)
def test_several_classes(cls: type, shape: str) -> None:
    X, y = examples(classes=4)
    options = {"multiclass": shape} if "multiclass" in cls().get_params() else {}
    model = cls(**options, tol=1e-8, dtype="float64")
    K, K_test = gram(X)
    by_values = clone(model).set_params(kernel="precomputed").fit(K, y[:N])
    by_features = clone(model).set_params(kernel="rbf", **KERNELS["rbf"]).fit(X[:N], y[:N])
    np.testing.assert_allclose(
        by_values.decision_function(K_test), by_features.decision_function(X[N:]), atol=1e-3
    )
    assert np.mean(by_values.predict(K_test) == by_features.predict(X[N:])) == 1


def test_nystroem_features() -> None:
    X, _ = examples()
    K, K_test = gram(X)
    options = {"n_components": 20, "dtype": "float64"}
    by_values = onlinesvm.NystroemFeatures(kernel="precomputed", **options).fit(K)
    by_features = onlinesvm.NystroemFeatures(kernel="rbf", gamma=0.5, **options).fit(X[:N])
    np.testing.assert_allclose(by_values.transform(K_test), by_features.transform(X[N:]), atol=1e-8)
    assert np.array_equal(by_values.component_indices_, by_features.component_indices_)


# --- a stream ----------------------------------------------------------------------------------


@by_name
def test_any_cut_gives_the_same_bits(model: Any) -> None:
    if not streams(model) or model._any_cut_gives != "bits":
        return
    X, y = examples(classes=3)
    K, y = gram(X)[0], targets(model, y[:N])
    # Symmetric but for the last bits, as a matrix product may leave it.
    K = K * (1 + 1e-7 * np.random.default_rng(0).normal(size=K.shape))
    model = clone(model).set_params(kernel="precomputed")
    whole = streamed(model, K, y, N)
    for sizes in [(1,), (7,), (37, 1, 50)]:
        assert fingerprint(streamed(model, K, y, *sizes)) == fingerprint(whole), sizes
    one_by_one = clone(whole)
    for i in range(N):
        one_by_one.learn_one(K[i], None if y is None else y[i])
    assert fingerprint(one_by_one) == fingerprint(whole)


@by_name
def test_save_load_go_on(model: Any, tmp_path: Any) -> None:
    X, y = examples(classes=3)
    (K, K_test), y = gram(X), targets(model, y[:N])
    model = clone(model).set_params(kernel="precomputed")
    if not streams(model):
        fitted = model.fit(K, y)
        fitted.save(tmp_path / "model")
        loaded = onlinesvm.load(tmp_path / "model")
        assert np.array_equal(scores(loaded, K_test), scores(fitted, K_test))
        return
    half = streamed(model, K[:50], None if y is None else y[:50], 50)
    half.save(tmp_path / "model")
    loaded = onlinesvm.load(tmp_path / "model")
    assert fingerprint(loaded) == fingerprint(half)
    for one in (half, loaded):
        one.partial_fit(K[50:], None if y is None else y[50:])
    assert fingerprint(loaded) == fingerprint(half)
    assert np.array_equal(scores(loaded, K_test), scores(half, K_test))


@pytest.mark.parametrize("kernel", ["precomputed", "a function"])
@pytest.mark.parametrize(
    "model",
    [onlinesvm.NormaSVC(truncation=90), onlinesvm.BudgetedSVC(70, maintenance="remove")],
    ids=["truncated", "removed"],
)
def test_what_goes_while_others_are_announced(model: Any, kernel: str) -> None:
    """Another example takes its slot: the announced rows know it no more, in the whole block."""
    X, y = examples()
    X, K = X[:N], gram(X)[0]
    if kernel == "precomputed":
        X = K
    else:
        kernel = lambda x, X: np.exp(-0.5 * ((X - x) ** 2).sum(axis=1))  # noqa: E731
    model = clone(model).set_params(kernel=kernel, dtype="float64")
    pieces, whole = (streamed(model, X, y[:N], size) for size in (1, N))
    assert np.array_equal(pieces.support_, whole.support_)
    assert np.array_equal(pieces.decision_function(X), whole.decision_function(X))


CHECKED = [
    "BudgetedSVC",
    "IncrementalSVC",
    "NormaOneClassSVM",
    "PokerSVR",
    "SmoSVC",
    "StreamSVC",
]


@parametrize(*(getattr(onlinesvm, name)(kernel="precomputed") for name in CHECKED))
def test_contract(estimator: Any, check: Any) -> None:
    """One class of each kind; what cannot hold is listed with its reason in the checks."""
    check(estimator)


NOT_OF_ROWS_OF_A_MATRIX = {
    "check_fit_score_takes_y": "its partial_fit brings as many examples again, without columns",
    "check_estimators_nan_inf": "its rows to predict have three columns: that is said before NaN",
}


@parametrize_with_checks(
    [cls(kernel="precomputed") for cls in (onlinesvm.IncrementalSVC, onlinesvm.PegasosSVC)],
    expected_failed_checks=lambda _: NOT_OF_ROWS_OF_A_MATRIX,
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    """They make matrices of their rows where an estimator says that it is pairwise."""
    check(estimator)


def test_values_with_the_future_are_not_read() -> None:
    """Of two examples the row of the later one counts: a stream need not know what will come."""
    X, y = examples()
    K, K_test = gram(X)
    for cls in (onlinesvm.IncrementalSVC, onlinesvm.RampSVC, onlinesvm.KernelPerceptron):
        known = streamed(cls(kernel="precomputed"), K, y[:N], 30)
        blind = streamed(cls(kernel="precomputed"), np.tril(K), y[:N], 30)
        assert np.array_equal(known.decision_function(K_test), blind.decision_function(K_test))
        assert np.array_equal(known.support_, blind.support_)


def test_ids_name_columns() -> None:
    """Examples may come in any order, and those that never come are never read."""
    X, y = examples()
    K, K_test = gram(X)
    order = np.random.default_rng(0).permutation(N)[:80]
    options = {"tol": 1e-9, "dtype": "float64", "classes": [0, 1]}
    model = onlinesvm.IncrementalSVC(kernel="precomputed", **options)
    for part in np.array_split(order, 5):
        model.partial_fit(K[part], y[part], ids=part)
    direct = onlinesvm.IncrementalSVC(gamma=0.5, **options).partial_fit(X[order], y[order])
    np.testing.assert_allclose(
        model.decision_function(K_test), direct.decision_function(X[N:]), atol=1e-7
    )
    assert set(model.support_) <= set(order)
    used = np.zeros_like(K_test)
    used[:, model.support_] = K_test[:, model.support_]
    assert np.array_equal(model.decision_function(used), model.decision_function(K_test))
    sums = K_test[:, model.support_] @ model.dual_coef_[0] + model.intercept_
    np.testing.assert_allclose(model.decision_function(K_test), sums, atol=1e-9)
    np.testing.assert_array_equal(model.support_vectors_, K[model.support_])


def test_unlearn_and_leave_one_out() -> None:
    X, y = examples()
    (K, K_test), gone = gram(X), np.arange(0, N, 3)
    options = {"tol": 1e-9, "dtype": "float64"}
    model = onlinesvm.IncrementalSVC(kernel="precomputed", **options).fit(K, y[:N])
    direct = onlinesvm.IncrementalSVC(gamma=0.5, **options).fit(X[:N], y[:N])
    np.testing.assert_allclose(
        model.leave_one_out().scores, direct.leave_one_out().scores, atol=1e-6
    )
    model.unlearn(gone), direct.unlearn(gone)
    np.testing.assert_allclose(
        model.decision_function(K_test), direct.decision_function(X[N:]), atol=1e-6
    )
    assert not set(model.support_) & set(gone)
    assert model.kkt_residual() < 1e-8
    model.partial_fit(K[gone], y[gone], ids=gone)  # and back, under their old names
    again = onlinesvm.IncrementalSVC(kernel="precomputed", **options).fit(K, y[:N])
    np.testing.assert_allclose(
        model.decision_function(K_test), again.decision_function(K_test), atol=1e-6
    )


def test_a_matrix_that_is_no_kernel_does_no_harm() -> None:
    """Neither symmetric nor positive: every call ends, and gives numbers or says why not."""
    rng = np.random.default_rng(0)
    K, y = rng.normal(size=(60, 60)), rng.integers(0, 2, 60)
    for model in METHODS:
        model = clone(model).set_params(kernel="precomputed").fit(K, targets(model, y))
        try:
            assert np.isfinite(scores(model, K)).all(), model
        except ValueError as refusal:  # k(x, x) < 0 sent it to infinity
            said = str(refusal)
        else:
            continue
        assert "too large" in said, model


# --- bad input ---------------------------------------------------------------------------------


def refused(call: Any, kind: type[Exception], *words: str) -> None:
    with pytest.raises(kind) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message, message


@pytest.mark.parametrize("cls", [onlinesvm.IncrementalSVC, onlinesvm.PegasosSVC])
def test_bad_input_changes_nothing(cls: type) -> None:
    X, y = examples()
    K, y = gram(X)[0], y[:N]
    fresh = cls(kernel="precomputed", classes=[0, 1])
    for bad in (K[:50], K[:, :50]):
        refused(lambda bad=bad: fresh.fit(bad, y[: len(bad)]), ValueError, "square", "partial_fit")
    refused(lambda: fresh.partial_fit(K[:, :50], y), ValueError, "ids reach 119", "0 to 49")
    refused(lambda: fresh.fit(sp.csr_array(K), y), ValueError, "sparse", "array")
    refused(lambda: fresh.learn_one({"a": 1.0}, 1), ValueError, "dicts", "array")
    assert not hasattr(fresh, "n_features_in_")

    model = cls(kernel="precomputed", classes=[0, 1]).partial_fit(K[:40], y[:40])
    before = fingerprint(model)
    row, label = K[40:41], y[40:41]
    unread = row.copy()
    unread[0, -1] = np.nan
    bad_calls = [
        (lambda: model.partial_fit(row[:, :60], label), ("60", "120")),
        (lambda: model.learn_one(K[40, :60], 1), ("60", "120")),
        (lambda: model.partial_fit(row, label, ids=[N]), ("ids reach 120", "0 to 119")),
        (lambda: model.partial_fit(row, label, ids=[-1]), ("ids",)),
        (lambda: model.partial_fit(row, label, ids=[1.5]), ("ids", "integers")),
        (lambda: model.partial_fit(K[50:52], y[50:52], ids=[50, 50]), ("ids", "duplicates")),
        (lambda: model.partial_fit(row, label, ids=model.support_[:1]), ("ids", "already")),
        (lambda: model.partial_fit(unread, label), ("NaN",)),
        (lambda: model.partial_fit(sp.csr_array(row), label), ("sparse",)),
        (lambda: model.predict(K[:3, :60]), ("60", "120")),
    ]
    for call, words in bad_calls:
        refused(call, ValueError, *words)
        assert fingerprint(model) == before
    model.partial_fit(K[40:], y[40:])
    full = fingerprint(model)
    refused(lambda: model.learn_one(K[0], 1), ValueError, "ids reach 120")
    assert fingerprint(model) == full


def test_what_needs_features_says_so() -> None:
    X, y = examples()
    K, y = gram(X)[0], y[:N]
    usual = onlinesvm.PassiveAggressiveOneClass(kernel="precomputed")
    refused(lambda: usual.fit(K), NotImplementedError, "k(x, x)", "NormaOneClassSVM")
    merging = onlinesvm.BudgetedSVC(kernel="precomputed", maintenance="merge")
    refused(lambda: merging.fit(K, y), ValueError, "rbf", "project")
    model = onlinesvm.RampSVC(kernel="precomputed").fit(K, y)
    refused(lambda: model.compress(0.1, K), NotImplementedError, "precomputed", "budget")
    refused(lambda: model.gamma_, AttributeError, "gamma_")
    refused(lambda: model.coef_, AttributeError, "coef_")
    ball = onlinesvm.StreamSVC(kernel="precomputed").fit(K, y)
    refused(lambda: ball.merge(clone(ball).fit(K, y)), NotImplementedError, "merge", "ids")
