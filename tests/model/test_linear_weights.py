"""Every machine with a linear kernel shows its weights, as scikit-learn's SVC does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import is_classifier, is_outlier_detector, is_regressor
from sklearn.svm import SVC

import onlinesvm
from onlinesvm.model.groups import KernelMethod
from onlinesvm.model.parameters import lists

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4)) + 1.0
TWO = X @ [1.0, -1.0, 2.0, 0.5] > 2.5
MANY = np.digitize(X[:, 0] + X[:, 1], [1.0, 3.0])

LINEAR = [
    cls(kernel="linear")
    for cls in onlinesvm.all_estimators()
    if lists(cls, KernelMethod) and getattr(cls, "_scores_are_sums", True)
]


@pytest.mark.parametrize("many", [False, True], ids=["two", "many"])
@pytest.mark.parametrize("rows", [X, sp.csr_array(X)], ids=["dense", "sparse"])
@pytest.mark.parametrize("model", LINEAR, ids=lambda model: type(model).__name__)
def test_the_weights_are_the_scores(model: Any, rows: Any, many: bool) -> None:
    if is_outlier_detector(model):
        model.fit(rows)
    else:
        model.fit(rows, (MANY if many else TWO) if is_classifier(model) else X[:, 0])
    scores = model.predict(rows) if is_regressor(model) else model.decision_function(rows)
    if many and hasattr(model, "pairwise_decision_function"):
        scores = model.pairwise_decision_function(rows)
    weights = np.atleast_2d(model.coef_)
    mine = X @ weights.T + model.intercept_
    np.testing.assert_allclose(mine.reshape(scores.shape), scores, atol=1e-4, rtol=1e-4)
    assert model.coef_.shape == ((4,) if is_regressor(model) else (len(weights), 4))


def test_they_are_those_of_svc() -> None:
    ours = onlinesvm.SmoSVC(kernel="linear", tol=1e-6, dtype="float64").fit(X, TWO)
    theirs = SVC(kernel="linear", tol=1e-6).fit(X, TWO)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


def test_no_weights_without_a_linear_kernel() -> None:
    model = onlinesvm.RampSVC()
    with pytest.raises(AttributeError, match="no coef_ yet"):
        _ = model.coef_
    model.fit(X, TWO)
    with pytest.raises(AttributeError, match="only with kernel='linear'"):
        _ = model.coef_
    assert not hasattr(model, "coef_")
