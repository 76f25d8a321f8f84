"""Nystroem features (Williams & Seeger 2000) whose landmarks come from a stream."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onlinesvm.reference.kernels import Kernel

Array = NDArray[np.float64]


class Nystroem:
    """Features whose inner products are the kernel on the span of the landmarks.

    With K = L L' the kernel matrix of the landmarks, phi(x) = L^-1 k(x, landmarks); what is left of
    k(x, x) is the squared distance of x to their span.

    Examples
    --------
    >>> from onlinesvm.reference import Kernel, Nystroem
    >>> model = Nystroem(Kernel("rbf"), n_components=3)
    >>> for x in ([0.0], [0.0], [1.0]):
    ...     model.learn(x)
    >>> model.transform([[0.0], [1.0]]).round(3)
    array([[1.   , 0.   , 0.   ],
           [0.368, 0.93 , 0.   ]])
    """

    def __init__(self, kernel: Kernel, n_components: int = 100, tol: float = 1e-2) -> None:
        self.kernel, self.n_components, self.tol = kernel, n_components, tol
        self.landmarks: list[Array] = []

    def learn(self, x: ArrayLike) -> None:
        """Make x a landmark if there is room and it is not in the span of the others."""
        row = np.asarray(x, dtype=np.float64)
        own = float(self.kernel(row, row)[0, 0])
        phi = self.transform(row)[0]
        if len(self.landmarks) < self.n_components and own - phi @ phi > self.tol * own:
            self.landmarks.append(row)

    def transform(self, X: ArrayLike) -> Array:
        """One row of features for each row; columns without a landmark are 0."""
        rows = np.atleast_2d(np.asarray(X, dtype=np.float64))
        features = np.zeros((len(rows), self.n_components))
        if self.landmarks:
            L = np.linalg.cholesky(self.kernel(self.landmarks, self.landmarks))
            features[:, : len(L)] = np.linalg.solve(L, self.kernel(self.landmarks, rows)).T
        return features
