"""The log of a run: what has happened since a checkpoint, record by record.

A record is its length, a checksum of that, a checksum of its bytes, and the bytes; both checksums
know the number of the record in the file. A record that a crash has torn is the last one and was
never acknowledged: readers stop before it, writers cut it off.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from onlinesvm.atomic import opened_plainly
from onlinesvm.stream.run.appended import Appended

__all__ = ["Log", "Scan", "is_head_of_log", "read_log", "scan_log"]

_MAGIC = b"onlinesvm log 1\n"
_HEAD = struct.Struct("<16s8sQ")  # magic, run, number
_FRAME = struct.Struct("<III")  # length, its checksum, checksum of the bytes
_LONGEST = 1 << 30


class Log:
    """Takes records; `settle` when they must be on disk is its owner's choice."""

    def __init__(self, path: Path, run: bytes, number: int, scan: Scan | None = None) -> None:
        self._file = Appended(path, 0 if scan is None else scan.length)
        self._records = 0 if scan is None else scan.records
        if not self._file.length:
            self._file.append(_HEAD.pack(_MAGIC, run, number))

    def append(self, record: bytes) -> None:
        """Write one record, whole or not at all."""
        if len(record) > _LONGEST:
            raise ValueError(
                f"a block of the source takes {len(record):,} bytes in the log, more than "
                f"{_LONGEST:,}; let it give smaller ones"
            )
        self._file.append(_frame(record, self._records) + record)
        self._records += 1

    def sync(self) -> None:
        """Wait until every record is on the disk: one wait, for however many."""
        self._file.sync()

    def close(self) -> None:
        self._file.close()


def is_head_of_log(path: Path) -> bool:
    """Whether a file is a log without a record, or the beginning of one."""
    if path.stat().st_size > _HEAD.size:
        return False
    head = path.read_bytes()
    return head.startswith(_MAGIC) or _MAGIC.startswith(head)


@dataclass(frozen=True, slots=True)
class Scan:
    """What of a log can be read.

    Attributes
    ----------
    length : int
        Bytes up to the end of the last good record; 0 if not even the head is whole.
    records : int
    behind : int
        Bytes behind them that a crash does not explain.
    """

    length: int
    records: int
    behind: int = 0


def scan_log(path: Path, run: bytes, number: int) -> Scan:
    """How far a log can be read; one of another run is refused."""
    with opened_plainly(path) as file:
        size = os.fstat(file.fileno()).st_size
    length = records = 0
    for record in _frames(path, run, number):
        length, records = record.end, records + 1
    if not length:
        length = _HEAD.size if size >= _HEAD.size else 0
    scan = Scan(length, records)
    return replace(scan, behind=_behind(path, scan, size))


def read_log(path: Path, run: bytes, number: int) -> Iterator[bytes]:
    """The good records of a log, one at a time."""
    for frame in _frames(path, run, number):
        yield frame.record


@dataclass(frozen=True, slots=True)
class _Frame:
    record: bytes
    end: int


def _frames(path: Path, run: bytes, number: int) -> Iterator[_Frame]:
    with opened_plainly(path) as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(_HEAD.size)
        if len(head) < _HEAD.size:
            return
        _demand_head(path, head, run, number)
        at = _HEAD.size
        for count in range(size):
            frame = file.read(_FRAME.size)
            length = _length(frame, count)
            if length is None or length > size - at - _FRAME.size:  # a length is a claim
                return
            record = file.read(length)
            if _frame(record, count) != frame:
                return
            at += _FRAME.size + length
            yield _Frame(record, at)


def _demand_head(path: Path, head: bytes, run: bytes, number: int) -> None:
    magic, whose, which = _HEAD.unpack(head)
    if magic != _MAGIC:
        raise ValueError(f"{path.name} is no log that this version of onlinesvm can read")
    if (whose, which) != (run, number):
        raise ValueError(f"{path.name} is the log of another run, or of another checkpoint")


def _behind(path: Path, scan: Scan, size: int) -> int:
    """Bytes that no crash explains: a torn record is the last one, data that never came is zero."""
    if not scan.length or size == scan.length:
        return 0
    with opened_plainly(path) as file:
        file.seek(scan.length)
        frame = file.read(_FRAME.size)
        length = _length(frame, scan.records)
        torn = len(frame) < _FRAME.size or (
            length is not None and scan.length + _FRAME.size + length >= size
        )
        if torn or not (frame.strip(b"\0") or file.read(1 << 20).strip(b"\0")):
            return 0
        return size - scan.length


def _frame(record: bytes, number: int) -> bytes:
    seed = zlib.crc32(number.to_bytes(8, "little"))
    length = len(record).to_bytes(4, "little")
    return _FRAME.pack(len(record), zlib.crc32(length, seed), zlib.crc32(record, seed))


def _length(frame: bytes, number: int) -> int | None:
    """How long a record claims to be, if that can be believed."""
    if len(frame) < _FRAME.size:
        return None
    seed = zlib.crc32(number.to_bytes(8, "little"))
    length, checksum, _ = _FRAME.unpack(frame)
    return int(length) if zlib.crc32(frame[:4], seed) == checksum else None
