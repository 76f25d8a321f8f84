"""Hashing: categories without a memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction import FeatureHasher

from ..data.rows import Rows
from ..model.numpy_core import NumpyCore
from ..model.parameters import count
from ..model.transformer import OnlineTransformer
from .categories import OfObjects, ReadsObjects


class _HashingCore(NumpyCore, stem="Hashing"):
    known: int  # the columns of the input, which is all there is to know

    def _nothing(self) -> int:
        return 0

    def _learned(self, rows: Rows, weights: NDArray[np.float64]) -> int:
        return rows.columns()

    def _scored(self, rows: Rows) -> Any:
        hasher = FeatureHasher(self.settings["n_components"], input_type="string")
        values = [[f"{j}={value}" for j, value in enumerate(row)] for row in rows.X]
        return sp.csr_array(hasher.transform(values))

    def _state(self) -> dict[str, Any]:
        return {"width": self.known}

    def _from_state(self, state: Mapping[str, NDArray[Any]], width: int) -> int:
        return width


class OnlineHashing(ReadsObjects, OnlineTransformer):
    """Categories as a fixed number of columns, chosen by a hash: for categories without end.

    Ids, addresses, words: where :class:`OnlineOneHot` would run out of columns, a hash sends each
    value of each column to one of ``n_components``, with a sign, so that what two values share
    cancels on average. Nothing is learned and nothing kept: it is ready at once, equal on machines
    that share nothing, and cannot say which value a column stands for.

    Examples
    --------
    >>> from onlinesvm import OnlineHashing
    >>> encoder = OnlineHashing(n_components=16).partial_fit([["red", 7]])
    >>> features = encoder.transform([["red", 7], ["blue", 7], ["red", 7]])
    >>> features.shape, abs(features).sum(axis=1).tolist()
    ((3, 16), [2.0, 2.0, 2.0])
    """

    _stem = "Hashing"
    _kind = OfObjects()
    _passes = True

    n_components: int = count(
        default=1024, at_least=1, kw_only=False, doc="Features, the columns of the output."
    )

    @property
    def _done(self) -> bool:
        return True

    @property
    def _settles(self) -> bool:
        return False

    def _names_from(self, names: list[str]) -> list[str]:
        return [f"onlinehashing{i}" for i in range(self.n_components)]
