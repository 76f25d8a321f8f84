"""mistakes_: what the newest weights got wrong, each example before it was learned."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from oracles import ONE_PASS
from sklearn.base import is_classifier

import onlinesvm
from onlinesvm.model.groups import StepByStep
from onlinesvm.model.parameters import lists

STEPPING = [
    cls for cls in onlinesvm.all_estimators() if lists(cls, StepByStep) and is_classifier(cls())
]


def newest(cls: type) -> Any:
    """One that shows the weights that learn, not their mean."""
    model = cls(**ONE_PASS)
    if "average" in model.get_params():
        model.set_params(average=False)
    return model.set_params(variant="plain") if cls.__name__ == "KernelPerceptron" else model


def rows(classes: int, n: int = 150) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(classes)
    X = rng.normal(size=(n, 4))
    return X, (X[:, :classes] + 0.3 * rng.normal(size=(n, classes))).argmax(axis=1)


@pytest.mark.parametrize("cls", STEPPING, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("classes", [2, 3])
def test_they_are_counted_before_each_example_is_learned(cls, classes):
    X, y = rows(classes)
    model, known = newest(cls), list(range(classes))
    if "gamma" in model.get_params():
        model.set_params(gamma=0.5)
    model.partial_fit(X[:1], y[:1], classes=known)
    mistakes = 1  # at zero all classes tie
    for x, label in zip(X[1:], y[1:], strict=True):
        scores = np.atleast_1d(model.decide_one(x))
        if classes == 2:
            scores = np.array([-scores[0], scores[0]])
        mistakes += scores[label] <= np.delete(scores, label).max()
        model.learn_one(x, int(label))
    assert model.mistakes_ == mistakes
    assert 1 < mistakes < len(y)
    assert pickle.loads(pickle.dumps(model)).mistakes_ == mistakes


def test_the_mean_changes_what_is_predicted_not_what_is_counted():
    X, y = rows(2)
    models = [
        onlinesvm.PassiveAggressiveClassifier(average=average).partial_fit(X, y, classes=[0, 1])
        for average in (True, False)
    ]
    assert models[0].mistakes_ == models[1].mistakes_


def test_weight_0_is_no_example_and_a_failed_call_no_mistake():
    X, y = rows(2)
    model = onlinesvm.PegasosSVC().partial_fit(X, y, classes=[0, 1])
    before = model.mistakes_
    model.partial_fit(X, 1 - y, sample_weight=np.zeros(len(y)))
    assert model.mistakes_ == before
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.vstack([X, np.full((1, 4), np.nan)]), np.append(1 - y, 0))
    assert model.mistakes_ == before


def test_who_has_none():
    X, y = rows(2)
    assert not hasattr(onlinesvm.RampSVC().fit(X, y), "mistakes_")
    assert not hasattr(onlinesvm.PassiveAggressiveRegressor().fit(X, y), "mistakes_")
    assert not hasattr(onlinesvm.PassiveAggressiveOneClass().fit(X), "mistakes_")
    assert not hasattr(onlinesvm.PegasosSVC(), "mistakes_")
