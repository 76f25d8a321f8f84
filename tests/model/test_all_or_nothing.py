"""A refused call leaves everything as it was, and a user's error comes out as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

import onlinesvm
from onlinesvm import (
    LASVC,
    IncrementalSVC,
    NormaOneClassSVM,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    PokerSVR,
    RampSVC,
    SmoSVC,
)
from onlinesvm.checks import fingerprint


class Moody:
    """A kernel that refuses at the n-th call from now, once."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error or ValueError("the kernel is in a mood")
        self.calls, self.refuses_at = 0, -1

    def after(self, n: int) -> None:
        self.refuses_at = self.calls + n

    def __call__(self, x: NDArray[Any], X: NDArray[Any]) -> NDArray[Any]:
        self.calls += 1
        if self.calls == self.refuses_at:
            raise self.error
        return np.exp(-0.5 * ((X - x) ** 2).sum(axis=1))


def rows(n: int, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] * X[:, 1] + rng.normal(0, 0.3, n) > 0, "yes", "no")


KERNEL_MODELS = [IncrementalSVC, LASVC, RampSVC, SmoSVC, PassiveAggressiveClassifier]
kernel_models = pytest.mark.parametrize("cls", KERNEL_MODELS)


@kernel_models
def test_a_refused_call_takes_no_ids_and_tells_no_labels(cls: Any) -> None:
    X, y = rows(40)
    kernel = Moody()
    model = cls(kernel=kernel, classes="open").partial_fit(X, y)
    before = {**vars(model)}
    kernel.after(3)
    with pytest.raises(ValueError, match="in a mood"):
        model.partial_fit(X[:10] + 1, [*y[:5], *["new"] * 5])
    assert vars(model) == before
    assert model.n_seen_ == 40
    assert model.classes_.tolist() == ["no", "yes"]
    model.partial_fit(X[:1] + 2, y[:1])
    assert model._next_id == 41


@kernel_models
def test_after_many_slabs_the_core_is_as_before(cls: Any) -> None:
    """A call of several steps: what the first ones did is undone."""
    X, y = rows(60)
    kernel = Moody()
    model = cls(kernel=kernel, classes="open").partial_fit(X, y)
    before = fingerprint_without_kernel(model)
    kernel.after(60)
    with pytest.raises(ValueError, match="in a mood"):
        model.partial_fit(X + 1, [*y[:30], *["new"] * 30])
    assert fingerprint_without_kernel(model) == before


def fingerprint_without_kernel(model: Any) -> dict[str, Any]:
    state = {name: array.tobytes() for name, array in model._core.state().items()}
    return state | {"seen": model.n_seen_, "labels": model.classes_.tolist()}


@kernel_models
@pytest.mark.parametrize("error", [ValueError, TypeError, KeyError])
def test_learn_one_lets_the_users_error_out_and_asks_the_core_once(cls: Any, error: Any) -> None:
    X, y = rows(30)
    kernel = Moody(error("the kernel is in a mood"))
    model = cls(kernel=kernel, classes=["no", "yes"]).partial_fit(X, y)
    kernel.after(1)
    with pytest.raises(error, match="in a mood"):
        model.learn_one(X[0] + 1, "yes")
    assert kernel.calls == kernel.refuses_at, "it was called again"
    assert model.n_seen_ == 30
    model.learn_one(X[0] + 1, "yes")
    assert model.n_seen_ == 31


@pytest.mark.parametrize("model", [RampSVC(), PokerSVR(), NormaOneClassSVM()], ids=repr)
def test_a_failed_fit_leaves_the_model_before(model: Any) -> None:
    X, _ = rows(20)
    y = np.arange(20) % 2
    fresh = type(model)(kernel=Moody())
    fresh.kernel.after(5)
    with pytest.raises(ValueError, match="in a mood"):
        fresh.fit(X, y)
    assert not fresh.__sklearn_is_fitted__()
    fitted = type(model)(kernel=Moody()).fit(X, y)
    before = vars(fitted).copy()
    fitted.kernel.after(5)
    with pytest.raises(ValueError, match="in a mood"):
        fitted.fit(X[:, :2], y)
    assert vars(fitted) == before
    assert fitted.n_features_in_ == 3


def test_a_refused_record_leaves_no_names() -> None:
    model = PassiveAggressiveClassifier(classes=["a", "b"])
    model.learn_one({"x": 1.0}, "a")
    before = fingerprint(model)
    for bad in ({"new": np.nan}, {"new": "text"}, {"new": 1.0, "worse": None}):
        with pytest.raises(ValueError, match=r"new|worse|NaN"):
            model.learn_one(bad, "b")
        assert model._vocabulary.names() == ["x"]
        assert fingerprint(model) == before
    regressor = PassiveAggressiveRegressor().learn_one({"x": 1.0}, 1.0)
    with pytest.raises(ValueError, match="NaN"):
        regressor.learn_one({"new": np.nan}, 1.0)
    assert regressor._vocabulary.names() == ["x"]


def test_rows_that_need_converting_are_still_learned() -> None:
    model = PassiveAggressiveClassifier(classes=[0, 1])
    other = PassiveAggressiveClassifier(classes=[0, 1])
    for x in (np.array([1, 0]), np.arange(4.0)[::2], np.array([1.0, 1.0], dtype=np.float16)):
        model.learn_one(x, 1)
        other.partial_fit(np.asarray(x, dtype=np.float64).reshape(1, -1), [1])
    assert fingerprint(model) == fingerprint(other)


@pytest.mark.parametrize("cls", [RampSVC, PassiveAggressiveClassifier])
def test_ids_run_out_with_a_clear_word(cls: Any) -> None:
    last = 2**63 - 1
    X, y = rows(4)
    model = cls(classes=["no", "yes"]).partial_fit(X[:2], y[:2], ids=[last - 1, last])
    before = fingerprint(model)
    for learn in (
        lambda: model.partial_fit(X[2:], y[2:]),
        lambda: model.learn_one(X[2], y[2]),
    ):
        with pytest.raises(ValueError, match="ids"):
            learn()
        assert fingerprint(model) == before
    model.partial_fit(X[2:], y[2:], ids=[5, 6])
    assert model.n_seen_ == 4


STREAMING = [cls for cls in onlinesvm.all_estimators() if hasattr(cls, "learn_one")]


@pytest.mark.parametrize("cls", STREAMING)
def test_a_row_that_is_too_long_leaves_nothing_behind(cls: Any) -> None:
    """Its own kernel value is infinite; weights find that out late in their step."""
    model = cls()
    if hasattr(model, "kernel") and not cls.__name__.startswith("MultiKernel"):  # has no linear one
        model.set_params(kernel="linear")
    X, _ = rows(6)
    y = np.arange(6) % 2
    model.partial_fit(X, y, **({"classes": [0, 1]} if hasattr(model, "classes") else {}))
    for long in (np.full(3, 1e200), np.array([0.0, 1e155, 0.0])):
        before = fingerprint(model)
        try:
            model.learn_one(long, 1)
        except ValueError:
            assert fingerprint(model) == before
        else:
            without = ("SGD", "KernelPerceptron", "Norma", "Exponentiated", "Winnow")
            assert cls.__name__.startswith(without), "needs k(x, x)"


def test_an_id_that_is_held_is_refused() -> None:
    """A second example of the same name would be added to the first."""
    X, _ = rows(6)
    y = np.arange(6) % 2
    for cls in STREAMING:
        model = cls()
        if not hasattr(model, "kernel"):
            continue
        model.set_params(kernel="rbf", gamma=0.5)
        known = {"classes": [0, 1]} if hasattr(model, "classes") else {}
        model.partial_fit(X, y, ids=np.arange(6), **known)
        held = getattr(model, "support_", [])
        if len(held) == 0:
            continue
        before = fingerprint(model)
        with pytest.raises(ValueError, match="bears already"):
            model.partial_fit(X[:1] + 1, y[:1], ids=[int(held[0])])
        assert fingerprint(model) == before


LINEAR = [PassiveAggressiveClassifier, onlinesvm.PegasosSVC, onlinesvm.SGDSVC, onlinesvm.StreamSVC]


@pytest.mark.parametrize("cls", LINEAR)
@pytest.mark.parametrize("before", [0, 10])
@pytest.mark.parametrize("sparsely", [False, True])
@pytest.mark.parametrize("at", [0, 700, 2999])
def test_a_bad_row_takes_back_what_was_learned_of_its_call(
    cls: Any, before: int, sparsely: bool, at: int
) -> None:
    """Weights are moved by the rows before it: the core looks at each block as it comes."""
    X, y = rows(3010)
    given = sp.csr_array if sparsely else np.asarray
    model = cls(classes=["no", "yes"])
    if before:
        model.partial_fit(given(X[:before]), y[:before])
    was = fingerprint(model) if before else vars(model).keys() | {"_register"}
    bad = X[before : before + 3000].copy()
    bad[at, 1] = np.nan
    for verb in (model.partial_fit, model.fit):
        with pytest.raises(ValueError, match="contains NaN or infinity"):
            verb(given(bad), y[before : before + 3000])
    assert was == (fingerprint(model) if before else vars(model).keys())
    model.partial_fit(given(X[before:]), y[before:])
    twin = cls(classes=["no", "yes"]).partial_fit(given(X), y)
    assert np.array_equal(model.coef_, twin.coef_)


@pytest.mark.parametrize("cls", LINEAR)
def test_a_bad_row_of_no_weight_is_refused_too(cls: Any) -> None:
    X, y = rows(50)
    X[30, 0], weight = np.inf, np.ones(50)
    weight[30] = 0
    with pytest.raises(ValueError, match="contains NaN or infinity"):
        cls(classes=["no", "yes"]).partial_fit(X, y, sample_weight=weight)


def test_few_sparse_rows_are_taken_back_out_of_many_weights() -> None:
    """A few changes are written down one by one, many are saved as a whole."""
    rng = np.random.default_rng(0)
    X = sp.random_array((400, 5000), density=0.01, rng=rng, format="csr")
    y = rng.integers(0, 2, 400)
    model = PassiveAggressiveClassifier(classes=[0, 1]).partial_fit(X[:50], y[:50])
    for stop in (52, 400):
        was, bad = fingerprint(model), X[50:stop].copy()
        bad.data[-1] = np.nan
        with pytest.raises(ValueError, match="contains NaN or infinity"):
            model.partial_fit(bad, y[50:stop])
        assert fingerprint(model) == was
