"""Parameters set after learning began: they take effect, or the next learning verb says why not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core import revive
from ..data.arguments import check_number


def ready(model: Any) -> None:
    """Take up parameters that were set since the model was begun, or say which cannot be."""
    now, changed = model.get_params(deep=False), changed_parameters(model)
    state = model._state
    fixed = [name for name in changed if not model._can_change(name, now[name])]
    if fixed:
        name = fixed[0]
        raise ValueError(
            f"{name}={now[name]!r} differs from {name}={state.begun.get(name)!r}, with which "
            f"this {type(model).__name__} was begun; set it back, or fit again from the start"
        )
    taken_up = {name: now[name] for name in changed if name in model._taken_up}
    if taken_up:
        settings = {**state.core_settings, **taken_up}
        carried = model._carried_over(state.core.state())
        core = revive(state.core_name, settings, carried)
        model._state = state.but(core=core, core_settings=settings)
    if "C" in changed:
        move_C(model, now["C"])
    model._state = model._state.but(begun=now, altered=False)
    model._set_fast_path()


def changed_parameters(model: Any) -> list[str]:
    """The parameters that are not what they were when the model was begun."""
    state = model._state
    if not state.altered:
        return []
    now = model.get_params(deep=False)
    return [name for name in now if not same(now[name], state.begun.get(name))]


def can_change(model: Any, name: str, value: Any) -> bool:
    """Whether the model in hand can go on with another value of this parameter."""
    if name in ("dtype", "classes", "class_weight", "multiclass"):
        return False
    if name in model._taken_up or (name == "C" and model.can("set_C")):
        return True
    return settings_with(model, {}) == settings_with(model, {name: value})


def move_C(model: Any, C: Any) -> None:
    """Go to the solution for another ``C``, where the core has ``set_C``."""
    value = check_number("C", C, above=0)
    state = model._state
    state.core.set_C(value)
    model._state = state.but(
        core_settings={**state.core_settings, "C": value}, begun={**state.begun, "C": C}
    )
    model.C = C
    model._warn_if_capped()


def settings_with(model: Any, other: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of the core by the parameters it was begun with, but for ``other``."""
    twin = object.__new__(type(model))
    twin.__dict__.update({**model._state.begun, **other})
    settings: dict[str, Any] = twin._core_params(model.n_features_in_)
    return settings


def same(one: Any, other: Any) -> bool:
    """Whether two values of a parameter are equal."""
    try:
        return one is other or bool(one == other)
    except ValueError:  # arrays
        return bool(np.array_equal(one, other))
