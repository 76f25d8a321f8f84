"""Parameters set after learning began: they take effect, or the next learning verb says why not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..params import check_number
from .core import revive
from .state import ModelState


class Reconfigurable(ModelState):
    """Keeps the parameters that the model at hand was begun with beside those set now."""

    _begun: Mapping[str, Any] = {}  # the parameters that the model at hand was begun with
    _altered: bool = False  # some were set since
    # Those that a core takes up whose state is given to a new one.
    _taken_up: ClassVar[tuple[str, ...]] = ("cache_bytes",)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name[0] != "_" and name[-1] != "_" and "_core" in self.__dict__:
            self._altered = True
            self._set_fast_path()

    def _ready(self) -> None:
        """Take up parameters that were set since the model was begun, or say which cannot be."""
        if not self._altered:
            return
        now, changed = self.get_params(deep=False), self._changed()
        fixed = [name for name in changed if not self._can_change(name, now[name])]
        if fixed:
            name = fixed[0]
            raise ValueError(
                f"{name}={now[name]!r} differs from {name}={self._begun.get(name)!r}, with which "
                f"this {type(self).__name__} was begun; set it back, or fit again from the start"
            )
        taken_up = [name for name in changed if name in self._taken_up]
        if taken_up:
            self._core_settings = {**self._core_settings, **{n: now[n] for n in taken_up}}
            state = self._carried_over(self._core.state())
            self._core = revive(self._core_name, self._core_settings, state)
        if "C" in changed:
            self._move_C(now["C"])
        self._begun, self._altered = now, False
        self._set_fast_path()

    def _carried_over(self, state: dict[str, Any]) -> dict[str, Any]:
        """The state of the core as one with the parameters set now takes it."""
        return state

    def _changed(self) -> list[str]:
        """The parameters that are not what they were when the model was begun."""
        if not self._altered:
            return []
        now = self.get_params(deep=False)
        return [name for name in now if not _same(now[name], self._begun.get(name))]

    def _can_change(self, name: str, value: Any) -> bool:
        """Whether the model in hand can go on with another value of this parameter."""
        if name in ("dtype", "classes", "class_weight", "multiclass"):
            return False
        if name in self._taken_up:
            return True
        if name == "C" and self.can("set_C"):
            return True
        return self._settings_with({}) == self._settings_with({name: value})

    def _move_C(self, C: Any) -> None:
        """Go to the solution for another ``C``, where the core has ``set_C``."""
        value = check_number("C", C, above=0)
        self._core.set_C(value)
        self._core_settings = {**self._core_settings, "C": value}
        self._begun = {**self._begun, "C": C}
        self.C = C
        self._warn_if_capped()

    def _settings_with(self, other: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of the core by the parameters it was begun with, but for ``other``."""
        twin = object.__new__(type(self))
        twin.__dict__.update({**self._begun, **other})
        settings: dict[str, Any] = twin._core_params(self.n_features_in_)
        return settings


def _same(one: Any, other: Any) -> bool:
    try:
        return one is other or bool(one == other)
    except ValueError:  # arrays
        return bool(np.array_equal(one, other))
