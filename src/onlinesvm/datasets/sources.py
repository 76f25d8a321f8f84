"""Where the public data sets live, and how their files become a :class:`Dataset`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from onlinesvm.datasets.formats import (
    FormatError,
    decompress,
    read_idx,
    read_libsvm,
    read_table,
)

__all__ = ["SOURCES", "File", "Source"]

_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
_COVTYPE = "https://archive.ics.uci.edu/ml/machine-learning-databases/covtype"
_MNIST = "https://storage.googleapis.com/cvdf-datasets/mnist"
_ZIPCODE = "https://hastie.su.domains/ElemStatLearn/datasets"
_RIVER = "https://raw.githubusercontent.com/online-ml/river/0.26.1/river/datasets"


@dataclass(frozen=True)
class File:
    """One file to download; ``sha256`` only where the source's sum is publicly known."""

    url: str
    sha256: str | None = None

    @property
    def name(self) -> str:
        return self.url.rsplit("/", 1)[-1]


Split = tuple[Any, Any]
Reader = Callable[[list[Path], "Source"], Split]


@dataclass(frozen=True)
class Source:
    """One public data set: its files per split, its reader, and the shape it must have.

    The shape is checked after reading: for files without a published sum it is what tells a changed
    or incomplete file from the right one.
    """

    read: Reader
    train: tuple[File, ...]
    test: tuple[File, ...]
    rows: tuple[int, int]
    columns: int
    classes: int
    dtype: str
    dense: bool = True

    def split(self, paths: list[Path], rows: int) -> Split:
        """Read one split from its downloaded files; no files give a split without rows."""
        if not paths:
            return np.empty((0, self.columns), self.dtype), np.empty(0, np.int64)
        X, y = self.read(paths, self)
        if X.shape != (rows, self.columns) or len(np.unique(y)) != self.classes:
            raise FormatError(
                f"{paths[0].name} holds {X.shape[0]} x {X.shape[1]} values in "
                f"{len(np.unique(y))} classes, expected {rows} x {self.columns} in {self.classes}"
            )
        if not np.isfinite(X.data if sparse.issparse(X) else X).all():
            raise FormatError(f"{paths[0].name} holds NaN or infinity")
        if self.dense and isinstance(X, sparse.csr_matrix):
            X = X.toarray()
        return X.astype(self.dtype), y.astype(np.int64)


def _libsvm(paths: list[Path], source: Source) -> Split:
    return read_libsvm(decompress(paths[0]), source.columns)


def _csv_label_last(paths: list[Path], source: Source) -> Split:
    return read_table(decompress(paths[0]), label=-1, delimiter=",")


def _blanks_label_first(paths: list[Path], source: Source) -> Split:
    return read_table(decompress(paths[0]), label=0, delimiter=None)


def _idx_pair(paths: list[Path], source: Source) -> Split:
    images, labels = (read_idx(decompress(path)) for path in paths)
    return images.reshape(len(images), -1), labels


def _from_libsvm(train: str, test: str, *shape: Any, **more: Any) -> Source:
    """A set of the LIBSVM collection."""
    first, second = (File(f"{_LIBSVM}/{name}") for name in (train, test))
    return Source(_libsvm, (first,), (second,), *shape, **more)


_BANANA = File(
    f"{_RIVER}/banana.zip", "0095525598e245d0f075fa65e4553eeadaba51ddf393e449e6959e061ed3303f"
)
_COVER = File(
    f"{_COVTYPE}/covtype.data.gz",
    "614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
)
_DIGITS = [
    File(f"{_MNIST}/{name}-ubyte.gz", sha256)
    for name, sha256 in {
        "train-images-idx3": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        "train-labels-idx1": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        "t10k-images-idx3": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        "t10k-labels-idx1": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
    }.items()
]
_ZIP_TRAIN, _ZIP_TEST = (File(f"{_ZIPCODE}/zip.{split}.gz") for split in ("train", "test"))

# After the files: rows of the two splits, columns, classes and the type to keep them in.
SOURCES: dict[str, Source] = {
    "adult": _from_libsvm("binary/a9a", "binary/a9a.t", (32561, 16281), 123, 2, "uint8"),
    "banana": Source(_libsvm, (_BANANA,), (), (5300, 0), 2, 2, "float32"),
    "covtype": Source(_csv_label_last, (_COVER,), (), (581012, 0), 54, 7, "int16"),
    "dna": _from_libsvm(
        "multiclass/dna.scale", "multiclass/dna.scale.t", (2000, 1186), 180, 3, "uint8"
    ),
    "ijcnn1": _from_libsvm(
        "binary/ijcnn1.bz2", "binary/ijcnn1.t.bz2", (49990, 91701), 22, 2, "float32"
    ),
    "mnist": Source(_idx_pair, (*_DIGITS[:2],), (*_DIGITS[2:],), (60000, 10000), 784, 10, "uint8"),
    "sector": _from_libsvm(
        "multiclass/sector/sector.scale.bz2",
        "multiclass/sector/sector.t.scale.bz2",
        (6412, 3207),
        55197,
        105,
        "float32",
        dense=False,
    ),
    "usps": Source(
        _blanks_label_first, (_ZIP_TRAIN,), (_ZIP_TEST,), (7291, 2007), 256, 10, "float32"
    ),
    "w3a": _from_libsvm("binary/w3a", "binary/w3a.t", (4912, 44837), 300, 2, "uint8"),
}
