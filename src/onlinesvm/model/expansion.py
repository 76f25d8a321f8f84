"""A function as a sum of kernels at examples, and a core that only computes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..core import REDUCED, REDUCED_PAIRS, Core, Floats, Ids, revive
from ..data.rows import DenseRows, Rows, SparseRows


@dataclass(frozen=True)
class Expansion:
    """f_o(x) = sum_j coef_oj k(x_j, x) + bias_o, for every output o."""

    kernel: Mapping[str, Any]
    ids: Ids
    vectors: Rows
    coef: Floats  # outputs x vectors
    bias: Floats
    classes: int = 0  # outputs are pairs of so many classes, which vote; 0: they do not

    @classmethod
    def of(cls, core: Core, kernel: Mapping[str, Any], bias: Floats) -> Expansion:
        """What a core computes with."""
        support = core.support()
        vectors: Rows
        if "vectors" in support:
            vectors = DenseRows(np.ascontiguousarray(support["vectors"]))
        else:
            parts = (support["data"], support["indices"], support["indptr"])
            shape = (len(support["ids"]), support["width"])
            vectors = SparseRows.of(sp.csr_array(parts, shape=shape))
        return cls(kernel, np.asarray(support["ids"]), vectors, np.asarray(support["coef"]), bias)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def stem(self) -> str:
        """The name of the core that only predicts."""
        return REDUCED_PAIRS if self.classes else REDUCED

    def only(self, numbers: NDArray[np.intp], coef: Floats) -> Expansion:
        """Some of the vectors, with other coefficients."""
        return replace(self, ids=self.ids[numbers], vectors=self.vectors.picked(numbers), coef=coef)

    def core(self, dtype: str, *, voting: bool = False) -> Core:
        """A core that computes it, with kernel values of that type.

        ``voting``: where outputs are pairs of classes, what they decide together.
        """
        X, sparsely = self.vectors.X, isinstance(self.vectors, SparseRows)
        facts = self.vectors.to_facts()
        values = facts["data"] if sparsely else X.ravel()
        state = {
            "width": np.array(X.shape[1]),
            "outputs": np.array(self.classes if voting else len(self.bias)),
            "vectors.kind": np.array(int(sparsely)),
            "vectors.size": np.array(len(self)),
            "vectors.width": np.array(X.shape[1]),
            "vectors.values": values.astype(dtype),
            "vectors.indices": facts.get("indices", np.zeros(0, np.int32)),
            "vectors.starts": facts.get("indptr", np.zeros(1, np.int64)),
            "ids": self.ids,
            "coef": np.ascontiguousarray(self.coef).ravel(),
            "bias": self.bias,
        }
        stem = self.stem if voting else REDUCED
        return revive(stem + dtype.removeprefix("float"), {"kernel": self.kernel}, state)

    def sums(self, rows: Rows) -> Floats:
        """The sums at these rows without the bias, in double; outputs x rows."""
        plain = replace(self, bias=np.zeros(len(self.bias)))
        return np.ascontiguousarray(rows.score(plain.core("float64")).T)

    def norms2(self) -> Floats:
        """The squared norm of each sum in the space of the kernel."""
        return np.asarray((self.coef * self.sums(self.vectors)).sum(axis=1))

    def columns(self, numbers: NDArray[np.intp], rows: Rows) -> Floats:
        """Kernel values of some of the vectors against rows, a line for each vector."""
        some = self.only(numbers, np.eye(len(numbers)))
        return replace(some, bias=np.zeros(len(numbers))).sums(rows)

    def own(self) -> Floats:
        """k(x, x) of every vector."""
        each = (self.columns(np.array([j]), self.vectors.part(j, j + 1)) for j in range(len(self)))
        return np.array([float(value[0, 0]) for value in each])
