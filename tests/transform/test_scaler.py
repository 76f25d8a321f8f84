"""The scaler: scikit-learn's numbers, no digit lost, the same bits for any cut, and the words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.preprocessing import StandardScaler

import onlinesvm
from onlinesvm import OnlineScaler
from onlinesvm.checks.streams import fingerprint

ROWS = np.random.default_rng(0).normal([0.0, 1e3, -5.0], [1.0, 10.0, 1e-3], size=(900, 3))


def streamed(model: OnlineScaler, X: Any, *cuts: int) -> OnlineScaler:
    for start, stop in zip((0, *cuts), (*cuts, X.shape[0]), strict=True):
        if start < stop:
            model.partial_fit(X[start:stop])
    return model


# --- the numbers --------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 255, 256, 257, 512, 900])
def test_fit_is_scikit_learns(n: int) -> None:
    ours, theirs = OnlineScaler().fit(ROWS[:n]), StandardScaler().fit(ROWS[:n])
    assert np.allclose(ours.center_, theirs.mean_, rtol=1e-14)
    assert np.allclose(ours.scale_, theirs.scale_, rtol=1e-12)
    assert np.allclose(ours.transform(ROWS), theirs.transform(ROWS), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix])
def test_sparse_rows_are_divided_only(kind: Any) -> None:
    X = np.where(ROWS > 0, ROWS, 0.0)
    ours, theirs = OnlineScaler().fit(kind(X)), StandardScaler(with_mean=False).fit(kind(X))
    assert np.allclose(ours.scale_, theirs.scale_, rtol=1e-12)
    scaled = ours.transform(kind(X))
    assert sp.issparse(scaled)
    assert scaled.nnz == kind(X).nnz
    assert np.allclose(scaled.toarray(), theirs.transform(kind(X)).toarray())
    assert not ours.center_.any()


def test_weights_are_copies() -> None:
    w = np.random.default_rng(1).integers(0, 4, len(ROWS))
    for method in ("standard", "robust"):
        heavy = OnlineScaler(method=method).fit(ROWS, sample_weight=w)
        copies = OnlineScaler(method=method).fit(np.repeat(ROWS, w, axis=0))
        assert np.allclose(heavy.center_, copies.center_, rtol=1e-13)
        assert np.allclose(heavy.scale_, copies.scale_, rtol=1e-13)


def test_no_digit_is_lost_far_from_zero() -> None:
    """The textbook formula, mean of squares less square of mean, has no digit left here."""
    X = 1e9 + np.random.default_rng(0).normal(size=(5000, 1))
    model = streamed(OnlineScaler(after="move"), X, *range(7, 5000, 7))
    assert np.isclose(model.scale_[0], X.std(), rtol=1e-7)
    assert model.center_[0] == pytest.approx(X.mean(), rel=1e-15)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_robust_is_the_quartiles(kind: Any) -> None:
    X = np.random.default_rng(3).standard_cauchy((301, 4)) * (ROWS[:301, :1] > -1)
    model = OnlineScaler(method="robust").fit(kind(X))
    low, mid, high = np.quantile(X, [0.25, 0.5, 0.75], axis=0, method="inverted_cdf")
    assert np.array_equal(model.scale_, high - low)
    assert np.array_equal(model.center_, mid if kind is np.asarray else np.zeros(4))


@pytest.mark.parametrize("value", [0.0, 0.1, 1e15, -3e-9])
@pytest.mark.parametrize("method", ["standard", "robust"])
def test_constant_columns_become_zero(value: float, method: str) -> None:
    model = streamed(OnlineScaler(method=method), np.full((700, 1), value), 3, 80, 300)
    assert model.scale_.tolist() == [1.0]
    assert np.abs(model.transform([[value]])).max() <= 1e-15 * abs(value)


# --- the words ----------------------------------------------------------------------------------


def test_frozen_after_the_warm_up() -> None:
    model = streamed(OnlineScaler(warm_up=100), ROWS, 60, 99)
    assert model.settled_
    assert np.allclose(model.center_, ROWS[:100].mean(axis=0))
    before = model.transform(ROWS)
    model.partial_fit(ROWS + 1e6)
    assert np.array_equal(model.transform(ROWS), before)
    assert model.n_seen_ == 1800


def test_always_moving_and_forgetting() -> None:
    moving = streamed(OnlineScaler(after="move", warm_up=5), ROWS, 10, 500)
    latest = streamed(OnlineScaler(after="forget", warm_up=50), ROWS, 10, 500)
    assert np.allclose(moving.center_, ROWS.mean(axis=0))
    assert np.allclose(moving.scale_, ROWS.std(axis=0))
    assert np.allclose(latest.center_, ROWS[-50:].mean(axis=0))
    assert np.allclose(latest.scale_, ROWS[-50:].std(axis=0))
    assert not moving.settled_
    assert not moving.finish().settled_


def test_finish_ends_the_warm_up() -> None:
    model = OnlineScaler().partial_fit(ROWS[:30])
    assert not model.settled_
    assert model.finish().settled_
    assert fingerprint(model) == fingerprint(OnlineScaler().fit(ROWS[:30]))
    with pytest.raises(AttributeError, match="call fit or partial_fit first"):
        OnlineScaler().finish()


def test_robust_cannot_move_over_all_rows() -> None:
    with pytest.raises(ValueError, match="use after='forget'"):
        OnlineScaler(method="robust", after="move").fit(ROWS)


def test_names_that_come_late_pass_as_they_are() -> None:
    model = OnlineScaler(warm_up=2)
    model.learn_one({"a": 1.0}).learn_one({"a": 3.0, "b": 1.0}).learn_one({"c": 9.0})
    assert model.transform_one({"a": 2.0, "c": 7.0, "d": 1.0}) == {"a": 2.0, "c": 7.0}
    assert OnlineScaler().transform_one({"a": 2.0}) == {"a": 0.0}
    zeros_before = OnlineScaler(after="move").partial_fit([{"a": 2.0}, {"a": 2.0}, {"b": 1.0}])
    assert np.allclose(zeros_before.scale_, [np.std([2, 2, 0]), np.std([0, 0, 1])])


# --- any cut, any values ------------------------------------------------------------------------


SHAPES = st.tuples(st.integers(1, 40), st.integers(1, 3))


@given(
    X=arrays(
        np.float64, st.tuples(st.integers(1, 40), st.integers(1, 3)), elements=st.floats(-1e9, 1e9)
    ),
    cuts=st.lists(st.integers(0, 40), max_size=4),
    after=st.sampled_from(["freeze", "move", "forget"]),
    warm_up=st.integers(1, 50),
    sparse=st.booleans(),
)
def test_property_any_cut_gives_the_same_bits(
    X: Any, cuts: list[int], after: Any, warm_up: int, sparse: bool
) -> None:
    X = sp.csr_array(X) if sparse else X
    cuts = sorted(min(cut, X.shape[0]) for cut in cuts)
    whole, parts = (OnlineScaler(after=after, warm_up=warm_up) for _ in range(2))
    whole.partial_fit(X)
    assert fingerprint(streamed(parts, X, *cuts)) == fingerprint(whole)
    scaled = whole.transform(X)
    assert np.isfinite(scaled.toarray() if sparse else scaled).all()


def test_blocks_do_not_show() -> None:
    for sizes in ((1,), (255,), (256,), (257,), (1000,)):
        cuts = np.cumsum(sizes * 2000)
        parts = streamed(OnlineScaler(after="move"), ROWS, *cuts[cuts < 900].tolist())
        assert fingerprint(parts) == fingerprint(OnlineScaler(after="move").partial_fit(ROWS))


def test_values_too_large_are_refused_and_nothing_has_changed() -> None:
    model = OnlineScaler(after="move").partial_fit(ROWS)
    before = fingerprint(model)
    with pytest.raises(ValueError, match="too large"):
        model.partial_fit([[1e300, 0.0, 0.0]])
    assert fingerprint(model) == before
    assert fingerprint(model.partial_fit(ROWS)) != before


# --- files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("after", ["freeze", "move", "forget"])
def test_forged_files_are_refused_or_harmless(after: Any, sparse: bool) -> None:
    """Every array with another length, and every number another: see tools/fuzz_models.py, too."""
    X = sp.csr_array(np.where(ROWS > 0, ROWS, 0)) if sparse else ROWS
    for model in (
        OnlineScaler(after=after, warm_up=20).partial_fit(X[:600]),
        OnlineScaler(after=after, warm_up=700).partial_fit(X[:600]),
    ):
        state = model._core.state()
        for name, array in state.items():
            longer = np.resize(array, array.size + 1) if array.ndim == 1 else array[None]
            with pytest.raises(ValueError):
                model._core.load(state | {name: longer})
            for odd in (-1, 10**9, np.nan) if array.dtype.kind == "f" else (-1, 4, 10**9):
                forged = np.array(array)
                if not forged.size:
                    continue
                forged.flat[0] = odd
                try:
                    model._core.load(state | {name: forged})
                except ValueError:
                    continue
                scaled = model.transform(X)
                assert np.isfinite(scaled.toarray() if sparse else scaled).all()
        model._core.load(state)


def test_saved_in_the_middle_of_a_warm_up(tmp_path: Any) -> None:
    model = OnlineScaler().partial_fit(ROWS[:100])
    model.save(tmp_path / "scaler")
    again = onlinesvm.load(tmp_path / "scaler").partial_fit(ROWS[100:])
    assert fingerprint(again) == fingerprint(model.partial_fit(ROWS[100:]))
