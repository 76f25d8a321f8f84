"""What fit does where the order of the rows matters: shuffles, makes passes, knows when to end."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

import onlinesvm
from onlinesvm import LASVC, HullerSVC, KernelPerceptron, NormaSVC, PassiveAggressiveClassifier
from onlinesvm.checks import fingerprint
from onlinesvm.model.groups import PassByPass, StepByStep
from onlinesvm.model.parameters import lists
from onlinesvm.model.passes import _Patience

SHUFFLING = [cls for cls in onlinesvm.all_estimators() if lists(cls, PassByPass)]
STEPPING = [cls for cls in SHUFFLING if lists(cls, StepByStep)]


def board(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two by two fields, a tenth of the labels wrong."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    return X, np.where((X[:, 0] * X[:, 1] > 0) ^ (rng.random(n) < 0.1), 1, 0)


@pytest.mark.parametrize("cls", [LASVC, HullerSVC, PassiveAggressiveClassifier, KernelPerceptron])
def test_sorted_rows_do_no_harm(cls):
    X, y = load_iris(return_X_y=True)  # by class
    assert cls().fit(X, y).score(X, y) > 0.93


@pytest.mark.parametrize("cls", SHUFFLING, ids=lambda cls: cls.__name__)
def test_the_seed_decides_and_nothing_else(cls):
    X, y = board(150)  # more than one chunk
    same, again, other = (cls(random_state=seed).fit(X, y) for seed in (1, 1, 2))
    assert fingerprint(same) == fingerprint(again)
    assert fingerprint(same) != fingerprint(other)


@pytest.mark.parametrize("cls", STEPPING, ids=lambda cls: cls.__name__)
def test_a_cap_that_strikes_is_told_as_in_scikit_learn(cls):
    X, y = board(60)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        assert cls(max_iter=2).fit(X, y).n_iter_ == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cls(max_iter=1).fit(X, y).n_iter_ == 1
        assert cls(max_iter=3, tol=None).fit(X, y).n_iter_ == 3
        assert cls(max_iter=50, tol=1e9, n_iter_no_change=2).fit(X, y).n_iter_ == 3


def test_patience_is_scikit_learns():
    costs = [10.0, 8.0, 7.95, 8.5, 7.0, 6.99, 7.2, 6.98]
    patience = _Patience(0.01, 10, 3)  # a pass must gain 0.1
    assert [patience(cost) for cost in costs] == [False] * 7 + [True]


def test_open_classes_are_all_met_before_a_shuffled_pass():
    X, y = load_iris(return_X_y=True)
    declared = PassiveAggressiveClassifier(classes=[0, 1, 2]).fit(X, y)
    met = PassiveAggressiveClassifier(classes="open").fit(X, y)
    assert np.array_equal(met.coef_, declared.coef_)


@pytest.mark.parametrize("C", [1.0, 30.0])
def test_lasvm_ends_at_the_svm(C):
    """Without FINISH and further passes it ended anywhere: at 48 % on a noisy board."""
    X, y = board(400)
    exact = SVC(C=C, gamma=2.0, tol=1e-6).fit(X, y)
    model = LASVC(C=C, gamma=2.0, tol=1e-6, dtype="float64").fit(X, y)
    assert model.n_iter_ > 1
    np.testing.assert_allclose(model.decision_function(X), exact.decision_function(X), atol=1e-4)


def test_a_row_that_is_learned_again_is_held_once():
    X, y = board(80)
    for model in (KernelPerceptron(), PassiveAggressiveClassifier(kernel="rbf"), NormaSVC()):
        ids = model.fit(X, y).support_
        assert model.n_iter_ > 1
        assert len(np.unique(ids)) == len(ids)
