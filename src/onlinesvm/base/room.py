"""How much a model may keep: a number of examples, or of bytes."""

from __future__ import annotations

import numbers
from typing import Any

from ..params import check_bytes
from .kernel_method import KernelMethod
from .parameters import special

_ALL = 2**62
# The core foresees what its arrays take but for some that double: measured, 8 % at most.
_SPARE = 10
#: The core's parameters where there is no bound.
UNBOUNDED: dict[str, int] = {"budget": _ALL, "budget_bytes": 0}


def check_room(name: str, value: Any) -> dict[str, int]:
    """The core's parameters for a number of examples, or for a size as ``"64MB"``."""
    if isinstance(value, str):
        size = check_bytes(name, value)
        return {"budget": _ALL, "budget_bytes": max(1, size - size // _SPARE)}
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 2:
        raise ValueError(f'{name} must be an integer >= 2 or a size as "64MB", got {value!r}')
    return {"budget": int(value), "budget_bytes": 0}


def room(*, default: int | None, doc: str) -> Any:
    """A number of examples, or a size; None, for all, only where it is the default."""
    bad = [1, 2.5, True, "many", "64 parrots"]
    if default is None:
        return special(
            default=None, none=UNBOUNDED, type="int or str", check=check_room, bad=bad, doc=doc
        )
    return special(
        default=default,
        type="int or str",
        check=check_room,
        bad=[*bad, None],
        kw_only=False,
        doc=doc,
    )


class WithBudget(KernelMethod):
    """A learner that keeps so many examples and no more."""

    budget: int | str | None = room(
        default=500,
        doc="""Examples kept at most, >= 2; or the memory of the model, such as ``"64MB"``, which
        ``nbytes_`` then never exceeds, but for keys and the rows that settle a ``gamma`` by word;
        dicts, whose names have no end, are refused then. Each
        example costs as many kernel values as are kept; accuracy grows with them, ever more
        slowly.""",
    )

    def _core_params(self, n_features: int) -> dict[str, Any]:
        budget: dict[str, int] = self._parameters["budget"].value("budget", self.budget)
        settings = super()._core_params(n_features) | budget
        if settings["budget_bytes"] and "cache_bytes" in settings:  # a part of the same memory
            settings["cache_bytes"] = min(settings["cache_bytes"], settings["budget_bytes"] // 4)
        return settings
