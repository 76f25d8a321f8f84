"""What the user wants of `learn`: by flags, by a TOML file, or by both."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Self

__all__ = ["Reading", "Wishes", "folder_for", "from_toml"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How rows are read; None and nothing mean that looking will tell."""

    target: str | None = None
    key: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    header: bool | None = None
    separator: str | None = None
    format: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes(Reading):
    """All options of `learn`, under the names that a TOML file has them by."""

    source: str | None = None
    model: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    prepare: str | None = None
    run: str | None = None
    lesson: int | None = None
    window: int | None = None
    metrics: tuple[str, ...] = ()
    fsync: str | None = None
    limit: int | None = None
    max_bad: float | None = None
    follow: bool | None = None

    def over(self, others: Wishes) -> Self:
        """These, and where they say nothing the others; tables are joined."""
        joined: dict[str, Any] = {}
        for one in fields(self):
            mine, theirs = getattr(self, one.name), getattr(others, one.name)
            if isinstance(mine, Mapping):
                joined[one.name] = {**theirs, **mine}
            elif mine is None or mine == ():
                joined[one.name] = theirs
        return replace(self, **joined)


def folder_for(spec: str, ending: str) -> Path:
    """A folder under the name of a source.

    >>> folder_for("data/flows.csv.gz", ".run").name, folder_for("-", ".run").name
    ('flows.run', 'stdin.run')
    """
    if spec == "-":
        return Path(f"stdin{ending}")
    name = re.sub(r"[?#].*", "", spec.rstrip("/")).rpartition("/")[2].partition(".")[0]
    return Path((name or "source") + ending)


_KINDS: dict[str, tuple[type, ...]] = {
    "types": (dict,),
    "params": (dict,),
    "ignore": (list,),
    "missing": (list,),
    "metrics": (list,),
    "header": (bool,),
    "follow": (bool,),
    "lesson": (int,),
    "window": (int,),
    "limit": (int,),
    "max_bad": (float, int),
    "target": (str, int),
    "key": (str, int, list),
}
_LARGEST = 1 << 20


def from_toml(path: Path) -> Wishes:
    """The wishes in a file; what nobody understands is refused by name."""
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST + 1)
        if len(text) > _LARGEST:
            raise ValueError("is longer than any such file")
        given = tomllib.loads(text.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None
    known = [one.name for one in fields(Wishes)]
    for name, value in given.items():
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"it may have {', '.join(known)}"
            raise ValueError(f"{path}: {name} is no option of learn; {hint}")
        kinds = _KINDS.get(name, (str,))
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            words = " or ".join(_WORDS[kind] for kind in kinds)
            raise ValueError(f"{path}: {name} must be {words}, got {value!r:.40}")
    plain = {name: _plain(path, name, value) for name, value in given.items()}
    return Wishes(**plain)


_WORDS = {
    dict: "a table",
    list: "a list",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a string",
}


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
