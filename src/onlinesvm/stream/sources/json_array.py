"""A JSON array of objects, read object by object: the array is never held as a whole."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from onlinesvm.stream.sources.dialect import demand_text
from onlinesvm.stream.sources.head import Head, TooShort
from onlinesvm.stream.sources.json_lines import JsonObjects
from onlinesvm.stream.sources.objects import Objects
from onlinesvm.stream.sources.wishes import Wishes

__all__ = ["JsonArray", "looks_like_it"]

_BEGIN = re.compile(rb"\s*\[(?=\s*[{\]])")
_END = re.compile(rb"[\s,]*\]?\s*\Z")
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\Z)', re.DOTALL)


def looks_like_it(data: bytes) -> bool:
    """Whether text begins as an array of objects."""
    return _BEGIN.match(data) is not None


class Elements:
    """Every object ends a record: its last brace does, outside strings."""

    ends = b"}"

    def cut(self, data: bytes, at_least: int) -> int:
        return next((stop for _, stop in self.table(data) if stop >= at_least), -1)

    def last(self, data: bytes) -> int:
        """What stands behind the last object of all belongs to it."""
        table = self.table(data)
        stop = table[-1][1] if table else 0
        return len(data) if _END.match(data, stop) else stop

    def table(self, data: bytes) -> list[tuple[int, int]]:
        """Start and stop of every whole object."""
        plain = _STRING.sub(lambda found: b" " * len(found[0]), data)
        whole = np.frombuffer(plain, dtype=np.uint8)
        step = (whole == ord("{")).astype(np.int64) - (whole == ord("}"))
        braces = np.flatnonzero(step)
        depth = np.cumsum(step[braces])
        opens = braces[(step[braces] > 0) & (depth == 1)].tolist()
        stops = (braces[(step[braces] < 0) & (depth == 0)] + 1).tolist()
        return list(zip(opens, stops, strict=False))  # the last one may lack its end


@dataclass(frozen=True, slots=True)
class JsonArray(JsonObjects):
    """A file that is one JSON array of objects, one a line or not."""

    records = Elements()
    word = "json"

    @staticmethod
    def settle(where: str, head: Head, wishes: Wishes) -> JsonArray:
        mark = demand_text(where, head.data)
        begin = _BEGIN.match(head.data, mark)
        if begin is None:
            raise ValueError(f"{where}: is no JSON array of objects; say what it is: format=")
        start = begin.end()
        data = head.data[start:]
        items = [data[a:b] for a, b in Elements().table(data)]
        if not items and not head.is_all:
            raise TooShort
        if not items:
            raise ValueError(f"{where}: is an empty array; it needs JSON objects")
        return JsonArray(
            Objects.settle(where, items, wishes), (start, head.data.count(b"\n", 0, start))
        )
