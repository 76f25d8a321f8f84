"""The database of a run, opened with care, for its folder may be a stranger's, and read."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import stat
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from onlinesvm.files.atomic import no_plain_file
from onlinesvm.stream import plain
from onlinesvm.stream.run.checkpoint import Checkpoint
from onlinesvm.stream.run.config import RunConfig

__all__ = ["TABLES", "Reader"]

T = TypeVar("T")

TABLES = (
    "CREATE TABLE about (config TEXT)",
    "CREATE TABLE checkpoints (number INTEGER, part INTEGER, data BLOB)",
    "CREATE TABLE log (id INTEGER PRIMARY KEY, since INTEGER, cut INTEGER, rows INTEGER, "
    "crc INTEGER, block BLOB)",
    "CREATE TABLE facts (id INTEGER PRIMARY KEY, since INTEGER, kind TEXT, row TEXT)",
)
_BESIDE = ("", "-wal", "-shm", "-journal")  # what SQLite opens
# How a journal ends that names a file which SQLite would delete; a run's never does.
_NAMES_ANOTHER_FILE = bytes.fromhex("d9d505f920a163d7")
_PATIENCE = 10.0  # seconds that somebody else may hold the file
_OF_THE_DISK = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_IOERR: errno.EIO,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_BUSY: errno.EBUSY,
    sqlite3.SQLITE_LOCKED: errno.EBUSY,
}


class Reader:
    """What a run has written, read without changing it; the run may be going on."""

    def __init__(self, path: Path, mode: str = "ro") -> None:
        self.path = path
        if mode == "ro" and _is_cut_off(path):
            Reader(path, "rw").close()  # undoes the write, which reading alone may not
        self._db = _opened(path, mode)
        try:
            with self._in_one_line():
                _check(self._db, path)
        except BaseException:
            self._db.close()
            raise

    def config(self) -> RunConfig:
        with self._in_one_line():
            rows = self._db.execute("SELECT config FROM about LIMIT 2").fetchall()
        if len(rows) != 1 or not isinstance(rows[0][0], str):
            raise ValueError(f"{self.path} does not say what is learned from what")
        return RunConfig.from_json(rows[0][0], self.path)

    def facts(self, kind: str) -> Iterator[dict[str, Any]]:
        """The rows of a kind, oldest first: ``metrics``, ``timings`` or ``drifts``."""
        with self._in_one_line():
            for (text,) in self._db.execute(
                "SELECT row FROM facts WHERE kind = ? ORDER BY id", (kind,)
            ):
                try:
                    row = json.loads(text)
                except (ValueError, TypeError, RecursionError):
                    row = None
                if not isinstance(row, dict):
                    raise ValueError(f"{self.path} is damaged: a row of {kind} is no JSON object")
                yield row

    def numbers(self) -> list[int]:
        """The numbers of the checkpoints that are there, newest first."""
        with self._in_one_line():
            found = self._db.execute(
                "SELECT DISTINCT number FROM checkpoints ORDER BY number DESC LIMIT 9"
            ).fetchall()
        return plain.counts(*(number for (number,) in found))

    def checkpoint(self, run: str, number: int) -> Checkpoint:
        """A checkpoint that is what its number says."""
        with self._in_one_line():
            parts = self._db.execute(
                "SELECT data FROM checkpoints WHERE number = ? ORDER BY part", (number,)
            ).fetchall()
        if not all(isinstance(data, bytes) for (data,) in parts):
            raise ValueError(f"checkpoint {number} has other things than bytes")
        found = Checkpoint.from_bytes(b"".join(data for (data,) in parts), f"checkpoint {number}")
        if (found.run, found.number) != (run, number):
            raise ValueError(f"checkpoint {number} is of another run, or was renumbered")
        return found

    def newest_good(self, run: str, use: Callable[[Checkpoint], T]) -> T:
        """What `use` makes of the newest checkpoint that it does not refuse; a warning tells why.

        A ValueError says what is wrong if it refuses all.
        """
        damaged: list[str] = []
        for number in self.numbers():
            try:
                found = use(self.checkpoint(run, number))
            except ValueError as error:
                damaged.append(str(error))
                continue
            for why in damaged:
                told = f"{why}; going on from checkpoint {number}, the one before"
                warnings.warn(told, RuntimeWarning, stacklevel=4)
            return found
        raise ValueError(
            f"the run in {str(self.path.parent)!r} cannot be resumed: "
            f"{damaged[0] if damaged else 'there is no checkpoint'}"
        )

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _in_one_line(self) -> Iterator[None]:
        """What SQLite says, as an error that names the file and says what to do."""
        try:
            yield
        except sqlite3.Error as error:
            number = _OF_THE_DISK.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
            if number is None:
                raise ValueError(f"{self.path} is damaged: {error!s:.200}") from None
            if number == errno.EBUSY:
                raise OSError(
                    number, f"{self.path} is held by another process; try again when it ends"
                ) from None
            why = os.strerror(number) if number == errno.ENOSPC else str(error)
            raise OSError(
                number,
                f"{self.path} could not be written: {why}; make room or mend the disk, then "
                "resume the run",
            ) from None


# --- a folder that may be a stranger's ------------------------------------------------------------


def _opened(path: Path, mode: str) -> sqlite3.Connection:
    """A connection to a regular file; a ValueError for a link, a pipe or a device.

    SQLite opens by name, so what is looked at here could be swapped before it does: by somebody who
    can write to the folder meanwhile, and who could as well write into the file. It follows no link
    in place of the files beside.
    """
    for suffix in _BESIDE:  # opening them to look would drop the locks that this process has
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(os.lstat(f"{path}{suffix}").st_mode):
                raise no_plain_file(f"{path}{suffix}")
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    if mode == "ro" and not os.access(path.parent, os.W_OK) and not _is_ahead(path):
        uri += "&immutable=1"  # or SQLite would want a file beside it
    try:
        db = sqlite3.connect(
            uri, uri=True, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
        )
    except sqlite3.Error as error:
        raise OSError(errno.EACCES, f"{path} cannot be opened: {error}") from None
    db.execute("PRAGMA trusted_schema = OFF")  # what a file defines calls no function
    db.execute("PRAGMA cell_size_check = ON")
    db.execute("PRAGMA temp_store = MEMORY")
    return db


def _is_cut_off(path: Path) -> bool:
    """Whether a power failure may have left a write half done, and it can be undone here."""
    journal = Path(f"{path}-journal")
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(os.lstat(journal).st_mode) or not os.access(path.parent, os.W_OK):
            return False
        data = journal.read_bytes()
        if data.endswith(_NAMES_ANOTHER_FILE):
            raise ValueError(f"{journal} is not the journal of a run; remove it")
        return len(data) > 0
    return False


def _is_ahead(path: Path) -> bool:
    with suppress(FileNotFoundError):
        return os.stat(f"{path}-wal").st_size > 0
    return False


def _check(db: sqlite3.Connection, path: Path) -> None:
    """A ValueError unless a database is whole and has these tables and nothing else.

    What it says is not believed: a value cannot be longer than the file, for quick_check follows
    each chain of pages to its end.
    """
    if [sql for (sql,) in db.execute("SELECT sql FROM sqlite_master LIMIT 9")] != [*TABLES]:
        raise ValueError(f"{path} is not a run that this version of onlinesvm can read")
    ((told,),) = db.execute("PRAGMA quick_check(1)").fetchall()
    if told != "ok":
        raise ValueError(f"{path} is damaged: {' '.join(str(told).split())!s:.200}")
