"""A user's kernel that fails once, at one place after another of a call: the call is undone, whole.

The check of ``tol`` at the end of a call asks the kernel, too: by then the core has learned. The
core by itself is tried at every place by tests/bind/test_inject.py.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

import onlinesvm

rng = np.random.default_rng(3)
X = rng.normal(size=(60, 2))
Y = ((X**2).sum(1) + rng.normal(0, 0.5, 60) > 1.5).astype(int)


class Once:
    """rbf that fails at one call, counted from now."""

    left = 0

    def __call__(self, x: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
        self.left -= 1
        if self.left == 0:
            raise RuntimeError("once")
        return np.asarray(np.exp(-0.5 * ((rows - x) ** 2).sum(1)))


def with_kernel(cls: Any) -> bool:
    if cls.__name__.startswith("MultiKernel"):  # takes no function
        return False
    return "kernel" in cls._get_param_names() and hasattr(cls, "partial_fit")


def begun(cls: Any, kernel: Once) -> Any:
    kernel.left = 0
    classes = {"classes": [0, 1]} if issubclass(cls, ClassifierMixin) else {}
    return cls(kernel=kernel, **classes).partial_fit(X[:40], Y[:40])


def noted(model: Any) -> bytes:
    """All there is to know about a model, but for its kernel."""
    facts = (model.n_seen_, model._next_id, model._id_gap, model._core.state())
    return pickle.dumps(facts)


VERBS: dict[str, Callable[[Any], Any]] = {
    "partial_fit": lambda model: model.partial_fit(X[40:], Y[40:]),
    "unlearn": lambda model: model.unlearn([3, 7, 11, 12]),
    "set_C": lambda model: model.set_C(3.0),
    "finish": lambda model: model.finish(),
    "polish": lambda model: model.polish(),
}


@pytest.mark.parametrize(
    ("cls", "verb"),
    [
        pytest.param(cls, verb, id=f"{cls.__name__}-{verb}")
        for cls in filter(with_kernel, onlinesvm.all_estimators())
        for verb in VERBS
        if (hasattr(cls, verb) if verb != "unlearn" else cls.can(verb))
    ],
)
def test_a_call_whose_kernel_fails_is_undone(cls: Any, verb: str) -> None:
    kernel = Once()
    model = begun(cls, kernel)
    failures, left = 0, 0
    while True:
        before = noted(model)
        kernel.left = left = left + 1 + left // 8
        try:
            VERBS[verb](model)
        except RuntimeError:
            failures += 1
            assert noted(model) == before
            continue
        break
    assert failures or verb != "partial_fit"  # some have every value at hand
    again = begun(cls, kernel)
    VERBS[verb](again)
    kernel.left = 0
    np.testing.assert_allclose(model._scores(X), again._scores(X), atol=1e-3)


@pytest.mark.parametrize(("cls", "beyond"), [("IncrementalSVC", 410), ("RampSVC", 600)])
def test_a_call_that_fails_while_settling_leaves_the_model_as_it_was(cls: str, beyond: int) -> None:
    left = 10_000

    def kernel(A: NDArray[Any], B: NDArray[Any]) -> NDArray[Any]:
        nonlocal left
        left -= 1
        if left < 0:
            raise RuntimeError("no more")
        return np.asarray(A @ B.T)

    rows = np.random.default_rng(0).normal(size=(400, 3))
    y = np.where(rows[:, 0] > 0, 1, -1)
    model = getattr(onlinesvm, cls)(kernel=kernel, settle="call", classes=[-1, 1])
    model.partial_fit(rows[:20], y[:20])
    before = model.n_seen_, model._core.held, model.dual_coef_.tolist()
    left = beyond  # the rows are taken in by then
    with pytest.raises(RuntimeError, match="no more"):
        model.partial_fit(rows, y)
    left = 10_000
    assert (model.n_seen_, model._core.held, model.dual_coef_.tolist()) == before
