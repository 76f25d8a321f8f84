"""compress: the bound against the norm by its definition, on every class; what a copy cannot."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

import onlinesvm
from onlinesvm import (
    LASVC,
    IncrementalSVC,
    KernelPerceptron,
    NormaOneClassSVM,
    NormaSVR,
    PassiveAggressiveClassifier,
    PassiveAggressiveOneClass,
    PokerOneClassSVM,
    PokerSVR,
    RampSVC,
    SmoSVC,
    StreamSVC,
)
from onlinesvm.files import persistence
from onlinesvm.model import compress
from onlinesvm.model.groups import KernelMethod
from onlinesvm.model.parameters import lists
from onlinesvm.model.pursuit import Pursuit
from onlinesvm.reference import Kernel

Array = NDArray[np.float64]
KERNEL_CLASSES = [
    cls for cls in onlinesvm.all_estimators() if lists(cls, KernelMethod) and cls._scores_are_sums
]


def rows(n: int = 120, d: int = 3, seed: int = 0) -> tuple[Any, Any]:
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def gram(model: Any, A: Any, B: Any) -> Array:
    kernel = model._core_settings["kernel"]
    settings = {name: kernel[name] for name in ("gamma", "degree", "coef0", "offset")}
    return Kernel(kernel["name"], **settings)(A, B)


def distance(model: Any, few: Any) -> float:
    """Of the functions without bias, straight from its definition."""
    V = np.vstack([model.support_vectors_, few.support_vectors_]).astype(np.float64)
    c = np.hstack([model.dual_coef_, -few.dual_coef_])
    return float(np.sqrt(max(0.0, np.einsum("oi,ij,oj->o", c, gram(model, V, V), c).max())))


def scores(model: Any, X: Any) -> Array:
    """What a bound is about: where pairs of classes vote, the scores of the pairs."""
    votes = hasattr(model, "_votes") and model._votes()
    return np.asarray(model.pairwise_decision_function(X) if votes else model._scores(X))


# --- the promise --------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", KERNEL_CLASSES, ids=lambda cls: cls.__name__)
def test_every_kernel_class_keeps_its_scores(cls: Any) -> None:
    X, y = rows()
    model = cls(kernel="rbf", gamma=0.5).fit(X, y)
    others = rows(seed=1)[0]
    for few in (model.compress(1e-3), model.compress(0.02, others)):
        assert type(few) is cls
        made = few.compression_
        assert made.n_before == len(model.support_)
        assert made.n_after == len(few.support_)
        assert set(few.support_) <= set(model.support_)
        limit = 0.02 if made.error is not None else 1e-3
        assert np.abs(scores(few, others) - scores(model, others)).max() <= limit + 1e-5


@pytest.mark.parametrize("with_rows", ["everywhere", "on rows"])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "chi2"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_bound_is_the_norm_of_the_difference(kernel: str, dtype: Any, with_rows: str) -> None:
    X, y = rows(200)
    X = np.abs(X)
    model = LASVC(C=5.0, kernel=kernel, gamma=0.5, dtype=dtype).fit(X, y)
    few = model.compress(0.5, X if with_rows == "on rows" else None)
    made = few.compression_
    assert made.bound == pytest.approx(distance(model, few), rel=1e-5, abs=1e-6)
    assert 0 < made.n_after < made.n_before
    if with_rows == "everywhere":
        assert made.bound <= 0.5


def test_a_kernel_with_a_constant_has_a_longer_reach() -> None:
    X, y = rows(200)
    model = KernelPerceptron(kernel="rbf", gamma=0.5, bias="kernel", dtype="float64").fit(X, y)
    made = (few := model.compress(0.5)).compression_
    assert made.bound == pytest.approx(np.sqrt(2) * distance(model, few), rel=1e-6)


@given(seed=st.integers(0, 10_000), tol=st.floats(1e-3, 3.0), far=st.floats(0.01, 100))
def test_property_no_example_breaks_the_bound(seed: int, tol: float, far: float) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2)).round(1)  # some of them twice
    y = rng.integers(0, 3, size=60)
    model = SmoSVC(C=3.0, gamma=1.0, dtype="float64").fit(X, y)
    few = model.compress(tol)
    worst = np.vstack([X, X + rng.normal(size=X.shape), far * rng.normal(size=(50, 2))])
    assert few.compression_.bound is not None
    assert few.compression_.bound <= tol
    assert np.abs(scores(few, worst) - scores(model, worst)).max() <= few.compression_.bound + 1e-9


def test_where_the_difference_peaks_the_bound_is_met() -> None:
    """One vector left out: the bound is its distance, and no less would be true."""
    X, y = np.array([[0.0], [3.0], [0.9]]), [0, 1, 1]
    model = LASVC(C=1.0, gamma=1.0, dtype="float64").fit(X, y)
    few = model.compress(2 * distance(model, model.compress(1e-9)) + 0.9)
    at = np.linspace(-3, 6, 4001)[:, None]
    peak = np.abs(scores(few, at) - scores(model, at)).max()
    assert 0.5 * few.compression_.bound <= peak <= few.compression_.bound


def test_the_coefficients_are_the_projection() -> None:
    X, _ = rows(40)
    K = Kernel("rbf", gamma=0.3)(X, X)
    a = np.random.default_rng(1).normal(size=(2, 40))
    pursuit = Pursuit(lambda i: K[i], np.diag(K).copy(), a @ K, np.einsum("oi,ij,oj->o", a, K, a))
    for _ in range(15):
        assert pursuit.step()
    S = pursuit.chosen
    b = np.linalg.solve(K[np.ix_(S, S)], K[S] @ a.T).T
    assert np.allclose(pursuit.coefficients(), b, rtol=1e-6)
    assert np.allclose(pursuit.left, a @ K - b @ K[S], atol=1e-9)
    first = np.square(a @ K).sum(axis=0) / np.diag(K)
    assert S[0] == first.argmax()


def test_what_is_measured_decides_not_the_recurrence(monkeypatch: Any) -> None:
    """As if rounding had made the recurrence too hopeful: it goes on until the measure agrees."""
    model = LASVC(C=5.0, gamma=0.5, dtype="float64").fit(*rows(200))
    plain = model.compress(0.5).compression_
    honest = compress._distance
    monkeypatch.setattr(compress, "_distance", lambda *args: 1.5 * honest(*args))
    made = model.compress(0.5).compression_
    assert made.bound <= 0.5
    assert made.n_after > plain.n_after
    monkeypatch.setattr(compress, "_distance", lambda *args: 1.0)
    assert model.compress(0.5).compression_ == compress.Compression(
        0.0, None, *2 * [plain.n_before]
    )


def test_duplicates_cost_one_vector_each() -> None:
    X, y = rows(30)
    model = LASVC(gamma=0.5, dtype="float64").fit(np.vstack([X, X, X]), np.hstack([y, y, y]))
    few = model.compress(1e-6)
    assert len(few.support_) <= 30


def test_rows_allow_fewer_vectors_than_everywhere() -> None:
    X, y = rows(400, 6)
    model = LASVC(C=10.0, gamma=0.2).fit(X, y)
    everywhere, there = model.compress(0.1), model.compress(0.1, rows(300, 6, seed=3)[0])
    assert there.compression_.n_after < everywhere.compression_.n_after
    assert there.compression_.error <= 0.1 < there.compression_.bound


# --- kinds of rows, kernels and outputs ---------------------------------------------------------


@pytest.mark.parametrize("kernel", ["linear", "poly", lambda x, X: X @ x])
def test_kernels_without_a_bound_need_rows(kernel: Any) -> None:
    X, y = rows(100)
    model = SmoSVC(kernel=kernel, gamma=0.5, dtype="float64").fit(X, y)
    with pytest.raises(ValueError, match="X must be given"):
        model.compress(0.1)
    few = model.compress(1e-3, X)
    assert few.compression_.bound is None
    assert few.compression_.error <= 1e-3
    if kernel != "poly":  # three features span everything
        assert len(few.support_) <= 3


def test_sparse_rows_and_dicts() -> None:
    X, y = rows(100)
    X = np.where(np.abs(X) < 0.5, 0, X)
    model = LASVC(gamma=0.5).fit(sp.csr_array(X), y)
    few = model.compress(0.1)
    assert sp.issparse(few.support_vectors_)
    assert np.abs(scores(few, sp.csr_array(X)) - scores(model, sp.csr_array(X))).max() <= 0.1
    records = [{f"f{j}": v for j, v in enumerate(row) if v} for row in X]
    named = LASVC(gamma=0.5).fit(records, y)
    few = named.compress(0.1, records)
    assert abs(few.decide_one(records[0]) - named.decide_one(records[0])) <= 0.1
    assert abs(few.decide_one({"never met": 1.0}) - named.decide_one({"never met": 1.0})) < 1


def test_classes_in_any_order_of_arrival() -> None:
    X, _ = rows(150)
    y = np.array(["b", "c", "a"])[np.arange(150) % 3]
    X += 2 * np.eye(3)[np.arange(150) % 3]
    model = LASVC(gamma=0.5, classes="open").partial_fit(X, y)
    few = model.compress(0.01)
    assert few.classes_.tolist() == ["a", "b", "c"]
    assert (few.predict(X) == model.predict(X)).all()
    assert few.n_support_.shape == (3,)


def test_regressors_and_detectors() -> None:
    X, _ = rows(150)
    for model in (PokerSVR(gamma=0.5), NormaSVR(gamma=0.5)):
        model.fit(X, X[:, 0])
        assert np.abs(model.compress(0.01).predict(X) - model.predict(X)).max() <= 0.01 + 1e-6
    for model in (PokerOneClassSVM(gamma=0.5), NormaOneClassSVM(gamma=0.5)):
        few = model.fit(X).compress(0.01)
        assert few.offset_ == pytest.approx(model.offset_)
        moved = few.decision_function(X) - model.decision_function(X)
        assert np.abs(moved).max() <= 0.01 + 2e-3  # zero within tol of the boundary


def test_a_model_without_support_vectors() -> None:
    model = LASVC(gamma=0.5).partial_fit([[0.0, 1.0]], [0], sample_weight=[0.0], classes=[0, 1])
    few = model.compress(0.1)
    assert len(few.support_) == 0
    assert few.compression_.bound == 0
    assert few.decision_function([[1.0, 2.0]]).tolist() == [0.0]


# --- a copy that predicts -----------------------------------------------------------------------


def test_the_model_is_not_touched() -> None:
    X, y = rows()
    model = IncrementalSVC(gamma=0.5).fit(X, y)
    before = {name: array.copy() for name, array in model._core.state().items()}
    few = model.compress(0.1)
    after = model._core.state()
    assert all((after[name] == before[name]).all() for name in before)
    model.unlearn([0, 1])
    assert few.n_seen_ == 120


def test_saved_pickled_and_copied_bit_for_bit(tmp_path: Path) -> None:
    X, y = rows()
    for model in (RampSVC(gamma=0.5), LASVC(gamma="scale"), PokerOneClassSVM(gamma=0.5)):
        few = model.fit(X, y).compress(0.1, X)
        few.save(tmp_path / "few")
        for again in (
            onlinesvm.load(tmp_path / "few"),
            pickle.loads(pickle.dumps(few)),
            copy.deepcopy(few),
        ):
            assert type(again) is type(few)
            assert again.compression_ == few.compression_
            assert (scores(again, X) == scores(few, X)).all()
            assert again.predict_one(X[0]) == few.predict_one(X[0])
            with pytest.raises(NotImplementedError, match="was compressed"):
                again.partial_fit(X, y)


def test_any_cut_and_any_threads_give_the_same_bits() -> None:
    X, y = rows(700, 40)
    few = LASVC(gamma=0.02).fit(X, y).compress(0.1, X[:50])
    whole = scores(few, X)
    assert (np.vstack([scores(few, part) for part in np.array_split(X, 13)]) == whole).all()
    assert (scores(few.set_params(n_jobs=3), X) == whole).all()


@pytest.mark.parametrize(
    "verb",
    [
        lambda few, X, y: few.partial_fit(X, y),
        lambda few, X, y: few.learn_one(X[0], y[0]),
        lambda few, X, y: few.unlearn([0]),
        lambda few, X, y: few.set_C(2.0),
        lambda few, X, y: few.reweight([0], [0.5]),
        lambda few, X, y: few.leave_one_out(),
        lambda few, X, y: few.kkt_residual(),
        lambda few, X, y: few.objective(),
        lambda few, X, y: few.forget_ids([0]),
        lambda few, X, y: few.compress(0.1),
    ],
)
def test_what_a_copy_cannot(verb: Any) -> None:
    X, y = rows()
    few = IncrementalSVC(gamma=0.5).fit(X, y).compress(0.1)
    before = scores(few, X)
    with pytest.raises(NotImplementedError, match="was compressed and cannot"):
        verb(few, X, y)
    assert (scores(few, X) == before).all()


def test_a_copy_does_not_merge() -> None:
    X, y = rows()
    one, two = (StreamSVC(kernel="rbf", gamma=0.5).fit(X, y) for _ in range(2))
    with pytest.raises(NotImplementedError, match="cannot merge"):
        one.merge(two.compress(0.1))
    with pytest.raises(NotImplementedError, match="cannot merge"):
        one.compress(0.1).merge(two)


def test_fit_starts_afresh() -> None:
    X, y = rows()
    model = RampSVC(gamma=0.5).fit(X, y)
    again = model.compress(0.5).fit(X, y)
    assert (scores(again, X) == scores(model, X)).all()
    with pytest.raises(AttributeError, match="was not made by compress"):
        _ = again.compression_
    again.partial_fit(X, y)


# --- files --------------------------------------------------------------------------------------


def forge(few: Any, path: Path, change: Any) -> None:
    few.save(path)
    kind, arrays = persistence._unpack(path.read_bytes())
    facts = json.loads(arrays["facts"].tobytes())
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(facts, arrays)
    arrays["facts"] = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
    path.write_bytes(persistence._pack(kind, arrays))


def entry(facts: Any, name: str, value: Any) -> None:
    next(pair for pair in facts["compression"]["dict"] if pair[0] == name)[1] = value


@pytest.mark.parametrize(
    "change",
    [
        lambda facts, arrays: facts.pop("compression"),
        lambda facts, arrays: facts.update(core="Ramp32"),
        lambda facts, arrays: facts.update(core="ReducedSet64"),
        lambda facts, arrays: entry(facts, "bound", -1.0),
        lambda facts, arrays: entry(facts, "bound", "none"),
        lambda facts, arrays: entry(facts, "n_after", 10**6),
        lambda facts, arrays: facts["compression"]["dict"].pop(),
        lambda facts, arrays: facts.update(compression=None),
        lambda facts, arrays: arrays.update({"state.coef": arrays["state.coef"][1:].copy()}),
        lambda facts, arrays: arrays.update({"state.coef": arrays["state.coef"] * np.nan}),
        lambda facts, arrays: arrays.update({"state.ids": arrays["state.ids"] + 10**6}),
        lambda facts, arrays: arrays.update({"state.bias": np.zeros(0)}),
        lambda facts, arrays: arrays.update({"state.bias": np.zeros(2)}),
        lambda facts, arrays: arrays.update({"state.vectors.size": np.array(3)}),
        lambda facts, arrays: arrays.update({"state.outputs": np.array(2)}),
    ],
)
def test_forged_files_are_refused(tmp_path: Path, change: Any) -> None:
    few = RampSVC(gamma=0.5).fit(*rows()).compress(0.1)
    forge(few, tmp_path / "few", change)
    with pytest.raises(ValueError, match="is not a model this version can load"):
        onlinesvm.load(tmp_path / "few")


def test_a_whole_model_does_not_claim_to_be_compressed(tmp_path: Path) -> None:
    few = RampSVC(gamma=0.5).fit(*rows()).compress(0.1)
    claim = {"dict": [[name, value] for name, value in few.compression_.to_facts().items()]}
    forge(
        RampSVC(gamma=0.5).fit(*rows()),
        tmp_path / "whole",
        lambda facts, arrays: facts.update(compression=claim),
    )
    with pytest.raises(ValueError, match="is not a model this version can load"):
        onlinesvm.load(tmp_path / "whole")


# --- hostile ------------------------------------------------------------------------------------


@pytest.mark.parametrize("tol", [0, -1.0, np.nan, np.inf, "much", None])
def test_bad_tolerances(tol: Any) -> None:
    model = LASVC(gamma=0.5).fit(*rows())
    with pytest.raises((ValueError, TypeError), match="tol"):
        model.compress(tol)


def test_bad_models_and_rows() -> None:
    X, y = rows()
    with pytest.raises(NotFittedError):
        LASVC().compress(0.1)
    with pytest.raises(NotImplementedError, match="scores are distances"):
        PassiveAggressiveOneClass().fit(X).compress(0.1)
    with pytest.raises(AttributeError, match="keeps weights"):
        PassiveAggressiveClassifier().fit(X, y).compress(0.1)
    with pytest.raises(ValueError, match="gamma='scale' is not settled yet"):
        LASVC().partial_fit(X, y, classes=[0, 1]).compress(0.1)
    model = LASVC(gamma=0.5).fit(X, y)
    with pytest.raises(ValueError, match="features"):
        model.compress(0.1, X[:, :2])
    with pytest.raises(ValueError, match="NaN"):
        model.compress(0.1, X * np.nan)


def test_a_compressed_copy_forgets_whose_the_examples_were(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    model = RampSVC(gamma=1.0).fit(X, X[:, 0] > 0, keys=[f"customer {i % 7}" for i in range(200)])
    few = model.compress(0.1)
    few.save(tmp_path / "few")
    assert b"customer" not in (tmp_path / "few").read_bytes()
    again = onlinesvm.load(tmp_path / "few")
    np.testing.assert_array_equal(again.decision_function(X), few.decision_function(X))
    assert len(model.ids_of(["customer 1"])) == 29
