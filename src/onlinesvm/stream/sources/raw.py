"""Bytes cut into blocks of whole records, at places that depend on the bytes alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar
from zlib import crc32

from onlinesvm.stream.sources.source import BadRow

__all__ = [
    "BLOCK",
    "LONGEST",
    "Ending",
    "Head",
    "Raw",
    "Records",
    "Stream",
    "TooShort",
    "arriving",
    "settled",
    "shown",
    "steady",
]

BLOCK = 1 << 20
LONGEST = 64 << 20  # a record longer than that is a mistake, and would fill the memory
_SHOWN = 10_000
# What a last record without a newline is: one like others, or still being written.
Ending = Literal["record", "unfinished"]


class Records(Protocol):
    """How a format ends its records."""

    @property
    def ends(self) -> bytes:
        """The bytes with which one is surely over."""
        ...

    def cut(self, data: bytes, at_least: int) -> int:
        """The end of the first record that ends at `at_least` or behind; -1 if none does."""
        ...

    def last(self, data: bytes) -> int:
        """The end of the last whole record; 0 if there is none."""
        ...


class Stream(Protocol):
    """Where bytes come from."""

    def read(self, n: int, /) -> bytes:
        """At most n bytes, some of them at least; none at the end."""
        ...


@dataclass(frozen=True, slots=True)
class Raw:
    """Whole records, where they begin and end, and what was no record."""

    data: bytes
    byte: int
    line: int  # lines before it
    end_byte: int
    end_line: int
    bad: tuple[BadRow, ...] = ()
    checksum: int = field(default=0, compare=False)  # of the stream up to its end
    left_out: bytes = b""  # behind the data, as it stands, up to what a person is shown


def steady(
    stream: Stream,
    records: Records,
    byte: int,
    line: int,
    ending: Ending,
    checksum: int = 0,
    data: bytes = b"",
    parts: int = 1,
) -> Iterator[Raw]:
    """Blocks that end with the first record behind each multiple of a block's size, or its parts.

    So they are the same from wherever reading starts. `checksum` is of the bytes before, `data`
    has been read before.
    """
    cutter, size = _Cutter(stream, records, byte, line, data, checksum), BLOCK // parts
    while True:
        goal = (cutter.byte // size + 1) * size - cutter.byte
        want = goal + BLOCK // 16
        while (end := cutter.cut_at(goal, want)) < 0 and not cutter.ended:
            if want == goal + LONGEST:
                break
            want = min(2 * want, goal + LONGEST)
        if end >= 0:
            yield cutter.take(end)
        elif not cutter.ended:
            yield cutter.pass_over()
        elif (rest := cutter.rest(ending)) is not None:
            yield rest
        else:
            return


def arriving(stream: Stream, records: Records, data: bytes, byte: int, line: int) -> Iterator[Raw]:
    """Blocks of whatever has come, for a stream that nobody wants to wait for.

    `data` has come before.
    """
    cutter = _Cutter(stream, records, byte, line, data)
    looked = 0
    while not cutter.ended:
        have, last = len(cutter.data), 0
        if have < BLOCK or have >= 2 * looked:  # no long record is searched with every piece
            last = records.last(cutter.data)
            looked = 0 if last else have
        if last:
            yield cutter.take(last)
        elif have > LONGEST:
            yield cutter.pass_over()
        else:
            cutter.fill(have + 1)
    while (rest := cutter.rest("record")) is not None:
        yield rest


def shown(data: bytes) -> str:
    """A record for a person to see."""
    text = data[: 4 * _SHOWN].decode(errors="backslashreplace").rstrip("\r\n")
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


class _Cutter:
    """What was read and not yet given, and where it stands in the stream."""

    def __init__(
        self,
        stream: Stream,
        records: Records,
        byte: int,
        line: int,
        data: bytes = b"",
        checksum: int = 0,
    ) -> None:
        self.stream, self.records, self.data = stream, records, data
        self.byte, self.line, self.checksum = byte, line, checksum
        self.ended = False

    def fill(self, n: int) -> None:
        """Have n bytes, or all there are."""
        pieces, have = [self.data], len(self.data)
        while have < n and not self.ended:
            piece = self.stream.read(max(n - have, BLOCK // 16))
            self.ended = not piece
            pieces.append(piece)
            have += len(piece)
        self.data = b"".join(pieces) if len(pieces) > 1 else self.data

    def cut_at(self, goal: int, want: int) -> int:
        self.fill(want)
        return self.records.cut(self.data, goal)

    def take(self, n: int, bad: BadRow | None = None, without: int = 0) -> Raw:
        """The next n bytes as a block; the last `without` of them are no records."""
        data, self.data = self.data[:n], self.data[n:]
        start, line = self.byte, self.line
        self.byte, self.line = start + n, line + data.count(b"\n")
        good, told = data[: n - without], () if bad is None else (bad,)
        self.checksum = crc32(data, self.checksum)
        left_out = data[n - without :]
        return Raw(good, start, line, self.byte, self.line, told, self.checksum, left_out)

    def pass_over(self) -> Raw:
        """The whole records and the one behind them that does not end, which is bad."""
        last = self.records.last(self.data)
        newline = self.data.find(b"\n", last) + 1
        if newline:  # it goes on behind a newline: so it is within quotes
            bad = self._bad(last, newline, "opens a quote that nothing closes")
            return self.take(newline, bad, without=newline - last)
        if last:
            return self.take(last)
        bad = self._bad(0, len(self.data), f"is longer than {LONGEST >> 20} MB")
        start, line, left_out = self.byte, self.line, self.data[:_SHOWN]
        newline = 0
        while not newline and not self.ended:
            self._drop(len(self.data))
            self.fill(1)
            newline = self.data.find(b"\n") + 1
        self._drop(newline)
        self.line = line + bool(newline)
        return Raw(b"", start, line, self.byte, self.line, (bad,), self.checksum, left_out)

    def _drop(self, n: int) -> None:
        self.checksum = crc32(self.data[:n], self.checksum)
        self.byte += n
        self.data = self.data[n:]

    def rest(self, ending: Ending) -> Raw | None:
        """What is left once the stream has ended, up to a quote that nothing closes."""
        last = self.records.last(self.data)
        if ending == "record" and b"\n" in self.data[last:]:
            return self.pass_over()
        whole = last if ending == "unfinished" else len(self.data)
        return self.take(whole) if whole else None

    def _bad(self, start: int, stop: int, reason: str) -> BadRow:
        line = self.line + self.data.count(b"\n", 0, start) + 1
        return BadRow(shown(self.data[start:stop]), reason, line=line, byte=self.byte + start)


T = TypeVar("T")


class TooShort(Exception):
    """More of the source is needed to settle how it is written."""


@dataclass(frozen=True, slots=True)
class Head:
    """The first bytes of a source, and whether they are all."""

    data: bytes
    is_all: bool


def settled(stream: Stream, judge: Callable[[Head], T], enough: int = BLOCK) -> tuple[T, bytes]:
    """What a judge says of the first bytes, read until it has seen enough; and these bytes."""
    data = b""
    while True:
        piece = b"?"
        while piece and len(data) < enough:
            piece = stream.read(enough - len(data))
            data += piece
        try:
            return judge(Head(data, not piece)), data
        except TooShort:
            if enough >= LONGEST:
                raise ValueError("a first record of more than 64 MB; is it text?") from None
            enough *= 4
