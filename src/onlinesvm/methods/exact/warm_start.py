"""POKER from a solution that is not its own: one for another bias, or of another solver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from ...core import Core, revive

_SHARED = ("width", "outputs", "cost", "class", "age", "arrived")
_OF_THE_PROBLEM = ("C", "kernel", "gamma", "degree", "coef0", "class_weight", "classes", "dtype")


def solved(name: str, settings: dict[str, Any], state: dict[str, Any]) -> Core:
    """A core that goes on from a state which is not optimal, to where it is."""
    core = revive(name, settings, state)
    none = np.empty(0)
    rows = np.empty((0, int(state["width"])), dtype=f"float{name[-2:]}")
    core.learn_dense(rows, none, none, none.astype(np.int64))  # a call ends at the optimum
    return core


def with_bias(state: dict[str, Any], bias: float) -> dict[str, Any]:
    """The same multipliers, decided with another bias."""
    moved = dict(state)
    for c in range(int(state["outputs"])):
        by = -bias - float(state[f"box{c}.t"])
        moved[f"box{c}.t"] = np.array(-bias)
        moved[f"box{c}.h"] = state[f"box{c}.h"] + by
    return moved


def demand_same_problem(own: Any, model: Any) -> None:
    """A ValueError unless the other machine has the same problem, but for the bias."""
    if not is_classifier(model) or not hasattr(model._core, "evidence"):
        raise ValueError(
            "model must be a classifier that keeps its examples and their multipliers, such as "
            f"SmoSVC or RampSVC; got {type(model).__name__}"
        )
    model._demand_whole("be started from")
    if model._held is not None:
        raise ValueError("model has not settled its gamma yet; learn more examples first")
    for name in _OF_THE_PROBLEM:
        if not np.array_equal(getattr(own, name), getattr(model, name)):
            raise ValueError(
                f"model must have the same {name}: it has {getattr(model, name)!r}, this "
                f"{type(own).__name__} has {getattr(own, name)!r}"
            )
    if model._core.has_pairs and len(model.classes_) > 2:
        raise ValueError(
            "model has a machine for each pair of classes; use multiclass='one-vs-rest'"
        )
    if model._core_settings["kernel"]["offset"]:
        raise ValueError("model must have no bias in its kernel; take bias='none' there")


def as_poker(
    state: Mapping[str, Any], evidence: Mapping[str, Any], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """The state of POKER's core with the examples and multipliers of another one's.

    Nobody is in S yet: those between their bounds join it along the path.
    """
    poker = {k: v for k, v in state.items() if k in _SHARED or k.startswith("rows.")}
    order = np.searchsorted(evidence["ids"], state["rows.ids"])
    cost, empty = state["cost"], np.empty(0)
    for c in range(int(state["outputs"])):
        y = evidence["base"][c, order, 0]
        b = settings["given_bias"] if settings["bias"] == "none" else float(evidence["bias"][c])
        lo, hi = np.where(y > 0, 0.0, -cost), np.where(y > 0, cost, 0.0)
        box = {
            "s": np.clip(evidence["s"][c, order, 0], lo, hi),
            "h": y - b - evidence["f"][order, c],
            "lo": lo,
            "hi": hi,
            "base": y,
            "t": np.array(-b),
            "target": np.array(0.0),
            "S": np.empty(0, dtype=np.int64),
            "gram.inverse.size": np.array(0),
            "gram.kernel": empty,
            "since_refresh": np.array(0),
        }
        inverse = dict.fromkeys(("values", "changes", "weights"), empty)
        poker |= {f"box{c}.{k}": v for k, v in box.items()}
        poker |= {f"box{c}.gram.inverse.{k}": v for k, v in inverse.items()}
    return poker | {"total": np.array(float(cost.sum())), "breakpoints": np.array(0)}
