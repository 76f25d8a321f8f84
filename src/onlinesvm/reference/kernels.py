"""Positive definite kernels in plain NumPy: a value that maps two sets of rows to a Gram block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Kernel:
    """A kernel k(x, x') by name, or any function ``k(x, X)`` with one value per row of X.

    Parameters
    ----------
    name : {"linear", "rbf", "poly", "laplacian", "chi2"} or callable
    gamma, degree, coef0 : float
        As in scikit-learn; a kernel ignores the ones it does not know.
    offset : float
        kappa_0 of ``bias="kernel"``: the kernel becomes k + kappa_0, which is a regularised bias.

    Examples
    --------
    >>> from onlinesvm.reference import Kernel
    >>> Kernel("rbf", gamma=0.5)([[0.0], [2.0]], [[0.0]]).round(4)
    array([[1.    ],
           [0.1353]])
    """

    name: str | Callable[[Array, Array], ArrayLike] = "rbf"
    gamma: float = 1.0
    degree: float = 3.0
    coef0: float = 0.0
    offset: float = 0.0

    def __call__(self, A: ArrayLike, B: ArrayLike) -> Array:
        """Return the Gram block k(a, b), one row per row of A and one column per row of B."""
        a = np.atleast_2d(np.asarray(A, dtype=np.float64))
        b = np.atleast_2d(np.asarray(B, dtype=np.float64))
        return self._plain(a, b) + self.offset

    def _plain(self, a: Array, b: Array) -> Array:
        if callable(self.name):
            rows = [np.asarray(self.name(row, b), dtype=np.float64) for row in a]
            return np.array(rows).reshape(len(a), len(b))
        if self.name == "linear":
            return a @ b.T
        if self.name == "poly":
            return np.asarray((self.gamma * (a @ b.T) + self.coef0) ** self.degree)
        return np.asarray(np.exp(-self.gamma * self._distance(a[:, None, :], b[None, :, :])))

    def _distance(self, a: Array, b: Array) -> Array:
        if self.name == "rbf":
            terms = (a - b) ** 2
        elif self.name == "laplacian":
            terms = np.abs(a - b)
        elif self.name == "chi2":  # 0 / 0 is 0
            terms = np.divide(
                (a - b) ** 2, a + b, out=np.zeros(np.broadcast(a, b).shape), where=a + b != 0.0
            )
        else:
            raise ValueError(f"kernel: unknown name {self.name!r}")
        return np.asarray(terms.sum(axis=2))
