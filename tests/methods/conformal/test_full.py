"""Full conformal prediction: p-values as refits give them, and coverage as promised."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_blobs,
    make_classification,
    make_moons,
)
from sklearn.preprocessing import scale
from sklearn.svm import SVC, SVR, OneClassSVM

import onlinesvm
from onlinesvm import (
    FullConformalOneClassSVM,
    FullConformalSVC,
    FullConformalSVR,
    IncrementalSVC,
    PokerOneClassSVM,
    PokerSVC,
    PokerSVR,
    RampSVC,
)
from onlinesvm.checks import parametrize
from onlinesvm.methods.conformal.martingale import Jumper
from onlinesvm.methods.conformal.trial import TIE

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 2))
Y = (X[:, 0] + RNG.normal(0, 0.4, 300) > 0).astype(int)
LINE = RNG.uniform(-3, 3, (260, 1))
WAVE = np.sin(LINE[:, 0]) + RNG.normal(0, 0.2, 260)


def svm(**params: Any) -> IncrementalSVC:
    settings: dict[str, Any] = {"gamma": 0.3, "multiclass": "one-vs-rest"}
    return IncrementalSVC(**settings | params)


@parametrize(
    FullConformalSVC(svm()),
    FullConformalSVC(PokerSVC(gamma=0.3), mondrian=True, smoothed=False),
    FullConformalSVR(PokerSVR(gamma=0.3)),
    FullConformalOneClassSVM(PokerOneClassSVM(gamma=0.3)),
)
def test_ours(estimator: Any, check: Any) -> None:
    check(estimator)


def problems() -> list[tuple[str, Any, Any]]:
    named = {
        "iris": load_iris(return_X_y=True),
        "wine": load_wine(return_X_y=True),
        "cancer": load_breast_cancer(return_X_y=True),
        "moons": make_moons(300, noise=0.3, random_state=0),
        "overlap": make_classification(300, 6, flip_y=0.2, random_state=0),
    }
    return [(name, scale(rows), labels) for name, (rows, labels) in named.items()]


@pytest.mark.parametrize(
    ("name", "rows", "labels"), problems(), ids=lambda v: v if isinstance(v, str) else ""
)
@pytest.mark.parametrize("mondrian", [False, True])
def test_p_values_are_those_of_refits(name: str, rows: Any, labels: Any, mondrian: bool) -> None:
    order = np.random.default_rng(1).permutation(len(labels))[:100]
    rows, labels = rows[order], labels[order]
    known, asked = slice(0, 96), slice(96, 100)
    model = FullConformalSVC(svm(), mondrian=mondrian, smoothed=False)
    p = model.fit(rows[known], labels[known]).p_values(rows[asked])
    for i in range(4):
        for c, label in enumerate(model.classes_):
            bag = np.vstack([rows[known], rows[asked][i : i + 1]])
            expected = refitted(bag, np.append(labels[known], label), mondrian)
            assert p[i, c] == pytest.approx(expected, abs=1e-9), (name, i, label)


def larger() -> list[tuple[str, Any, Any]]:
    """Five sets of 260 rows and more, in random order."""
    rows, digits = load_digits(return_X_y=True)
    three = digits < 3
    named = {
        "cancer": load_breast_cancer(return_X_y=True),
        "digits": (rows[three], digits[three]),
        "moons": make_moons(300, noise=0.3, random_state=0),
        "overlap": make_classification(300, 6, flip_y=0.2, random_state=0),
        "blobs": make_blobs(300, 3, centers=3, cluster_std=3.0, random_state=0),
    }
    order = {name: np.random.default_rng(2).permutation(len(y)) for name, (_, y) in named.items()}
    return [
        (n, scale(X[order[n]]) / np.sqrt(X.shape[1]), y[order[n]]) for n, (X, y) in named.items()
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "rows", "labels"), larger(), ids=lambda v: v if isinstance(v, str) else ""
)
def test_p_values_of_200_rows_are_those_of_refits(name: str, rows: Any, labels: Any) -> None:
    known, asked = slice(0, 60), rows[60:260]
    model = FullConformalSVC(svm(), smoothed=False).fit(rows[known], labels[known])
    p = model.p_values(asked)
    for row, found in zip(asked, p, strict=True):
        bag = np.vstack([rows[known], row])
        expected = [refitted(bag, np.append(labels[known], c), False) for c in model.classes_]
        assert found == pytest.approx(expected, abs=1e-9), name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "rows", "labels"), larger(), ids=lambda v: v if isinstance(v, str) else ""
)
def test_coverage_on_five_sets(name: str, rows: Any, labels: Any) -> None:
    """Each row is asked about, then learned: misses of smoothed p-values are independent."""
    model = FullConformalSVC(svm(classes=np.unique(labels))).fit(rows[:30], labels[:30])
    p = []
    for row, label in zip(rows[30:260], labels[30:260], strict=True):
        p.append(model.p_values(row[None])[0, label])
        model.learn_one(row, label)
    for alpha in (0.05, 0.1, 0.2):
        misses = int((np.array(p) <= alpha).sum())
        low, high = binom.ppf([0.005, 0.995], len(p), alpha)
        assert low <= misses <= high, (name, alpha, misses)


def refitted(bag: Any, y: Any, mondrian: bool) -> float:
    """The p-value of the last row by scikit-learn's SVC, one machine for each class."""
    classes = np.unique(y)
    f = np.column_stack(
        [
            SVC(C=1, gamma=0.3, tol=1e-10).fit(bag, y == label).decision_function(bag)
            for label in classes
        ]
    )
    place = np.searchsorted(classes, y)
    own = f[np.arange(len(y)), place].copy()
    f[np.arange(len(y)), place] = -np.inf
    scores = f.max(axis=1) - own
    if mondrian:
        scores = scores[y == y[-1]]
    return float(np.mean(scores >= scores[-1] - TIE))


def test_p_values_of_regression_and_novelty_are_those_of_refits() -> None:
    model = FullConformalSVR(PokerSVR(C=2, gamma=0.5, epsilon=0.1)).fit(LINE[:80], WAVE[:80])
    found = model.p_value(LINE[80:84], WAVE[80:84])
    outliers = FullConformalOneClassSVM(PokerOneClassSVM(nu=0.2, gamma=0.5), smoothed=False)
    unusual = outliers.fit(X[:80]).p_values(X[80:84])
    for i in range(4):
        bag, y = np.vstack([LINE[:80], LINE[80 + i : 81 + i]]), np.append(WAVE[:80], WAVE[80 + i])
        twin = SVR(C=2, gamma=0.5, epsilon=0.1, tol=1e-10).fit(bag, y)
        scores = np.abs(y - twin.predict(bag))
        assert found[i] == pytest.approx(np.mean(scores >= scores[-1] - TIE), abs=1e-9)
        bag = np.vstack([X[:80], X[80 + i : 81 + i]])
        scores = -OneClassSVM(nu=0.2, gamma=0.5, tol=1e-10).fit(bag).decision_function(bag)
        assert unusual[i] == pytest.approx(np.mean(scores >= scores[-1] - TIE), abs=1e-9)


@pytest.mark.parametrize("alpha", [0.02, 0.1, 0.3])
def test_the_ends_of_an_interval_are_where_the_p_value_crosses(alpha: float) -> None:
    model = FullConformalSVR(PokerSVR(C=2, gamma=0.5, epsilon=0.02)).fit(LINE[:120], WAVE[:120])
    ends = model.predict_interval(LINE[120:124], alpha)
    for row, (low, high) in zip(LINE[120:124, None], ends, strict=True):
        for end, out in ((low, -1e-4), (high, 1e-4)):
            assert model.p_value(row, [end - out])[0] > alpha >= model.p_value(row, [end + out])[0]


def test_too_few_rows_give_an_infinite_interval() -> None:
    model = FullConformalSVR(PokerSVR(gamma=0.5)).fit(LINE[:8], WAVE[:8])
    assert np.isinf(model.predict_interval(LINE[:1], 0.1)).all()
    assert np.isfinite(model.predict_interval(LINE[:1], 0.12)).all()


@pytest.mark.parametrize("alpha", [0.05, 0.2])
@pytest.mark.parametrize("task", ["classes", "mondrian", "interval", "outlier"])
def test_coverage_is_what_is_promised(task: str, alpha: float) -> None:
    """Each row is asked about, then learned: misses of smoothed p-values are independent."""
    n, misses = 240, 0
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(n + 30, 2))
    y = (rows[:, 0] + rng.normal(0, 0.5, n + 30) > 0).astype(int)
    target = rows[:, 0] + rng.normal(0, 0.3, n + 30)
    if task == "interval":
        regression = FullConformalSVR(PokerSVR(gamma=0.3)).fit(rows[:30], target[:30])
        for row, t in zip(rows[30:], target[30:], strict=True):
            low, high = regression.predict_interval(row[None], alpha)[0]
            misses += not low <= t <= high
            regression.learn_one(row, t)
        assert misses <= binom.ppf(0.995, n, alpha)
        return
    if task == "outlier":
        novelty = FullConformalOneClassSVM(PokerOneClassSVM(gamma=0.3), alpha=alpha).fit(rows[:30])
        for row in rows[30:]:
            misses += int(novelty.predict(row[None])[0] == -1)
            novelty.learn_one(row)
    else:
        model = FullConformalSVC(svm(), mondrian=task == "mondrian").fit(rows[:30], y[:30])
        for row, label in zip(rows[30:], y[30:], strict=True):
            misses += not model.predict_set(row[None], alpha)[0, label]
            model.learn_one(row, label)
    assert binom.ppf(0.005, n, alpha) <= misses <= binom.ppf(0.995, n, alpha)


def test_a_thousand_questions_change_nothing() -> None:
    model = FullConformalSVC(svm()).fit(X[:60], Y[:60])
    before = model.model_._core.state()
    first = model.p_values(X[60:100])
    model.p_values(RNG.normal(size=(960, 2)))
    assert np.array_equal(first, model.p_values(X[60:100]))
    after = model.model_._core.state()
    assert before.keys() == after.keys()
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_a_loose_model_is_asked_as_an_exact_one() -> None:
    loose = FullConformalSVC(svm(tol=1e-2), smoothed=False).fit(X[:80], Y[:80])
    exact = FullConformalSVC(svm(tol=1e-9), smoothed=False).fit(X[:80], Y[:80])
    assert np.array_equal(loose.p_values(X[80:90]), exact.p_values(X[80:90]))


def test_the_martingale_grows_when_the_stream_turns() -> None:
    model = FullConformalSVC(svm(classes=[0, 1]))
    model.partial_fit(X[:150], Y[:150])
    assert model.log_martingale_ < np.log(100)
    model.partial_fit(X[150:], 1 - Y[150:])
    assert model.log_martingale_ > np.log(1e6)


def test_the_martingale_is_one_in_the_mean() -> None:
    rng = np.random.default_rng(0)
    ends = []
    for _ in range(400):
        jumper = Jumper()
        for p in rng.random(20):
            jumper.bet(p)
        ends.append(np.exp(jumper.log_value))
    assert np.mean(ends) == pytest.approx(1.0, abs=4 * np.std(ends) / 20)


def test_saved_and_loaded_it_goes_on(tmp_path: Path) -> None:
    model = FullConformalSVC(svm(classes=[0, 1])).partial_fit(X[:60], Y[:60])
    model.save(tmp_path / "model")
    twin = onlinesvm.load(tmp_path / "model")
    for one in (model, twin):
        one.partial_fit(X[60:80], Y[60:80])
    assert twin.log_martingale_ == model.log_martingale_
    assert np.array_equal(twin.p_values(X[80:90]), model.p_values(X[80:90]))


def test_gamma_by_data_is_said_to_weaken_the_guarantee() -> None:
    with pytest.warns(UserWarning, match="give gamma as a number"):
        FullConformalSVC(IncrementalSVC(multiclass="one-vs-rest")).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FullConformalSVC(svm()).fit(X, Y)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (RampSVC(), "model must be IncrementalSVC or PokerSVC"),
        (svm(multiclass="one-vs-one"), "use 'one-vs-rest'"),
    ],
)
def test_what_has_no_exact_solution_is_refused(model: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FullConformalSVC(model).fit(X, Y)
