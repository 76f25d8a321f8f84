"""Values to JSON and back: what a saved model may contain besides its arrays. No code, ever."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from .. import forgetting, label_budgets, queries

_DTYPE = re.compile(r"[<>|](b1|[iu][1248]|f[248]|U\d+|[mM]8(\[\w+\])?|O)")
# Value objects, by the word that a file has for their kind, and by name.
_VALUES: dict[str, dict[str, Any]] = {
    kind: {cls.__name__: cls for cls in get_args(classes)}
    for kind, classes in {
        "query": queries.AnyQuery,
        "forget": forgetting.Forgetting,
        "budget": label_budgets.LabelBudget,
    }.items()
}
# An array of strings is as wide as its longest: so many bytes may it take beyond its characters;
# and so many beyond that width, which a file could claim in a few digits.
_MOST_PADDING, _MOST_IDLE = 1 << 24, 1 << 18
_CHARACTER = 4  # bytes, in such an array


def to_json(name: str, value: Any) -> Any:
    """``value`` as something JSON can hold, exactly; a ValueError names what cannot be."""
    if isinstance(value, np.generic):
        plain = _array_to_json(name, np.asarray(value))
        return {"scalar": plain["array"][0], "dtype": plain["dtype"]}
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, tuple):
        return {"tuple": [to_json(name, item) for item in value]}
    if isinstance(value, list):
        return [to_json(name, item) for item in value]
    if isinstance(value, np.ndarray):
        return _array_to_json(name, value)
    if isinstance(value, Mapping):
        return {"dict": [[to_json(name, k), to_json(name, v)] for k, v in value.items()]}
    for kind, classes in _VALUES.items():
        if type(value) in classes.values():
            known = {f.name: to_json(name, getattr(value, f.name)) for f in fields(value)}
            return {kind: type(value).__name__, **known}
    if callable(value):
        raise ValueError(
            f"{name} is a function, which a file without code cannot hold; "
            "use a named kernel, or pickle the model"
        )
    raise ValueError(f"{name} is a {type(value).__name__}, which cannot be saved; pickle the model")


def from_json(value: Any) -> Any:
    """The value that ``to_json`` was given; a ValueError for anything it cannot have written."""
    if isinstance(value, list):
        return [from_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"float": "inf" | "-inf" | "nan" as text, **rest} if not rest:
            return float(text)
        case {"tuple": list() as items, **rest} if not rest:
            return tuple(from_json(item) for item in items)
        case {"dict": list() as pairs, **rest} if not rest:
            return {from_json(k): from_json(v) for k, v in pairs}
        case {"scalar": item, "dtype": str() as dtype, **rest} if not rest and dtype != "|O":
            return _array_from_json([item], dtype)[0]
        case {"array": list() as items, "dtype": str() as dtype, **rest} if not rest:
            return _array_from_json(items, dtype)
        case {"array": list() as items, "dtype": str() as dtype, "shape": list() as shape, **rest}:
            if not rest:
                return _array_from_json(items, dtype).reshape(shape)
        case {"query": str() as name, **known} if name in _VALUES["query"]:
            return _VALUES["query"][name](**_from_json(known))
        case {"forget": str() as name, **known} if name in _VALUES["forget"]:
            return _VALUES["forget"][name](**_from_json(known))
        case {"budget": str() as name, **known} if name in _VALUES["budget"]:
            return _VALUES["budget"][name](**_from_json(known))
    raise ValueError(f"a saved value has the unknown form {sorted(map(str, value))[:9]}")


def _from_json(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: from_json(value) for name, value in fields.items()}


def _array_to_json(name: str, array: NDArray[Any]) -> dict[str, Any]:
    dtype = array.dtype
    if not _DTYPE.fullmatch(dtype.str):
        raise ValueError(f"{name} has the type {dtype}, which cannot be saved; pickle the model")
    flat = array.ravel()
    if dtype.kind in "mM":  # as numbers: nanoseconds are too fine for Python's own times
        flat = flat.astype(dtype.newbyteorder("=")).view(np.int64)
    items = flat.tolist()
    if dtype.kind == "U":
        if _is_far_too_wide(items, dtype.itemsize):  # the strings are the same in a narrower one
            dtype = np.array(items).dtype
        if _is_mostly_padding(items, dtype.itemsize):
            raise ValueError(
                f"{name} mixes long and short strings, which cannot be saved; shorten them"
            )
    plain = {"array": [to_json(name, item) for item in items], "dtype": dtype.str}
    return plain if array.ndim == 1 else plain | {"shape": list(array.shape)}


def _array_from_json(items: list[Any], text: str) -> NDArray[Any]:
    if not _DTYPE.fullmatch(text):
        raise ValueError(f"a saved array has the type {text[:20]!r}")
    if text[1] == "O":
        objects = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):  # one by one: a tuple is one label, not a row
            objects[i] = from_json(item)
        return objects
    dtype = np.dtype(text)
    if dtype.kind == "U" and (
        _is_mostly_padding(items, dtype.itemsize) or _is_far_too_wide(items, dtype.itemsize)
    ):
        raise ValueError("a saved array of strings is too wide")
    if dtype.kind in "mM":
        times = np.array(items, dtype=np.int64).view(dtype.newbyteorder("="))
        return times.astype(dtype, copy=False)
    array = np.array([from_json(item) for item in items], dtype=dtype)
    if array.ndim != 1:
        raise ValueError("a saved array has nested items")
    return array


def _is_far_too_wide(items: list[str], itemsize: int) -> bool:
    longest = max(map(len, items), default=0)
    return len(items) * (itemsize - _CHARACTER * longest) > _MOST_IDLE


def _is_mostly_padding(items: list[str], itemsize: int) -> bool:
    return len(items) * itemsize > 16 * sum(map(len, items)) + _MOST_PADDING
