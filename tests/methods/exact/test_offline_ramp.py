"""OfflineRampSVC: stationary at the end, never worse than the hinge SVM it starts from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from contract import Contract
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from oracles import (
    KINDS,
    alphas,
    assert_ramp_stationary,
    blobs,
    box_qp,
    ramp_objective,
    signed_gram,
    streams,
)
from sklearn.exceptions import ConvergenceWarning

from onlinesvm import OfflineRampSVC, RampSVC
from onlinesvm.reference import Kernel, OfflineRamp

# Settings under which a class behaves differently, and checks it is known to fail, with the reason.
CONTRACT = {
    "OfflineRampSVC": Contract(
        variants=[{"dtype": "float64", "bias": "kernel", "kernel": "linear"}],
    ),
}

Array = NDArray[np.float64]

TIGHT: dict[str, Any] = {"tol": 1e-9, "dtype": "float64", "bias": "none"}
KERNELS = {"rbf": Kernel("rbf", gamma=2.0), "linear": Kernel("linear")}


def machine(kernel: str = "rbf", **params: Any) -> OfflineRampSVC:
    return OfflineRampSVC(kernel=kernel, gamma=2.0, **TIGHT, **params)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("s", [-1.0, -0.3])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_ends_stationary_and_no_worse_than_the_hinge(kind, s, kernel):
    stream = kind(6, 50)
    model = machine(kernel, C=2.0, s=s).fit(stream.X, stream.y)
    Q, alpha = signed_gram(KERNELS[kernel], stream.X, stream.y), alphas(model, 50)[0]
    assert_ramp_stationary(Q, alpha, 2.0, s, atol=1e-6, kkt=2e-9, where=repr(stream))
    assert model.objective() == pytest.approx(ramp_objective(Q, alpha, 2.0, s), abs=1e-7)
    hinge = ramp_objective(Q, box_qp(Q, 2.0), 2.0, s)
    assert model.objective() <= hinge + 1e-6
    z = (Q @ alpha)[alpha > 0]
    assert ((z >= s - 1e-6) & (z <= 1 + 1e-6)).all(), "a support vector lies off the slope"


def draws(n: int) -> Array:
    """The first n numbers of splitmix64 from 0, between 0 and 1."""
    found, state, word = [], 0, 2**64
    for _ in range(n):
        z = state = (state + 0x9E3779B97F4A7C15) % word
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % word
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % word
        found.append((((z ^ (z >> 31)) >> 12) + 0.5) * 2.0**-52)
    return np.array(found)


@pytest.mark.parametrize("start", [0.1, 0.4])
@pytest.mark.parametrize("seed", range(4))
def test_begun_on_a_subset_it_equals_its_twin(seed, start):
    stream = blobs(seed, 60, noise=0.25)
    chosen = draws(60) < start
    assert len(set(stream.y[chosen].tolist())) == 2
    model = machine(C=3.0, start=start).fit(stream.X, stream.y)
    twin = OfflineRamp(KERNELS["rbf"], C=3.0, tol_kkt=1e-9, tol_gain=0.0)
    twin.fit(stream.X, stream.y, start=chosen)
    np.testing.assert_allclose(model.decision_function(stream.X), twin.score(stream.X), atol=1e-6)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_begun_on_a_subset_it_ends_stationary(kind):
    stream = kind(6, 60)
    model = machine(C=2.0, start=0.3).fit(stream.X, stream.y)
    Q, alpha = signed_gram(KERNELS["rbf"], stream.X, stream.y), alphas(model, 60)[0]
    assert_ramp_stationary(Q, alpha, 2.0, -1.0, atol=1e-6, kkt=2e-9, where=repr(stream))


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("seed", range(4))
def test_equals_its_twin(seed, kernel):
    stream = blobs(seed, 50, noise=0.25)
    model = machine(kernel, C=3.0).fit(stream.X, stream.y)
    twin = OfflineRamp(KERNELS[kernel], C=3.0, tol_kkt=1e-9, tol_gain=0.0)
    twin.fit(stream.X, stream.y)
    np.testing.assert_allclose(model.decision_function(stream.X), twin.score(stream.X), atol=1e-6)
    assert model.objective() == pytest.approx(twin.objective(), abs=1e-6)


@given(streams(max_size=20), st.sampled_from([0.3, 1.0, 20.0]), st.sampled_from(["rbf", "linear"]))
def test_any_data_without_a_ramp_is_the_zero_bias_svm(stream, C, kernel):
    if len(set(stream.y)) < 2:
        stream.y[0] = -stream.y[0]
    if len(set(stream.y)) < 2:
        return
    model = machine(kernel, C=C, s=-np.inf).fit(stream.X, stream.y)
    Q = signed_gram(KERNELS[kernel], stream.X, stream.y)
    alpha = alphas(model, len(stream.y))[0]
    np.testing.assert_allclose(Q @ alpha, Q @ box_qp(Q, C), atol=1e-5)


def test_keeps_the_last_solution_when_a_class_would_vanish():
    X, y = np.array([[1.0]] * 9 + [[1.1]]), np.array([1.0] * 9 + [-1.0])
    with pytest.warns(ConvergenceWarning, match="OfflineRampSVC"):
        model = machine("linear", C=1.0).fit(X, y)
    hinge = machine("linear", C=1.0, s=-np.inf).fit(X, y)
    assert model.decision_function([[1.1]])[0] > 1.0, "the negative should lie below the ramp"
    np.testing.assert_allclose(model.decision_function(X), hinge.decision_function(X), atol=1e-7)


def test_noise_leaves_fewer_support_vectors_than_the_hinge():
    stream = blobs(6, 200, noise=0.2)
    ramp = machine(C=5.0).fit(stream.X, stream.y)
    hinge = machine(C=5.0, s=-np.inf).fit(stream.X, stream.y)
    assert len(ramp.support_) < len(hinge.support_)


def test_several_classes_are_machines_against_the_rest():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(3, size=60)
    f = machine(C=2.0).fit(X, y).decision_function(X)
    for k in range(3):
        alone = machine(C=2.0).fit(X, y == k).decision_function(X)
        np.testing.assert_allclose(f[:, k], alone, atol=1e-6)


def test_unlearning_leaves_a_stationary_point_of_the_rest():
    stream = blobs(3, 40, noise=0.3)
    model = machine(C=2.0).fit(stream.X, stream.y)
    gone = np.arange(0, 40, 3)
    model.unlearn(gone)
    rest = np.setdiff1d(np.arange(40), gone)
    assert np.isin(model.support_, rest).all()
    Q = signed_gram(KERNELS["rbf"], stream.X[rest], stream.y[rest])
    assert_ramp_stationary(Q, alphas(model, 40)[0][rest], 2.0, -1.0, atol=1e-6, kkt=2e-9)
    twin = OfflineRamp(KERNELS["rbf"], C=2.0, tol_kkt=1e-9, tol_gain=0.0).fit(stream.X, stream.y)
    twin.unlearn(*gone)
    np.testing.assert_allclose(model.decision_function(stream.X), twin.score(stream.X), atol=1e-6)


def test_online_and_offline_are_both_stationary_though_not_equal():
    """Two stationary points of one problem: neither need be the better one."""
    stream = blobs(5, 80, noise=0.3)
    Q = signed_gram(KERNELS["rbf"], stream.X, stream.y)
    online = RampSVC(gamma=2.0, C=5.0, **TIGHT).fit(stream.X, stream.y)
    for model in (online, machine(C=5.0).fit(stream.X, stream.y)):
        assert_ramp_stationary(Q, alphas(model, 80)[0], 5.0, -1.0, atol=1e-6, kkt=2e-9)
