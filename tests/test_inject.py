"""A user's kernel made to fail at one call after another, in every verb of every class.

After each failure the model is what it was, bit for bit, and once the kernel works again the same
call gives what it would have given had nothing ever failed. ``ONLINESVM_INJECT=1`` tries every
place, else a slice of them. Failing allocations are injected by the C++ programs
``cpp/tests/test_inject_*.cpp``.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import onlinesvm
from onlinesvm.base.estimator import OnlineEstimator

STRIDE = 1 if "ONLINESVM_INJECT" in os.environ else 11
RNG = np.random.default_rng(7)
X = RNG.normal(size=(80, 2))
Y = ((X**2).sum(1) + RNG.normal(0, 0.5, 80) > 1.5).astype(int)

Verb = Callable[[Any], Any]


class Boom(Exception):
    """What the kernel throws."""


class Kernel:
    """rbf that fails at one call, counted from ``arm``, and at all that follow."""

    left = -1

    def arm(self, call: int) -> None:
        self.left = call

    def __call__(self, x: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
        if self.left >= 0:
            self.left -= 1
            if self.left <= 0:
                self.left = 0
                raise Boom
        return np.asarray(np.exp(-0.5 * ((rows - x) ** 2).sum(1)))

    def __deepcopy__(self, memo: dict[int, Any]) -> Kernel:
        return self


def classes() -> list[type[OnlineEstimator]]:
    return [cls for cls in onlinesvm.all_estimators() if "kernel" in cls().get_params()]


def targets(cls: type[OnlineEstimator], part: slice) -> tuple[Any, ...]:
    if issubclass(cls, onlinesvm.base.OnlineOutlierDetector):
        return (X[part],)
    if issubclass(cls, onlinesvm.base.OnlineRegressor):
        return X[part], X[part, 0] + Y[part]
    return X[part], Y[part]


def verbs(cls: type[OnlineEstimator]) -> dict[str, Verb]:
    """What a model of 40 examples may be asked to do."""
    all_of_them: dict[str, Verb] = {"fit": lambda m: m.fit(*targets(cls, slice(20, 60)))}
    if hasattr(cls, "partial_fit"):
        all_of_them["partial_fit"] = lambda m: m.partial_fit(*targets(cls, slice(40, 60)))
    if hasattr(cls, "learn_one"):
        one = [part[0] for part in targets(cls, slice(61, 62))]
        all_of_them["learn_one"] = lambda m: m.learn_one(*one)
    if cls.can("unlearn"):
        all_of_them["unlearn"] = lambda m: m.unlearn([0, 3, 4, 7, 11, 12, 13])
    for name in ("finish", "flush", "leave_one_out"):
        if hasattr(cls, name):
            all_of_them[name] = lambda m, name=name: getattr(m, name)()
    if hasattr(cls, "merge"):
        all_of_them["merge"] = lambda m: m.merge(copy.deepcopy(m))
    return all_of_them


CASES = [pytest.param(cls, verb, id=f"{cls.__name__}-{verb}") for cls in classes() for verb in verbs(cls)]


def facts(model: Any) -> dict[str, Any]:
    """Everything a saved model would hold."""
    state = {name: np.asarray(array).tobytes() for name, array in model._core.state().items()}
    rest = {name: repr(value) for name, value in model._facts().items()}
    return {**state, **rest, "n_seen_": model.n_seen_}


@pytest.mark.parametrize(("cls", "verb"), CASES)
def test_a_kernel_that_fails_leaves_nothing_behind(cls: Any, verb: str) -> None:
    kernel = Kernel()
    model = cls(kernel=kernel).fit(*targets(cls, slice(0, 40)))
    act, before, failures = verbs(cls)[verb], facts(model), 0
    twin = copy.deepcopy(model)
    act(twin)
    for call in range(1, 100_000, STRIDE):
        kernel.arm(call)
        try:
            act(model)
        except Boom:
            failures += 1
            kernel.arm(-1)
            assert facts(model) == before, f"changed by a failure at call {call}"
        else:
            break
        finally:
            kernel.arm(-1)
    assert failures or verb in ("flush", "merge", "finish", "unlearn", "leave_one_out")
    assert facts(model) == facts(twin)
    if model.can("kkt_residual") and verb != "fit":
        assert model.kkt_residual() <= max(twin.kkt_residual(), 10 * model.tol)
