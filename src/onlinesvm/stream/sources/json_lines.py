"""JSON Lines: an object in every line."""

from __future__ import annotations

from dataclasses import dataclass

from onlinesvm.stream.sources.head import Head
from onlinesvm.stream.sources.lines import Lines, bad_rows, whole_lines
from onlinesvm.stream.sources.objects import Objects
from onlinesvm.stream.sources.raw import Raw
from onlinesvm.stream.sources.schema import Schema
from onlinesvm.stream.sources.source import BadRow, Examples
from onlinesvm.stream.sources.wishes import Wishes

__all__ = ["JsonLines", "JsonObjects"]


@dataclass(frozen=True, slots=True)
class JsonObjects:
    """Text of JSON objects, wherever a format says that each of them ends."""

    objects: Objects
    start: tuple[int, int]

    @property
    def schema(self) -> Schema:
        return self.objects.schema

    @property
    def notes(self) -> tuple[str, ...]:
        return self.objects.notes

    def parse(self, raw: Raw) -> tuple[Examples, list[BadRow]]:
        """The rows of a block, and those that are bad."""
        table = self.records.table(raw.data)  # type: ignore[attr-defined]
        examples, faults = self.objects.read([raw.data[a:b] for a, b in table])
        return examples, bad_rows(raw, table, faults)


@dataclass(frozen=True, slots=True)
class JsonLines(JsonObjects):
    """A file of one JSON object a line."""

    records = Lines()
    word = "jsonl"

    @staticmethod
    def settle(where: str, head: Head, wishes: Wishes) -> JsonLines:
        mark, data = whole_lines(where, head)
        items = [data[a:b] for a, b in Lines().table(data)]
        if not items:
            raise ValueError(f"{where}: is empty; it needs a JSON object in every line")
        return JsonLines(Objects.settle(where, items, wishes), (mark, 0))
