"""Places that are numbers of rows, for sources whose rows come in groups."""

from __future__ import annotations

from pathlib import Path
from zlib import crc32

from onlinesvm.stream.sources.source import Place
from onlinesvm.stream.sources.text import whole_number

__all__ = ["RowPlaces", "rows_a_block"]

_CELLS = 1 << 17
_KNOWN_BY = 4096  # first bytes


def rows_a_block(columns: int) -> int:
    """So many rows that a block is about a megabyte, whatever its width."""
    return max(1, _CELLS // max(1, columns))


class RowPlaces:
    """Places in a file that is written once and has a known number of rows."""

    def __init__(self, path: Path, rows: int) -> None:
        self.path, self.rows = path, rows
        with path.open("rb") as file:
            self.mark = f"{crc32(file.read(_KNOWN_BY)):08x}"

    def checksum(self) -> str:
        """Of the whole file, which tells it from one that was written anew."""
        with self.path.open("rb") as file:
            checksum = 0
            while piece := file.read(1 << 20):
                checksum = crc32(piece, checksum)
        return f"{checksum:08x}"

    def place(self, row: int) -> Place:
        """Behind so many rows."""
        return {"row": row, "head": self.mark}

    def start(self, since: Place | None) -> int:
        """The row to go on with; a ValueError where the file is another one by now."""
        if since is None:
            return 0
        row = whole_number(since, "row")
        if since.get("head") != self.mark:
            raise ValueError(
                f"{self.path}: its first bytes are not those that were read before; begin anew"
            )
        if row > self.rows:
            raise ValueError(f"{self.path}: shorter than when it was read before; begin anew")
        return row
