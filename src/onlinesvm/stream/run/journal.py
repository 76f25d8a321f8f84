"""What has happened to a run since a checkpoint, over one log or several, and what happens now."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

from onlinesvm.atomic import opened_plainly, replacing, sync_folder
from onlinesvm.stream.run.folder import RunFolder
from onlinesvm.stream.run.log import Log, Scan, read_log, scan_log
from onlinesvm.stream.run.rows import block_from_bytes, block_to_bytes
from onlinesvm.stream.run.syncing import Syncing
from onlinesvm.stream.sources import Block

__all__ = ["Journal", "count_rows"]

_ROWS, _CUT = b"R", b"C"
_ROWS_AT = 9  # behind the word and the number of rows


class Journal:
    """Remembers blocks that no source gives twice, and where silence has cut a lesson short.

    Parameters
    ----------
    home : RunFolder
    run : str
        Whose logs are read; others are put aside.
    since : int
        The checkpoint from which the run goes on.
    syncing : Syncing

    Attributes
    ----------
    number : int
        The highest that a checkpoint or a log bears.
    cuts : list of int
        Where lessons were cut short, in rows, ascending.
    kept : int
        Rows, good and bad, in the blocks that were kept and have not been given again.
    """

    def __init__(self, home: RunFolder, run: str, since: int, syncing: Syncing) -> None:
        self._home, self._run, self._syncing = home, bytes.fromhex(run), syncing
        self._good = [since]
        self._scans = {n: self._scan(n) for n in home.logs() if n >= since}
        self._replayed = [n for n, scan in self._scans.items() if scan is not None]
        self.kept = 0
        self.cuts = sorted(set(self._read_cuts()))
        self.number = max([since, *home.checkpoints(), *self._scans])
        self._log = self._open(self.number)
        self._next: Log | None = None
        syncing.follow(self._log.sync)

    # --- what has happened ------------------------------------------------------------------------

    def _scan(self, number: int) -> Scan | None:
        """How far a log can be read; what is beyond repair is put aside, with a warning."""
        path = self._home.log(number)
        try:
            scan = scan_log(path, self._run, number)
        except ValueError as error:
            _put_aside(path, str(error))
            return None
        if scan.behind:
            told = f"{path.name} is damaged: its last {scan.behind:,} bytes cannot be read"
            _put_aside(path, told, keep=scan.length)
        return scan

    def _records(self) -> Iterator[bytes]:
        for number in self._replayed:
            yield from read_log(self._home.log(number), self._run, number)

    def _read_cuts(self) -> Iterator[int]:
        for record in self._records():
            if record[:1] == _CUT and len(record) == 9:
                yield int.from_bytes(record[1:], "little")
            elif record[:1] == _ROWS and len(record) > _ROWS_AT:
                self.kept += int.from_bytes(record[1:_ROWS_AT], "little")
            else:
                raise ValueError("the log has a record that this version of onlinesvm cannot read")

    def blocks(self) -> Iterator[Block]:
        """The blocks that were kept, oldest first."""
        for record in self._records():
            if record[:1] == _ROWS:
                block = block_from_bytes(record[_ROWS_AT:])
                self.kept -= count_rows(block)
                yield block

    # --- what happens now -------------------------------------------------------------------------

    def keep(self, block: Block) -> None:
        """Remember a block, before anything is learned from it."""
        count = count_rows(block).to_bytes(_ROWS_AT - 1, "little")
        self._log.append(_ROWS + count + block_to_bytes(block))

    def cut(self, at: int) -> None:
        """Remember that a lesson ends behind so many rows, before it is learned."""
        self._log.append(_CUT + at.to_bytes(8, "little"))

    def settle(self) -> None:
        """Before an acknowledgement: wait for the disk, if that is wanted."""
        self._syncing.settle()

    # --- from one checkpoint to the next ----------------------------------------------------------

    def turn(self, number: int, cuts: Iterable[int]) -> None:
        """Prepare the log of the next checkpoint; cuts that are still to come go with it."""
        self._next = Log(self._home.log(number), self._run, number)
        for at in cuts:
            self._next.append(_CUT + at.to_bytes(8, "little"))
        self._next.sync()

    def begin(self, number: int) -> None:
        """The checkpoint is there: from now on its log is written."""
        assert self._next is not None
        self._syncing.follow(self._next.sync)
        self._log.close()
        self._log, self._next, self.number = self._next, None, number
        self._good = [*self._good[-1:], number]

    def forget(self) -> None:
        """Remove what lies before the last two checkpoints."""
        self._home.forget_before(self._good[0])

    def close(self) -> None:
        self._syncing.close()
        self._log.close()
        if self._next is not None:
            self._next.close()

    def _open(self, number: int) -> Log:
        log = Log(self._home.log(number), self._run, number, self._scans.get(number))
        sync_folder(self._home.path)  # a name that is lost takes the records with it
        return log


def _put_aside(path: Path, why: str, keep: int = 0) -> None:
    """Move or copy a damaged file to another name, so that whoever needs it finds it."""
    aside = path.with_name(path.name + ".damaged")
    warnings.warn(f"{why}; what it held is in {aside.name}", RuntimeWarning, stacklevel=2)
    if keep:
        with opened_plainly(path) as file, replacing(aside, follow=False) as copy:
            copy.write(file.read())
    else:
        path.replace(aside)


def count_rows(block: Block) -> int:
    """Rows that came, good and bad."""
    return len(block.examples) + len(block.bad)
