"""Metrics against scikit-learn's functions, whatever the cut; and what they refuse."""

import math
import warnings
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from onlinesvm.stream import metrics as ours
from onlinesvm.stream.metrics import (
    AUC,
    F1,
    MAE,
    METRICS,
    R2,
    RMSE,
    Accuracy,
    Alarms,
    BalancedAccuracy,
    Detections,
    FalseAlarms,
    Kappa,
    KappaTemporal,
    LogLoss,
    Sliding,
)


def kappa_temporal(y, guess):
    """By its definition, from two accuracies; the first example is one that no-change misses."""
    p = np.mean(np.asarray(y) == np.asarray(guess))
    no_change = np.sum(np.asarray(y[1:]) == np.asarray(y[:-1])) / len(y)
    return (p - no_change) / (1 - no_change)


def specificity_lost(y, guess):
    usual = np.asarray(y) == 1
    return np.mean(np.asarray(guess)[usual] == -1)


LABELS = [
    (Accuracy, sk.accuracy_score),
    (BalancedAccuracy, sk.balanced_accuracy_score),
    (Kappa, sk.cohen_kappa_score),
    (KappaTemporal, kappa_temporal),
    (F1, lambda y, g: sk.f1_score(y, g, average="macro")),
    (lambda: F1("binary", positive="b"), lambda y, g: sk.f1_score(y, g, pos_label="b")),
]
TARGETS = [
    (MAE, sk.mean_absolute_error),
    (RMSE, sk.root_mean_squared_error),
    (R2, sk.r2_score),
]
DETECTED = [
    (Alarms, lambda y, g: np.mean(np.asarray(g) == -1)),
    (FalseAlarms, specificity_lost),
    (Detections, lambda y, g: sk.recall_score(y, g, pos_label=-1)),
]


def in_pieces(metric, cuts, *columns):
    """One metric fed in pieces, and one merged from pieces."""
    merged = metric()
    whole = metric()
    bounds = [0, *sorted(cuts), len(columns[0])]
    for start, stop in pairwise(bounds):
        piece = [column[start:stop] for column in columns]
        whole.update(*piece)
        merged.merge(metric().update(*piece))
    assert merged.value == whole.value or math.isnan(whole.value)
    assert math.isnan(merged.value) == math.isnan(whole.value)
    return whole.value


@pytest.mark.parametrize(("metric", "oracle"), LABELS)
@given(data=st.data())
def test_property_labels(metric, oracle, data):
    letters = st.sampled_from("ab" if oracle is LABELS[-1][1] else "abcd")
    pairs = data.draw(st.lists(st.tuples(letters, letters), min_size=2, max_size=60))
    y, guess = map(list, zip(*pairs, strict=True))
    cuts = data.draw(st.lists(st.integers(0, len(y)), max_size=4))
    found = in_pieces(metric, cuts, y, guess)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            expected = oracle(y, guess)
    if math.isnan(found):  # 0 / 0: one class only, or a constant stream
        assert len(set(y)) == 1 or (metric is not Kappa and "b" not in y + guess)
    else:
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("metric", "oracle"), TARGETS)
@given(data=st.data())
def test_property_targets(metric, oracle, data):
    floats = st.floats(-1e6, 1e6).map(lambda x: round(x, 3))
    pairs = data.draw(st.lists(st.tuples(floats, floats), min_size=2, max_size=40))
    y, guess = map(np.asarray, zip(*pairs, strict=True))
    cuts = data.draw(st.lists(st.integers(0, len(y)), max_size=4))
    expected = oracle(y, guess)
    if np.ptp(y) == 0 and metric is R2:
        assert in_pieces(metric, cuts, y, guess) == (1.0 if (y == guess).all() else 0.0)
    else:
        assert in_pieces(metric, cuts, y, guess) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("metric", "oracle"), DETECTED)
@given(data=st.data())
def test_property_alarms(metric, oracle, data):
    sign = st.sampled_from([-1, 1])
    pairs = data.draw(st.lists(st.tuples(sign, sign), min_size=1, max_size=40))
    y, guess = map(list, zip(*[(1, 1), (-1, 1), *pairs], strict=True))
    assert in_pieces(metric, [1], y, guess) == pytest.approx(oracle(y, guess), abs=1e-12)


@given(
    st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=2, max_size=60),
    st.integers(0, 60),
)
def test_property_auc_with_ties(rows, cut):
    y, score = map(list, zip(*rows, strict=True))
    found = in_pieces(AUC, [min(cut, len(y))], y, [float(s) for s in score])
    if len(set(y)) < 2:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(sk.roc_auc_score(y, score), abs=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(0, 30))
def test_property_log_loss(seed, cut):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet([0.3, 0.3, 0.3], size=30)
    P[rng.random(P.shape) < 0.05] = 0.0
    P /= np.maximum(P.sum(axis=1, keepdims=True), 1e-300)
    P[P.sum(axis=1) < 0.5] = 1 / 3
    y = rng.choice(list("abc"), size=30)
    one, other = LogLoss(), LogLoss()
    one.update(y[:cut], P[:cut], labels=list("abc"))
    other.update(y[cut:], P[cut:], labels=list("abc"))
    assert one.merge(other).value == pytest.approx(
        sk.log_loss(y, P, labels=list("abc")), rel=1e-12, abs=1e-12
    )


def test_r2_keeps_its_digits_far_from_zero():
    rng = np.random.default_rng(0)
    y = 1e9 + rng.integers(0, 100, size=500) / 64  # exact as floats
    guess = y + rng.integers(-3, 4, size=500) / 64
    expected = sk.r2_score(y - 1e9, guess - 1e9)
    assert R2().update(y, guess).value == pytest.approx(expected, rel=1e-15)


def test_errors_of_a_model_that_diverged():
    y = np.array([1.0, 2.0])
    assert MAE().update(y, [np.inf, 0.0]).value == math.inf
    assert RMSE().update(y, [1e200, 0.0]).value == math.inf
    assert math.isnan(MAE().update(y, [np.nan, 0.0]).value)
    assert math.isnan(R2().update(y, [np.inf, 0.0]).value)


def test_no_answer_is_wrong_and_of_no_class():
    y, guess = ["a", "b", "a"], [None, "b", "a"]
    assert Accuracy().update(y, guess).value == pytest.approx(2 / 3)
    assert F1().update(y, guess).value == pytest.approx((2 / 3 + 1) / 2)


@pytest.mark.parametrize("name", METRICS)
def test_nothing_counted_is_nan(name):
    assert math.isnan(METRICS[name]().value)
    assert math.isnan(Sliding(METRICS[name](), 3).value)


@given(st.data())
def test_property_a_window_is_its_last_rows(data):
    pairs = data.draw(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
    y, guess = map(list, zip(*pairs, strict=True))
    size, cut = data.draw(st.integers(1, 50)), data.draw(st.integers(0, len(y)))
    for metric in (Accuracy, Kappa, F1, AUC, KappaTemporal):
        expected = metric().update(y[-size:], guess[-size:]).value
        fed = Sliding(metric(), size).update(y[:cut], guess[:cut]).update(y[cut:], guess[cut:])
        parts = Sliding(metric(), size).update(y[:cut], guess[:cut])
        parts.merge(Sliding(metric(), size).update(y[cut:], guess[cut:]))
        for window in (fed, parts):
            assert window.value == pytest.approx(expected, nan_ok=True, abs=0)


def test_columns_of_any_kind():
    y, guess = pd.Series(["a", "b"]), np.array(["a", "a"])
    assert Accuracy().update(y, guess).value == 0.5
    assert Accuracy().update(pd.Categorical(["a", "b"]), ("a", "b")).value == 1.0


def test_hostile_arguments_count_nothing():
    metric = Accuracy().update([1], [1])
    with pytest.raises(ValueError, match=r"y_pred has 1 entries for 2 of y_true"):
        metric.update([1, 2], [1])
    with pytest.raises(ValueError, match="y_true must be one column"):
        metric.update([[1]], [1])
    with pytest.raises(ValueError, match="later must be the same metric"):
        metric.merge(Kappa())
    with pytest.raises(ValueError, match="later must be the same metric"):
        F1().merge(F1("binary", positive=2))
    assert metric.value == 1.0
    assert metric.tally.count == 1
    with pytest.raises(ValueError, match="average must be one of 'macro', 'binary'"):
        F1("micro")
    with pytest.raises(ValueError, match="size must be an integer >= 1"):
        Sliding(Accuracy(), 0)
    with pytest.raises(ValueError, match="later must slide the same metric"):
        Sliding(Accuracy(), 3).merge(Sliding(Accuracy(), 4))


def test_metrics_by_name():
    assert [m.name for m in ours.resolve(["auc", F1("binary")])] == ["auc", "f1"]
    with pytest.raises(ValueError, match=r"metrics must be one of 'accuracy', .* got 'speed'"):
        ours.resolve(["speed"])
    with pytest.raises(ValueError, match="metrics has a name twice"):
        ours.resolve(["auc", "auc"])
    with pytest.raises(ValueError, match="metrics must be a list"):
        ours.resolve("auc")
    assert all(METRICS[name]().name == name for name in METRICS)


def test_they_print():
    assert repr(Accuracy().update([1, 2], [1, 1])) == "<accuracy: 0.5>"
    assert repr(Sliding(MAE(), 7)) == "<mae of the last 7: nan>"
