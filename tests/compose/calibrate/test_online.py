"""Calibrated probabilities: true, honest about time, the same for any cut, and safe to keep."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone

import onlinesvm
from onlinesvm import (
    SGDSVC,
    CalibratedOnline,
    CoreVectorSVC,
    IncrementalSVC,
    OnlineScaler,
    PassiveAggressiveClassifier,
    RampSVC,
    SmoSVC,
    make_online_pipeline,
)
from onlinesvm.checks import fingerprint, parametrize
from onlinesvm.compose.calibrate.methods import METHODS
from onlinesvm.compose.calibrate.window import Calibration

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 3))
CHANCE = 1 / (1 + np.exp(-2 * X[:, 0] + 1))
Y = RNG.random(3000) < CHANCE
every_method = pytest.mark.parametrize("method", METHODS)


def model(method: str = "mixture", **options: Any) -> CalibratedOnline:
    return CalibratedOnline(SGDSVC(classes=[False, True]), method, **options)


@parametrize(
    CalibratedOnline(PassiveAggressiveClassifier()),
    CalibratedOnline(SGDSVC(), window=30),
    CalibratedOnline(IncrementalSVC(C=3.0), "platt"),
    CalibratedOnline(
        make_online_pipeline(OnlineScaler(warm_up=20), PassiveAggressiveClassifier()), "platt"
    ),
)
def test_ours(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize(
    "inner", [SGDSVC(), IncrementalSVC(), SmoSVC(), CoreVectorSVC(), RampSVC(settle="call")]
)
def test_fit_is_calibrated_whatever_the_order_of_its_rows(inner: Any) -> None:
    by_label = np.argsort(Y[:800], kind="stable")
    truth = CHANCE[800:]
    learned = CalibratedOnline(inner).fit(X[by_label], Y[by_label])
    p = learned.predict_proba(X[800:])[:, 1]
    assert np.abs(p - truth).mean() < 0.09  # 0.35 if the rows were taken as they are
    assert (learned.predict(X[800:]) == (truth > 0.5)).mean() > 0.9


def test_fit_numbers_the_examples_as_their_rows() -> None:
    rows = X[:200], Y[:200], None, list(range(200))
    learned = CalibratedOnline(IncrementalSVC()).fit(*rows)
    held = learned.model_
    assert np.allclose(held.support_vectors_, X[held.support_])
    assert learned.ids_of(7).tolist() in ([7], [])
    assert fingerprint(learned) == fingerprint(clone(learned).fit(*rows))


@every_method
def test_what_is_claimed_comes_true(method: str) -> None:
    learned = model(method).partial_fit(X, Y)
    test = np.random.default_rng(1).normal(size=(4000, 3))
    truth = 1 / (1 + np.exp(-2 * test[:, 0] + 1))
    p = learned.predict_proba(test)
    assert np.allclose(p.sum(axis=1), 1)
    assert np.abs(p[:, 1] - truth).mean() < 0.06


@every_method
@pytest.mark.parametrize("classes", [2, 4])
def test_all_verbs_agree(method: str, classes: int) -> None:
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1], np.linspace(-1, 1, classes + 1)[1:-1])
    learned = CalibratedOnline(SGDSVC(classes=range(classes)), method).partial_fit(X[:800], y[:800])
    p, f = learned.predict_proba(X), learned.decision_function(X)
    guess = learned.predict(X)
    assert p.shape == (len(X), classes)
    assert np.array_equal(guess, p.argmax(axis=1))
    assert np.array_equal(guess, (f > 0).astype(int) if classes == 2 else f.argmax(axis=1))
    for x, row, label in zip(X[:50], p, guess, strict=False):
        assert np.allclose(list(learned.predict_proba_one(x).values()), row)
        assert learned.predict_one(x) == label


@every_method
def test_the_future_changes_nothing(method: str) -> None:
    """Labels after a row are permuted: all that was said up to it stays to the bit."""
    one, other = model(method), model(method)
    permuted = Y.copy()
    permuted[500:] = np.random.default_rng(2).permutation(permuted[500:])
    said = []
    for learner, y in ((one, Y), (other, permuted)):
        learner.partial_fit(X[:1], y[:1])
        words = []
        for i in range(1, 501):
            words.append((learner.predict_proba_one(X[i]), learner.predict_set_one(X[i])))
            learner.learn_one(X[i], y[i])
        said.append(words)
    assert said[0] == said[1]


def test_a_mixture_loses_little_to_any_of_its_methods_over_any_stream() -> None:
    """Its bound holds on a stream whose labels turn over, with no allowance for chance."""
    y = Y ^ (np.arange(3000) % 1000 > 600)
    learner = SGDSVC(classes=[False, True])
    parts = ("mixture", "platt", "temperature", "venn-abers")
    calibrations = [Calibration(part, 200) for part in parts]
    losses = np.zeros(len(parts))
    for each in calibrations:
        each.know([False, True])
    for x, label in zip(X, y.tolist(), strict=True):
        score = learner.decide_one(x)
        losses -= [np.log(each.one([score])[label]) for each in calibrations]
        for each in calibrations:
            each.learn([score], int(label))
        learner.learn_one(x, label)
    regret = np.log(3) - 3000 * np.log(1 - 1 / 200)
    assert losses[0] <= losses[1:].min() + regret
    assert losses[0] < losses[1:].min()  # and changing the mind pays here


def shifting(n: int = 8000) -> tuple[list[float], list[bool]]:
    """Scores whose worth turns from nearly certain to little, and back, every 2,000."""
    rng = np.random.default_rng(0)
    s = rng.normal(0, 2, n)
    likely = np.where(np.arange(n) % 4000 < 2000, expit(2 * s), expit(0.3 * s - 1))
    return s.tolist(), (rng.random(n) < likely).tolist()


def test_a_long_window_follows_a_change_by_its_latest_tenth() -> None:
    scores, hits = shifting()
    words = ("mixture", "platt", "temperature", "venn-abers")
    experts = [*((word, 2000) for word in words), *((word, 200) for word in words[1:])]
    calibrations = [Calibration(word, window) for word, window in experts]
    said = np.zeros((len(experts), len(scores)))
    for each in calibrations:
        each.know([False, True])
    for i, (score, hit) in enumerate(zip(scores, hits, strict=True)):
        said[:, i] = [each.one([score])[1] for each in calibrations]
        for each in calibrations:
            each.learn([score], int(hit))
    losses = -np.log(np.where(hits, said, 1 - said)).sum(axis=1)
    assert losses[0] <= losses[1:].min() + np.log(6) - len(scores) * np.log(1 - 1 / 200)
    truth = np.array(hits)
    for start in range(2000, 8000, 1000):  # each after a change, or in the middle
        part = slice(start, start + 1000)
        off = [calibration_error(p[part], truth[part]) for p in said[:4]]
        assert off[0] < 0.06, f"rows from {start}"
    after = [slice(start + 300, start + 2000) for start in (2000, 4000, 6000)]
    worst = [max(calibration_error(p[part], truth[part]) for part in after) for p in said[:4]]
    assert worst[0] < min(worst[1:]) / 2


def calibration_error(p: Any, y: Any, bins: int = 15) -> float:
    """The mean distance, by bin, of what was claimed and what came true."""
    sure, right = np.maximum(p, 1 - p), (p > 0.5) == y
    place = np.minimum((sure * bins).astype(int), bins - 1)
    gaps = np.bincount(place, weights=sure - right, minlength=bins)
    return float(np.abs(gaps).sum() / len(p))


def test_a_mixture_follows_the_shape_of_the_scores() -> None:
    """Where a sigmoid is right, the sigmoids have the weight; where none is, Venn-Abers."""
    rng = np.random.default_rng(5)
    scores = rng.normal(size=4000) * 3
    odd = np.select([scores < -2, scores < 2], [0.05, 0.5], 0.6)
    for chance, shaped in ((1 / (1 + np.exp(-scores)), True), (odd, False)):
        calibration = Calibration("mixture", 2000)
        calibration.know([False, True])
        for score, hit in zip(scores.tolist(), rng.random(4000) < chance, strict=True):
            calibration.learn([score], int(hit))
        weights = dict(zip(calibration.method.methods, calibration.method.weights, strict=True))
        shapeless = weights["venn_abers"] + weights["venn_abers_late"]
        assert (shapeless < 1 / 3) is shaped  # less than its even share, which is dealt out again
        assert (shapeless > 0.9) is not shaped
        rising = calibration.many(np.sort(scores))[:, 1]
        assert (np.diff(rising) >= -1e-12).all()


def test_the_label_at_hand_is_not_used_for_its_own_score() -> None:
    """A model that knows its rows by heart would look certain if it were asked afterwards."""
    rng = np.random.default_rng(3)
    noise, coin = rng.normal(size=(300, 20)), rng.random(300) < 0.5
    learned = CalibratedOnline(IncrementalSVC(C=100.0, gamma=0.03, classes=[False, True]))
    learned.partial_fit(noise, coin)
    assert learned.model_.score(noise, coin) > 0.95
    assert np.abs(learned.predict_proba(rng.normal(size=(200, 20))) - 0.5).max() < 0.25


def test_misses_in_any_window_are_as_many_as_promised() -> None:
    """Whatever the stream does: here all labels turn over, then become a coin."""
    y = Y.copy()
    y[1000:2000] ^= True
    y[2000:] = np.random.default_rng(4).random(1000) < 0.5
    learned = model("platt", alphas=(0.1, 0.3), window=300).partial_fit(X[:2], y[:2])
    misses: dict[float, list[int]] = {0.1: [], 0.3: []}
    for x, label in zip(X[2:], y[2:].tolist(), strict=True):
        for alpha, list_ in misses.items():
            list_.append(label not in learned.predict_set_one(x, alpha))
        learned.learn_one(x, label)
    for alpha, list_ in misses.items():
        for length in (200, 500, 2000):
            share = np.convolve(list_, np.ones(length) / length, mode="valid")
            assert np.abs(share - alpha).max() <= 1.06 / (0.06 * length) + 1e-12


def test_sets_are_asked_for_by_known_alphas() -> None:
    learned = model(alphas=(0.1, 0.2)).partial_fit(X[:200], Y[:200])
    assert learned.predict_set(X[:5], 0.2).sum() <= learned.predict_set(X[:5]).sum()
    with pytest.raises(ValueError, match=r"alpha=0.05 was not followed .*alphas"):
        learned.predict_set(X[:5], 0.05)
    with pytest.raises(ValueError, match="alphas is empty"):
        model(alphas=()).partial_fit(X[:9], Y[:9]).predict_set(X[:5])


@every_method
def test_saved_pickled_copied_in_the_middle(method: str, tmp_path: Path) -> None:
    labels = np.array(["ash", "birch", "cedar"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    open_ = CalibratedOnline(SGDSVC(classes="open"), method, window=100)
    whole = clone(open_).partial_fit(X[:400], labels[:400])
    for half in (1, 15, 150, 399):
        begun = clone(open_).partial_fit(X[:half], labels[:half])
        begun.save(tmp_path / "model")
        ways = (onlinesvm.load(tmp_path / "model"), pickle.loads(pickle.dumps(begun)))
        for twin in (*ways, copy.copy(begun)):
            twin.partial_fit(X[half:400], labels[half:400])
            assert fingerprint(twin) == fingerprint(whole)
        assert begun.n_seen_ == half


@every_method
def test_pickled_and_copied_after_it_was_asked(method: str) -> None:
    learned = CalibratedOnline(SGDSVC(classes="open"), method).partial_fit(X[:400], Y[:400])
    said = learned.predict_proba(X)
    for twin in (pickle.loads(pickle.dumps(learned)), copy.deepcopy(learned), copy.copy(learned)):
        assert np.array_equal(twin.predict_proba(X), said)


def test_a_class_may_come_late_and_the_others_keep_their_scores() -> None:
    y = np.where(np.arange(3000) < 1500, np.where(Y, "no", "yes"), np.where(Y, "maybe", "yes"))
    learned = CalibratedOnline(SGDSVC(classes="open"), "platt").partial_fit(X, y)
    assert learned.classes_.tolist() == ["maybe", "no", "yes"]
    p = learned.predict_proba(X[:50])
    assert np.allclose(p.sum(axis=1), 1)
    unscored = int(np.flatnonzero(y != y[0])[0]) + 1  # until two classes were known
    assert learned._calibration.seen == 3000 - unscored


def test_what_fails_leaves_all_as_it_was() -> None:
    learned = model().partial_fit(X[:100], Y[:100])
    before = fingerprint(learned)
    bad = X[100:200].copy()
    bad[60, 1] = np.nan
    with pytest.raises(ValueError):
        learned.partial_fit(bad, Y[100:200])
    assert fingerprint(learned) == before

    calls = 0

    def kernel(x: Any, rows: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 3000:
            raise RuntimeError("no more")
        return np.exp(-((rows - x) ** 2).sum(axis=1))

    odd = CalibratedOnline(RampSVC(kernel=kernel, classes=[False, True])).partial_fit(
        X[:50], Y[:50]
    )
    said, calls = odd.predict_proba(X[:20]), 2900
    with pytest.raises(RuntimeError):
        odd.partial_fit(X[50:200], Y[50:200])
    assert odd.n_seen_ == 50
    assert np.array_equal(odd.predict_proba(X[:20]), said)


def test_ctrl_c_keeps_the_rows_that_were_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    learned = model().partial_fit(X[:100], Y[:100])
    take, rows = CalibratedOnline._take, 0

    def interrupted(self: Any, lesson: Any) -> None:
        nonlocal rows
        rows += 1
        if rows == 40:
            raise KeyboardInterrupt
        take(self, lesson)

    monkeypatch.setattr(CalibratedOnline, "_take", interrupted)
    with pytest.raises(KeyboardInterrupt):
        learned.partial_fit(X[100:200], Y[100:200])
    monkeypatch.undo()
    assert learned.n_seen_ == 139
    assert fingerprint(learned) == fingerprint(model().partial_fit(X[:139], Y[:139]))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "magic"}, "method"),
        ({"window": 3}, "window"),
        ({"alphas": 0.1}, "alphas"),
        ({"alphas": (1.0,)}, "alphas"),
        ({"step": 0.0}, "step"),
        ({"model": onlinesvm.PokerSVR()}, "classifier"),
        ({"model": 3}, "model"),
    ],
)
def test_bad_parameters(options: dict[str, Any], words: str) -> None:
    wrong = clone(model()).set_params(**options)
    with pytest.raises(ValueError, match=words):
        wrong.partial_fit(X[:9], Y[:9])
    assert not wrong.__sklearn_is_fitted__()


def test_parameters_set_later_are_refused() -> None:
    learned = model().partial_fit(X[:50], Y[:50])
    for params in ({"window": 50}, {"model__alpha": 1.0}):
        changed = copy.copy(learned)
        changed.model = clone(learned.model)
        changed.set_params(**params)
        with pytest.raises(ValueError, match="differs from"):
            changed.learn_one(X[50], Y[50])


def test_memory_is_a_promise() -> None:
    learned = model(window=200).partial_fit(X[:1000], Y[:1000])
    held = learned.nbytes_
    assert learned.partial_fit(X[1000:], Y[1000:]).nbytes_ <= held + 4096
