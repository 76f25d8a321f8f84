"""Files of text as sources, with bytes and lines as places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol
from zlib import crc32

from onlinesvm.stream.sources.packed import FileBytes
from onlinesvm.stream.sources.raw import Ending, Raw, Records, steady
from onlinesvm.stream.sources.schema import Schema
from onlinesvm.stream.sources.source import BadRow, Block, Examples, Place

__all__ = ["TextFile", "TextFormat", "whole_number"]

_KNOWN_BY = 4096  # first bytes


class TextFormat(Protocol):
    """What is settled of a format once its first rows are seen."""

    @property
    def word(self) -> str:
        """Its name."""
        ...

    @property
    def schema(self) -> Schema:
        """Its columns."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What should be said."""
        ...

    @property
    def start(self) -> tuple[int, int]:
        """Bytes and lines before the first row."""
        ...

    @property
    def records(self) -> Records:
        """Where they end."""
        ...

    def parse(self, raw: Raw) -> tuple[Examples, list[BadRow]]:
        """The rows of a block, and those that are bad."""
        ...


class TextFile:
    """Rows of a text file, packed or not.

    A place is a byte and a line of the text without packing, and a checksum of all before; to get
    there, a file is read again from its start, which takes about a second a gigabyte.
    """

    replays = True
    live = False

    def __init__(self, path: Path, form: TextFormat, ending: Ending = "record") -> None:
        self.path, self.form, self._ending = path, form, ending
        self.name = path.name
        self.schema, self.notes = form.schema, form.notes

    def identity(self) -> dict[str, Any]:
        """The format and the first line, which stay when a file grows."""
        first = self._head().partition(b"\n")[0]
        return {"format": self.form.word, "first_line": f"{crc32(first):08x}"}

    def blocks(self, since: Place | None = None) -> Iterator[Block]:
        """The rows behind a place, in blocks of about a megabyte."""
        head = self._head()
        byte, line = self.form.start if since is None else self._checked(since, head)
        stream = FileBytes(self.path)
        try:
            checksum, last = stream.pass_by(byte)
            more = stream.read(1)
            if since is not None:
                self._demand_unchanged(since, checksum, last, more)
            records, ending = self.form.records, self._ending
            parts = getattr(self.form, "parts", 1)
            for raw in steady(stream, records, byte, line, ending, checksum, more, parts):
                examples, bad = self.form.parse(raw)
                end = {
                    "byte": raw.end_byte,
                    "line": raw.end_line,
                    "head": _mark(head, raw.end_byte),
                    "before": f"{raw.checksum:08x}",
                }
                bad = [replace(row, file=self.name) for row in bad]
                yield Block(examples, end, bad, stream.share, raw)
        finally:
            stream.close()

    def close(self) -> None:
        """Nothing is held between blocks."""

    def _head(self) -> bytes:
        stream = FileBytes(self.path)
        try:
            return stream.read(_KNOWN_BY)
        finally:
            stream.close()

    def _checked(self, since: Place, head: bytes) -> tuple[int, int]:
        byte, line = whole_number(since, "byte"), whole_number(since, "line")
        if len(head) >= min(byte, _KNOWN_BY) and _mark(head, byte) != since.get("head"):
            raise ValueError(
                f"{self.path}: its first bytes are not those that were read before; begin anew"
            )
        return byte, line

    def _demand_unchanged(self, since: Place, checksum: int, last: bytes, more: bytes) -> None:
        if f"{checksum:08x}" != since.get("before"):
            raise ValueError(
                f"{self.path}: has changed in what was read of it before; begin anew, or restore it"
            )
        if last.strip(self.form.records.ends) and more.strip(b"\r\n"):
            raise ValueError(
                f"{self.path}: its last line had been read and has grown since; begin anew"
            )


def whole_number(place: Place, name: str) -> int:
    """A part of a place, which comes from a file."""
    value = place.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 62:
        raise ValueError(f"the place has {value!r:.40} as its {name}; it is of another source")
    return value


def _mark(head: bytes, byte: int) -> str:
    return f"{crc32(head[:byte]):08x}"
