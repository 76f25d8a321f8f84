"""An ellipsoid in place of StreamSVM's ball (sketched in section 6.2 of Rai, Daume &
Venkatasubramanian 2009): a derivation with its guarantee. Fast: ``StreamSVC(shape="ellipsoid")``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar

Array = NDArray[np.float64]


class EllipsoidSVM:
    """The points y x lie in {c + L u : |u| <= 1}; the centre c is the weight vector.

    The first example is the centre of a ball of radius 1 / sqrt(C). A point p outside is at
    rho > 1 from the unit ball's centre in the coordinates q = L^-1 (p - c). The new ellipsoid has
    its centre tau away towards q and semi-axes A = rho - tau along q, sqrt(B2) across. It touches
    p, and it holds the unit ball if B2^2 - B2 (1 + A^2 - tau^2) + A^2 = 0, smaller root; of these
    tau takes the smallest volume. Every point seen stays inside; no bound on the volume is known.

    Examples
    --------
    >>> model = EllipsoidSVM(C=1.0)
    >>> model.learn([2.0, 0.0], 1)
    >>> model.learn([-4.0, 1.0], -1)
    >>> bool(model.distance([4.0, -1.0]) <= 1 + 1e-12)
    True
    """

    def __init__(self, C: float = 1.0, lookahead: int = 1) -> None:
        self.C, self.lookahead = C, lookahead
        self.updates = 0
        self.waiting: list[Array] = []

    def learn(self, x: ArrayLike, y: float) -> None:
        """One step; an example inside changes nothing."""
        p = y * np.asarray(x, dtype=np.float64)
        if self.updates == 0:
            self.c = p
            self.L, self.L_inv = (np.eye(len(p)) * s for s in (self.C**-0.5, self.C**0.5))
            self.updates = 1
            return
        if self.distance(p) > 1:
            self.waiting.append(p)
        if len(self.waiting) == self.lookahead:
            self.flush()

    def flush(self) -> None:
        """The farthest of those that wait enters, and the farthest again, until none is outside."""
        for _ in range(len(self.waiting)):
            self._hold(max(self.waiting, key=self.distance))
        self.waiting = []

    def _hold(self, p: Array) -> None:
        q = self.L_inv @ (p - self.c)
        rho = float(np.linalg.norm(q))
        if rho <= 1:
            return
        u, D = q / rho, len(q)

        def volume(tau: float) -> float:
            A, B2 = _axes(rho, tau)
            return float(np.log(A) + (D - 1) / 2 * np.log(B2))

        least = minimize_scalar(
            volume, bounds=(0, (rho - 1) / 2), method="bounded", options={"xatol": 1e-12 * rho}
        )
        tau = float(least.x)
        A, B2 = _axes(rho, tau)
        B = np.sqrt(B2)
        self.c = self.c + tau * self.L @ u
        self.L = self.L @ (B * np.eye(D) + (A - B) * np.outer(u, u))
        self.L_inv = (np.eye(D) / B + (1 / A - 1 / B) * np.outer(u, u)) @ self.L_inv
        self.updates += 1

    def distance(self, p: ArrayLike) -> float:
        """Of a point y x from the centre, 1 on the surface."""
        return float(np.linalg.norm(self.L_inv @ (np.asarray(p) - self.c)))

    def decide(self, X: ArrayLike) -> Array:
        """Decision values, positive for +1."""
        return np.asarray(np.asarray(X) @ self.c)


def _axes(rho: float, tau: float) -> tuple[float, float]:
    """A, and the smaller B2 with which the unit ball is held."""
    A = rho - tau
    half = (1 + A**2 - tau**2) / 2
    return A, half - float(np.sqrt(max(half**2 - A**2, 0.0)))
