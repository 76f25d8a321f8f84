"""Examples from files: CSV and TSV tables, LIBSVM text, NumPy archives."""

from __future__ import annotations

import bz2
import gzip
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from onlinesvm.cli.lines import bounded
from onlinesvm.cli.tables import Wanted, read_table, tidy_labels

__all__ = ["Examples", "Wanted", "check_target", "read_examples"]

DELIMITERS = {".csv": ",", ".tsv": "\t"}
LIBSVM = {".libsvm", ".svm", ".svmlight"}
PACKED: dict[str, Callable[[Path], Any]] = {".gz": gzip.open, ".bz2": bz2.open}
WIDEST = 1 << 27  # features: a gigabyte for each weight vector


@dataclass(frozen=True, slots=True)
class Examples:
    """Rows of a file, with labels and names of the features where the file has them."""

    X: Any
    y: NDArray[Any] | None
    names: list[str] | None = None
    notes: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        return int(self.X.shape[0])


def check_target(option: str, path: Path) -> None:
    """Fail before the work, not after it, when a file could not be written there."""
    folder = path.absolute().parent
    if path.is_dir():
        raise ValueError(f"{option} {path}: is a folder; give the name of a file")
    if not folder.is_dir():
        raise ValueError(f"{option} {path}: the folder {folder} does not exist")


def read_examples(
    path: Path,
    *,
    target: str | None = None,
    header: bool | None = None,
    wanted: Wanted | None = None,
) -> Examples:
    """Read a file by its suffix.

    Parameters
    ----------
    path : Path
        A .csv or .tsv table (with or without a header), .libsvm / .svm / .svmlight text (also .gz
        and .bz2; features count from 1), or a .npz archive with `X` (or the members of a SciPy CSR
        matrix) and `y`.
    target : str, optional
        Name or number of the label column of a table; the last one if not given.
    header : bool, optional
        Whether the first line of a table names its columns; where that is plain to see it need not
        be said.
    wanted : Wanted, optional
        What a trained model expects. Columns with names are found by name, in whatever order; a
        table of just so many columns has no label.
    """
    if not path.is_file():
        raise ValueError(f"{path}: no such file")
    kind = _kind(path)
    if kind in DELIMITERS:
        X, y, layout = read_table(
            path, DELIMITERS[kind], target=target, header=header, wanted=wanted
        )
        examples = Examples(X, y, layout.names(), layout.notes)
    elif target is not None or header is not None:
        option = "--target" if header is None else "--header"
        raise ValueError(f"{option} is for .csv and .tsv tables; {path} says itself what is what")
    elif kind in LIBSVM:
        examples = _read_libsvm(path, wanted)
    elif kind == ".npz":
        examples = _read_npz(path)
    else:
        raise ValueError(
            f"{path}: unknown format {kind or '(no suffix)'!r}; "
            "give .csv, .tsv, .libsvm, .svm, .svmlight or .npz"
        )
    if examples.n == 0:
        raise ValueError(f"{path}: no rows")
    return examples


def _kind(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if len(suffixes) > 1 and suffixes[-1] in PACKED and suffixes[-2] in LIBSVM:
        return suffixes[-2]
    return suffixes[-1] if suffixes else ""


class _Text:
    """WithBudget lines in the shape of a file, for scikit-learn's reader."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> bytes:
        raise NotImplementedError("it is read line by line")

    def __iter__(self) -> Iterator[bytes]:
        unpack = PACKED.get(self._path.suffix.lower())
        with unpack(self._path) if unpack else self._path.open("rb") as file:
            yield from bounded(file, self._path)


def _read_libsvm(path: Path, wanted: Wanted | None) -> Examples:
    from sklearn.datasets import load_svmlight_file

    width = wanted.width if wanted else None
    try:
        # Where counting starts must not be guessed: a file without its first feature would shift.
        X, y = load_svmlight_file(_Text(path), n_features=width, zero_based=False)
    except (ValueError, OverflowError, EOFError, zlib.error) as error:
        raise ValueError(f"{path}: not LIBSVM text with features from 1 on: {error}") from None
    if X.shape[1] > WIDEST:
        raise ValueError(
            f"{path}: feature {X.shape[1]:,} is beyond {WIDEST:,}; number the features without gaps"
        )
    return Examples(X, tidy_labels(y))


def _read_npz(path: Path) -> Examples:
    members = _members(path)
    y = members.pop("y", None)
    if "X" in members:
        X = members["X"]
    elif {"data", "indices", "indptr", "shape"} <= members.keys():
        X = _matrix(path, members)
    else:
        names = ", ".join(sorted(members)) or "nothing"
        raise ValueError(f"{path}: need an array X (and y), found {names}")
    if X.ndim != 2:
        raise ValueError(f"{path}: X must be two-dimensional, got shape {X.shape}")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"{path}: X must hold numbers, got {X.dtype}")
    if y is not None and y.shape != (X.shape[0],):
        raise ValueError(f"{path}: y must have one label for each of the {X.shape[0]} rows of X")
    if y is not None and y.dtype.kind not in "biufU":
        raise ValueError(f"{path}: y must hold numbers or text, got {y.dtype}")
    return Examples(X, y)


def _members(path: Path) -> dict[str, NDArray[Any]]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            members = {name: archive[name] for name in archive.files}
    except MemoryError:
        raise
    except Exception as error:  # whatever zipfile, zlib and NumPy say to bytes that are no archive
        raise ValueError(f"{path}: not a plain .npz archive: {error}") from None
    return {name: array for name, array in members.items() if isinstance(array, np.ndarray)}


def _matrix(path: Path, members: dict[str, NDArray[Any]]) -> Any:
    try:
        rows, columns = (int(side) for side in members["shape"])
        parts = members["data"], members["indices"], members["indptr"]
        matrix = sparse.csr_matrix(parts, shape=(rows, columns))
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, OverflowError, IndexError) as error:
        raise ValueError(f"{path}: not a CSR matrix: {error}") from None
    return matrix
