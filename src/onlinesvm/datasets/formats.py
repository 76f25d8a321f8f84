"""Readers of the file formats in which public data sets come: LIBSVM text, numeric tables, idx."""

from __future__ import annotations

import bz2
import gzip
import io
import math
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_svmlight_file

__all__ = ["FormatError", "decompress", "read_idx", "read_libsvm", "read_table"]

LARGEST = 256 << 20  # bytes; the largest known content, covtype, has 75 million
_OPEN: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}
_IDX_TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


class FormatError(ValueError):
    """A downloaded file does not hold what its format promises."""


def decompress(path: Path) -> bytes:
    """Return the content of a .gz, .bz2 or one-file .zip, or of a plain file, up to a limit."""
    try:
        with _opened(path) as file:
            content: bytes = file.read(LARGEST + 1)
    except (OSError, EOFError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise FormatError(f"{path.name} is damaged or cut short: {error}") from error
    if len(content) > LARGEST:
        raise FormatError(f"{path.name} holds more than {LARGEST >> 20} MiB")
    return content


def _opened(path: Path) -> Any:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:  # the member keeps the file open
            return archive.open(_only_member(archive))
    return _OPEN.get(path.suffix, open)(path, "rb")


def _only_member(archive: zipfile.ZipFile) -> str:
    # macOS adds shadow files; they are not data.
    names = [name for name in archive.namelist() if not name.startswith("__MACOSX")]
    if len(names) != 1:
        raise FormatError(f"the zip holds {len(names)} files, expected one")
    return names[0]


def read_libsvm(text: bytes, columns: int) -> tuple[sparse.csr_matrix, NDArray[np.float64]]:
    """Read ``label index:value ...`` lines, indices from 1."""
    try:
        X, y = load_svmlight_file(io.BytesIO(text), n_features=columns, zero_based=False)
    except (ValueError, OverflowError) as error:
        raise FormatError(f"not LIBSVM text: {error}") from error
    return X, y


def read_table(
    text: bytes, *, label: int, delimiter: str | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Read a table of numbers; ``label`` is the column of the label, ``None`` splits at blanks."""
    try:
        table = np.loadtxt(io.BytesIO(text), delimiter=delimiter, ndmin=2)
    except ValueError as error:
        raise FormatError(f"not a table of numbers: {error}") from error
    return np.delete(table, label, axis=1), table[:, label]


def read_idx(content: bytes) -> NDArray[np.generic]:
    """Read an array in the idx format of the MNIST files."""
    if len(content) < 4 or content[:2] != b"\x00\x00" or content[2] not in _IDX_TYPES:
        raise FormatError("not an idx file: wrong first bytes")
    dtype, ndim = np.dtype(_IDX_TYPES[content[2]]), content[3]
    start = 4 + 4 * ndim
    if len(content) < start:
        raise FormatError("idx file is cut short")
    shape = struct.unpack(f">{ndim}I", content[4:start])
    if len(content) - start != dtype.itemsize * math.prod(shape):
        raise FormatError(f"idx file does not hold the {shape} values its header promises")
    return np.frombuffer(content, dtype=dtype, offset=start).reshape(shape)
