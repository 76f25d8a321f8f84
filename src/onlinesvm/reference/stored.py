"""What the twins share that keep examples and solve a problem over them: the table, f, the bias."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onlinesvm.reference.kernels import Array, Kernel

Mask = NDArray[np.bool_]


class StoredExamples:
    """Examples X and, in the same order, their ``columns``: arrays that the twin itself makes."""

    def __init__(self, kernel: Kernel | None, *columns: str) -> None:
        self.kernel, self.columns = kernel or Kernel(), columns
        self.n_seen = 0
        self.X: Array = np.zeros((0, 0))
        self.ids: NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    def _f(self, X: ArrayLike, s: Array) -> Array:
        """sum_i s_i k(x_i, x) for every row x."""
        rows = np.atleast_2d(np.asarray(X, dtype=np.float64))
        if not len(self.X):
            return np.zeros(len(rows))
        return np.asarray(self.kernel(rows, self.X) @ s)

    def _append(self, x: Array, **values: float) -> None:
        self.X = np.vstack([self.X.reshape(-1, len(x)), x])
        for name in self.columns:
            setattr(self, name, np.append(getattr(self, name), values[name]))

    def _delete(self, positions: int | Sequence[int] | NDArray[np.intp]) -> None:
        for name in ("X", *self.columns):
            setattr(self, name, np.delete(getattr(self, name), positions, axis=0))

    def _swap_out(self, k: int) -> None:
        """Delete k; the last one takes its place."""
        for name in ("X", *self.columns):
            values = getattr(self, name)
            values[k] = values[-1]
            setattr(self, name, values[:-1].copy())


def may_move(y: Array, a: Array, C: Array) -> tuple[Mask, Mask]:
    """Whose y a may rise, and whose may fall, with 0 <= a <= C."""
    return np.where(y > 0, a < C, a > 0.0), np.where(y > 0, a > 0.0, a < C)


def middle(g: Array, rises: Mask, falls: Mask) -> float:
    """The bias: between those that may rise and those that may fall; one class alone: it."""
    ends = [g[rises].max(initial=-np.inf), g[falls].min(initial=np.inf)]
    finite = [end for end in ends if np.isfinite(end)]
    return float(np.mean(finite)) if finite else 0.0


def violations(a: Array, C: Array, G: Array) -> Array:
    """By how much each misses its condition, where G, the gradient, would raise a in [0, C]."""
    v = np.where(a == 0.0, G, np.where(a == C, -G, np.abs(G)))
    return np.maximum(v, 0.0)


def turns(forget: str, alpha: Array, g: Array) -> Array:
    """Who of some support vectors is forgotten first: the smallest, of equals the oldest."""
    return {
        "oldest": np.zeros(len(alpha)),
        "least_significant": alpha,
        "outlier_first": -alpha * np.where(g > 1.0, g, 0.0),
    }[forget]
