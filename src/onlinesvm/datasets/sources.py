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
    rows: tuple[int, int]
    columns: int
    classes: int
    dtype: str
    test: tuple[File, ...] = ()
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


SOURCES: dict[str, Source] = {
    "adult": Source(
        read=_libsvm,
        train=(File(f"{_LIBSVM}/binary/a9a"),),
        test=(File(f"{_LIBSVM}/binary/a9a.t"),),
        rows=(32561, 16281),
        columns=123,
        classes=2,
        dtype="uint8",
    ),
    "banana": Source(
        read=_libsvm,
        train=(
            File(
                f"{_RIVER}/banana.zip",
                "0095525598e245d0f075fa65e4553eeadaba51ddf393e449e6959e061ed3303f",
            ),
        ),
        rows=(5300, 0),
        columns=2,
        classes=2,
        dtype="float32",
    ),
    "covtype": Source(
        read=_csv_label_last,
        train=(
            File(
                "https://archive.ics.uci.edu/ml/machine-learning-databases/covtype/covtype.data.gz",
                "614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
            ),
        ),
        rows=(581012, 0),
        columns=54,
        classes=7,
        dtype="int16",
    ),
    "dna": Source(
        read=_libsvm,
        train=(File(f"{_LIBSVM}/multiclass/dna.scale"),),
        test=(File(f"{_LIBSVM}/multiclass/dna.scale.t"),),
        rows=(2000, 1186),
        columns=180,
        classes=3,
        dtype="uint8",
    ),
    "ijcnn1": Source(
        read=_libsvm,
        train=(File(f"{_LIBSVM}/binary/ijcnn1.bz2"),),
        test=(File(f"{_LIBSVM}/binary/ijcnn1.t.bz2"),),
        rows=(49990, 91701),
        columns=22,
        classes=2,
        dtype="float32",
    ),
    "mnist": Source(
        read=_idx_pair,
        train=(
            File(
                f"{_MNIST}/train-images-idx3-ubyte.gz",
                "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            ),
            File(
                f"{_MNIST}/train-labels-idx1-ubyte.gz",
                "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            ),
        ),
        test=(
            File(
                f"{_MNIST}/t10k-images-idx3-ubyte.gz",
                "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            ),
            File(
                f"{_MNIST}/t10k-labels-idx1-ubyte.gz",
                "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
            ),
        ),
        rows=(60000, 10000),
        columns=784,
        classes=10,
        dtype="uint8",
    ),
    "sector": Source(
        read=_libsvm,
        train=(File(f"{_LIBSVM}/multiclass/sector/sector.scale.bz2"),),
        test=(File(f"{_LIBSVM}/multiclass/sector/sector.t.scale.bz2"),),
        rows=(6412, 3207),
        columns=55197,
        classes=105,
        dtype="float32",
        dense=False,
    ),
    "usps": Source(
        read=_blanks_label_first,
        train=(File(f"{_ZIPCODE}/zip.train.gz"),),
        test=(File(f"{_ZIPCODE}/zip.test.gz"),),
        rows=(7291, 2007),
        columns=256,
        classes=10,
        dtype="float32",
    ),
    "w3a": Source(
        read=_libsvm,
        train=(File(f"{_LIBSVM}/binary/w3a"),),
        test=(File(f"{_LIBSVM}/binary/w3a.t"),),
        rows=(4912, 44837),
        columns=300,
        classes=2,
        dtype="uint8",
    ),
}
