"""Encoders: categories as columns of zeros and ones, and as numbers."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from ..data.rows import Rows
from ..model.parameters import word
from ..model.transformer import OnlineTransformer
from .categories import CategoryCore, Encoder, OfObjects


class _OneHotCore(CategoryCore, stem="OneHot"):
    def _scored(self, rows: Rows) -> Any:
        """A one in the column of each value, in a sparse array as wide as it will ever be."""
        most = self.settings["max_categories"]
        each = most + (self.settings["unknown"] == "infrequent")
        codes = self.numbers(rows)
        if each > most:
            codes = np.where(codes < 0, most, codes)
        there = codes >= 0
        columns = (codes + each * np.arange(rows.columns()))[there]
        starts = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
        shape = len(rows), each * rows.columns()
        return sp.csr_array((np.ones(len(columns)), columns, starts), shape=shape)


class OnlineOneHot(Encoder, OnlineTransformer):
    """A column of zeros and ones for each category of a stream, without knowing them beforehand.

    For text labels, codes and other values without an order. Categories get their columns in order
    of arrival; the output is sparse, and as wide from the first call on as it will ever be,
    ``max_categories`` for each column of the input. So a new category fills a column that was 0,
    and nothing that a model behind has learned changes its meaning.

    A gap (None, NaN) is a category as any other. A value costs a look into a dict; memory is that
    of the categories.

    Examples
    --------
    >>> from onlinesvm import OnlineOneHot
    >>> encoder = OnlineOneHot(max_categories=3).partial_fit([["red"], ["blue"]])
    >>> encoder.transform([["blue"], ["green"]]).toarray().tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    >>> encoder.partial_fit([["green"]]).transform([["green"]]).toarray().tolist()
    [[0.0, 0.0, 1.0]]
    >>> encoder.get_feature_names_out().tolist()
    ['x0_red', 'x0_blue', 'x0_green']
    """

    _stem = "OneHot"
    _kind = OfObjects()
    _passes = True

    unknown: Literal["zeros", "infrequent"] = word(
        default="zeros",
        words=("zeros", "infrequent"),
        doc="""A category that never came, or came after ``max_categories`` others: all columns are
        0, or it shares one more column with all such categories.""",
    )

    def _names_from(self, names: list[str]) -> list[str]:
        named = []
        for name, column in zip(names, self._core.known or [{}] * len(names), strict=True):
            met = [str(value) for value in column]
            free = [f"free{k}" for k in range(len(met), self.max_categories)]
            shared = ["infrequent"] if self.unknown == "infrequent" else []
            named += [f"{name}_{value}" for value in (*met, *free, *shared)]
        return named


class _OrdinalCore(CategoryCore, stem="Ordinal"):
    def _scored(self, rows: Rows) -> Any:
        return self.numbers(rows).astype(np.float64)


class OnlineOrdinal(Encoder, OnlineTransformer):
    """A number for each category of a stream, in order of arrival: as narrow as the input.

    For columns with two categories, and for models that look at single values; a linear model or a
    kernel takes numbers for sizes, and wants :class:`OnlineOneHot` instead. No target is looked at.
    A category that never came, or came after ``max_categories`` others, is -1.

    Examples
    --------
    >>> from onlinesvm import OnlineOrdinal
    >>> encoder = OnlineOrdinal().partial_fit([["low"], ["high"]])
    >>> encoder.transform([["high"], ["low"], ["odd"]]).ravel().tolist()
    [1.0, 0.0, -1.0]
    """

    _stem = "Ordinal"
    _kind = OfObjects()
    _passes = True

    def _names_from(self, names: list[str]) -> list[str]:
        return names
