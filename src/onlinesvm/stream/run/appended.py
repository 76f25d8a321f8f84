"""Files that only grow, and are cut back to a length that is known to be good."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["Appended", "trouble"]

# Where the system cannot wait for the data alone, it waits for all.
_wait_for_disk = "fdatasync" if hasattr(os, "fdatasync") else "fsync"


class Appended:
    """A file that only grows.

    Parameters
    ----------
    path : Path
    length : int
        What of the file is good; what lies behind is cut off. Fewer bytes are an error.
    """

    def __init__(self, path: Path, length: int = 0) -> None:
        self.path = path
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._file = os.open(path, flags, 0o666)
        there = os.fstat(self._file).st_size
        if there < length:
            os.close(self._file)
            raise ValueError(f"{path.name} has {there} bytes, of {length} that were written")
        self.length = length
        self._synced = 0
        if there > length:
            os.ftruncate(self._file, length)

    def append(self, data: bytes) -> None:
        """Write all of it, or leave the file as it was and raise."""
        done = 0
        try:
            while done < len(data):
                done += os.write(self._file, data[done:] if done else data)
        except OSError as error:
            with suppress(OSError):  # where even that fails, its reader cuts
                os.ftruncate(self._file, self.length)
            raise trouble(error, self.path) from None
        self.length += done

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
