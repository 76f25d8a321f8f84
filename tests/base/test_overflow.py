"""Finite data never kills, hangs or gives scores that are no numbers."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import onlinesvm
from onlinesvm import LASVC, HullerSVC, PassiveAggressiveClassifier, RampSVC

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 3))
y = (X[:, 0] > 0).astype(int)

KERNEL_CLASSES = [cls for cls in onlinesvm.all_estimators() if "kernel" in cls().get_params()]


def target(cls: type) -> np.ndarray:
    return X[:, 0] if cls.__name__.endswith(("SVR", "Regressor")) else y


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "laplacian"])
@pytest.mark.parametrize("cls", KERNEL_CLASSES, ids=lambda cls: cls.__name__)
def test_a_row_whose_own_kernel_value_overflows_is_refused(cls, kernel, form):
    huge = np.full((1, 3), 1e200 if cls().get_params().get("dtype") == "float64" else 1e25)
    t = target(cls)
    model = cls(kernel=kernel).fit(form(X), t)
    before = model.predict(form(X))
    with pytest.raises(ValueError, match="scale the features"):
        model.predict(form(huge))
    if hasattr(model, "partial_fit"):
        with pytest.raises(ValueError, match="scale the features"):
            model.partial_fit(form(huge), t[:1])
    np.testing.assert_array_equal(model.predict(form(X)), before)


def test_a_kernel_of_the_user_that_overflows_dtype_is_refused():
    grows = [1.0]

    def kernel(x, Z):
        return grows[0] * (Z @ x)

    model = RampSVC(kernel=kernel).fit(X, y)
    grows[0] = 1e200
    with pytest.raises(ValueError, match="too large for dtype"):
        model.predict(X)


def test_scores_that_overflow_are_refused():
    model = PassiveAggressiveClassifier(C=1e3, dtype="float64").fit(1e-2 * X, y)
    longest = 1.7e308 * np.sign(model.coef_)
    assert np.abs(model.coef_).sum() > 1.1
    with pytest.raises(ValueError, match="scale the features"):
        model.decision_function(longest)
    with pytest.raises(ValueError, match="scale the features"):
        model.decide_one(longest[0])


def test_the_huller_survives_rows_as_long_as_numbers_go():
    model = HullerSVC(C=10.0, kernel="linear")
    rows = [[-8.6e24, -1.2e25], [1.0e25, 5.2e24], [-6.8e24, 2.4e24], [-6.1e24, 1.9e24]]
    with pytest.raises(ValueError, match="scale the features"):
        model.partial_fit(rows, [0, 1, 0, 1], classes=[0, 1])
    small = 1e-7 * np.array(rows)
    model = HullerSVC(C=10.0, kernel="linear").partial_fit(small, [0, 1, 0, 1], classes=[0, 1])
    model.unlearn([3]).partial_fit(small[3:], [1])
    assert np.isfinite(model.decision_function(small)).all()


@pytest.mark.parametrize("seed", range(12))
def test_the_huller_unlearns_within_its_bound_however_short_the_slacks(seed):
    draw = np.random.default_rng(seed)
    rows = draw.normal(size=(20, 2))
    labels = draw.permutation([0, 1] * 10)
    C = 10.0 ** draw.integers(1, 7)
    model = HullerSVC(C=C, kernel="linear", dtype="float64").fit(rows, labels)
    model.unlearn(model.support_[:1])  # pair steps alone: millions, and not there
    assert not model._core.capped
    assert model.kkt_residual() <= 2e-3


def test_lasvm_unlearns_contradictions_at_any_price():
    rows = np.repeat(np.random.default_rng(1).normal(size=(4, 3)), 50, axis=0)
    labels = np.random.default_rng(0).integers(0, 2, 200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LASVC(C=1e12).fit(rows, labels)
        model.unlearn([0, 1, 2, 5])
    assert np.isfinite(model.decision_function(rows)).all()
