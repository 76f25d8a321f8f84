"""A core in NumPy, for preparation that has no hot loop of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..core import NUMPY_CORES, Floats, Ids
from ..data.rows import DenseRows, Rows, SparseRows


class NumpyCore(ABC):
    """The verbs of :class:`~onlinesvm.core.Core` around one immutable value.

    Learning puts another value in the place of ``known``, in one step: whoever reads meanwhile sees
    the one before or the one after, and taking a step back is keeping the old one.
    """

    known: Any
    threads: int = 1
    _dtype: ClassVar[str]

    def __init_subclass__(cls, *, stem: str = "", **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for bits in ("32", "64") if stem else ():
            NUMPY_CORES[stem + bits] = type(stem + bits, (cls,), {"_dtype": f"float{bits}"})

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.settings = settings
        self.changes = 0
        self.known = self._nothing()
        self.begin()

    # --- what a core has to say ---------------------------------------------------------------

    @abstractmethod
    def _nothing(self) -> Any:
        """What is known before the first example."""

    @abstractmethod
    def _learned(self, rows: Rows, weights: Floats) -> Any:
        """What is known after these rows."""

    @abstractmethod
    def _scored(self, rows: Rows) -> Any:
        """The features of the rows, in float64."""

    @abstractmethod
    def _state(self) -> dict[str, Any]:
        """What is known as numbers and arrays; ``width`` is the number of features met."""

    @abstractmethod
    def _from_state(self, state: Mapping[str, NDArray[Any]], width: int) -> Any:
        """What is known, from arrays that are not to be trusted: a ValueError if they lie."""

    # --- verbs --------------------------------------------------------------------------------

    def learn_dense(self, X: NDArray[Any], y: Floats, w: Floats, ids: Ids) -> None:
        self._take(DenseRows(X), w)

    def learn_sparse(
        self, data: Any, indices: Any, indptr: Any, width: int, y: Any, w: Floats, ids: Ids
    ) -> None:
        self._take(_sparse(data, indices, indptr, width), w)

    def _take(self, rows: Rows, weights: Floats) -> None:
        with _no_overflow():
            known = self._learned(rows, weights)
        self.known, self.changes = known, self.changes + 1

    def score_dense(self, X: NDArray[Any]) -> Any:
        return self._score(DenseRows(X))

    def score_sparse(self, data: Any, indices: Any, indptr: Any, width: int) -> Any:
        return self._score(_sparse(data, indices, indptr, width))

    def _score(self, rows: Rows) -> Any:
        with _no_overflow():
            return self._scored(rows).astype(self._dtype, copy=False)

    def begin(self) -> None:
        self._before = self.known, self.changes

    def commit(self) -> None:
        self.begin()

    def rollback(self) -> None:
        self.known, self.changes = self._before

    def state(self) -> dict[str, Any]:
        state = {name: np.asarray(value) for name, value in self._state().items()}
        return {"outputs": np.asarray(self.outputs), **state}

    def load(self, state: Mapping[str, NDArray[Any]]) -> None:
        known = self.state()
        if state.keys() != known.keys():
            raise ValueError("its state has other arrays than it should")
        for name, array in known.items():
            if array.dtype != state[name].dtype or array.ndim != state[name].ndim:
                raise ValueError(f"its state has another kind of {name}")
        width = int(state["width"])
        if width < 0:
            raise ValueError("its state has a width below 0")
        self.known = self._from_state(state, width)
        self.changes += 1

    @property
    def outputs(self) -> int:
        """Features beyond those that follow the width: none."""
        return 1

    @property
    def nbytes(self) -> int:
        return sum(int(array.nbytes) for array in self.state().values()) + 1024


def _sparse(data: Any, indices: Any, indptr: Any, width: int) -> SparseRows:
    return SparseRows(sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, width)))


class _no_overflow:
    """What leaves the range of numbers is a ValueError, not an infinity that is found later."""

    def __enter__(self) -> None:
        self._mode = np.errstate(over="raise", invalid="raise", divide="raise")
        self._mode.__enter__()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._mode.__exit__(kind, error, trace)
        if isinstance(error, FloatingPointError):
            raise ValueError(
                "X has values too large to be scaled; divide them by a constant first"
            ) from None
