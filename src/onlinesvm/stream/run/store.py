"""The database of a run, ``run.sqlite``: its configuration, checkpoints, log and metrics.

SQLite writes ahead (WAL), so that a reader never waits for the run nor the run for a reader, and a
transaction that a crash has torn never was. What was written after checkpoint N bears the number N:
going back to a checkpoint removes what came behind it and reads the log again.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from onlinesvm.files.atomic import plain_file, sync_folder
from onlinesvm.stream import plain
from onlinesvm.stream.run.config import RunConfig
from onlinesvm.stream.run.lines import line
from onlinesvm.stream.run.reader import TABLES, Reader
from onlinesvm.stream.run.rows import block_from_bytes, block_to_bytes
from onlinesvm.stream.sources import Block

__all__ = ["Store", "count_rows", "new_database"]

_PART = 1 << 26  # SQLite takes no value of more than a billion bytes
_LONGEST = 999_000_000
_INTERVAL = 1.0  # seconds: the most that a power failure takes with fsync="interval"


def new_database(config: RunConfig, first: bytes) -> bytes:
    """The bytes of a database with a configuration and the first checkpoint."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        for table in TABLES:
            db.execute(table)
        db.execute("INSERT INTO about VALUES (?)", (config.to_json(),))
        _insert_checkpoint(db, 0, first)
        return db.serialize()


def count_rows(block: Block) -> int:
    """Rows that came, good and bad."""
    return len(block.examples) + len(block.bad)


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
            self._db.execute("PRAGMA synchronous = EXTRA")
            self._db.execute("VACUUM")
            (busy, *_) = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        self.sync()  # or a power failure could bring back what was cut off
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
            self._db.execute("PRAGMA synchronous = EXTRA")  # waits for the folder, too
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
