"""Files that only grow, and are cut back to a length that is known to be good."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from onlinesvm.files.atomic import plain_file

__all__ = ["Appended", "trouble"]

# Where the system cannot wait for the data alone, it waits for all.
_wait_for_disk = "fdatasync" if hasattr(os, "fdatasync") else "fsync"


class Appended:
    """A file that only grows.

    Parameters
    ----------
    path : Path
    length : int
        What of the file is good; what lies behind is cut off. Fewer bytes are an error. Links are
        not followed: the folder may be a stranger's.
    """

    def __init__(self, path: Path, length: int = 0) -> None:
        self.path = path
        self._file = plain_file(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        self.length = length
        self._synced = 0
        try:
            self._cut_rest()
        except BaseException:
            os.close(self._file)
            raise

    def append(self, data: bytes) -> None:
        """Write all of it, or leave the file as it was and raise, whatever stops it."""
        self._cut_rest()
        done = 0
        try:
            while done < len(data):
                done += os.write(self._file, data[done:] if done else data)
        except BaseException as error:
            with suppress(OSError):  # where even that fails, its reader cuts
                os.ftruncate(self._file, self.length)
            if isinstance(error, OSError):
                raise trouble(error, self.path) from None
            raise
        self.length += done

    def cut(self, length: int) -> None:
        """Give up what lies behind ``length``; what stops this is made up for by the next verb."""
        self.length, self._synced = length, min(self._synced, length)
        self._cut_rest()

    def _cut_rest(self) -> None:
        there = os.fstat(self._file).st_size
        if there < self.length:
            raise ValueError(
                f"{self.path.name} has {there} bytes, of {self.length} that were written"
            )
        if there > self.length:
            os.ftruncate(self._file, self.length)

    def sync(self) -> None:
        """Wait until all of it is on the disk."""
        upto = self.length
        if self._synced == upto:
            return
        try:
            getattr(os, _wait_for_disk)(self._file)
        except OSError as error:
            raise trouble(error, self.path) from None
        self._synced = upto

    def close(self) -> None:
        os.close(self._file)


def trouble(error: OSError, path: Path) -> OSError:
    """The same in one line that names the file and says what to do."""
    why = error.strerror or str(error)
    told = f"{path} could not be written: {why}; make room or mend the disk, then resume the run"
    return OSError(error.errno, told)
