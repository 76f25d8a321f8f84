"""Generators: seeded, with the statistics their definitions promise."""

import numpy as np
import pytest

from onlinesvm.datasets import (
    make_checkerboard,
    make_gauss,
    make_rotating_boundary,
    make_waveform,
)

MAKERS = [make_checkerboard, make_gauss, make_rotating_boundary, make_waveform]


@pytest.mark.parametrize("make", MAKERS)
def test_same_seed_same_rows(make):
    X, y = make(50, random_state=3)
    X_again, y_again = make(50, random_state=3)
    X_other, _ = make(50, random_state=4)
    np.testing.assert_array_equal(X, X_again)
    np.testing.assert_array_equal(y, y_again)
    assert not np.array_equal(X, X_other)


@pytest.mark.parametrize("make", MAKERS)
def test_no_rows_is_a_valid_wish_and_negative_is_not(make):
    X, y = make(0)
    assert len(X) == len(y) == 0
    with pytest.raises(ValueError, match="n must not be negative"):
        make(-1)


def test_checkerboard_colours_neighbours_differently():
    X, y = make_checkerboard(5000, random_state=0)
    squares = np.floor(X).astype(int)
    assert X.min() >= 0
    assert X.max() < 4
    np.testing.assert_array_equal(y, np.where((squares[:, 0] + squares[:, 1]) % 2, 1, -1))
    assert abs(y.mean()) < 0.05


@pytest.mark.parametrize("make", [make_checkerboard, make_rotating_boundary])
def test_noise_flips_exactly_its_share_and_moves_no_point(make):
    X, clean = make(1000, random_state=1)
    X_noisy, noisy = make(1000, noise=0.15, random_state=1)
    np.testing.assert_array_equal(X, X_noisy)
    assert (clean != noisy).sum() == 150
    with pytest.raises(ValueError, match="noise must lie between 0 and 1"):
        make(10, noise=1.5)


def test_checkerboard_needs_a_board():
    with pytest.raises(ValueError, match="board"):
        make_checkerboard(10, board=0)


def test_gauss_has_the_moments_and_the_bayes_rate_of_haykins_pair():
    X, y = make_gauss(200_000, random_state=0)
    narrow, wide = X[y == 1], X[y == -1]
    np.testing.assert_allclose(narrow.mean(axis=0), [0, 0], atol=0.02)
    np.testing.assert_allclose(wide.mean(axis=0), [2, 0], atol=0.03)
    np.testing.assert_allclose(np.cov(narrow.T), np.eye(2), atol=0.03)
    np.testing.assert_allclose(np.cov(wide.T), 4 * np.eye(2), atol=0.1)
    from_wide = ((X - [2, 0]) ** 2).sum(axis=1)
    log_ratio = from_wide / 8 - (X**2).sum(axis=1) / 2 + np.log(4)
    assert np.mean(np.where(log_ratio > 0, 1, -1) == y) == pytest.approx(0.8149, abs=0.003)


def test_waveform_means_are_the_mixed_triangles():
    X, y = make_waveform(60_000, random_state=0)
    at = {7: 6, 11: 10, 15: 14}  # sample number -> column
    assert X.shape[1] == 21
    np.testing.assert_allclose(np.bincount(y) / len(y), 1 / 3, atol=0.01)
    np.testing.assert_allclose(X[y == 0][:, at[7]].mean(), 3, atol=0.1)
    np.testing.assert_allclose(X[y == 0][:, at[15]].mean(), 3, atol=0.1)
    np.testing.assert_allclose(X[y == 1][:, at[11]].mean(), 3 + 1, atol=0.1)
    np.testing.assert_allclose(X[y == 2][:, at[7]].mean(), 1, atol=0.1)
    np.testing.assert_allclose(X[:, 0].std(), 1, atol=0.02)


def test_rotating_boundary_is_reversed_after_half_a_turn():
    X, y = make_rotating_boundary(2000, turns=0.5, random_state=0)
    agrees = (X[:, 0] >= 0) == (y > 0)
    assert agrees[:100].mean() > 0.9
    assert agrees[-100:].mean() < 0.1
    X, y = make_rotating_boundary(2000, turns=0, random_state=0)
    np.testing.assert_array_equal(X[:, 0] >= 0, y > 0)
