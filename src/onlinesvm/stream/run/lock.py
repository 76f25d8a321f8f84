"""One process at a time on a run folder."""

from __future__ import annotations

import os
from pathlib import Path

from onlinesvm.files.atomic import plain_file

__all__ = ["Lock"]

_BEYOND = 1 << 30  # Windows locks bytes, which nobody else can read then: one behind the number


class Lock:
    """Held until it is released or the process ends, however it ends."""

    def __init__(self, path: Path) -> None:
        self._file = plain_file(path, os.O_RDWR | os.O_CREAT)
        try:
            _seize(self._file)
        except OSError:
            owner = os.read(self._file, 20).decode("ascii", "replace").strip()
            os.close(self._file)
            raise ValueError(
                f"folder {str(path.parent)!r} is in use by process {owner or 'unknown'}; "
                "wait until it ends, or choose another folder"
            ) from None
        if os.read(self._file, 21).strip(b"0123456789"):
            os.close(self._file)
            raise ValueError(f"{path} is not the lock of a run; choose another folder")
        os.lseek(self._file, 0, os.SEEK_SET)
        os.ftruncate(self._file, 0)
        os.write(self._file, str(os.getpid()).encode())

    def release(self) -> None:
        os.close(self._file)


def _seize(file: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        os.lseek(file, _BEYOND, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        finally:
            os.lseek(file, 0, os.SEEK_SET)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
