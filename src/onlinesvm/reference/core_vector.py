"""The core vector machine (Tsang, Kwok & Cheung 2005), every point and distance spelled out."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .kernels import Kernel
from .stream_svm import simplex_qp

Array = NDArray[np.float64]


class CoreVector:
    """The smallest ball around all examples from the smallest ball around few of them, the core.

    Example i is the point Z_i = [y_i phi(x_i); e_i / sqrt(C_i)], so that Z_i.Z_j = Kt_ij. Where the
    points are not equally long, Z_i counts as a ball: d_i^2 = |c - Z_i|^2 + eta - |Z_i|^2, with eta
    the largest squared length. The ball is smallest where |c| is, whatever their lengths, and
    c / |c|^2 is the SVM with squared slack.

    Examples
    --------
    >>> model = CoreVector(C=1.0, kernel=Kernel("linear"))
    >>> f = model.fit([[1.0], [-1.0]], [1, -1]).decide([[1.0]])[0]
    >>> print(f"{f:.3f}")
    0.667
    """

    def __init__(self, C: float = 1.0, kernel: Kernel | None = None, tol: float = 1e-6) -> None:
        self.C = C
        self.kernel = kernel if kernel is not None else Kernel("rbf")
        self.tol = tol

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike = 1.0) -> CoreVector:
        """Learn all examples; ``radii`` tells how the ball grew."""
        self.X, self.y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        weights = np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), len(self.y))
        Kt = np.outer(self.y, self.y) * self.kernel(self.X, self.X)
        Kt += np.diag(1 / (self.C * weights))
        eta = Kt.diagonal().max()

        z_0 = 0
        a = _farthest(Kt, z_0)
        b = _farthest(Kt, a)
        self.core = list(dict.fromkeys([a, b]))
        self.radii: list[float] = []
        while True:
            l = np.zeros(len(self.y))  # noqa: E741
            S = np.ix_(self.core, self.core)
            l[self.core] = simplex_qp(Kt[S], np.zeros(len(self.core)))
            v = Kt @ l  # Z_i.c
            rho = l @ v  # |c|^2
            R2 = eta - rho
            d2 = eta + rho - 2 * v
            self.radii.append(float(np.sqrt(max(R2, 0.0))))
            i = int(d2.argmax())
            # d_i <= (1 + eps) R says nothing where R^2 is far above rho = 1 / sum alpha: then
            # the excess is measured by rho, which bounds 1 - z_i by tol.
            if d2[i] - R2 <= 2 * self.tol * min(R2, rho) or i in self.core:
                break
            self.core.append(i)
        self.alpha = l / rho
        self.d = np.sqrt(np.maximum(d2, 0.0))
        return self

    def decide(self, X: ArrayLike) -> Array:
        """Decision values, positive for +1."""
        values = self.kernel(np.asarray(X, dtype=np.float64), self.X)
        return np.asarray(values @ (self.alpha * self.y))


def _farthest(Kt: Array, i: int) -> int:
    others = np.where(np.arange(len(Kt)) == i, np.inf, Kt[i])
    return int(others.argmin())
