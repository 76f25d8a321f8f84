"""Random Fourier features (Rahimi & Recht 2007), a sine for each cosine."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def frequencies(kernel: str, gamma: float, n_features: int, n: int, seed: int) -> Array:
    """n frequencies from the spectral measure of the kernel, one per row."""
    rng = np.random.default_rng(seed)
    if kernel == "rbf":
        return np.asarray(np.sqrt(2 * gamma) * rng.normal(size=(n, n_features)))
    return gamma * rng.standard_cauchy(size=(n, n_features))


def waves(X: ArrayLike, w: Array) -> Array:
    """The features of the rows: the mean of cos(w'(x - z)) over the frequencies as a product.

    Examples
    --------
    >>> Z = waves([[0.0], [1.0]], frequencies("rbf", 0.5, 1, n=10_000, seed=0))
    >>> (Z @ Z.T).round(2)
    array([[1.  , 0.61],
           [0.61, 1.  ]])
    """
    angles = np.asarray(X) @ w.T
    return np.asarray(np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(len(w)))
