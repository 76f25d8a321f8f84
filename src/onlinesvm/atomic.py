"""Files that appear complete or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

__all__ = ["replacing", "sync_folder"]

_DESCRIPTORS = Path("/proc/self/fd")


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open ``path`` for writing; what stands there is replaced in one step, when all is on disk.

    After an exception or a crash the old file is as it was. A link is followed and stays a link, a
    file keeps its mode, and where the system can (Linux) the new one has no name before it is
    complete, so that even a killed process leaves nothing lying about. Pipes and devices, which
    have nothing to keep, are written to directly.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with open(target, "wb") as device:
            yield device
        return
    scratch = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    nameless = _open_nameless(target.parent)
    try:
        with open(scratch, "xb") if nameless is None else os.fdopen(nameless, "wb") as file:
            yield file
            file.flush()
            _dress_like(target, file.fileno())
            os.fsync(file.fileno())
            if nameless is not None:
                # Only with a folder given, whichever, does Python follow the link in /proc.
                os.link(_DESCRIPTORS / str(nameless), scratch, src_dir_fd=nameless)
        os.replace(scratch, target)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


def _open_nameless(folder: Path) -> int | None:
    """A file in ``folder`` that has no name yet, where the system knows such files."""
    if not (hasattr(os, "O_TMPFILE") and _DESCRIPTORS.exists()):
        return None
    with suppress(OSError):  # some file systems do not; a missing folder is found by the next step
        return os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o666)
    return None


def _dress_like(old: Path, new: int) -> None:
    """Give the new file the mode, and where allowed the owner, of the one it replaces."""
    if not old.exists() or not hasattr(os, "fchmod"):
        return
    known = old.stat()
    with suppress(PermissionError):
        os.fchown(new, known.st_uid, known.st_gid)
    os.fchmod(new, stat.S_IMODE(known.st_mode))


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on disk, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
