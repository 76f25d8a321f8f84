"""NumPy archives, X and y: rows are unpacked as they are needed, never all at once."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from onlinesvm.stream.sources.arrow import pyarrow
from onlinesvm.stream.sources.examples import assemble
from onlinesvm.stream.sources.numbered import RowPlaces, rows_a_block
from onlinesvm.stream.sources.schema import Column, Schema
from onlinesvm.stream.sources.source import BadRow, Block, Examples, Place
from onlinesvm.stream.sources.values import LONGEST_WORD
from onlinesvm.stream.sources.wishes import Wishes

__all__ = ["Archive"]

_PIECE = 1 << 20
_WIDEST = 1 << 20


class _Member:
    """An array of an archive, read row by row."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._file = archive.open(f"{name}.npy")
        version = npy.read_magic(self._file)
        header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
        if version not in header:
            raise ValueError(f"{name} is of a version that is not known")
        self.shape, by_columns, self.dtype = header[version](self._file)
        if self.dtype.hasobject or self.dtype.kind not in "biufU":
            raise ValueError(f"{name} must hold numbers or text, not {self.dtype}")
        if by_columns and len(self.shape) > 1 and min(self.shape) > 1:
            raise ValueError(f"{name} is stored by columns; save np.ascontiguousarray({name})")
        self._row_bytes = self.dtype.itemsize * int(np.prod(self.shape[1:], dtype=np.int64))

    def skip(self, rows: int) -> None:
        left = rows * self._row_bytes
        while left > 0:
            piece = self._file.read(min(left, _PIECE))
            if not piece:
                raise ValueError("it is cut off")
            left -= len(piece)

    def take(self, rows: int) -> NDArray[Any]:
        data = self._file.read(rows * self._row_bytes)
        if len(data) < rows * self._row_bytes:
            raise ValueError("it is cut off")
        return np.frombuffer(data, dtype=self.dtype).reshape(rows, *self.shape[1:])


class Archive:
    """Rows of an .npz file with X and, unless there are no labels, y."""

    replays = True
    live = False
    notes: tuple[str, ...] = ()

    def __init__(self, path: Path, wishes: Wishes) -> None:
        self.path, self.name = path, path.name
        if wishes.types or wishes.keys or wishes.ignore or wishes.missing:
            raise ValueError(
                f"{path.name}: types, key, ignore and missing are for columns with names"
            )
        if wishes.target not in (None, "y", "none"):
            raise ValueError(f"{path.name}: target must be 'y' or 'none', got {wishes.target!r}")
        shape, labels = self._looked_at()
        if len(shape) != 2 or not 0 < shape[1] <= _WIDEST:
            raise ValueError(
                f"{path.name}: X must be a table of at most {_WIDEST:,} columns, "
                f"got the shape {shape}"
            )
        columns = [Column(f"x{j}", "number") for j in range(shape[1])]
        if labels is not None and wishes.target != "none":
            columns.append(Column("y", "category" if labels == "U" else "number", "target"))
        self.schema = Schema(tuple(columns))
        if wishes.schema is not None:
            known = len(wishes.schema.features)
            if known != shape[1]:
                raise ValueError(f"{path.name}: X has {shape[1]} columns, the schema {known}")
            self.schema = wishes.schema
        self._labelled = labels is not None and self.schema.target is not None
        self._places = RowPlaces(path, shape[0])

    def identity(self) -> dict[str, Any]:
        """The format and the first bytes."""
        return {"format": "npz", "checksum": self._places.checksum()}

    def blocks(self, since: Place | None = None) -> Iterator[Block]:
        """The rows behind a place, in blocks of about a megabyte."""
        row, n = self._places.start(since), self._places.rows
        size = rows_a_block(len(self.schema.features))
        with self._opened() as archive:
            members = [_Member(archive, name) for name in ("X", "y")[: 1 + self._labelled]]
            for member in members:
                member.skip(row)
            while row < n:
                count = min(size - row % size, n - row)
                examples, bad = self._read([member.take(count) for member in members], row)
                row += count
                yield Block(examples, self._places.place(row), bad, row / n)

    def close(self) -> None:
        """Nothing is held between blocks."""

    def _read(self, parts: list[NDArray[Any]], row: int) -> tuple[Examples, list[BadRow]]:
        X = parts[0].astype(np.float64)
        cells: dict[str, Any] = {c.name: X[:, j] for j, c in enumerate(self.schema.features)}
        if len(parts) > 1:
            words = parts[1].dtype.kind == "U"
            y = pyarrow().array(parts[1].tolist()) if words else parts[1].astype(np.float64)
            cells[str(self.schema.target)] = y
        examples, faults = assemble(self.schema, cells, len(X))
        bad = [
            BadRow(
                str(X[i].tolist())[:10_000], fault.reason, fault.column, row + i + 1, file=self.name
            )
            for i, fault in faults.items()
        ]
        return examples, bad

    @contextmanager
    def _opened(self) -> Iterator[zipfile.ZipFile]:
        """The archive; whatever zipfile, zlib and NumPy say to damaged bytes is a ValueError."""
        try:
            archive = zipfile.ZipFile(self.path)
        except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError) as error:
            raise ValueError(f"{self.name}: is no NumPy archive: {error}") from None
        with archive:
            try:
                yield archive
            except MemoryError:
                raise
            except Exception as error:
                told = str(error).splitlines()[0] if str(error) else type(error).__name__
                raise ValueError(f"{self.name}: {told}") from None

    def _looked_at(self) -> tuple[tuple[int, ...], str | None]:
        """The shape of X, and the kind of y if there is one."""
        with self._opened() as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist()]
            if "X" not in names:
                shown = ", ".join(names[:9]) or "nothing"
                raise ValueError(f"needs an array X, and y for labels; it has {shown}")
            X = _Member(archive, "X")
            y = _Member(archive, "y") if "y" in names else None
        if X.dtype.kind == "U":
            raise ValueError(f"{self.name}: X must hold numbers, not text")
        if y is not None and y.dtype.kind == "U" and y.dtype.itemsize > 4 * LONGEST_WORD:
            raise ValueError(f"{self.name}: y has labels of more than {LONGEST_WORD:,} letters")
        if y is not None and y.shape != X.shape[:1]:
            raise ValueError(f"{self.name}: y must have one label for each row of X")
        return X.shape, None if y is None else y.dtype.kind
