"""Parameters set after learning began: they take effect, or the next learning verb says why not."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import onlinesvm
from onlinesvm import (
    LASVC,
    IncrementalSVC,
    NormaOneClassSVM,
    PassiveAggressiveRegressor,
    RampSVC,
    SmoSVC,
    StreamSVC,
)
from onlinesvm.checks import fingerprint

X = np.random.default_rng(0).normal(size=(60, 3))
Y = np.where(X[:, 0] > 0.2, 1, 0)


def begun(cls: Any, **options: Any) -> Any:
    return cls(**options).fit(X[:40], Y[:40])


CHANGES = [
    (RampSVC, {"C": 100.0}),
    (RampSVC, {"gamma": 3.0}),
    (RampSVC, {"kernel": "linear"}),
    (RampSVC, {"class_weight": {0: 5.0}}),
    (RampSVC, {"classes": "open"}),
    (RampSVC, {"dtype": "float64"}),
    (RampSVC, {"query": "margin"}),
    (SmoSVC, {"C": 100.0}),
    (LASVC, {"tol": 1e-5}),
    (StreamSVC, {"C": 100.0}),
    (PassiveAggressiveRegressor, {"C": 100.0}),
    (NormaOneClassSVM, {"nu": 0.4}),
    (IncrementalSVC, {"gamma": 3.0}),
]


def learning_verbs(model: Any) -> dict[str, Any]:
    verbs = {
        "partial_fit": lambda: model.partial_fit(X[40:], Y[40:]),
        "learn_one": lambda: model.learn_one(X[40], Y[40]),
    }
    if model.can("unlearn"):
        verbs["unlearn"] = lambda: model.unlearn([3])
    for verb in ("finish", "flush"):
        if hasattr(model, verb):
            verbs[verb] = getattr(model, verb)
    return verbs


@pytest.mark.parametrize("by", ["set_params", "assignment"])
@pytest.mark.parametrize(("cls", "change"), CHANGES, ids=str)
def test_what_cannot_change_midway_is_said(cls: Any, change: Any, by: str, tmp_path: Path) -> None:
    (name, value), model = *change.items(), begun(cls)
    old = getattr(model, name)
    model.learn_one(X[0], Y[0])
    if by == "set_params":
        model.set_params(**change)
    else:
        setattr(model, name, value)
    model.save(tmp_path / "model")
    for held in (model, onlinesvm.load(tmp_path / "model"), copy.deepcopy(model)):
        before = fingerprint(held)
        for learn in learning_verbs(held).values():
            with pytest.raises(ValueError, match=f"{name}=.*begun.*set it back, or fit again"):
                learn()
            assert fingerprint(held) == before
        setattr(held, name, old)
        held.learn_one(X[41], Y[41])  # set back: all is well
    model.set_params(**change).fit(X, Y)  # and a new beginning takes it
    assert getattr(model, name) == value
    model.partial_fit(X[:5], Y[:5])


def test_C_moves_along_the_path_where_the_method_can(tmp_path: Path) -> None:
    model = begun(IncrementalSVC, gamma=0.5)
    model.C = 20.0
    model.save(tmp_path / "model")
    again = onlinesvm.load(tmp_path / "model")
    for moved in (model, again, pickle.loads(pickle.dumps(model))):
        moved.partial_fit(X[40:], Y[40:])
        straight = IncrementalSVC(C=20.0, gamma=0.5).fit(X, Y)
        assert np.allclose(moved.decision_function(X), straight.decision_function(X), atol=1e-6)
        assert moved._core_settings["C"] == moved.C == 20.0
    assert model.set_C(3).C == 3
    model.learn_one(X[0], Y[0])


@pytest.mark.parametrize("change", [{"verbose": True}, {"n_jobs": 2}, {"cache_bytes": 1 << 20}])
def test_what_changes_no_result_takes_effect_at_once(change: Any) -> None:
    model, other = begun(RampSVC), begun(RampSVC)
    model.set_params(**change)
    for m in (model, other):
        m.learn_one(X[40], Y[40]).partial_fit(X[41:], Y[41:])
    assert np.array_equal(model.decision_function(X), other.decision_function(X))
    if "cache_bytes" in change:
        assert model._core_settings["cache_bytes"] == 1 << 20


def test_setting_what_was_set_or_what_only_fit_uses_is_no_change() -> None:
    model = begun(LASVC, C=2.0)
    model.set_params(C=2, max_iter=3)
    model.learn_one(X[40], Y[40])
    model.note = "mine"
    model.learn_one(X[41], Y[41])
    assert model.n_seen_ == 42


def test_a_bad_value_is_named_and_nothing_happens() -> None:
    model = begun(IncrementalSVC)
    before = fingerprint(model)
    model.C = -1
    with pytest.raises(ValueError, match="C must be"):
        model.partial_fit(X, Y)
    model.C = 1.0
    assert fingerprint(model) == before
    assert clone(model).C == 1.0
