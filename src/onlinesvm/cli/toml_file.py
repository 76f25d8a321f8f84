"""The options of `learn` from a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from onlinesvm.cli.options import LearnOptions

__all__ = ["from_toml"]

_LARGEST = 1 << 20
_WORDS = {
    dict: "a table",
    list: "a list",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a string",
}
_ALSO: dict[str, tuple[type, ...]] = {"target": (str, int), "key": (str, int, list)}


def from_toml(path: Path) -> LearnOptions:
    """The options in a file; an unknown one is refused by name."""
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST + 1)
        if len(text) > _LARGEST:
            raise ValueError("is longer than any such file")
        given = tomllib.loads(text.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None
    known = [one.name for one in fields(LearnOptions)]
    hints = get_type_hints(LearnOptions)
    for name, value in given.items():
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"it may have {', '.join(known)}"
            raise ValueError(f"{path}: {name} is no option of learn; {hint}")
        kinds = _ALSO.get(name) or _kinds(hints[name])
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            words = " or ".join(_WORDS[kind] for kind in kinds)
            raise ValueError(f"{path}: {name} must be {words}, got {value!r:.40}")
    return LearnOptions(**{name: _plain(path, name, value) for name, value in given.items()})


def _kinds(hint: Any) -> tuple[type, ...]:
    """What TOML may have where an option has this type.

    >>> _kinds(float | None), _kinds(tuple[str, ...])
    ((<class 'float'>, <class 'int'>), (<class 'list'>,))
    """
    if get_origin(hint) is tuple:
        return (list,)
    if get_origin(hint) is Mapping:
        return (dict,)
    kind = get_args(hint)[0]
    return (float, int) if kind is float else (kind,)


def _plain(path: Path, name: str, value: Any) -> Any:
    if name == "target":
        return str(value)
    if isinstance(value, list):
        return tuple(map(str, value))
    if name == "key":
        return (str(value),)
    if name == "types" and not all(isinstance(kind, str) for kind in value.values()):
        raise ValueError(f"{path}: types must have strings, such as zip = 'category'")
    return value
