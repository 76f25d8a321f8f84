"""How much a model may keep: a number of examples, or of bytes."""

from __future__ import annotations

import numbers
from typing import Any

from ..data.arguments import check_bytes
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
