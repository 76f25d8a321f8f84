"""Data sets by name: from a local folder, from the cache, or from their public source."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from onlinesvm.datasets.download import DownloadError, Pins, cache_folder, download
from onlinesvm.datasets.formats import FormatError
from onlinesvm.datasets.sources import SOURCES, File, Source
from onlinesvm.files.atomic import replacing

__all__ = ["Dataset", "fetch"]

Matrix: TypeAlias = Any  # ndarray or scipy.sparse.csr_matrix; SciPy ships no types


class Dataset(NamedTuple):
    """A data set in its two splits; where the source has no test split, ``X_test`` has no rows."""

    X_train: Matrix
    y_train: NDArray[Any]
    X_test: Matrix
    y_test: NDArray[Any]


def fetch(name: str, *, timeout: float = 30.0, verbose: bool = False) -> Dataset:
    """Get a public data set by name, ready to learn from, without thinking about files.

    Looked for in this order: ``NAME.npz`` in the folder that the environment variable
    ``ONLINESVM_DATA`` names; the cache (``ONLINESVM_CACHE``, else the platform's cache folder); the
    public source, once. A download is checked by SHA-256 where the source's sum is publicly known
    (banana, covtype, mnist), else against the sum of the first download, and in any case by its
    shape and number of classes; a bad one leaves nothing behind.

    Parameters
    ----------
    name : str
        adult, banana, covtype, dna, ijcnn1, mnist, sector, usps or w3a; or any ``NAME.npz`` in the
        local folder.
    timeout : float, default=30.0
        Seconds without a byte before a download is given up.
    verbose : bool, default=False
        Show a progress bar while downloading.

    Returns
    -------
    Dataset
        ``(X_train, y_train, X_test, y_test)``: original classes and row order, nothing scaled.
        Integer features keep a small integer type: convert to float before doing arithmetic.

    Raises
    ------
    ValueError
        Unknown name, or a local file that is not a data set.
    DownloadError
        The source cannot be reached, or sends something else (``ChecksumError``) or too much.
    """
    if not re.fullmatch(r"\w[\w.-]*", name):
        raise ValueError(f"name={name!r} is not the name of a data set; folders have no say in it")
    if (folder := os.environ.get("ONLINESVM_DATA")) and (local := _inside(folder, name)).exists():
        return _read(local)
    if (cached := cache_folder() / f"{name}.npz").exists():
        return _read(cached)
    if name not in SOURCES:
        raise ValueError(
            f"unknown data set name={name!r}; known: {', '.join(SOURCES)}, "
            "or put NAME.npz into the folder that ONLINESVM_DATA names"
        )
    data = _download(SOURCES[name], timeout=timeout, verbose=verbose)
    with replacing(cached) as file:
        np.savez_compressed(file, allow_pickle=False, **_arrays(data))
    return data


def _inside(folder: str, name: str) -> Path:
    root = Path(folder).expanduser()
    if not root.is_dir():
        raise ValueError(f"ONLINESVM_DATA={folder!r} is not a folder; unset it or create it")
    return root / f"{name}.npz"


def _download(source: Source, *, timeout: float, verbose: bool) -> Dataset:
    pins = Pins()
    sums: dict[str, str] = {}

    def bring(files: tuple[File, ...], folder: Path) -> list[Path]:
        for file in files:
            expected = file.sha256 or pins.get(file.url)
            path = folder / file.name
            sums[file.url] = download(
                file.url, path, sha256=expected, timeout=timeout, verbose=verbose
            )
        return [folder / file.name for file in files]

    cache_folder().mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=cache_folder(), prefix=".download-") as scratch:
        train, test = bring(source.train, Path(scratch)), bring(source.test, Path(scratch))
        try:
            data = Dataset(
                *source.split(train, source.rows[0]), *source.split(test, source.rows[1])
            )
        except FormatError as error:
            raise DownloadError(f"the source sent a damaged or changed file: {error}") from error
    # Only a download that was read and has the right shape is worth trusting from now on.
    pins.add(sums)
    return data


def _read(path: Path) -> Dataset:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return Dataset(
                _matrix(arrays, "train"),
                arrays["y_train"],
                _matrix(arrays, "test"),
                arrays["y_test"],
            )
    except MemoryError:
        raise
    except Exception as error:  # whatever zipfile, zlib, NumPy and SciPy say to other bytes
        raise ValueError(f"{path} is not a data set ({error}); delete or replace it") from error


def _matrix(arrays: Mapping[str, Any], split: str) -> Matrix:
    if f"X_{split}" in arrays:
        return arrays[f"X_{split}"]
    data, indices, indptr = (arrays[f"X_{split}_{part}"] for part in ("data", "indices", "indptr"))
    rows, columns = (int(side) for side in arrays[f"X_{split}_shape"])
    # Files keep indices in the smallest unsigned type; SciPy wants int32.
    matrix = sparse.csr_matrix(
        (data, indices.astype(np.int32), indptr.astype(np.int32)), shape=(rows, columns)
    )
    matrix.check_format(full_check=True)
    return matrix


def _arrays(data: Dataset) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {"y_train": data.y_train, "y_test": data.y_test}
    for split, X in (("train", data.X_train), ("test", data.X_test)):
        if sparse.issparse(X):
            X.sort_indices()
            arrays |= {
                f"X_{split}_{part}": getattr(X, part) for part in ("data", "indices", "indptr")
            }
            arrays[f"X_{split}_shape"] = np.array(X.shape)
        else:
            arrays[f"X_{split}"] = X
    return arrays
