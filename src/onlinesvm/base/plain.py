"""Values as JSON and back: what a saved model may contain besides its arrays. No code, ever."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from .. import queries

_DTYPE = re.compile(r"[<>|=]?(b1|[iu][1248]|f[248]|U\d{1,5}|O)")
_QUERIES = {q.__name__: q for q in (queries.All, queries.Margin, queries.Greedy)}


def to_plain(name: str, value: Any) -> Any:
    """``value`` as something JSON can hold, exactly; a ValueError names what cannot be."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, list | tuple):
        return [to_plain(name, item) for item in value]
    if isinstance(value, np.ndarray):
        items = [to_plain(name, item) for item in value.tolist()]
        return {"array": items, "dtype": value.dtype.str}
    if isinstance(value, Mapping):
        return {"dict": [[to_plain(name, k), to_plain(name, v)] for k, v in value.items()]}
    if isinstance(value, queries.Query):
        return {"query": type(value).__name__, **asdict(value)}
    if callable(value):
        raise ValueError(
            f"{name} is a function, which a file without code cannot hold; "
            "use a named kernel, or pickle the model"
        )
    raise ValueError(f"{name} is a {type(value).__name__}, which cannot be saved; pickle the model")


def from_plain(value: Any) -> Any:
    """The value that ``to_plain`` was given; a ValueError for anything it cannot have written."""
    if isinstance(value, list):
        return [from_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"float": "inf" | "-inf" | "nan" as text, **rest} if not rest:
            return float(text)
        case {"dict": list() as pairs, **rest} if not rest:
            return {from_plain(k): from_plain(v) for k, v in pairs}
        case {"array": list() as items, "dtype": str() as dtype, **rest} if (
            not rest and _DTYPE.fullmatch(dtype)
        ):
            return np.array([from_plain(item) for item in items], dtype=np.dtype(dtype))
        case {"query": str() as name, **fields} if name in _QUERIES:
            return _QUERIES[name](**fields)
    raise ValueError(f"a saved value has the unknown form {sorted(map(str, value))}")
