"""Metrics against scikit-learn's functions, whatever the cut; and what is refused."""

import json
import math
import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from onlinesvm.stream.metrics import METRICS, resolve
from onlinesvm.stream.scorecard import Scorecard
from onlinesvm.stream.tallies import Codec, Targets


def kappa_temporal(y, guess):
    """By its definition, from two accuracies; the first example is one that no-change misses."""
    p = np.mean(np.asarray(y) == np.asarray(guess))
    no_change = np.sum(np.asarray(y[1:]) == np.asarray(y[:-1])) / len(y)
    return (p - no_change) / (1 - no_change)


def specificity_lost(y, guess):
    usual = np.asarray(y) == 1
    return np.mean(np.asarray(guess)[usual] == -1)


LABELS = [
    ("accuracy", sk.accuracy_score),
    ("balanced_accuracy", sk.balanced_accuracy_score),
    ("kappa", sk.cohen_kappa_score),
    ("kappa_temporal", kappa_temporal),
    ("f1_macro", lambda y, g: sk.f1_score(y, g, average="macro")),
    ("f1", lambda y, g: sk.f1_score(y, g, pos_label="b")),
]
TARGETS = [
    ("mae", sk.mean_absolute_error),
    ("rmse", sk.root_mean_squared_error),
    ("r2", sk.r2_score),
]
DETECTED = [
    ("alarms", lambda y, g: np.mean(np.asarray(g) == -1)),
    ("false_alarms", specificity_lost),
    ("detections", lambda y, g: sk.recall_score(y, g, pos_label=-1)),
]


def card_of(name, window=10**6, positive="b"):
    codec = Targets() if "regressor" in METRICS[name].kinds else Codec()
    return Scorecard([name], window, codec, positive)


def feed(card, y, guess=None, score=(), likelihood=()):
    """Mark answers, of which those that are not given are of no interest."""
    codec = card._codec
    truth, before = codec.encode(list(y)), getattr(card, "before", codec.encode([None]))
    columns = {
        "truth": truth,
        "guess": truth if guess is None else codec.encode(list(guess)),
        "before": np.concatenate((before, truth))[:-1],
        "score": np.array(score, float),
        "likelihood": np.array(likelihood, float),
    }
    card.before = np.concatenate((before, truth))[-1:]
    card.mark(columns)
    return card


def value(name, *columns, **more):
    return feed(card_of(name, **more), *columns).overall()[name]


def in_pieces(name, cuts, *columns):
    """One metric, whether it is fed in pieces, looked at meanwhile, or put away and taken up."""
    whole, pieces, kept = card_of(name), card_of(name), card_of(name)
    feed(whole, *columns)
    for start, stop in pairwise([0, *sorted(cuts), len(columns[0])]):
        part = [column[start:stop] for column in columns]
        feed(pieces, *part).windowed()
        feed(kept, *part)
        again = card_of(name)
        again.load(json.loads(json.dumps(kept.state(), default=lambda x: x.item())))
        again.before, kept = again._codec.encode(kept._codec.decode(kept.before)), again
    found = [card.windowed()[name] for card in (whole, pieces, kept)]
    found += [card.overall().get(name, found[0]) for card in (whole, pieces, kept)]
    assert len(set(map(repr, found))) == 1
    return found[0]


@pytest.mark.parametrize(("metric", "oracle"), LABELS)
@given(data=st.data())
def test_property_labels(metric, oracle, data):
    letters = st.sampled_from("ab" if metric == "f1" else "abcd")
    pairs = data.draw(st.lists(st.tuples(letters, letters), min_size=2, max_size=60))
    y, guess = map(list, zip(*pairs, strict=True))
    cuts = data.draw(st.lists(st.integers(0, len(y)), max_size=4))
    found = in_pieces(metric, cuts, y, guess)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            expected = oracle(y, guess)
    if math.isnan(found):  # 0 / 0: one class only, or a constant stream
        assert len(set(y)) == 1 or (metric != "kappa" and "b" not in y + guess)
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
    if np.ptp(y) == 0 and metric == "r2":
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


@given(st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=2, max_size=60))
def test_property_auc_with_ties(rows):
    y, score = map(list, zip(*rows, strict=True))
    found = feed(card_of("auc"), y, None, [float(s) for s in score]).windowed()["auc"]
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
    y = rng.integers(3, size=30)
    given, card = P[np.arange(30), y], card_of("log_loss")
    feed(card, y[:cut], None, (), given[:cut])
    feed(card, y[cut:], None, (), given[cut:])
    expected = sk.log_loss(y, P, labels=[0, 1, 2])
    assert card.overall()["log_loss"] == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_r2_keeps_its_digits_far_from_zero():
    rng = np.random.default_rng(0)
    y = 1e9 + rng.integers(0, 100, size=500) / 64  # exact as floats
    guess = y + rng.integers(-3, 4, size=500) / 64
    expected = sk.r2_score(y - 1e9, guess - 1e9)
    assert value("r2", y, guess) == pytest.approx(expected, rel=1e-13)


def test_errors_of_a_model_that_diverged():
    y = np.array([1.0, 2.0])
    assert value("mae", y, [np.inf, 0.0]) == math.inf
    assert value("rmse", y, [1e200, 0.0]) == math.inf
    assert math.isnan(value("mae", y, [np.nan, 0.0]))
    assert math.isnan(value("r2", y, [np.inf, 0.0]))


def test_no_answer_is_wrong_and_of_no_class():
    y, guess = ["a", "b", "a"], [None, "b", "a"]
    assert value("accuracy", y, guess) == pytest.approx(2 / 3)
    assert value("f1_macro", y, guess) == pytest.approx((2 / 3 + 1) / 2)


@pytest.mark.parametrize("name", METRICS)
def test_nothing_counted_is_nan(name):
    card = card_of(name)
    assert math.isnan(card.windowed()[name])
    assert all(map(math.isnan, card.overall().values()))


@given(st.data())
def test_property_a_window_is_its_last_rows(data):
    pairs = data.draw(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
    y, guess = map(list, zip(*pairs, strict=True))
    size, cut = data.draw(st.integers(1, 50)), data.draw(st.integers(0, len(y)))
    for name in ("accuracy", "kappa", "f1_macro"):
        expected = value(name, y[-size:], guess[-size:])
        fed = feed(card_of(name, size), y[:cut], guess[:cut])
        found = feed(fed, y[cut:], guess[cut:]).windowed()[name]
        assert found == pytest.approx(expected, nan_ok=True, abs=0)


@pytest.mark.parametrize(
    "forged",
    [
        {"truth": ["a"] * 3, "guess": ["a"] * 3},
        {"truth": ["a"], "guess": ["a", "b"]},
        {"truth": [["a"]], "guess": ["a"]},
        {"truth": ["a"]},
        ["a"],
    ],
)
def test_a_forged_window_is_refused(forged):
    card = card_of("accuracy", 2)
    state = feed(card, "ab", "aa").state() | {"window": forged}
    with pytest.raises(ValueError, match="a saved"):
        card_of("accuracy", 2).load(state)


def test_metrics_by_name():
    assert resolve(["auc", "f1"]) == ["auc", "f1"]
    with pytest.raises(ValueError, match=r"metrics must be one of 'accuracy', .* got 'speed'"):
        resolve(["speed"])
    with pytest.raises(ValueError, match="metrics has a name twice"):
        resolve(["auc", "auc"])
    with pytest.raises(ValueError, match="metrics must be a list"):
        resolve("auc")
