"""Random Fourier features: unbiased, with the error that theory says, and the twin's waves."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import pairwise_kernels

from onlinesvm import FourierFeatures
from onlinesvm.reference.fourier import waves


def rows(n: int = 60, d: int = 7, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def drawn(model: FourierFeatures) -> np.ndarray:
    """The frequencies of a model, one per row."""
    values = model._core.state()["frequencies"].astype(np.float64)
    return 2 * np.pi * values.reshape(model.n_features_in_, -1).T


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_fast_equals_twin(kernel: str) -> None:
    X = rows()
    for n in (2, 34, 250):
        for dtype, apart in (("float64", 1e-12), ("float32", 1e-4)):
            model = FourierFeatures(kernel=kernel, n_components=n, gamma=0.1, dtype=dtype).fit(X)
            assert model.transform(X).dtype == dtype
            assert np.allclose(model.transform(X), waves(X, drawn(model)), rtol=0, atol=apart)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_error_falls_with_the_root_of_the_components(kernel: str) -> None:
    """The mean squared error is at most 1 / n_components, for rbf (1 - k^2)^2 of that."""
    X = rows(40, 4)
    K = pairwise_kernels(X, metric=kernel, gamma=0.2)
    for n in (20, 200, 2000):
        squares, bias = [], []
        for seed in range(30):
            model = FourierFeatures(kernel=kernel, n_components=n, gamma=0.2, random_state=seed)
            Z = model.fit_transform(X).astype(np.float64)
            squares.append((Z @ Z.T - K) ** 2)
            bias.append(Z @ Z.T - K)
        mean = np.mean(squares)
        assert mean < 1.2 / n
        if kernel == "rbf":
            assert mean == pytest.approx(np.mean((1 - K**2) ** 2) / n, rel=0.2)
        assert np.abs(np.mean(bias)) < 3 / math.sqrt(30 * n)


def test_pairs_have_length_one() -> None:
    Z = FourierFeatures(n_components=50, gamma=0.3).fit_transform(rows())
    assert np.allclose((Z**2).sum(axis=1), 1, atol=1e-6)


def test_the_last_of_an_odd_number_is_0() -> None:
    X = rows()
    odd, even = (FourierFeatures(n_components=n, gamma=0.3).fit_transform(X) for n in (7, 6))
    assert np.array_equal(odd, np.hstack([even, np.zeros((60, 1), np.float32)]))
    assert not FourierFeatures(n_components=1, gamma=0.3).fit_transform(X).any()


def test_orthogonal_frequencies_are_and_err_less() -> None:
    X = rows(40, 8)
    K = pairwise_kernels(X, metric="rbf", gamma=0.05)
    errors = {}
    for orthogonal in (False, True):
        made = [
            FourierFeatures(n_components=64, gamma=0.05, random_state=s, orthogonal=orthogonal)
            for s in range(20)
        ]
        Z = [model.fit_transform(X).astype(np.float64) for model in made]
        errors[orthogonal] = np.mean([(z @ z.T - K) ** 2 for z in Z])
    W = drawn(made[0])
    for group in W.reshape(-1, 8, 8):
        gram = group @ group.T
        assert np.allclose(gram, np.diag(np.diag(gram)), atol=1e-5 * gram.max())
    assert errors[True] < 0.7 * errors[False]


def test_seeds_and_nothing_else_decide() -> None:
    X = rows()
    one, again, other = (FourierFeatures(gamma=0.3, random_state=s).fit(X) for s in (1, 1, 2))
    assert np.array_equal(one.transform(X), again.partial_fit(rows(seed=5)).transform(X))
    assert not np.allclose(one.transform(X), other.transform(X))


def test_sparse_rows_and_new_names() -> None:
    X = np.where(rows() < 0, 0, rows())
    dense, packed = (FourierFeatures(gamma=0.3).fit(M) for M in (X, sp.csr_array(X)))
    assert np.allclose(dense.transform(X), packed.transform(sp.csr_array(X)), atol=1e-5)
    records = [{str(j): v for j, v in enumerate(x)} for x in X.tolist()]
    named = FourierFeatures(gamma=0.3)
    for record in records:  # names in order of arrival, each its column's frequencies
        named.learn_one({name: v for name, v in record.items() if int(name) < 3})
    before = named.transform(records[:1])
    named.partial_fit(records)
    assert np.allclose(named.transform(records), dense.transform(X), atol=1e-5)
    cut = [{name: v for name, v in records[0].items() if int(name) < 3}]
    assert np.allclose(named.transform(cut), before)


def test_large_angles_keep_their_place_on_the_circle() -> None:
    x = np.array([[1e-3], [1e3], [1e5]])
    model = FourierFeatures(gamma=0.5, n_components=20, dtype="float64").fit(x)
    assert np.allclose(model.transform(x), waves(x, drawn(model)), rtol=0, atol=1e-9)
    huge = model.transform(np.array([[1e150]]))
    assert np.isfinite(huge).all()
    with pytest.raises(ValueError, match="too large"):
        model.transform(np.array([[1e200]]))


def test_what_does_not_go_together_is_refused() -> None:
    X = rows()
    with pytest.raises(ValueError, match=r"orthogonal=True is for kernel='rbf', got .*laplacian"):
        FourierFeatures(kernel="laplacian", orthogonal=True).fit(X)
    model = FourierFeatures(gamma=0.3, orthogonal=True).learn_one({"a": 1.0, "b": 2.0})
    before = model.transform([{"a": 1.0}])
    with pytest.raises(ValueError, match="orthogonal: a feature appeared"):
        model.partial_fit([{"a": 1.0, "c": 2.0}])
    assert model.n_features_in_ == 2
    assert np.array_equal(model.transform([{"a": 1.0}]), before)
