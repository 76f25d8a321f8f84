"""Columns, their types and their parts: settled once, shown, stored, overridable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["Column", "Kind", "Part", "Schema"]

Kind = Literal["number", "category", "text", "date", "flag"]
Part = Literal["feature", "target", "key", "weight", "ignored"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, what it holds, and what it is for."""

    name: str
    kind: Kind
    part: Part = "feature"


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of a source, in its order; sparse rows have none, only a width that may grow."""

    columns: tuple[Column, ...]
    sparse: bool = False

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
            "columns": [{"name": c.name, "kind": c.kind, "part": c.part} for c in self.columns],
        }

    @staticmethod
    def from_json(facts: Mapping[str, Any]) -> Schema:
        """From a file."""
        columns = tuple(Column(c["name"], c["kind"], c["part"]) for c in facts["columns"])
        return Schema(columns, bool(facts["sparse"]))
