"""Columns, their types and their parts: settled once, shown, stored, overridable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

__all__ = ["Column", "Kind", "Part", "Schema"]

Kind = Literal["number", "category", "text", "date", "flag"]
Part = Literal["feature", "target", "key", "weight", "ignored"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, what it holds, what it is for, and how its values are written.

    `form` is what the kind alone does not say: of a date its pattern, such as "iso" or "%d.%m.%Y",
    of a number "," where that is the decimal sign.
    """

    name: str
    kind: Kind
    part: Part = "feature"
    form: str = ""


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of a source, in its order; sparse rows have a target and a width instead.

    `missing` are spellings of no value, besides those that everybody uses.
    """

    columns: tuple[Column, ...]
    sparse: bool = False
    width: int = 0
    missing: tuple[str, ...] = ()

    @property
    def target(self) -> str | None:
        """The name of the column to be learned."""
        return next((c.name for c in self.columns if c.part == "target"), None)

    @property
    def features(self) -> tuple[Column, ...]:
        """What the model sees."""
        return tuple(c for c in self.columns if c.part == "feature")

    def to_json(self) -> dict[str, Any]:
        """As a run stores it."""
        return {
            "sparse": self.sparse,
            "width": self.width,
            "missing": list(self.missing),
            "columns": [asdict(c) for c in self.columns],
        }

    @staticmethod
    def from_json(facts: Mapping[str, Any]) -> Schema:
        """From a file."""
        columns = tuple(
            Column(str(c["name"]), c["kind"], c["part"], str(c.get("form", "")))
            for c in facts["columns"]
        )
        for c in columns:
            if c.kind not in get_args(Kind) or c.part not in get_args(Part):
                raise ValueError(f"the schema has {c.kind!r:.40} or {c.part!r:.40} for {c.name!r}")
        width = facts.get("width", 0)
        if not isinstance(width, int) or not 0 <= width < 1 << 31:
            raise ValueError(f"the schema has {width!r:.40} as its width")
        missing = facts["missing"]
        if not isinstance(missing, list) or not all(isinstance(word, str) for word in missing):
            raise ValueError(f"the schema has {missing!r:.40} as what is missing")
        return Schema(columns, bool(facts["sparse"]), width, tuple(missing))
