"""scikit-activeml, the real one: our classifiers in its loops, its strategies at our desk."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from onlinesvm import SGDSVC, OnlineScaler, RampSVC, make_online_pipeline

stream = pytest.importorskip("skactiveml.stream")
pool = pytest.importorskip("skactiveml.pool")

from onlinesvm.compose.labelling.skactiveml import ActiveClassifier, StrategyDesk  # noqa: E402

STRATEGIES = [
    "StreamRandomSampling",
    "PeriodicSampling",
    "FixedUncertainty",
    "VariableUncertainty",
    "RandomVariableUncertainty",
    "Split",
]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(800, 2))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)


def strategy(name: str) -> Any:
    cls = getattr(stream, name)
    classes = {"classes": [0, 1]} if "classes" in inspect.signature(cls).parameters else {}
    return cls(budget=0.25, random_state=0, **classes)


def models() -> list[Any]:
    ramp = RampSVC(C=10.0, gamma=1.0, bias="none", settle="example")
    return [ramp, SGDSVC(), make_online_pipeline(OnlineScaler(warm_up=16), clone(ramp))]


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("which", [0, 1, 2])
def test_its_own_stream_loop_with_our_classifiers(name: str, which: int) -> None:
    clf, query = ActiveClassifier(models()[which], classes=[0, 1]), strategy(name)
    clf.fit(X[:4], Y[:4])
    takes_clf = "clf" in inspect.signature(query.query).parameters
    takes_utilities = "budget_manager_param_dict" in inspect.signature(query.update).parameters
    asked = list(range(4))
    for t in range(4, 400):
        candidates = X[t : t + 1]
        sampled, utilities = query.query(
            candidates=candidates, return_utilities=True, **({"clf": clf} if takes_clf else {})
        )
        told = {"budget_manager_param_dict": {"utilities": utilities}} if takes_utilities else {}
        query.update(candidates=candidates, queried_indices=sampled, **told)
        clf.partial_fit(candidates, [Y[t] if len(sampled) else clf.missing_label])
        asked += [t] * len(sampled)
    alone = models()[which].partial_fit(X[asked], Y[asked], classes=[0, 1])
    assert np.array_equal(clf.predict(X), alone.predict(X))
    assert 10 < len(asked) < 180


def test_its_pool_loop_with_our_classifiers() -> None:
    clf = ActiveClassifier(RampSVC(C=10.0, gamma=1.0, bias="none"), classes=[0, 1], random_state=0)
    query = pool.UncertaintySampling(method="entropy", random_state=0)
    y = np.full(300, np.nan)
    y[:4] = Y[:4]
    for _ in range(40):
        chosen = query.query(X=X[:300], y=y, clf=clf)
        y[chosen] = Y[chosen]
    assert clf.fit(X[:300], y).score(X[300:], Y[300:]) > 0.85


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("late", [0, 50])
def test_its_strategies_at_our_desk(name: str, late: int) -> None:
    model = RampSVC(C=10.0, gamma=1.0, bias="none", classes=[0, 1], settle="example")
    desk = StrategyDesk(model, strategy(name))
    asked, waiting = [], []
    for t in range(400):
        ticket = desk.ask(X[t])
        if ticket is not None:
            waiting.append((t, ticket))
        while waiting and t - waiting[0][0] >= late:
            row, ticket = waiting.pop(0)
            desk.answer(ticket, Y[row])
            asked.append(row)
    alone = RampSVC(C=10.0, gamma=1.0, bias="none", classes=[0, 1], settle="example").partial_fit(
        X[asked], Y[asked]
    )
    assert np.array_equal(desk.model.decision_function(X), alone.decision_function(X))
    assert 10 < desk.spent < 200
    with pytest.raises(ValueError, match="pickle the desk"):
        desk.save("nowhere")
    again = pickle.loads(pickle.dumps(desk))
    assert again.tickets == desk.tickets


def test_three_classes_by_name() -> None:
    words = np.array(["ash", "elm", "oak"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0)]
    clf = ActiveClassifier(RampSVC(gamma=1.0), classes=["ash", "elm", "oak"], missing_label=None)
    some = words.astype(object)
    some[::3] = None
    clf.fit(X[:300], some[:300])
    P = clf.predict_proba(X[300:])
    assert np.allclose(P.sum(axis=1), 1)
    assert np.array_equal(clf.predict(X[300:]), clf.model_.predict(X[300:]))
    desk = StrategyDesk(RampSVC(gamma=1.0, classes=["ash", "elm", "oak"]), strategy("Split"))
    for x, word in zip(X[:60], words, strict=False):
        ticket = desk.ask(x)
        if ticket is not None:
            desk.answer(ticket, word)
    assert desk.answered > 1
