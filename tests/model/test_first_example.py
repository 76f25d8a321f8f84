"""The first example of a classifier that was told nothing, and the probabilities it has not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import onlinesvm
from onlinesvm import (
    LASVC,
    SGDSVC,
    CalibratedOnline,
    DriftAware,
    IncrementalSVC,
    OnlineScaler,
    SmoSVC,
    make_online_pipeline,
)
from onlinesvm.compose.drift import PageHinkley

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = ["a"] * 10 + ["b", "c"] * 25
JUMPY = PageHinkley(threshold=0.5, min_instances=2)
MODELS = [
    LASVC(gamma=1.0),
    SmoSVC(),
    SGDSVC(),
    make_online_pipeline(OnlineScaler(warm_up=20), IncrementalSVC()),
    CalibratedOnline(SGDSVC()),
    DriftAware(make_online_pipeline(OnlineScaler(warm_up=4), SGDSVC()), JUMPY),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_one_example_after_the_other_needs_no_classes(model: Any, tmp_path: Any) -> None:
    told, untold = clone(model), clone(model)
    for x, y in zip(X, Y, strict=True):
        untold.learn_one(x, y)
        told.partial_fit(x[None], [y], classes="open")
    assert untold.classes_.tolist() == ["a", "b", "c"]
    assert untold.n_seen_ == 60
    assert np.array_equal(told.decision_function(X), untold.decision_function(X))
    untold.save(tmp_path / "model")
    again = onlinesvm.load(tmp_path / "model").learn_one(X[0], "d")
    assert again.classes_.tolist() == ["a", "b", "c", "d"]
    if isinstance(model, DriftAware):
        assert untold.n_alarms_ > 0


def test_fit_leaves_open_classes_open() -> None:
    model = LASVC(classes="open").fit(X, Y).partial_fit(X[:1], ["d"])
    assert model.classes_.tolist() == ["a", "b", "c", "d"]


def test_what_was_named_stays_named() -> None:
    named = LASVC(classes=["a", "b"]).learn_one(X[0], "a")
    with pytest.raises(ValueError, match="unknown label 'c'"):
        named.learn_one(X[1], "c")
    with pytest.raises(ValueError, match=r"classes='open' comes after .*\['a', 'b'\]"):
        named.partial_fit(X[:1], ["a"], classes="open")
    with pytest.raises(ValueError, match="classes must be one of 'open', got 'opne'"):
        LASVC().partial_fit(X[:1], ["a"], classes="opne")
    with pytest.raises(ValueError, match="classes must be passed"):
        LASVC().partial_fit(X, Y)


@pytest.mark.parametrize("name", ["predict_proba", "predict_log_proba"])
def test_what_has_no_probabilities_says_who_has(name: str) -> None:
    for model in (IncrementalSVC(), SmoSVC().fit(X, Y), make_online_pipeline(SGDSVC())):
        kind = type(model).__name__
        assert not hasattr(model, name)
        assert not hasattr(type(model), name)
        with pytest.raises(AttributeError) as told:
            getattr(model, name)
        assert f"{kind} has no {name}" in str(told.value)
        assert f"CalibratedOnline({kind}(...))" in str(told.value)
        assert "\n" not in str(told.value)
    assert not hasattr(DriftAware(SGDSVC()), "predict_proba")
    assert hasattr(DriftAware(CalibratedOnline(SGDSVC())), "predict_proba")
