"""What is saved or copied is the model of one moment, though it learns on meanwhile.

No second thread is needed: what it would do between two steps is done there.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onlinesvm
from onlinesvm import (
    LASVC,
    SGDSVC,
    CalibratedOnline,
    DriftAware,
    LabelDesk,
    ModelBank,
    OnlineColumns,
    OnlineImputer,
    OnlineScaler,
    PassiveAggressiveClassifier,
    make_online_pipeline,
)
from onlinesvm.compose.drift import PageHinkley
from onlinesvm.label_budgets import LabelShare
from onlinesvm.model import container
from onlinesvm.queries import All, Committee

X = np.random.default_rng(0).normal(size=(400, 2))
Y = (X[:, 0] > 0) ^ (np.arange(400) % 97 < 20)


def linear() -> Any:
    return PassiveAggressiveClassifier(classes=[False, True])


def exact() -> Any:
    return LASVC(gamma=1.0, classes=[False, True])


COMPOSITES: dict[str, Callable[[], Any]] = {
    "one": exact,
    "warming up": lambda: make_online_pipeline(OnlineScaler(warm_up=512), exact()),
    "warm": lambda: make_online_pipeline(OnlineScaler(warm_up=32), exact()),
    "imputed": lambda: make_online_pipeline(OnlineImputer(), OnlineScaler(warm_up=32), exact()),
    "moving": lambda: make_online_pipeline(OnlineScaler(warm_up=8, after="move"), linear()),
    "columns": lambda: make_online_pipeline(
        OnlineColumns([("all", OnlineScaler(warm_up=8, after="move"), "numbers")]), linear()
    ),
    "mixture": lambda: CalibratedOnline(linear(), window=100),
    "platt": lambda: CalibratedOnline(linear(), "platt", window=2000),
    "calibrated pipeline": lambda: CalibratedOnline(
        make_online_pipeline(OnlineScaler(warm_up=32), exact()), "platt", window=50
    ),
    "switch": lambda: DriftAware(linear(), PageHinkley(threshold=3, min_instances=5), on="switch"),
    "reset": lambda: DriftAware(exact(), PageHinkley(threshold=3, min_instances=5)),
}


def begun(name: str) -> Any:
    model = COMPOSITES[name]()
    for start in range(0, 200, 50):
        model.partial_fit(X[start : start + 50], Y[start : start + 50])
    return model


def goes_on(model: Any) -> None:
    model.partial_fit(X[200:], Y[200:])
    for x, y in zip(X[:20], Y[:20], strict=True):
        model.learn_one(x, y)


def bits(model: Any) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in model._arrays().items()}


@pytest.mark.parametrize("name", COMPOSITES)
def test_a_copy_is_of_one_moment(name: str) -> None:
    model = begun(name)
    before = bits(model)
    state = model._live_state()  # pickle, copy and deepcopy read on in it
    goes_on(model)
    twin = type(model).__new__(type(model))
    twin._live_on(state)
    assert bits(twin) == before
    assert bits(model) != before
    for again in (copy.copy(twin), copy.deepcopy(twin), pickle.loads(pickle.dumps(twin))):
        goes_on(again)
        assert bits(again) == bits(model)
    assert bits(twin) == before


@pytest.mark.parametrize("name", COMPOSITES)
def test_a_file_is_of_one_moment(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = begun(name)
    before = bits(model)
    learning_on(lambda: goes_on(model), monkeypatch)
    model.save(tmp_path / "model")
    assert bits(model) != before
    assert bits(onlinesvm.load(tmp_path / "model")) == before


def learning_on(act: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let it happen when the first file is about to be put together."""
    checksum, acts = container._checksum, [act]

    def after(*args: Any) -> str:
        if acts:
            acts.pop()()
        return checksum(*args)

    monkeypatch.setattr(container, "_checksum", after)


def test_the_file_of_a_bank_is_of_one_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank = ModelBank(linear()).learn_many(["a", "b"] * 50, X[:100], Y[:100])
    before = bits(bank)
    learning_on(
        lambda: bank.learn_many(["a", "c"] * 50, X[100:200], Y[100:200]) and None, monkeypatch
    )
    bank.save(tmp_path / "bank")
    assert bits(bank) != before
    assert bits(onlinesvm.load(tmp_path / "bank")) == before


def test_a_desk_is_of_one_moment(tmp_path: Path) -> None:
    desk = LabelDesk([SGDSVC(classes=[False, True]), linear()], Committee(), LabelShare(1.0))
    single = LabelDesk(begun("warm"), All())
    for one in (desk, single):
        for x in X[:40]:
            one.ask(x)
        for ticket in one.tickets[:30]:
            one.answer(ticket, True)
        n, scores = len(one.tickets), one.model.decision_function(X)
        state = one.__getstate__()
        for ticket in one.tickets:
            one.answer(ticket, False)
        goes_on(one.model)
        twin = LabelDesk.__new__(LabelDesk)
        twin.__setstate__(state)
        assert (len(twin.tickets), twin.answered) == (n, 30)
        assert np.array_equal(twin.model.decision_function(X), scores)
        twin.save(tmp_path / "desk")
        assert LabelDesk.load(tmp_path / "desk").tickets == twin.tickets
