"""The database of a run, ``run.sqlite``: its configuration, checkpoints, log and metrics.

SQLite writes ahead (WAL), so that a reader never waits for the run nor the run for a reader, and a
transaction that a crash has torn never was. What was written after checkpoint N bears the number N:
going back to a checkpoint removes what came behind it and reads the log again.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import stat
import threading
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from onlinesvm.atomic import no_plain_file, plain_file, sync_folder
from onlinesvm.stream import plain
from onlinesvm.stream.run.checkpoint import Checkpoint
from onlinesvm.stream.run.config import RunConfig
from onlinesvm.stream.run.lines import line
from onlinesvm.stream.run.rows import block_from_bytes, block_to_bytes
from onlinesvm.stream.sources import Block

__all__ = ["Reader", "Store", "count_rows", "new_database"]

T = TypeVar("T")

_TABLES = (
    "CREATE TABLE about (config TEXT)",
    "CREATE TABLE checkpoints (number INTEGER, part INTEGER, data BLOB)",
    "CREATE TABLE log (id INTEGER PRIMARY KEY, since INTEGER, cut INTEGER, rows INTEGER, "
    "crc INTEGER, block BLOB)",
    "CREATE TABLE facts (id INTEGER PRIMARY KEY, since INTEGER, kind TEXT, row TEXT)",
)
_BESIDE = ("", "-wal", "-shm", "-journal")  # what SQLite opens
_PART = 1 << 26  # SQLite takes no value of more than a billion bytes
_LONGEST = 999_000_000
_INTERVAL = 1.0  # seconds: the most that a power failure takes with fsync="interval"
_PATIENCE = 10.0  # seconds that somebody else may hold the file
_OF_THE_DISK = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_IOERR: errno.EIO,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_BUSY: errno.EBUSY,
    sqlite3.SQLITE_LOCKED: errno.EBUSY,
}


def new_database(config: RunConfig, first: bytes) -> bytes:
    """The bytes of a database with a configuration and the first checkpoint."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        for table in _TABLES:
            db.execute(table)
        db.execute("INSERT INTO about VALUES (?)", (config.to_json(),))
        _insert_checkpoint(db, 0, first)
        return db.serialize()


def count_rows(block: Block) -> int:
    """Rows that came, good and bad."""
    return len(block.examples) + len(block.bad)


class Reader:
    """What a run has written, read without changing it; the run may be going on."""

    def __init__(self, path: Path, mode: str = "ro") -> None:
        self.path = path
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


class Store(Reader):
    """The same for the process that learns.

    Parameters
    ----------
    path : Path
    fsync : {"always", "interval", "never"}
        When records reach the disk. SQLite itself waits for it only where its file would be torn
        otherwise (``synchronous=NORMAL``): a crash costs the newest transactions at most. `settle`,
        a thread, or nobody waits for those; a checkpoint always does.

    Attributes
    ----------
    number : int
        The checkpoint from which the run goes on.
    kept : int
        Rows, good and bad, in the blocks that were kept and have not been given again.
    """

    def __init__(self, path: Path, fsync: str) -> None:
        super().__init__(path, "rw")
        self.number, self.kept = 0, 0
        self._always = fsync == "always"
        self._ahead: int | None = None
        self._thread: _EverySecond | None = None
        try:
            with self._in_one_line():
                self._db.execute("PRAGMA journal_mode = WAL")
                self._db.execute("PRAGMA synchronous = NORMAL")
                self._db.execute(f"PRAGMA journal_size_limit = {_PART}")
                self._db.execute("BEGIN IMMEDIATE")  # from now on the file -wal is there
                self._db.execute("COMMIT")
            self._ahead = plain_file(f"{path}-wal", os.O_RDWR)
            sync_folder(path.parent)
        except BaseException:
            self.close()
            raise
        if fsync == "interval":
            self._thread = _EverySecond(self.sync)
            self._thread.start()

    def back_to(self, number: int) -> list[int]:
        """Go on from a checkpoint; gives where silence has cut a lesson short since, in rows."""
        with self._transaction():
            self._db.execute("DELETE FROM checkpoints WHERE number > ?", (number,))
            self._db.execute("DELETE FROM facts WHERE since >= ?", (number,))
            cuts, self.kept = set(), 0
            for cut, rows in self._db.execute(
                "SELECT cut, rows FROM log WHERE since >= ?", (number,)
            ):
                if cut is None:
                    self.kept += plain.counts(rows)[0]
                else:
                    cuts.add(plain.counts(cut)[0])
        self.number = number
        return sorted(cuts)

    def blocks(self) -> Iterator[Block]:
        """The blocks that were kept, oldest first."""
        last = -1
        while True:  # none is read before it is wanted, and others may be written meanwhile
            with self._in_one_line():
                found = self._db.execute(
                    "SELECT id, rows, crc, block FROM log WHERE since >= ? AND cut IS NULL "
                    "AND id > ? ORDER BY id LIMIT 1",
                    (self.number, last),
                ).fetchone()
            if found is None:
                return
            last, rows, crc, data = found
            self.kept -= plain.counts(rows)[0]
            try:
                if not isinstance(data, bytes) or zlib.crc32(data) != crc:
                    raise ValueError("its checksum is another")
                block = block_from_bytes(data)
                if count_rows(block) != rows:
                    raise ValueError("it has another number of rows")
            except ValueError as error:
                told = f"{self.path.name}: {rows} rows of the log are damaged and lost: {error}"
                warnings.warn(told, RuntimeWarning, stacklevel=2)
                continue
            yield block

    def keep(self, block: Block) -> None:
        """Remember a block that no source gives twice, before anything is learned from it."""
        data = block_to_bytes(block)
        if len(data) > _LONGEST:
            raise ValueError(
                f"a block of the source takes {len(data):,} bytes in the log, more than "
                f"{_LONGEST:,}; let it give smaller ones"
            )
        self._log(None, count_rows(block), zlib.crc32(data), data)

    def cut(self, at: int) -> None:
        """Remember that a lesson ends behind so many rows, before it is learned."""
        self._log(at, None, None, None)

    def _log(self, *values: Any) -> None:
        with self._transaction():
            self._db.execute(
                "INSERT INTO log (since, cut, rows, crc, block) VALUES (?, ?, ?, ?, ?)",
                (self.number, *values),
            )

    def add(self, kind: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Append rows, all or none; what is no finite number is null."""
        texts = [line(row) for row in rows]
        if texts:
            with self._transaction():
                self._db.executemany(
                    "INSERT INTO facts (since, kind, row) VALUES (?, ?, ?)",
                    [(self.number, kind, text) for text in texts],
                )

    def settle(self) -> None:
        """Before an acknowledgement: wait for the disk, if that is wanted."""
        if self._always:
            self.sync()
        elif self._thread is not None and self._thread.error is not None:
            raise self._thread.error

    def write_checkpoint(self, number: int, data: bytes, cuts: Iterable[int]) -> None:
        """In one step: a checkpoint is there, and what only those before the last one need is not.

        Cuts that are still to come go with it.
        """
        with self._transaction():
            _insert_checkpoint(self._db, number, data)
            self._db.executemany(
                "INSERT INTO log (since, cut) VALUES (?, ?)", [(number, at) for at in cuts]
            )
            self._db.execute("DELETE FROM checkpoints WHERE number < ?", (self.number,))
            self._db.execute("DELETE FROM log WHERE since < ?", (self.number,))
        self.number = number
        self.sync()

    def purge(self) -> None:
        """Leave nothing of what was removed in free pages or in the file that is written ahead."""
        with self._in_one_line():
            self._db.execute("VACUUM")
            (busy, *_) = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise OSError(
                errno.EBUSY, f"{self.path} is being read by another process; try again when it ends"
            )

    def sync(self) -> None:
        """Wait until every record is on the disk: one wait, for however many."""
        assert self._ahead is not None
        try:
            # Where the system cannot wait for the data alone, it waits for all.
            getattr(os, "fdatasync", os.fsync)(self._ahead)
        except OSError as error:
            why = error.strerror or str(error)
            told = f"{self.path} could not be written: {why}; mend the disk, then resume the run"
            raise OSError(error.errno, told) from None

    def close(self) -> None:
        """Let go; a run that nobody reads is one file then, also for folders without writing."""
        if self._thread is not None:
            self._thread.stop()
            self._thread = None
        with suppress(sqlite3.Error):
            self._db.execute("PRAGMA busy_timeout = 0")
            self._db.execute("PRAGMA journal_mode = DELETE")
        if self._ahead is not None:
            os.close(self._ahead)
            self._ahead = None
        super().close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._in_one_line():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise


class _EverySecond(threading.Thread):
    """Waits for the disk once a second, so that the learner need not."""

    def __init__(self, sync: Callable[[], None]) -> None:
        super().__init__(name="onlinesvm-log", daemon=True)
        self.error: OSError | None = None
        self._sync, self._end = sync, threading.Event()

    def run(self) -> None:
        while not self._end.wait(_INTERVAL):
            try:
                self._sync()
            except OSError as error:
                self.error = error
                return

    def stop(self) -> None:
        self._end.set()
        self.join()


def _insert_checkpoint(db: sqlite3.Connection, number: int, data: bytes) -> None:
    view = memoryview(data)
    for part, at in enumerate(range(0, len(data), _PART)):
        values = (number, part, view[at : at + _PART])
        db.execute("INSERT INTO checkpoints VALUES (?, ?, ?)", values)


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


def _is_ahead(path: Path) -> bool:
    with suppress(FileNotFoundError):
        return os.stat(f"{path}-wal").st_size > 0
    return False


def _check(db: sqlite3.Connection, path: Path) -> None:
    """A ValueError unless a database is whole and has these tables and nothing else.

    What it says is not believed: a value cannot be longer than the file, for quick_check follows
    each chain of pages to its end.
    """
    if [sql for (sql,) in db.execute("SELECT sql FROM sqlite_master LIMIT 9")] != [*_TABLES]:
        raise ValueError(f"{path} is not a run that this version of onlinesvm can read")
    ((told,),) = db.execute("PRAGMA quick_check(1)").fetchall()
    if told != "ok":
        raise ValueError(f"{path} is damaged: {' '.join(str(told).split())!s:.200}")
