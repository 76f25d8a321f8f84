"""A solver that begins at given coefficients: at the solution it has nothing to do."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris

from onlinesvm import SmoSVC
from onlinesvm.datasets import make_checkerboard
from onlinesvm.methods.dual.start import without_surplus

BOARD = make_checkerboard(300, noise=0.1, random_state=0)
LARGE = make_checkerboard(2500, noise=0.1, random_state=0)  # no core computes these gradients anew
IRIS = load_iris(return_X_y=True)


def coefficients(model, n):
    s = np.zeros((len(model.dual_coef_), n))
    s[:, model.support_] = model.dual_coef_
    return s


def begun_at(model, X, y, s, ids=None):
    fresh = clone(model)
    fresh._start = np.arange(len(y)) if ids is None else ids, s
    return fresh.partial_fit(X, y, classes=np.unique(y), ids=ids)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("bias", ["free", "none"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    ("X", "y"), [BOARD, LARGE, IRIS], ids=["two classes", "many rows", "three"]
)
def test_at_the_solution_nothing_is_left_to_do(X, y, form, bias, dtype):
    model = SmoSVC(C=5, gamma=2.0, bias=bias, dtype=dtype, tol=1e-2, multiclass="one-vs-rest")
    cold = clone(model).fit(form(X), y)
    warm = begun_at(model, form(X), y, coefficients(cold, len(y)))
    assert cold.n_iter_.min() > 10
    assert warm.n_iter_.max() <= cold.n_iter_.min() // 20  # as rounding may ask for
    assert warm.kkt_residual() <= model.tol
    np.testing.assert_allclose(
        warm.decision_function(form(X)), cold.decision_function(form(X)), atol=0.03
    )
    assert warm._start is None
    warm.partial_fit(form(X[:1] + 5), y[:1])  # goes on as any other


def test_from_anywhere_it_finds_the_solution():
    X, y = BOARD
    model = SmoSVC(C=5, gamma=2.0, tol=1e-8, dtype="float64")
    cold = clone(model).fit(X, y)
    rng = np.random.default_rng(0)
    ids = rng.permutation(1000)[: len(y)]
    wild = rng.normal(scale=10, size=(1, len(y)))  # beyond the bounds, and out of balance
    warm = begun_at(model, X, y, wild, ids)
    np.testing.assert_allclose(warm.decision_function(X), cold.decision_function(X), atol=1e-6)
    assert warm.objective() == pytest.approx(cold.objective(), rel=1e-9)


def test_a_surplus_is_taken_from_the_largest():
    s = np.array([1.0, -0.5, 3.0, -0.25, 0.5])
    left = without_surplus(s)
    assert left.tolist() == [0.25, -0.5, 0.0, -0.25, 0.5]
    assert without_surplus(-s).tolist() == (-left).tolist()
    assert without_surplus(left).tolist() == left.tolist()
