"""Wrong labels are found: above chance everywhere, and the same table for any processes."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, make_moons
from sklearn.metrics import average_precision_score
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from onlinesvm.label_issues import _left_out, _ridge_left_out, find_label_issues


def spoilt(y: Any, rate: float, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    wrong = rng.random(len(y)) < rate
    shift = rng.integers(1, len(np.unique(y)), len(y))
    return np.where(wrong, (y + shift) % len(np.unique(y)), y), wrong


def precision(issues: Any, wrong: Any) -> float:
    doubt = np.empty(len(wrong))
    doubt[issues.rows] = -issues.scores
    return float(average_precision_score(wrong, doubt))


@pytest.mark.parametrize(
    ("rows", "y", "least"),
    [
        (*make_moons(200, noise=0.25, random_state=0), 0.6),
        (*load_iris(return_X_y=True), 0.9),
        (*(part[:240] for part in load_breast_cancer(return_X_y=True)), 0.9),
    ],
    ids=["moons", "iris", "cancer"],
)
def test_it_ranks_wrong_labels_first(rows: Any, y: Any, least: float) -> None:
    found, peer = [], []
    svm = CalibratedClassifierCV(SVC(), ensemble=False)
    for seed in range(2):
        given, wrong = spoilt(y, 0.1, seed)
        issues = find_label_issues(rows * 1000.0, given)
        found.append(precision(issues, wrong))
        scaled = StandardScaler().fit_transform(rows)
        chances = cross_val_predict(svm, scaled, given, method="predict_proba")
        peer.append(average_precision_score(wrong, -chances[np.arange(len(y)), given]))
        assert np.array_equal(np.sort(issues.rows), np.arange(len(y)))
        assert (np.diff(issues.scores) >= 0).all()
        top = issues.rows[: wrong.sum()]
        mended = issues.suggested[: wrong.sum()][wrong[top]] == y[top][wrong[top]]
        assert mended.mean() > 0.85
    assert np.mean(found) >= max(least, np.mean(peer) - 0.04), (found, peer)


def test_processes_and_containers_do_not_matter() -> None:
    X, y = make_moons(120, noise=0.3, random_state=1)
    given, _ = spoilt(y, 0.1)
    one, two = (find_label_issues(X, given, n_jobs=jobs) for jobs in (None, 2))
    assert np.array_equal(one.rows, two.rows)
    assert np.array_equal(one.scores, two.scores)
    words = sp.random_array((120, 30), density=0.2, rng=np.random.default_rng(0), format="csr")
    label = (words[:, [0, 1, 2]].sum(axis=1) > 0).astype(int)
    given, wrong = spoilt(label, 0.1)
    assert precision(find_label_issues(words, given), wrong) > 2 * wrong.mean()


def test_a_large_set_is_searched_on_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_moons(300, noise=0.2, random_state=2)
    given, wrong = spoilt(y, 0.1)
    monkeypatch.setattr("onlinesvm.label_issues._SAMPLE", 100)
    assert precision(find_label_issues(X, given), wrong) > 0.6


def test_many_rows_are_judged_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_moons(300, noise=0.2, random_state=2)
    given, wrong = spoilt(y, 0.1)
    monkeypatch.setattr("onlinesvm.label_issues._BLOCK", 80)
    issues = find_label_issues(X, given)
    assert np.array_equal(np.sort(issues.rows), np.arange(300))
    assert precision(issues, wrong) > 0.5


@pytest.mark.parametrize("C", [0.3, 1.0])
def test_values_without_a_row_are_those_of_refits(C: float) -> None:
    X, y = make_moons(90, noise=0.3, random_state=3)
    sign = np.where(spoilt(y, 0.1)[0] == 1, 1.0, -1.0)
    distances, rows = ((X[:, None] - X) ** 2).sum(axis=2), np.arange(90)
    f, _ = _left_out(X, np.exp(-2.0 * distances), rows, sign, 2.0, C)
    refits = [
        SVC(C=C, gamma=2.0, tol=1e-6).fit(X[rows != i], sign[rows != i]).decision_function(X[[i]])
        for i in rows
    ]
    refits = np.concatenate(refits)
    assert np.corrcoef(f, refits)[0, 1] > 0.98  # exact only while no other row changes its role
    assert np.mean(np.sign(f) == np.sign(refits)) > 0.95


def test_least_squares_values_without_a_row_are_exact() -> None:
    rng = np.random.default_rng(0)
    X, rows = rng.normal(size=(40, 2)), np.arange(40)
    wanted = np.sign(rng.normal(size=(40, 3)))
    kernel = np.exp(-((X[:, None] - X) ** 2).sum(axis=2)) + 1.0
    kept = np.flatnonzero(rng.random(40) < 0.7)
    said = _ridge_left_out(kernel, wanted, 0.3, kept)
    for i in rows:
        rest = kept[kept != i]
        coef = np.linalg.solve(kernel[np.ix_(rest, rest)] + 0.3 * np.eye(len(rest)), wanted[rest])
        assert np.allclose(said[i], kernel[i, rest] @ coef, atol=1e-9)


def test_a_class_with_one_row_is_no_obstacle(tmp_path: Path) -> None:
    X, y = make_moons(60, noise=0.2, random_state=0)
    names = np.array(["left", "right", "rare"])[np.append(y[:-1], 2)]
    issues = find_label_issues(X, names)
    issues.to_csv(tmp_path / "table.csv", most=5)
    with open(tmp_path / "table.csv", newline="") as file:
        table = list(csv.reader(file))
    assert table[0] == ["row", "score", "label", "suggested", "reason"]
    assert len(table) == 6
    assert table[1][0] == str(issues.rows[0])
    assert "predict another label" in table[1][4]


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.zeros((4, 2)), np.zeros(3), "y must have one label for each of the 4 rows"),
        (np.zeros((4, 2)), np.zeros(4), "y has one label only"),
        (np.full((4, 2), np.nan), [0, 0, 1, 1], "X contains NaN"),
        (np.zeros(4), [0, 0, 1, 1], "X must be 2-D"),
    ],
)
def test_bad_calls(X: Any, y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        find_label_issues(X, y)
