"""Records that are lines, whatever they contain."""

from __future__ import annotations

import numpy as np

from onlinesvm.stream.sources.dialect import demand_text
from onlinesvm.stream.sources.examples import Fault
from onlinesvm.stream.sources.head import Head, TooShort
from onlinesvm.stream.sources.raw import Raw, shown
from onlinesvm.stream.sources.source import BadRow

__all__ = ["Lines", "bad_rows", "whole_lines"]


class Lines:
    """Every newline ends a record."""

    ends = b"\n"

    def cut(self, data: bytes, at_least: int) -> int:
        return data.find(b"\n", max(at_least - 1, 0)) + 1 or -1

    def last(self, data: bytes) -> int:
        return data.rfind(b"\n") + 1

    def table(self, data: bytes) -> list[tuple[int, int]]:
        """Start and stop of every line that is not blank."""
        ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == 10).tolist()
        starts = [0, *(end + 1 for end in ends)]
        pairs = zip(starts, [*ends, len(data)], strict=True)
        return [(a, b) for a, b in pairs if a < b and data[a:b].strip()]


def bad_rows(raw: Raw, table: list[tuple[int, int]], faults: dict[int, Fault]) -> list[BadRow]:
    """The faults of records, with all that is needed to find them, in order."""
    rows = list(raw.bad)
    if faults:
        newlines = np.flatnonzero(np.frombuffer(raw.data, dtype=np.uint8) == 10)
        for i, fault in sorted(faults.items()):
            start, stop = table[i]
            line = raw.line + int(np.searchsorted(newlines, start)) + 1
            text = shown(raw.data[start:stop])
            rows.append(BadRow(text, fault.reason, fault.column, line, raw.byte + start))
    return sorted(rows, key=lambda row: row.byte or 0)


def whole_lines(where: str, head: Head) -> tuple[int, bytes]:
    """Where the text of a source begins, and its first lines, without one that is cut short."""
    mark = demand_text(where, head.data)
    data = head.data[mark:]
    if head.is_all:
        return mark, data
    data = data[: Lines().last(data)]
    if not data.strip():
        raise TooShort
    return mark, data
