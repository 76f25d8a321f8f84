"""Models that notice a change: each action, river's detectors, any cut, any file."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from river import drift as river_drift
from sklearn.base import clone

import onlinesvm
from onlinesvm import (
    SGDSVC,
    CalibratedOnline,
    DriftAware,
    IncrementalSVC,
    NormaOneClassSVM,
    OnlineScaler,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    make_online_pipeline,
)
from onlinesvm.checks import fingerprint, parametrize
from onlinesvm.compose.drift import DriftWarning, PageHinkley
from onlinesvm.compose.drift.direction import Direction

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2000, 3))
Y = (X[:, 0] > 0) ^ (np.arange(2000) >= 1000)  # turned over half way
JUMPY = PageHinkley(threshold=3.0, min_instances=5)


def learner() -> Any:
    return IncrementalSVC(kernel="linear", classes=[False, True], settle="example")


@parametrize(
    DriftAware(PassiveAggressiveClassifier()),
    DriftAware(IncrementalSVC(C=3.0), JUMPY, on="switch"),
    DriftAware(PassiveAggressiveRegressor(), JUMPY),
    DriftAware(
        make_online_pipeline(OnlineScaler(warm_up=20), PassiveAggressiveClassifier()),
        JUMPY,
        on="switch",
        warning=PageHinkley(threshold=1.0, min_instances=5),
    ),
)
def test_ours(estimator: Any, check: Any) -> None:
    check(estimator)


def test_a_reset_is_a_model_that_saw_only_what_came_after() -> None:
    model = DriftAware(learner(), PageHinkley(threshold=8.0)).partial_fit(X[:1200], Y[:1200])
    (rang,) = model.alarms_
    assert 1000 < rang < 1040
    alone = learner().partial_fit(X[rang:1200], Y[rang:1200], ids=np.arange(rang, 1200))
    assert np.array_equal(model.model_.support_, alone.support_)
    assert np.array_equal(model.decision_function(X), alone.decision_function(X))
    assert model.n_seen_ == 1200
    assert model.score(X[1000:], Y[1000:]) > 0.9


def test_a_switch_takes_the_model_that_began_at_the_warning() -> None:
    options = {"on": "switch", "warning": PageHinkley(threshold=4.0)}
    model = DriftAware(learner(), PageHinkley(threshold=12.0), **options)
    began = None
    for i, (x, y) in enumerate(zip(X[:1200], Y[:1200], strict=True)):
        model.learn_one(x, y)
        if model.background_ is not None and i > 1000 and began is None:
            began = i
    (rang,) = model.alarms_
    assert 1000 < began < rang
    assert model.background_ is None
    alone = learner().partial_fit(X[began:1200], Y[began:1200])
    assert np.array_equal(model.decision_function(X), alone.decision_function(X))
    assert model.n_seen_ == 1200


def test_a_warning_warns_and_the_model_goes_on() -> None:
    model = DriftAware(learner(), PageHinkley(threshold=8.0), on="warn").partial_fit(
        X[:900], Y[:900]
    )
    with pytest.warns(DriftWarning, match="the stream has changed at example 10"):
        model.partial_fit(X[900:1040], Y[900:1040])
    assert np.array_equal(
        model.decision_function(X), learner().partial_fit(X[:1040], Y[:1040]).decision_function(X)
    )


@pytest.mark.parametrize(
    "detector",
    [river_drift.ADWIN(), river_drift.PageHinkley(threshold=8.0), river_drift.KSWIN(seed=0)],
    ids=lambda detector: type(detector).__name__,
)
def test_rivers_detectors(detector: Any, tmp_path: Path) -> None:
    model = DriftAware(SGDSVC(classes=[False, True]), detector).partial_fit(X, Y)
    assert any(1000 < rang < 1500 for rang in model.alarms_)
    pieces = clone(DriftAware(SGDSVC(classes=[False, True]), detector))
    for start in range(0, 2000, 300):
        pieces.partial_fit(X[start : start + 300], Y[start : start + 300])
    assert np.array_equal(pieces.alarms_, model.alarms_)
    with pytest.raises(ValueError, match=r"detector is a .* file without code .*PageHinkley"):
        model.save(tmp_path / "model")
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("on", ["reset", "switch", "warn"])
def test_a_model_that_gets_better_stays(on: Any) -> None:
    rows = np.random.default_rng(0).normal(size=(1000, 10))
    labels = rows.sum(axis=1) > 0
    alone = PassiveAggressiveClassifier(classes=[False, True])
    warning = river_drift.ADWIN(delta=0.05) if on == "switch" else None
    model = DriftAware(clone(alone), river_drift.ADWIN(), on=on, warning=warning)
    detector, rang = river_drift.ADWIN(), 0
    for x, y in zip(rows, labels, strict=True):
        detector.update(float(alone.predict_one(x) != y))
        rang += detector.drift_detected
        alone.learn_one(x, bool(y))
        model.learn_one(x, bool(y))
    assert rang > 0, "else there is nothing to pass over"
    assert model.n_alarms_ == 0
    assert model.background_ is None
    assert np.array_equal(model.decision_function(rows), alone.decision_function(rows))


def test_the_direction_of_a_change() -> None:
    rng = np.random.default_rng(0)
    for before, after in ((0.05, 0.3), (0.3, 0.05), (0.5, 0.8), (0.8, 0.5)):
        for n, m in ((50, 50), (1000, 60), (3000, 300), (40, 2000)):
            direction = Direction()
            assert not direction.is_up
            for i in range(n + m):
                direction.update(float(rng.random() < (before if i < n else after)))
            assert direction.is_up == (after > before), (before, after, n, m)
            assert sum(map(len, direction._sizes)) < 5 * np.log2(n + m) + 5


def test_page_hinkley_rings_as_rivers_does() -> None:
    values = np.concatenate([RNG.random(500) < 0.1, RNG.random(500) < 0.6]).astype(float)
    ours = PageHinkley(threshold=20.0)
    theirs = river_drift.PageHinkley(threshold=20.0, alpha=1.0, mode="up")
    rings = []
    for detector in (ours, theirs):
        rings.append(0)
        for value in values:
            detector.update(value)
            if detector.drift_detected:
                break
            rings[-1] += 1
    assert abs(rings[0] - rings[1]) <= 2
    assert 500 < rings[0] < 600


@pytest.mark.parametrize("on", ["reset", "switch"])
def test_saved_and_copied_in_the_middle(on: Any, tmp_path: Path) -> None:
    fresh = DriftAware(learner(), PageHinkley(threshold=8.0), on=on)
    whole = clone(fresh).partial_fit(X[:1200], Y[:1200])
    assert len(whole.alarms_) > 0
    for half in (1, 1002, 1010, 1150):
        begun = clone(fresh).partial_fit(X[:half], Y[:half])
        begun.save(tmp_path / "model")
        for twin in (onlinesvm.load(tmp_path / "model"), copy.copy(begun)):
            twin.partial_fit(X[half:1200], Y[half:1200])
            assert fingerprint(twin) == fingerprint(whole)
        assert begun.n_seen_ == half


def test_it_goes_with_probabilities_either_way_round() -> None:
    inside = DriftAware(CalibratedOnline(learner()), PageHinkley(threshold=8.0))
    outside = CalibratedOnline(DriftAware(learner(), PageHinkley(threshold=8.0)))
    for model in (inside, outside):
        model.partial_fit(X[:1200], Y[:1200])
        p = model.predict_proba(X[:9])
        assert np.allclose(p.sum(axis=1), 1)
        assert np.array_equal(model.predict(X[:9]), model.classes_[p.argmax(axis=1)])
    assert not hasattr(DriftAware(learner()), "predict_proba")


def test_bad_arguments() -> None:
    cases = [
        (DriftAware(learner(), detector=3), "detector must have update"),
        (DriftAware(learner(), on="panic"), "on"),
        (DriftAware(learner(), river_drift.ADWIN(), on="switch"), "give warning="),
        (DriftAware(NormaOneClassSVM()), "classifier or a regressor"),
    ]
    for model, words in cases:
        with pytest.raises(ValueError, match=words):
            model.partial_fit(X[:9], Y[:9])
        assert not model.__sklearn_is_fitted__()
    for bad in ({"delta": -1.0}, {"threshold": 0.0}, {"min_instances": 0}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            PageHinkley(**bad)


def test_what_fails_was_not_heard() -> None:
    model = DriftAware(learner(), JUMPY).partial_fit(X[:100], Y[:100])
    before = fingerprint(model)
    for call in (
        lambda: model.learn_one(X[0], "no such label"),
        lambda: model.partial_fit(X[:3], [True, False, "no such label"]),
        lambda: model.partial_fit(np.full((1, 3), np.nan), [True]),
    ):
        with pytest.raises(ValueError):
            call()
        assert fingerprint(model) == before
