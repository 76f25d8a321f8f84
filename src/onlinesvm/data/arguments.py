"""Checks of single values; each error names the parameter, what it must be, and what it was."""

from __future__ import annotations

import math
import numbers
import os
import re
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BEYOND = 1 << 63  # the core counts in 64 bits


def check_number(
    name: str,
    value: Any,
    *,
    above: float = -math.inf,
    at_least: float = -math.inf,
    below: float = math.inf,
    also: float | None = None,
) -> float:
    """``value`` as a float inside its range (``at_least <= value``, ``above < value < below``).

    ``also``: one more value that is allowed, such as infinity.
    """
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or value != value:
        raise ValueError(f"{name} must be a number, got {value!r}")
    try:
        real = float(value)
    except OverflowError:  # an integer beyond all floats
        real = -math.inf if value < 0 else math.inf
    if real != also and not (at_least <= real and above < real < below):
        bounds = [
            f"{sign} {bound:g}"
            for sign, bound in ((">", above), (">=", at_least), ("<", below))
            if math.isfinite(bound)
        ]
        raise ValueError(f"{name} must be finite{_joined(bounds)}, got {real!r}")
    return real


def _joined(bounds: list[str]) -> str:
    return f" and {' and '.join(bounds)}" if bounds else ""


def check_numbers(name: str, values: Any) -> NDArray[np.float64]:
    """``values`` as an array of floats."""
    try:
        return np.asarray(values, dtype=np.float64)
    except OverflowError:
        raise ValueError(f"{name} has an integer too large for a float; scale it") from None


def check_count(name: str, value: Any, *, at_least: int = 0) -> int:
    """``value`` as an int of at least ``at_least``."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < at_least:
        raise ValueError(f"{name} must be an integer >= {at_least}, got {value!r}")
    if int(value) >= _BEYOND:
        raise ValueError(f"{name} must be an integer below 2**63, got a longer one")
    return int(value)


_SIZE = re.compile(r"(\d+(?:\.\d*)?)\s*([kmgt]?)(i?)b", re.IGNORECASE)


def check_bytes(name: str, value: Any) -> int:
    """A number of bytes, or a size: ``"64MB"`` is 64 million bytes, ``"64MiB"`` 64 * 2**20."""
    if not isinstance(value, str):
        return check_count(name, value)
    size = _SIZE.fullmatch(value.strip())
    if size is None:
        raise ValueError(f'{name} must be a number of bytes or a size as "64MB", got {value!r}')
    number, unit, binary = size.groups()
    power = " kmgt".index(unit.lower() or " ")
    return int(float(number) * (1024 if binary else 1000) ** power)


def check_word(name: str, value: Any, words: Collection[str]) -> str:
    """``value`` if it is one of ``words``."""
    if not isinstance(value, str) or value not in words:
        offered = ", ".join(repr(w) for w in words)
        raise ValueError(
            f"{name} must be one of {offered}, got {value!r}{suggestion(value, words)}"
        )
    return value


def suggestion(given: Any, names: Iterable[str]) -> str:
    """The end of a message about a name that is not there: the one that was probably meant."""
    near = get_close_matches(str(given), list(names), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def check_flag(name: str, value: Any) -> bool:
    """``value`` as a bool if it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def threads(n_jobs: Any) -> int:
    """How many threads ``n_jobs`` means: None is 1, -1 all processors, -2 all but one.

    So many that the system would refuse them are of no use: eight per processor are the most.
    """
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, numbers.Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(f"n_jobs must be None, a positive number of threads or -1, got {n_jobs!r}")
    processors = os.cpu_count() or 1
    if n_jobs < 0:
        return max(1, processors + 1 + int(n_jobs))
    return min(int(n_jobs), 8 * processors)
