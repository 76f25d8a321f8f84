"""Examples from files: CSV and TSV tables, LIBSVM text, NumPy archives."""

from __future__ import annotations

import csv
import warnings
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["Examples", "check_target", "read_examples"]

DELIMITERS = {".csv": ",", ".tsv": "\t"}
LIBSVM = {".libsvm", ".svm", ".svmlight"}
PACKED = {".gz", ".bz2"}


@dataclass(frozen=True, slots=True)
class Examples:
    """Rows of a file, with labels where the file has them."""

    X: Any
    y: NDArray[Any] | None

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


def read_examples(path: Path, *, target: str | None = None, width: int | None = None) -> Examples:
    """Read a file by its suffix.

    Parameters
    ----------
    path : Path
        A .csv or .tsv table (with or without a header), .libsvm / .svm / .svmlight text (also .gz
        and .bz2), or a .npz archive with `X` (or the members of a SciPy CSR matrix) and `y`.
    target : str, optional
        Name or number of the label column of a table; the last one if not given.
    width : int, optional
        Features a trained model expects: a table with just so many columns has no label.
    """
    if not path.is_file():
        raise ValueError(f"{path}: no such file")
    kind = _kind(path)
    if kind in DELIMITERS:
        examples = _read_table(path, DELIMITERS[kind], target, width)
    elif target is not None:
        raise ValueError(f"--target is for .csv and .tsv tables; {path} says itself what is what")
    elif kind in LIBSVM:
        examples = _read_libsvm(path, width)
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


def _read_table(path: Path, delimiter: str, target: str | None, width: int | None) -> Examples:
    first = _first_row(path, delimiter)
    header = None if any(map(_is_number, first)) else [name.strip() for name in first]
    columns = list(range(len(first)))
    label = None
    if target is not None or len(columns) != width:
        label = _column(target, header, len(columns), path)
        columns.remove(label)
    if not columns:
        raise ValueError(f"{path}: only one column; give features and a label")

    def read(which: list[int], dtype: type) -> NDArray[Any]:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="loadtxt: input contained no data")
            return np.loadtxt(
                path,
                delimiter=delimiter,
                skiprows=0 if header is None else 1,
                usecols=which,
                dtype=dtype,
                ndmin=2,
                quotechar='"',
                comments=None,
                encoding="utf-8-sig",
            )

    try:
        X = read(columns, float)
        y = None if label is None else _tidy_labels(read([label], str)[:, 0])
    except ValueError as error:
        raise ValueError(f"{path}: {error}; every row needs the same columns of numbers") from None
    return Examples(X, y)


def _first_row(path: Path, delimiter: str) -> list[str]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        try:
            first = next(csv.reader(file, delimiter=delimiter), [])
        except (UnicodeDecodeError, csv.Error) as error:
            raise ValueError(f"{path}: not a text table: {error}") from None
    if not first:
        raise ValueError(f"{path}: no rows")
    return first


def _column(target: str | None, header: list[str] | None, count: int, path: Path) -> int:
    if target is None:
        return count - 1
    if header is not None and target in header:
        return header.index(target)
    try:
        return range(count)[int(target)]
    except (ValueError, IndexError):
        known = ", ".join(header) if header else f"numbers 0 to {count - 1}"
        raise ValueError(f"{path}: no column {target!r}; it has {known}") from None


def _read_libsvm(path: Path, width: int | None) -> Examples:
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(str(path), n_features=width)
    except (ValueError, OverflowError, EOFError) as error:
        raise ValueError(f"{path}: not LIBSVM text: {error}") from None
    return Examples(X, _tidy_labels(y))


def _read_npz(path: Path) -> Examples:
    try:
        with np.load(path, allow_pickle=False) as archive:
            members = {name: archive[name] for name in archive.files}
    except (ValueError, zipfile.BadZipFile, EOFError, AttributeError) as error:
        raise ValueError(f"{path}: not a plain .npz archive: {error}") from None
    y = members.pop("y", None)
    if "X" in members:
        X = members["X"]
    elif {"data", "indices", "indptr", "shape"} <= members.keys():
        parts = members["data"], members["indices"], members["indptr"]
        X = sparse.csr_matrix(parts, shape=tuple(members["shape"]))
    else:
        names = ", ".join(sorted(members)) or "nothing"
        raise ValueError(f"{path}: need an array X (and y), found {names}")
    if X.ndim != 2:
        raise ValueError(f"{path}: X must be two-dimensional, got shape {X.shape}")
    if y is not None and y.shape != (X.shape[0],):
        raise ValueError(f"{path}: y must have one label for each of the {X.shape[0]} rows of X")
    return Examples(X, y)


def _tidy_labels(labels: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers where all are whole, else numbers, else text."""
    try:
        numbers = labels.astype(np.float64)
    except ValueError:
        return np.char.strip(labels)
    whole = np.isfinite(numbers).all() and (numbers == np.round(numbers)).all()
    return numbers.astype(np.int64) if whole else numbers


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
