"""Standard input: rows as they come, once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from onlinesvm.stream.sources.arrow import pyarrow
from onlinesvm.stream.sources.packed import packing
from onlinesvm.stream.sources.raw import Head, Stream, arriving, settled
from onlinesvm.stream.sources.source import Block, Place
from onlinesvm.stream.sources.text import TextFormat

__all__ = ["Pipe", "standard_input", "unpacked"]

_ENOUGH = 1 << 16  # bytes that settle the types: nobody wants to wait for a megabyte


class _Coming:
    """What a pipe has, without waiting for more."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def read(self, n: int, /) -> bytes:
        return bytes(self._file.read1(n))


def standard_input() -> Stream:
    """The bytes of standard input, unpacked."""
    return unpacked(sys.stdin.buffer)


def unpacked(file: BinaryIO) -> Stream:
    """The bytes of a pipe, as they come."""
    how = packing(file.peek(4))  # type: ignore[attr-defined]
    if how is None:
        return _Coming(file)
    stream: Stream = pyarrow().CompressedInputStream(pyarrow().PythonFile(file, "r"), how)
    return stream


class Pipe:
    """Rows of a pipe, mostly standard input; what was read is gone: nothing can start again."""

    replays = False
    live = False

    def __init__(
        self, stream: Stream, settle: Callable[[Head], TextFormat], name: str = "standard input"
    ) -> None:
        self.name = name
        self.form, head = settled(stream, settle, _ENOUGH)
        self.schema, self.notes = self.form.schema, self.form.notes
        byte, line = self.form.start
        self._at: Place = {"byte": byte, "line": line}
        self._blocks = self._read(stream, head[byte:])

    def identity(self) -> dict[str, Any]:
        """The format: of a pipe nothing else can be known."""
        return {"format": self.form.word, "pipe": True}

    def blocks(self, since: Place | None = None) -> Iterator[Block]:
        """The rows that have not been read yet."""
        begun = self._at != dict(zip(("byte", "line"), self.form.start, strict=True))
        if (since is not None and dict(since) != self._at) or (since is None and begun):
            raise ValueError(
                f"{self.name} cannot be read again; write it to a file, or a folder that grows"
            )
        return self._blocks

    def close(self) -> None:
        """A pipe is closed by whoever opened it, or with the process."""

    def _read(self, stream: Stream, data: bytes) -> Iterator[Block]:
        for raw in arriving(stream, self.form.records, data, self._at["byte"], self._at["line"]):
            examples, bad = self.form.parse(raw)
            self._at = {"byte": raw.end_byte, "line": raw.end_line}
            yield Block(examples, self._at, bad, raw=raw)
