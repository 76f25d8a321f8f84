"""Where records end: delimited text, where a newline within quotes ends none, and plain lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from onlinesvm.stream.sources.dialect import demand_text
from onlinesvm.stream.sources.examples import Fault
from onlinesvm.stream.sources.raw import Head, Raw, TooShort, shown
from onlinesvm.stream.sources.source import BadRow

__all__ = ["Lines", "Quoting", "bad_rows", "whole_lines"]


@dataclass(frozen=True)
class Quoting:
    """Quotes as RFC 4180 has them: at the start of a field, doubled within.

    A quote anywhere else is a character like others, as in ``5" pipe``.
    """

    separator: bytes
    quote: bytes = b'"'
    runs: Literal["each", "as one"] = "each"  # of separators
    ends = b"\n"
    _quoted: re.Pattern[bytes] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # The quote comes first, and then a look back: so the search runs at the speed of memory.
        q = self.quote
        opening = q + rb"(?<![^\r\n" + re.escape(self.separator) + rb"]" + q + rb")"
        pattern = re.compile(opening + rb"(?:[^" + q + rb"]++|" + q + q + rb")*+(?:" + q + rb"|\Z)")
        object.__setattr__(self, "_quoted", pattern)

    def cut(self, data: bytes, at_least: int) -> int:
        """The end of the first record that ends at `at_least` or behind; -1 if none does.

        `data` begins with a record. Only a newline, with or without a carriage return, cuts.
        """
        end = data.find(b"\n", max(at_least - 1, 0)) + 1
        if not end or self.quote not in data:
            return end or -1
        for start, stop in self._fields(data):
            if start >= end:
                break
            if stop >= end:  # the newline was within
                end = data.find(b"\n", stop) + 1
                if not end:
                    return -1
        return end

    def last(self, data: bytes) -> int:
        """The end of the last whole record; 0 if there is none."""
        ends = self._outside(data, b"\n")
        return int(ends[-1]) + 1 if len(ends) else 0

    def table(self, data: bytes) -> list[tuple[int, int]]:
        """Start and stop of every record that is not empty; a bare \\r ends one, too."""
        ends = self._outside(data, b"\r\n").tolist()
        starts = [0, *(end + 1 for end in ends)]
        pairs = zip(starts, [*ends, len(data)], strict=True)
        if self.runs == "as one":  # a line of nothing but separators has no fields
            return [(a, b) for a, b in pairs if data[a:b].strip(self.separator)]
        return [(a, b) for a, b in pairs if a < b]

    def _outside(self, data: bytes, marks: bytes) -> NDArray[np.int64]:
        """Where one of the marks stands outside quotes."""
        whole = np.frombuffer(data, dtype=np.uint8)
        ends = np.flatnonzero(np.logical_or.reduce([whole == mark for mark in marks]))
        spans = list(self._fields(data)) if self.quote in data else []
        if spans:
            starts, stops = np.array(spans, dtype=np.int64).T
            before = np.searchsorted(starts, ends, side="right") - 1
            ends = ends[(before < 0) | (ends >= stops[before])]
        return ends

    def _fields(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Start and stop of every quoted field; the last one may lack its end."""
        return (match.span() for match in self._quoted.finditer(data))


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
