"""Values of rows: as refitting gives them, additive, resumable, and useful."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import beta as beta_function
from sklearn.svm import SVC

from onlinesvm import SGDSVC, IncrementalSVC, PokerSVR, RampSVC
from onlinesvm.value import DataValues, _beta_weights, data_values, removal_curve

RNG = np.random.default_rng(0)
X = RNG.normal(size=(260, 2))
Y = np.where(X[:, 0] + X[:, 1] > 0, 1, -1)
FLIPPED = np.flatnonzero(np.abs(X[:60].sum(axis=1)) > 0.7)[:6]  # not those on the boundary
WRONG = Y[:60].copy()
WRONG[FLIPPED] *= -1
VALID = X[60:], Y[60:]
SVM = IncrementalSVC(gamma=0.5)


def score_of(rows: Any, labels: Any) -> float:
    """By refitting; one class alone is predicted everywhere, none is the most frequent one."""
    if len(set(labels)) < 2:
        return float(np.mean(VALID[1] == labels[0]))
    return float(SVC(gamma=0.5, tol=1e-8).fit(rows, labels).score(*VALID))


@pytest.mark.parametrize(("method", "weigh"), [("shapley", (1, 1)), ("beta", (4, 1))])
def test_values_are_those_of_refits_within_their_errors(method: Any, weigh: Any) -> None:
    rows, labels = X[:7], WRONG[:7]
    n, (a, b) = 7, weigh
    exact = np.zeros(n)
    majority = max(set(labels.tolist()), key=labels.tolist().count)
    for i in range(n):
        rest = [j for j in range(n) if j != i]
        for size in range(n):
            share = beta_function(size + b, n - size - 1 + a) / beta_function(a, b)
            for chosen in combinations(rest, size):
                with_i, without = [*chosen, i], list(chosen)
                before = (
                    score_of(rows[without], labels[without])
                    if without
                    else score_of(rows[:1], np.array([majority]))
                )
                exact[i] += share * (score_of(rows[with_i], labels[with_i]) - before)
    found = data_values(
        SVM, rows, labels, *VALID, method=method, beta=weigh, n_rounds=400, truncate=0
    )
    assert (np.abs(found.values - exact) < 4.5 * found.errors + 1e-3).all()
    low, high = found.interval(0.99).T
    assert (low < found.values).all()
    assert (found.values < high).all()


@pytest.mark.parametrize("n", [1, 5, 40])
def test_the_weights_of_places(n: int) -> None:
    assert np.allclose(_beta_weights(n, 1, 1), 1)
    assert _beta_weights(n, 4, 1).mean() == pytest.approx(1)
    assert (np.diff(_beta_weights(n, 4, 1)) <= 1e-12).all()


def test_the_values_add_up_to_what_all_rows_gain() -> None:
    found = data_values(SVM, X[:40], WRONG[:40], *VALID, n_rounds=5, truncate=0)
    assert found.values.sum() == pytest.approx(found.full_score - found.empty_score)


def test_leave_one_out_is_what_refitting_loses() -> None:
    found = data_values(SVM, X[:40], WRONG[:40], *VALID, method="leave_one_out")
    full = score_of(X[:40], WRONG[:40])
    for i in range(40):
        rest = np.delete(np.arange(40), i)
        assert found.values[i] == pytest.approx(full - score_of(X[rest], WRONG[rest]), abs=1e-9)


@pytest.mark.parametrize("method", ["shapley", "beta", "banzhaf"])
def test_wrong_labels_are_worth_least(method: Any) -> None:
    rounds = 300 if method == "banzhaf" else 40
    hard = IncrementalSVC(C=10, gamma=0.5)
    found = data_values(hard, X[:60], WRONG, *VALID, method=method, n_rounds=rounds)
    places = np.argsort(found.order())[FLIPPED]
    assert np.median(places) < 6


@pytest.mark.parametrize("method", ["shapley", "banzhaf"])
def test_rounds_may_be_made_in_parts_and_by_several(method: Any, tmp_path: Path) -> None:
    known: dict[str, Any] = {"method": method, "random_state": 3}
    whole = data_values(RampSVC(gamma=0.5), X[:30], Y[:30], *VALID, n_rounds=6, **known)
    part = data_values(RampSVC(gamma=0.5), X[:30], Y[:30], *VALID, n_rounds=2, **known)
    part.save(tmp_path / "values.npz")
    again = DataValues.load(tmp_path / "values.npz")
    rest = data_values(
        RampSVC(gamma=0.5), X[:30], Y[:30], *VALID, n_rounds=4, resume=again, n_jobs=2, **known
    )
    assert np.array_equal(rest.values, whole.values)
    assert np.array_equal(rest.errors, whole.errors)
    assert rest.n_rounds == 6


def test_regression_and_a_scorer() -> None:
    target = X[:, 0] + 0.1 * X[:, 1]
    spoilt = target[:40].copy()
    spoilt[0] = 50.0
    found = data_values(
        PokerSVR(gamma=0.5),
        X[:40],
        spoilt,
        X[60:],
        target[60:],
        scoring="neg_mean_absolute_error",
        n_rounds=20,
    )
    assert found.order()[0] == 0


def test_removing_the_worst_first_keeps_the_score_longest() -> None:
    values = data_values(SVM, X[:60], WRONG, *VALID, n_rounds=40)
    shares, worst = removal_curve(SVM, X[:60], WRONG, *VALID, values.order(), steps=5)
    _, best = removal_curve(SVM, X[:60], WRONG, *VALID, values.order()[::-1], steps=5)
    assert shares[-1] == 0.5
    assert worst[0] == best[0]
    assert worst.mean() > best.mean() + 0.02
    _, refitted = removal_curve(SGDSVC(), X[:60], WRONG, *VALID, values.order(), steps=2)
    assert len(refitted) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "shaply"}, "method must be"),
        ({"n_rounds": 0}, "n_rounds must be"),
        ({"truncate": -1}, "truncate must be"),
        ({"model": SVC()}, "model must have partial_fit"),
        ({"y": Y[:3]}, "y must have one label for each of 20 rows"),
    ],
)
def test_bad_calls_name_the_argument(change: dict[str, Any], message: str) -> None:
    call: dict[str, Any] = {
        "model": SVM,
        "X": X[:20],
        "y": Y[:20],
        "X_valid": X[60:],
        "y_valid": Y[60:],
    }
    with pytest.raises(ValueError, match=message):
        data_values(**(call | change))


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    with open(tmp_path / "other.npz", "wb") as file:
        np.savez(file, values=np.zeros(3))
    with pytest.raises(ValueError, match="has no data values"):
        DataValues.load(tmp_path / "other.npz")
