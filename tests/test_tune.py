"""GramSearchCV: the scores of GridSearchCV(SVC()), cell by cell, and its interface."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from onlinesvm import LASVC, IncrementalSVC, RampSVC, SmoSVC
from onlinesvm.tune import GramSearchCV

GRID = {"C": [0.1, 1.0, 30.0, 1000.0], "gamma": [0.01, 0.1, 1.0]}


def two(n: int = 200) -> tuple[NDArray[Any], NDArray[Any]]:
    X, y = make_classification(n, 6, n_informative=4, flip_y=0.1, random_state=0)
    return X, np.where(y > 0, "yes", "no")


def many(n: int = 150) -> tuple[NDArray[Any], NDArray[Any]]:
    X, y = load_iris(return_X_y=True)
    return X[:n] + np.random.default_rng(0).normal(0, 0.3, (n, 4)), y[:n]


def assert_same_cells(ours: Any, theirs: Any, rows: int) -> None:
    """Each score within a row of a fold, and nearly all of them equal."""
    a, b = (
        np.array([search.cv_results_[f"split{k}_test_score"] for k in range(ours.n_splits_)])
        for search in (ours, theirs)
    )
    assert np.abs(a - b).max() <= 2.1 * ours.n_splits_ / rows
    assert (np.abs(a - b) < 1e-9).mean() > 0.9
    assert list(ours.cv_results_["params"]) == list(theirs.cv_results_["params"])


@pytest.mark.parametrize("data", [two, many])
@pytest.mark.parametrize(
    "kernel", [{}, {"kernel": ["linear", "poly"], "degree": [2], "coef0": [1.0], "C": [0.01, 1.0]}]
)
def test_cells_are_those_of_grid_search(data: Any, kernel: Any) -> None:
    X, y = data()
    grid = GRID | kernel
    ours = GramSearchCV(SVC(), grid).fit(X, y)
    theirs = GridSearchCV(SVC(), grid, refit=False).fit(X, y)
    assert_same_cells(ours, theirs, len(y))
    scores = theirs.cv_results_["mean_test_score"]
    assert scores[ours.best_index_] >= theirs.best_score_ - 0.01
    assert (
        ours.best_estimator_.get_params() | ours.best_params_ == ours.best_estimator_.get_params()
    )
    assert ours.score(X, y) == ours.best_estimator_.score(X, y)
    assert set(theirs.cv_results_) == set(ours.cv_results_)


@pytest.mark.parametrize("cls", [SmoSVC, IncrementalSVC, LASVC])
def test_it_searches_for_our_classes(cls: Any) -> None:
    X, y = many()
    search = GramSearchCV(cls(), {"C": [1.0, 10.0], "gamma": ["scale", 1.0]}, cv=3).fit(X, y)
    assert isinstance(search.best_estimator_, cls)
    own = GridSearchCV(cls(), search.param_grid, cv=3, refit=False).fit(X, y)
    assert_same_cells(search, own, len(y))
    assert (search.predict(X) == search.best_estimator_.predict(X)).all()
    assert search.decision_function(X).shape == (len(X), 3)
    assert (search.classes_ == np.unique(y)).all()


def test_one_vs_rest_is_searched_as_such() -> None:
    X, y = many()
    model = SmoSVC(multiclass="one-vs-rest")
    ours = GramSearchCV(model, GRID, refit=False).fit(X, y)
    assert_same_cells(ours, GridSearchCV(model, GRID, refit=False).fit(X, y), len(y))


def test_pipelines_weights_scorers_groups_and_sparse_rows() -> None:
    X, y = two()
    pipe = make_pipeline(StandardScaler(), SVC(class_weight={"yes": 1.7}))
    grid = {f"svc__{name}": values for name, values in GRID.items()}
    folds = StratifiedKFold(4, shuffle=True, random_state=3)
    score = make_scorer(f1_score, pos_label="yes")
    frame = pd.DataFrame(X * [1, 10, 100, 1, 1, 1], columns=list("abcdef"))
    for scoring in (score, "roc_auc"):
        a = GramSearchCV(pipe, grid, cv=folds, scoring=scoring).fit(frame, y)
        b = GridSearchCV(pipe, grid, cv=folds, scoring=scoring, refit=False).fit(frame, y)
        off = a.cv_results_["mean_test_score"] - b.cv_results_["mean_test_score"]
        assert np.abs(off).max() < 0.01
    groups, weight = np.arange(len(y)) % 7, np.where(np.arange(len(y)) < 50, 0.1, 1.0)
    a = GramSearchCV(SVC(), GRID, cv=GroupKFold(3)).fit(sp.csr_array(X), y, weight, groups=groups)
    b = GridSearchCV(SVC(), GRID, cv=GroupKFold(3), refit=False)
    b.fit(X, y, sample_weight=weight, groups=groups)
    assert_same_cells(a, b, len(y))


def test_any_number_of_threads_gives_the_same_bits(capsys: Any) -> None:
    X, y = many()
    one, three = (GramSearchCV(SmoSVC(), GRID, n_jobs=jobs, verbose=True) for jobs in (1, 3))
    for search in (one, three):
        search.fit(X, y)
    np.testing.assert_array_equal(
        one.cv_results_["mean_test_score"], three.cv_results_["mean_test_score"]
    )


@pytest.mark.parametrize(
    ("estimator", "grid", "error", "says"),
    [
        (RampSVC(), GRID, TypeError, "estimator must be SmoSVC"),
        (SmoSVC(bias="none"), GRID, ValueError, "bias='free'"),
        (SmoSVC(), {"tol": [1.0]}, ValueError, "param_grid has 'tol'; it may have C, gamma"),
        (make_pipeline(SmoSVC()), GRID, ValueError, "it may have smosvc__C"),
        (SmoSVC(), {"C": [0.0]}, ValueError, "C must be > 0"),
        (SmoSVC(kernel="chi2"), GRID, ValueError, "kernel='chi2' is not for GramSearchCV"),
    ],
)
def test_what_it_cannot_search_is_said(estimator: Any, grid: Any, error: Any, says: str) -> None:
    X, y = two(60)
    with pytest.raises(error, match=says):
        GramSearchCV(estimator, grid).fit(X, y)
    with pytest.raises(ValueError, match="y has one class"):
        GramSearchCV(SmoSVC(), GRID).fit(X, np.zeros(60))
