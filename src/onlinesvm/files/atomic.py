"""Files that appear complete or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

__all__ = ["no_plain_file", "opened_plainly", "plain_file", "replacing", "sync_folder"]

_DESCRIPTORS = Path("/proc/self/fd")


@contextmanager
def replacing(path: str | os.PathLike[str], *, follow: bool = True) -> Iterator[IO[bytes]]:
    """Open ``path`` for writing; what stands there is replaced in one step, when all is on disk.

    After an exception or a crash the old file is as it was. A link is followed and stays a link, a
    file keeps its mode, and where the system can (Linux) the new one has no name before it is
    complete, so that even a killed process leaves nothing lying about. Pipes and devices, which
    have nothing to keep, are written to directly. With ``follow=False``, for folders that may be a
    stranger's, a link or a pipe is replaced by a file.
    """
    target = Path(os.path.realpath(path) if follow else path)
    if follow and target.exists() and not target.is_file():
        with open(target, "wb") as device:
            yield device
        return
    nameless = _open_nameless(target.parent)
    scratch = _vacant(target)
    mine = False
    try:
        with open(scratch, "xb") if nameless is None else os.fdopen(nameless, "wb") as file:
            mine = nameless is None
            _claim(file.fileno())
            yield file
            file.flush()
            if follow or not target.is_symlink():
                _dress_like(target, file.fileno())
            os.fsync(file.fileno())
            if nameless is not None:
                # Only with a folder given, whichever, does Python follow the link in /proc.
                os.link(_DESCRIPTORS / str(nameless), scratch, src_dir_fd=nameless)
                mine = True
            os.replace(scratch, target)
    except BaseException as error:
        if mine:
            scratch.unlink(missing_ok=True)
        if isinstance(error, OSError) and _is_about(error, scratch):
            error.filename, error.filename2 = str(path), None  # nobody knows the other name
        raise
    sync_folder(target.parent)


def _is_about(error: OSError, scratch: Path) -> bool:
    """Whether an error of the system names that file, or none; others have a text of their own."""
    return error.errno is not None and (error.filename or scratch) in (scratch, str(scratch))


def _vacant(target: Path) -> Path:
    """A name for the new file: always the same, so that what a kill has left goes with it."""
    usual = target.with_name(f".{target.name}.onlinesvm-tmp")
    try:
        left = plain_file(usual, os.O_RDONLY)
    except FileNotFoundError:
        return usual
    except (OSError, ValueError):
        return _another(usual)
    try:
        if not _claim(left):
            return _another(usual)  # somebody writes it
        usual.unlink(missing_ok=True)
        return usual
    finally:
        os.close(left)


def _another(name: Path) -> Path:
    return name.with_name(f"{name.name}-{secrets.token_hex(4)}")


def _claim(file: int) -> bool:
    """Lock a file until it is closed, where the system can; not if another process has it."""
    try:
        import fcntl
    except ImportError:  # Windows
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def plain_file(path: str | os.PathLike[str], flags: int) -> int:
    """A descriptor of a regular file in a folder that may be a stranger's.

    A link is not followed, a pipe is not waited for, a device is not read: a ValueError says so.
    """
    # Windows has neither: its links need rights that no archive or download has.
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    flags |= getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        file = os.open(path, flags, 0o666)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENXIO):  # a link; a pipe to write to
            raise no_plain_file(path) from None
        raise
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise no_plain_file(path)
    return file


def no_plain_file(path: str | os.PathLike[str]) -> ValueError:
    return ValueError(f"{path} is a link or no regular file; remove it")


def opened_plainly(path: str | os.PathLike[str]) -> IO[bytes]:
    """The same to be read."""
    return os.fdopen(plain_file(path, os.O_RDONLY), "rb")


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
