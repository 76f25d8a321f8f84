"""Weight, mean and squared deviations of columns, and how those of two parts make the whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.rows import DenseRows, Rows

Floats = NDArray[np.float64]
_EPS = float(np.finfo(np.float64).eps)


def _none() -> Floats:
    return np.empty(0)


@dataclass(frozen=True)
class Moments:
    """Of each column: the weight of its values, their mean, and the sum of squares around it.

    NaN counts as no value. Zeros that a sparse row does not store are values as any other.
    """

    weight: Floats = field(default_factory=_none)
    mean: Floats = field(default_factory=_none)
    squares: Floats = field(default_factory=_none)

    @staticmethod
    def of(rows: Rows, w: Floats) -> Moments:
        """In two passes: the mean, then deviations from it."""
        if isinstance(rows, DenseRows):
            X = np.asarray(rows.X, dtype=np.float64)
            W = np.where(np.isnan(X), 0.0, w[:, None])
            X = np.nan_to_num(X, nan=0.0)
            weight = W.sum(axis=0)
            mean = (W * X).sum(axis=0) / np.maximum(weight, _TINY)
            return Moments(weight, mean, (W * (X - mean) ** 2).sum(axis=0))
        X, d = rows.X, rows.columns()
        data, columns = np.asarray(X.data, dtype=np.float64), X.indices
        each = np.repeat(w, np.diff(X.indptr))
        missing = np.isnan(data)
        weight = np.full(d, w.sum()) - _sums(columns[missing], each[missing], d)
        data, columns, each = data[~missing], columns[~missing], each[~missing]
        mean = _sums(columns, each * data, d) / np.maximum(weight, _TINY)
        squares = _sums(columns, each * (data - mean[columns]) ** 2, d)
        absent = np.maximum(weight - _sums(columns, each, d), 0.0)
        return Moments(weight, mean, squares + absent * mean**2)

    def widened(self, width: int, weight: float) -> Moments:
        """With columns that were 0 in all rows so far."""
        more = width - len(self.mean)
        if more <= 0:
            return self
        zeros = np.zeros(more)
        return Moments(
            np.append(self.weight, np.full(more, weight)),
            np.append(self.mean, zeros),
            np.append(self.squares, zeros),
        )

    def and_then(self, other: Moments) -> Moments:
        """Of both parts together (Chan, Golub and LeVeque); both have the same columns."""
        weight = self.weight + other.weight
        share = other.weight / np.maximum(weight, _TINY)
        apart = other.mean - self.mean
        squares = self.squares + other.squares + apart**2 * self.weight * share
        return Moments(weight, self.mean + apart * share, squares)

    def deviation(self) -> Floats:
        """The root of the variance; 0 where it is nothing but rounding."""
        spread = np.sqrt(self.squares / np.maximum(self.weight, _TINY))
        return np.where(spread <= 64 * _EPS * np.abs(self.mean), 0.0, spread)


_TINY = float(np.finfo(np.float64).tiny)


def _sums(columns: Any, values: Floats, d: int) -> Floats:
    sums: Any = np.bincount(columns, weights=values, minlength=d)
    return np.asarray(sums, dtype=np.float64)


def quantiles(rows: Rows, w: Floats, shares: tuple[float, ...]) -> NDArray[np.float64]:
    """Weighted quantiles of each column, one row per share; 0 for a column without a value.

    A quantile is the smallest value up to which the values have that share of the weight.
    """
    d = rows.columns()
    found = np.zeros((len(shares), d))
    if isinstance(rows, DenseRows):
        for j in range(d):
            found[:, j] = _quantiles(np.asarray(rows.X[:, j], dtype=np.float64), w, shares)
        return found
    X = rows.X.tocsc()
    for j in np.flatnonzero(np.diff(X.indptr)).tolist():
        at = slice(X.indptr[j], X.indptr[j + 1])
        weights = w[X.indices[at]]
        absent = max(0.0, float(w.sum() - weights.sum()))
        values = np.append(np.asarray(X.data[at], dtype=np.float64), 0.0)
        found[:, j] = _quantiles(values, np.append(weights, absent), shares)
    return found


def _quantiles(values: Floats, w: Floats, shares: tuple[float, ...]) -> Floats:
    there = ~np.isnan(values) & (w > 0)
    values, w = values[there], w[there]
    if not values.size:
        return np.zeros(len(shares))
    order = np.argsort(values, kind="stable")
    up_to = np.cumsum(w[order])
    # A hair less than the share: sums of equal weights must not miss it by a rounding.
    at = np.searchsorted(up_to, np.array(shares) * up_to[-1] * (1 - 1e-12))
    return np.asarray(values[order][np.minimum(at, len(order) - 1)])
