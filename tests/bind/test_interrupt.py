"""Ctrl-C in the middle of a computation: every loop that can run long hears it."""

from __future__ import annotations

import pickle
import signal
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.base import ClassifierMixin

import onlinesvm
from onlinesvm import _core
from onlinesvm.model import learning

NEVER = 10**12

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
CLASS = (X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=60) > 0).astype(int)


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    yield
    _core.interrupt_after(0)


def target(cls: type) -> Any:
    regression = cls.__name__.endswith(("SVR", "Regressor"))
    return X[:, 0] if regression else CLASS


def copied(model: Any) -> Any:
    return pickle.loads(pickle.dumps(model))


def polls(call: Callable[[], Any]) -> int:
    """How many chances to interrupt it a call gives."""
    _core.interrupt_after(NEVER)
    call()
    return NEVER - _core.interrupt_after(0)


@pytest.mark.parametrize("cls", onlinesvm.all_estimators(), ids=lambda cls: cls.__name__)
def test_fit_hears_it_wherever_it_is(cls):
    y = target(cls)
    whole = cls()
    heard = polls(lambda: whole.fit(X, y))
    assert heard > 1
    for position in sorted({int(k) for k in np.geomspace(1, heard, 4)}):
        model = cls()
        _core.interrupt_after(position)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
        assert _core.interrupt_after(0) == 0
        np.testing.assert_array_equal(model.fit(X, y).predict(X), whole.predict(X))


@pytest.mark.parametrize("settled", [True, False], ids=["gamma given", "gamma by word"])
@pytest.mark.parametrize(
    "cls",
    [cls for cls in onlinesvm.all_estimators() if hasattr(cls, "partial_fit")],
    ids=lambda cls: cls.__name__,
)
def test_n_seen_tells_where_to_go_on(cls, settled, monkeypatch):
    monkeypatch.setattr(learning, "_SLAB_ROWS", 8)
    y, classes = target(cls), {"classes": [0, 1]} if issubclass(cls, ClassifierMixin) else {}
    fresh = cls(gamma=0.5) if settled and hasattr(cls(), "gamma") else cls()
    start = fresh.partial_fit(X[:20], y[:20], **classes)
    whole = copied(start)
    heard = polls(lambda: whole.partial_fit(X[20:], y[20:]))
    for position in sorted({int(k) for k in np.geomspace(1, heard, 7)}):
        model = copied(start)
        _core.interrupt_after(position)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X[20:], y[20:])
        seen = model.n_seen_
        assert 20 <= seen <= len(X)
        if seen == len(X):  # all are in, and a solver had not finished
            continue
        model.partial_fit(X[seen:], y[seen:])
        assert model.n_seen_ == len(X)
        same = model.predict(X) == whole.predict(X)
        assert same.all() if cls()._any_cut_gives == "bits" else same.mean() > 0.9


VERBS: dict[str, Callable[[Any], Any]] = {
    "unlearn": lambda model: model.unlearn(np.arange(0, 60, 3)),
    "kkt_residual": lambda model: model.kkt_residual(),
    "objective": lambda model: model.objective(),
    "leave_one_out": lambda model: model.leave_one_out(),
    "set_C": lambda model: model.set_C(7.0),
    "predict": lambda model: model.predict(X),
}
LOOKUPS = ("objective", "set_C")  # some find the answer at hand


@pytest.mark.parametrize(
    ("cls", "verb"),
    [
        pytest.param(cls, verb, id=f"{cls.__name__}-{verb}")
        for cls in onlinesvm.all_estimators()
        for verb in VERBS
        if (verb in ("leave_one_out", "set_C", "predict") and hasattr(cls, verb)) or cls.can(verb)
    ],
)
def test_verbs_hear_it(cls, verb):
    model = cls().fit(X, target(cls))
    twin = copied(model)
    heard = polls(lambda: VERBS[verb](twin))
    assert heard or verb in LOOKUPS or cls.__name__.startswith("Norma")
    if heard:
        model = copied(model)  # no kernel value at hand either
        _core.interrupt_after(heard)
        with pytest.raises(KeyboardInterrupt):
            VERBS[verb](model)
    assert np.isfinite(model.predict(X).astype(float)).all()


def test_threads_of_a_call_stop_with_it():
    model = onlinesvm.RampSVC(n_jobs=3).fit(X, CLASS)
    many = np.tile(X, (40, 1))
    _core.interrupt_after(2)
    with pytest.raises(KeyboardInterrupt):
        model.decision_function(many)
    assert len(model.decision_function(many)) == len(many)


def test_what_a_signal_handler_raises_comes_out():
    class Enough(Exception):
        pass

    def handler(*_: Any) -> None:
        raise Enough("for today")

    before = signal.signal(signal.SIGINT, handler)
    try:
        _core.interrupt_after(5)
        with pytest.raises(Enough, match="for today"):
            onlinesvm.SmoSVC().fit(X, CLASS)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_handler_that_raises_nothing_stops_nothing():
    calls = []
    before = signal.signal(signal.SIGINT, lambda *_: calls.append(1))
    try:
        _core.interrupt_after(5)
        model = onlinesvm.SmoSVC().fit(X, CLASS)
    finally:
        signal.signal(signal.SIGINT, before)
    assert calls == [1]
    assert model.kkt_residual() <= 1e-3
