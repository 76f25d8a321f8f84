"""Nystroem features: the twin, scikit-learn on the same landmarks, and what never changes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from contract import bell
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_approximation import Nystroem as Theirs
from sklearn.metrics.pairwise import pairwise_kernels
from tiers import examples

import onlinesvm
from onlinesvm import SGDSVC, NystroemFeatures
from onlinesvm.reference import Kernel, Nystroem

KERNELS = {
    "rbf": {"gamma": 0.3},
    "laplacian": {"gamma": 0.2},
    "chi2": {"gamma": 0.5},
    "poly": {"gamma": 0.1, "degree": 2, "coef0": 1.0},
    "linear": {},
}


def rows(n: int = 150, d: int = 5, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.gamma(1.0, size=(n, d)).round(3)
    X[n // 2 : n // 2 + n // 10] = X[: n // 10]  # known already
    return X


@pytest.mark.parametrize("kernel", KERNELS)
def test_fast_equals_twin_step_by_step(kernel: str) -> None:
    X, settings = rows(90), KERNELS[kernel]
    fast = NystroemFeatures(kernel=kernel, n_components=40, tol=1e-2, dtype="float64", **settings)
    slow = Nystroem(Kernel(kernel, **settings), n_components=40, tol=1e-2)
    for x in X:
        fast.learn_one(x)
        slow.learn(x)
        assert np.array_equal(fast.components_, slow.landmarks)
        assert np.allclose(fast.transform(X), slow.transform(X), rtol=0, atol=1e-8 * X.max() ** 2)


@pytest.mark.parametrize("kernel", KERNELS)
def test_exact_at_the_landmarks(kernel: str) -> None:
    X, settings = rows(), KERNELS[kernel]
    model = NystroemFeatures(kernel=kernel, n_components=60, dtype="float64", **settings).fit(X)
    Z, landmarks = model.transform(X), model.transform(model.components_)
    exact = pairwise_kernels(X, model.components_, metric=kernel, **settings)
    if kernel == "chi2":
        exact = Kernel("chi2", **settings)(X, model.components_)
    assert np.allclose(Z @ landmarks.T, exact, rtol=1e-8, atol=1e-8)


def test_single_precision_is_near_double() -> None:
    X = rows(2000, 20)
    single, double = (
        NystroemFeatures(gamma=0.05, n_components=300, dtype=dtype).fit(X)
        for dtype in ("float32", "float64")
    )
    assert np.array_equal(single.component_indices_, double.component_indices_)
    assert single.transform(X).dtype == np.float32
    assert np.abs(single.transform(X) - double.transform(X)).max() < 1e-3


def test_scikit_learn_agrees_on_the_same_landmarks() -> None:
    X = rows(200)
    ours = NystroemFeatures(gamma=0.3, n_components=50, dtype="float64").fit(X)
    theirs = Theirs(gamma=0.3, n_components=50).fit(ours.components_)
    mine, other = ours.transform(X), theirs.transform(X)
    assert np.allclose(mine @ mine.T, other @ other.T, atol=1e-8)  # features are rotated
    K = pairwise_kernels(X, ours.components_, metric="rbf", gamma=0.3)
    assert np.allclose(K @ ours.normalization_.T, mine, atol=1e-10)


def test_more_landmarks_come_closer_to_the_kernel() -> None:
    X = rows(400)
    K = pairwise_kernels(X, metric="rbf", gamma=0.3)
    errors = []
    for n in (10, 40, 160):
        Z = NystroemFeatures(gamma=0.3, n_components=n, dtype="float64").fit_transform(X)
        gap = K - Z @ Z.T
        assert np.linalg.eigvalsh(gap).min() > -1e-9  # a projection takes away, never adds
        errors.append(np.abs(gap).mean())
    assert errors[2] < errors[1] / 4 < errors[0] / 8


# --- what a model behind can rely on --------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_column_is_0_until_settled_and_never_changes_then(dtype: str) -> None:
    X, probe = rows(300), rows(40, seed=1)
    model = NystroemFeatures(gamma=0.3, n_components=80, tol=0.05, dtype=dtype)
    before = np.zeros((40, 80), dtype=dtype)
    for start in range(0, 300, 7):
        model.partial_fit(X[start : start + 7])
        Z, n = model.transform(probe), len(model.components_)
        settled = before.any(axis=0)
        assert np.array_equal(Z[:, settled], before[:, settled]), "to the bit"
        assert not Z[:, n:].any()
        before = Z
    assert before.any(axis=0).sum() == len(model.components_) > 20


def test_gamma_by_word_is_settled_before_any_feature_is_seen() -> None:
    X = rows(400)
    model = NystroemFeatures(n_components=30)
    with pytest.warns(UserWarning, match=r"gamma='scale' .* first 256 .* 100 have come"):
        assert not model.partial_fit(X[:100]).transform(X).any()
    assert not model.transform_one(X[0]).any()
    model.partial_fit(X[100:300])
    gamma, Z = model.gamma_, model.transform(X)
    assert gamma == pytest.approx(1 / (5 * X[:256].var()))
    whole = NystroemFeatures(n_components=30).partial_fit(X[:300])
    assert np.array_equal(whole.transform(X), Z)
    model.partial_fit(X[300:])
    assert model.gamma_ == gamma
    settled = Z.any(axis=0)
    assert np.array_equal(model.transform(X)[:, settled], Z[:, settled])


def test_a_linear_model_learns_behind_growing_features() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (6000, 2))
    y = np.sign(np.sin(3 * X[:, 0]) * X[:, 1])
    model, behind = NystroemFeatures(n_components=150, gamma=2.0), SGDSVC(classes=[-1, 1], eta0=1)
    for start in range(0, 5000, 50):
        part = slice(start, start + 50)
        behind.partial_fit(model.partial_fit(X[part]).transform(X[part]), y[part])
    assert behind.score(model.transform(X[5000:]), y[5000:]) > 0.95


# --- landmarks ------------------------------------------------------------------------------------


def test_copies_and_what_is_known_become_no_landmarks() -> None:
    X = rows(20)
    model = NystroemFeatures(gamma=0.3).partial_fit(np.vstack([X, X, X + 1e-6]))
    assert model.component_indices_.max() < 20
    assert len(NystroemFeatures(kernel="linear").fit(rows(100, 5)).components_) == 5


def test_ids_name_the_landmarks() -> None:
    X = rows(30)
    model = NystroemFeatures(gamma=0.3, n_components=8).partial_fit(X, ids=np.arange(30) + 70)
    assert np.array_equal(model.components_, X[model.component_indices_ - 70].astype(np.float32))


def test_enough_is_enough() -> None:
    model = NystroemFeatures(gamma=0.3, n_components=8).fit(rows(50))
    size, Z = model.nbytes_, model.transform(rows())
    model.partial_fit(rows(2000, seed=3))
    assert model.nbytes_ == size
    assert np.array_equal(model.transform(rows()), Z)
    assert model.n_seen_ == 2050


def test_sparse_rows() -> None:
    X = np.where(rows() < 1, 0, rows())
    dense = NystroemFeatures(gamma=0.3, n_components=40, dtype="float64").fit(X)
    packed = NystroemFeatures(gamma=0.3, n_components=40, dtype="float64").fit(sp.csr_array(X))
    assert sp.issparse(packed.components_)
    assert np.array_equal(dense.component_indices_, packed.component_indices_)
    assert np.allclose(dense.transform(X), packed.transform(sp.csr_array(X)), atol=1e-9)


def test_a_kernel_of_ones_own() -> None:
    X = rows(60)
    model = NystroemFeatures(kernel=bell, n_components=20, dtype="float64").fit(X)
    named = NystroemFeatures(gamma=1.0, n_components=20, dtype="float64").fit(X)
    assert np.allclose(model.transform(X), named.transform(X), atol=1e-9)


@settings(max_examples=examples(20), deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1e-3, 1.0, 1e3]), st.sampled_from([1e-6, 1e-3, 0.5]))
def test_property_features_are_never_longer_than_the_example(seed, scale, tol) -> None:
    X = rows(60, 3, seed) * scale
    model = NystroemFeatures(gamma=0.3 / scale**2, n_components=50, tol=tol, dtype="float64").fit(X)
    lengths = (model.transform(X) ** 2).sum(axis=1)
    assert (lengths <= 1 + 1e-7).all()
    full = len(model.components_) == 50
    assert full or (lengths >= 1 - tol - 1e-7).all(), "an example was left out that is not known"


def test_saved_landmarks_go_on(tmp_path) -> None:
    X = rows(300)
    model = NystroemFeatures(n_components=120, tol=0.01)
    for cut in (100, 257):
        never = NystroemFeatures(n_components=120, tol=0.01).partial_fit(X)
        half = onlinesvm.NystroemFeatures(n_components=120, tol=0.01).partial_fit(X[:cut])
        half.save(tmp_path / "features")
        model = onlinesvm.load(tmp_path / "features").partial_fit(X[cut:])
        assert np.array_equal(model.transform(X), never.transform(X))
