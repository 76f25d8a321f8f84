"""A user's kernel made to fail, and Ctrl-C made to come, at one place after another of every verb.

After each failure the core is what it was, bit for bit, and once nothing fails the same call gives
what it would have given had nothing ever failed. ``ONLINESVM_INJECT=1`` tries every place, else a
slice of them. The C++ programs ``cpp/tests/test_inject_*.cpp`` do the same with allocations.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import onlinesvm
from onlinesvm import _core
from onlinesvm.core import create, offers
from onlinesvm.model.outlier import OnlineOutlierDetector
from onlinesvm.model.regressor import OnlineRegressor

STRIDE = 1 if "ONLINESVM_INJECT" in os.environ else 17
RNG = np.random.default_rng(7)
X = RNG.normal(size=(60, 2))
Y = ((X**2).sum(1) + RNG.normal(0, 0.5, 60) > 1.5).astype(int)
SOME = np.array([0, 3, 4, 7, 11, 12, 13])

Verb = Callable[[Any], Any]


class Boom(Exception):
    """What the kernel throws."""


class Kernel:
    """rbf that fails at one call, counted from ``arm``, and at all that follow."""

    left = 0

    def arm(self, call: int) -> None:
        self.left = call

    def disarm(self) -> None:
        self.left = 0

    def __call__(self, x: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
        if self.left == 1:
            raise Boom
        self.left = max(0, self.left - 1)
        return np.asarray(np.exp(-0.5 * ((rows - x) ** 2).sum(1)))


def targets(cls: Any, part: slice) -> NDArray[np.float64]:
    """What the rows mean to a class."""
    if issubclass(cls, OnlineRegressor):
        return np.asarray(X[part, 0] + Y[part])
    return Y[part].astype(np.float64)


def begun(cls: Any, kernel: Kernel) -> Any:
    """A core of 30 examples."""
    part = slice(0, 30)
    told = () if issubclass(cls, OnlineOutlierDetector) else (targets(cls, part),)
    return cls(kernel=kernel, dtype="float64").fit(X[part], *told)


def learn(core: Any, cls: Any, first: int, last: int) -> None:
    ids = np.arange(first, last)
    core.learn_dense(X[first:last], targets(cls, slice(first, last)), np.ones(len(ids)), ids)


def learn_next(core: Any, cls: Any, number: int) -> None:
    """The number is taken if the example is learned, and only then."""
    numbers = _core.Register()
    numbers.next = number
    try:
        target = float(targets(cls, slice(number, number + 1))[0])
        assert core.learn_next(X[number], target, 1.0, numbers)
    except (Boom, KeyboardInterrupt):
        assert numbers.next == number
        raise
    assert numbers.next == number + 1


def together(core: Any, cls: Any) -> None:
    """Two calls that stand or fall together."""
    core.begin()
    learn(core, cls, 30, 40)
    core.grow(3) if not issubclass(cls, OnlineOutlierDetector | OnlineRegressor) else None
    learn(core, cls, 40, 50)
    core.commit()


def verbs(cls: Any) -> Iterator[tuple[str, Verb]]:
    """What its core can do, in the order in which it is done."""
    yield "learn_dense", lambda c: learn(c, cls, 30, 40)
    yield "learn_next", lambda c: learn_next(c, cls, 41)
    yield "together", lambda c: together(c, cls)
    offered: dict[str, Verb] = {
        "improve": lambda c: c.improve(),
        "solve": lambda c: c.solve(),
        "unlearn": lambda c: c.unlearn(SOME),
        "set_C": lambda c: c.set_C(2.0),
        "reweight": lambda c: c.reweight(np.array([1, 2, 5]), np.full(3, 0.5)),
        "leave_one_out": lambda c: c.leave_one_out(),
        "finish": lambda c: c.finish(1e-4),
        "polish": lambda c: c.polish(1e-9),
        "flush": lambda c: c.flush(),
        "merge": lambda c: c.merge(c, 100, np.arange(max(2, c.outputs))),
    }
    yield from ((name, verb) for name, verb in offered.items() if offers(cls._stem, name))
    yield "score_dense", lambda c: c.score_dense(X)


def facts(core: Any) -> dict[str, bytes]:
    return {name: np.asarray(array).tobytes() for name, array in core.state().items()}


CASES = [
    pytest.param(cls, name, id=f"{cls.__name__}-{name}")
    for cls in onlinesvm.all_estimators()
    if "kernel" in cls().get_params() and not cls.__name__.startswith("MultiKernel")  # words only
    for name, _ in verbs(cls)
]


def survives(core: Any, act: Verb, arm: Callable[[int], None], disarm: Callable[[], None]) -> int:
    """How many failures it took until the verb came through."""
    before, failures = facts(core), 0
    for place in range(1, 1_000_000, STRIDE):
        arm(place)
        try:
            act(core)
        except (Boom, KeyboardInterrupt):
            disarm()
            core.rollback()  # what a caller of several verbs does
            assert facts(core) == before, f"changed by a failure at place {place}"
            failures += 1
        else:
            break
        finally:
            disarm()
    return failures


@pytest.mark.parametrize(("cls", "verb"), CASES)
def test_what_fails_leaves_nothing_behind(cls: Any, verb: str) -> None:
    kernel = Kernel()
    model = begun(cls, kernel)
    core, act = model._core, dict(verbs(cls))[verb]
    twin, other = (create(model._core_name, model._core_settings) for _ in range(2))
    twin.load(core.state())
    other.load(core.state())
    act(twin)
    struck = survives(core, act, kernel.arm, kernel.disarm)
    assert struck or not verb.startswith(("learn", "together"))
    survives(other, act, _core.interrupt_after, lambda: _core.interrupt_after(0))
    if verb != "improve":  # how many rounds are one call is a matter of time
        assert facts(core) == facts(twin) == facts(other)
