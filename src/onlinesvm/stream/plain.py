"""What was counted, taken back from a file: plain values that are what they should be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onlinesvm.data.arguments import check_count

__all__ = ["MOST_COUNTED", "counts", "label", "labels", "members", "number"]

MOST_COUNTED = 1 << 62  # of anything: more was forged


def members(state: Any, names: Sequence[str]) -> list[Any]:
    """The values under these names, which must be all there are."""
    if not isinstance(state, Mapping) or state.keys() != set(names):
        raise ValueError(f"a saved count must have {', '.join(names)}, and nothing else")
    return [state[name] for name in names]


def counts(*values: Any) -> list[int]:
    """Whole numbers that were counted."""
    if any(check_count("a saved count", value) > MOST_COUNTED for value in values):
        raise ValueError("a saved count is larger than anything can be counted")
    return list(values)


def number(value: Any) -> float:
    """A float, which may be infinite or nan."""
    if not isinstance(value, float):
        raise ValueError(f"a saved number must be one, got {value!r:.40}")
    return value


def label(value: Any) -> Any:
    """Something that can be counted by."""
    try:
        hash(value)
    except TypeError:
        raise ValueError(f"a saved label must be one value, got {value!r:.40}") from None
    return value


def labels(values: Any, count: int) -> list[Any]:
    """So many labels."""
    if not isinstance(values, list) or len(values) != count:
        raise ValueError(f"a saved column must have {count} entries")
    return [label(value) for value in values]
