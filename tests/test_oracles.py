"""The oracles themselves: they must be right, and they must be able to say no."""

from __future__ import annotations

import numpy as np
import pytest
from oracles import (
    NASTY,
    assert_ramp_stationary,
    best_gain,
    blobs,
    box_kkt,
    box_qp,
    contradictory,
    huge,
    ramp_objective,
    signed_gram,
)
from scipy.optimize import minimize


def rbf(A, B):
    return np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("C", [0.1, 1.0, 50.0])
@pytest.mark.parametrize("kind", [blobs, *NASTY], ids=lambda kind: kind.__name__)
def test_box_qp_meets_its_conditions(kind, C):
    for n in (1, 7, 40, 80):
        stream = kind(1, n)
        Q = signed_gram(rbf, stream.X, stream.y)
        assert box_kkt(Q, 1.0, box_qp(Q, C), C) <= 1e-8


def test_box_qp_agrees_with_a_stranger():
    stream = contradictory(2, 25)
    Q, C = signed_gram(rbf, stream.X, stream.y), np.linspace(0.1, 3, 25)
    theirs = minimize(
        lambda a: a @ Q @ a / 2 - a.sum(),
        np.zeros(25),
        jac=lambda a: Q @ a - 1,
        bounds=[(0, c) for c in C],
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000},
    ).x
    np.testing.assert_allclose(Q @ box_qp(Q, C), Q @ theirs, atol=1e-5)


def test_box_qp_knows_the_hand_made_cases():
    assert box_qp(np.zeros((0, 0)), 1.0).shape == (0,)
    np.testing.assert_allclose(box_qp(np.array([[4.0]]), 1.0), [0.25])
    np.testing.assert_allclose(box_qp(np.array([[4.0]]), 0.1), [0.1])
    np.testing.assert_allclose(box_qp(np.zeros((2, 2)), 3.0), [3.0, 3.0])  # x = 0, linear
    np.testing.assert_allclose(box_qp(np.array([[1.0, -1.0], [-1.0, 1.0]]), 1.0), [1.0, 1.0])


@pytest.mark.parametrize("spoil", ["free", "zero", "bound", "below the ramp"])
def test_a_wrong_solution_is_told_apart(spoil):
    stream = blobs(3, 40, noise=0.0)
    Q, C = signed_gram(rbf, stream.X, stream.y), 0.5
    alpha = box_qp(Q, C)
    assert_ramp_stationary(Q, alpha, C, -np.inf, atol=1e-6)
    if spoil == "free":
        alpha[np.flatnonzero((alpha > 0) & (alpha < C))[0]] += 1e-4
    elif spoil == "zero":
        alpha[np.flatnonzero(alpha == 0)[0]] = 1e-4
    elif spoil == "bound":
        alpha[np.flatnonzero(alpha == C)[0]] -= 1e-4
    else:
        Q[0], Q[:, 0] = -Q[0], -Q[:, 0]  # the first label was a lie
    with pytest.raises(AssertionError):
        assert_ramp_stationary(Q, alpha, C, -1.0 if "below" in spoil else -np.inf, atol=1e-6)


def test_gain_and_objective_by_hand():
    Q = np.array([[2.0]])
    assert best_gain(Q, np.array([0.0]), 1.0) == pytest.approx(2 * 0.25)  # g = 1, d = 1/2, K = 2
    assert best_gain(Q, np.array([0.5]), 1.0) == 0.0
    assert ramp_objective(Q, np.array([0.25]), 3.0) == pytest.approx(0.0625 + 1.5)
    assert ramp_objective(-Q, np.array([2.0]), 3.0) == pytest.approx(-4.0 + 6.0)  # z = -4: flat


def test_streams_are_what_they_say():
    for kind in NASTY:
        stream = kind(0, 30)
        assert stream.X.shape[0] == len(stream.y) == 30
        assert set(stream.y) == {-1.0, 1.0}
    assert np.abs(huge(0, 30).X).max() > 1e5
    stream = contradictory(0, 30)
    labels = {tuple(x): set() for x in stream.X}
    for x, y in zip(stream.X, stream.y, strict=True):
        labels[tuple(x)].add(y)
    assert any(len(both) == 2 for both in labels.values())
