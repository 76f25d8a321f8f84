"""The readable offline ramp-loss SVM: stationary at the end, never worse from round to round."""

from __future__ import annotations

import numpy as np
import pytest
from oracles import NASTY, assert_ramp_stationary, blobs, box_qp, ramp_objective, signed_gram

from onlinesvm.reference import Kernel, OfflineRamp

TIGHT = {"tol_kkt": 1e-9, "tol_gain": 0.0}
RBF = Kernel("rbf", gamma=2.0)


@pytest.mark.parametrize("s", [-1.0, -0.3, 0.5])
@pytest.mark.parametrize("kind", [blobs, *NASTY[:4]], ids=lambda kind: kind.__name__)
def test_ends_stationary_and_never_rises(kind, s):
    stream = kind(6, 40)
    model = OfflineRamp(RBF, C=2.0, s=s, **TIGHT).fit(stream.X, stream.y)
    Q = signed_gram(RBF, stream.X, stream.y)
    assert_ramp_stationary(Q, model.alpha, 2.0, s, atol=1e-6, where=repr(stream))
    assert (np.diff(model.rounds) <= 1e-9).all(), f"the objective rose: {model.rounds}"
    hinge = ramp_objective(Q, box_qp(Q, 2.0), 2.0, s)
    assert model.rounds[0] == pytest.approx(hinge, abs=1e-6)
    assert model.objective() <= hinge + 1e-6
    z = 1 - model.g[model.alpha > 0]
    assert ((z >= s - 1e-6) & (z <= 1 + 1e-6)).all(), "a support vector lies off the slope"


def test_noise_makes_it_drop_someone():
    stream = blobs(6, 60, noise=0.3)
    model = OfflineRamp(Kernel("linear"), C=5.0, **TIGHT).fit(stream.X, stream.y)
    assert len(model.rounds) > 1
    assert not model.V.all()


def test_without_a_ramp_it_is_the_zero_bias_svm():
    stream = blobs(1, 40)
    model = OfflineRamp(RBF, s=-np.inf, **TIGHT).fit(stream.X, stream.y)
    np.testing.assert_allclose(
        model.alpha, box_qp(signed_gram(RBF, stream.X, stream.y), 1.0), atol=1e-6
    )
    assert len(model.rounds) == 1


def test_keeps_the_last_solution_when_a_class_would_vanish():
    X = np.array([[1.0]] * 9 + [[1.1]])
    y = np.array([1.0] * 9 + [-1.0])
    model = OfflineRamp(Kernel("linear"), C=1.0, **TIGHT).fit(X, y)
    hinge = OfflineRamp(Kernel("linear"), C=1.0, s=-np.inf, **TIGHT).fit(X, y)
    assert 1 - model.g[-1] < -1.0, "the lone negative should lie below the ramp"
    assert model.V.all()
    np.testing.assert_allclose(model.score([1.0]), hinge.score([1.0]), atol=1e-8)


def test_fit_forgets_and_zero_weights_are_left_out():
    stream = blobs(1, 30)
    model = OfflineRamp(RBF, **TIGHT).fit(stream.X[:20], stream.y[:20])
    weight = np.ones(30)
    weight[:5] = 0.0
    model.fit(stream.X, stream.y, weight)
    assert model.ids.tolist() == list(range(5, 30))
    fresh = OfflineRamp(RBF, **TIGHT).fit(stream.X[5:], stream.y[5:])
    np.testing.assert_allclose(model.alpha, fresh.alpha, atol=1e-9)


def test_unlearning_goes_on_from_the_present_v():
    stream = blobs(3, 40, noise=0.3)
    model = OfflineRamp(RBF, C=2.0, **TIGHT).fit(stream.X, stream.y)
    model.unlearn(*range(0, 40, 3))
    Q = signed_gram(RBF, model.X, model.y)
    assert_ramp_stationary(Q, model.alpha, 2.0, -1.0, atol=1e-6)
