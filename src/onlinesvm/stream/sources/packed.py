"""Files as bytes from any place on, packed or not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from zlib import crc32

from onlinesvm.stream.sources.arrow import pyarrow

__all__ = ["FileBytes", "packing"]

_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
_PIECE = 1 << 18


def packing(head: bytes) -> str | None:
    """How a file is packed, by its first bytes."""
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)


class FileBytes:
    """A file as it is without packing; a packed one is read from its start to get anywhere."""

    def __init__(self, path: Path) -> None:
        self.path = path
        pa = pyarrow()
        try:
            self._raw = pa.OSFile(str(path))
            how = packing(self._raw.read(4))
            self._raw.seek(0)
        except OSError as error:
            raise ValueError(f"{path}: {_plainly(error)}") from None
        self._size = self._raw.size()
        self._file: Any = pa.CompressedInputStream(self._raw, how) if how else self._raw
        self._is_packed = how is not None

    def read(self, n: int) -> bytes:
        """Up to n bytes; fewer only at the end."""
        pieces, left = [], n
        while left > 0:
            piece = self._piece(min(left, _PIECE) if self._is_packed else left)
            if not piece:
                break
            pieces.append(piece)
            left -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def pass_by(self, n: int) -> tuple[int, bytes]:
        """Read n bytes: their checksum and the last of them; a ValueError if the file is shorter.

        About a second a gigabyte.
        """
        checksum, last = 0, b""
        while n > 0:
            piece = self._piece(min(n, _PIECE))
            if not piece:
                raise ValueError(f"{self.path}: shorter than when it was read before; begin anew")
            n -= len(piece)
            checksum, last = crc32(piece, checksum), piece[-1:]
        return checksum, last

    @property
    def share(self) -> float:
        """How much of the file lies behind."""
        return float(self._raw.tell() / self._size) if self._size else 1.0

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()
        self._raw.close()

    def _piece(self, n: int) -> bytes:
        try:
            return bytes(self._file.read(n))
        except (OSError, pyarrow().ArrowInvalid) as error:
            raise ValueError(
                f"{self.path}: cannot be unpacked any further ({_plainly(error)}); "
                "is it cut off, or still being written?"
            ) from None


def _plainly(error: Exception) -> str:
    number = getattr(error, "errno", None)
    text = os.strerror(number) if number else str(error).splitlines()[0]
    return text[:1].lower() + text[1:].rstrip(".")
