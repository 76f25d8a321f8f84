"""Points at which a process dies: one of its calls to the file system, Python's or SQLite's.

`load()` first: it starts the program anew with tools/points.c before libc.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CUT = 77  # the status of a process that ended at a point
WAYS = {"before": b"b", "within": b"w", "power": b"p"}
_LOADED = "ONLINESVM_POINTS"


def load() -> None:
    """Have the calls of this process and its children counted."""
    if _LOADED in os.environ:
        return
    library = Path(tempfile.gettempdir()) / f"onlinesvm-points-{os.getpid()}.so"
    source = Path(__file__).with_suffix(".c")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    words = {_LOADED: str(library), "LD_PRELOAD": str(library)}
    os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | words)


def unload() -> None:
    """Remove the library that `load` has made."""
    Path(os.environ[_LOADED]).unlink(missing_ok=True)


class Point:
    """The so-many-th call that changes a folder.

    Parameters
    ----------
    number : int
    way : {"before", "within", "power"}
        The process ends before the call; in the middle of it, for a write, or right after; or right
        after, and the power fails, which takes all that was not synced: data, new names, renames
        and removals.
    folder : Path
    """

    def __init__(self, number: int, way: str, folder: Path) -> None:
        self.number, self.way = number, way
        self.folder = Path(os.path.realpath(folder))
        self.kept = self.folder.with_name("kept")
        shutil.rmtree(self.kept, ignore_errors=True)
        if way == "power":  # what is there at the beginning lasts
            self.kept.mkdir()
            for home in self._folders():
                names = "".join(f"{p.lstat().st_ino} {p.name}\n" for p in home.iterdir())
                self._of(home, "d").write_text(names)
                for path in home.iterdir():
                    if path.is_file():
                        shutil.copy(path, self._of(path, "f"))

    def lie_in_wait(self) -> None:
        """In the process that is to die."""
        kept = str(self.kept).encode() if self.way == "power" else b""
        words = (ctypes.c_char(WAYS[self.way]), str(self.folder).encode(), kept)
        ctypes.CDLL(os.environ[_LOADED]).arm(ctypes.c_long(self.number), *words)

    def fail_power(self) -> None:
        """Leave in the folder what was synced, when the process is gone."""
        if self.way != "power":
            return
        for home in self._folders():
            lines = self._of(home, "d").read_text().splitlines()
            there = dict(reversed(line.split(" ", 1)) for line in lines)
            for path in home.iterdir():
                if path.is_file() and path.name not in there:
                    path.unlink()
            for name, inode in there.items():
                copy, path = self.kept / f"f{inode}", home / name
                if not path.is_dir():
                    path.write_bytes(copy.read_bytes() if copy.exists() else b"")

    def _folders(self) -> list[Path]:
        return [self.folder, *(path for path in self.folder.rglob("*") if path.is_dir())]

    def _of(self, path: Path, kind: str) -> Path:
        return self.kept / f"{kind}{path.stat().st_ino}"
