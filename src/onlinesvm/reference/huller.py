"""The Huller (Bordes & Bottou, ECML 2005), readable.

The hard-margin SVM lies halfway between the nearest points of the two classes' convex hulls,

    X_P = sum_{y_i=+1} a_i phi_i,  X_N = sum_{y_i=-1} a_i phi_i,  a >= 0, each class sums to 1,

so it is found by making N2 = |X_P - X_N|^2 small. Squared slacks with price C are the same problem
with phi_i.phi_j = k(x_i, x_j) + delta_ij / C: the delta belongs to the example, not to equal x.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from onlinesvm.reference.kernels import Array, Kernel
from onlinesvm.reference.stored import StoredExamples

FLAT = 1e-14  # phi_k this close to the point of its hull is that point


class SplitMix:
    """The generator of the core: 64 bits of state, the same numbers everywhere."""

    def __init__(self, seed: int = 0) -> None:
        self.state = seed

    def below(self, n: int) -> int:
        """Any of 0, ..., n - 1."""
        word = 2**64 - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & word
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & word
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & word
        return int((z ^ (z >> 31)) % n)


class Huller(StoredExamples):
    """Hard-margin SVM, or SVM with squared slacks, one step at a time, for labels -1 and +1.

    Parameters
    ----------
    kernel : Kernel
    C : float
        Price of a squared slack; infinite: hard margin.
    init : int
        Examples of a class whose mean its hull starts from.
    reprocess : int
        Random support vectors updated after each example.
    seed : int
        Of the random picks.

    Attributes
    ----------
    X, y, a, ridge, ids : arrays
        The support vectors: examples, labels, hull coefficients, 1 / C_i.

    Examples
    --------
    >>> from onlinesvm.reference import Huller, Kernel
    >>> model = Huller(Kernel("linear"))
    >>> for x, y in [(0.0, 1), (2.0, -1)]:
    ...     model.learn([x], y)
    >>> model.N2, model.alpha.tolist(), model.b, model.score([[0.0], [2.0]]).tolist()
    (4.0, [0.5, 0.5], 1.0, [1.0, -1.0])
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        C: float = np.inf,
        init: int = 1,
        reprocess: int = 1,
        seed: int = 0,
    ) -> None:
        super().__init__(kernel, "y", "a", "ridge", "ids")
        self.C, self.init, self.reprocess = C, init, reprocess
        self.random = SplitMix(seed)
        self.averaged = {1.0: 0, -1.0: 0}
        self.y, self.a, self.ridge = np.zeros((3, 0))
        self.PP = self.NN = self.PN = 0.0

    # ---- the box ---------------------------------------------------------------------------------

    def learn(self, x: ArrayLike, y: float, weight: float = 1.0, id: int | None = None) -> None:
        """One example passes: try to insert it, then try to remove others (fig. 4)."""
        if id is None:
            id = self.n_seen
        self.n_seen += 1
        if weight <= 0.0:
            return
        if id not in self.ids:
            self._insert(np.asarray(x, dtype=np.float64), float(y), 1.0 / (self.C * weight), id)
            self._prune()
        for _ in range(self.reprocess if self.complete else 0):
            self.update(self.random.below(len(self.a)))
            self._prune()

    def update(self, k: int) -> None:
        """UPDATE of fig. 3: the point of k's class goes to its best place on the line to phi_k."""
        own, other, same = self._dot(k, self.y[k]), self._dot(k, -self.y[k]), self._square(k)
        K_kk = self._self(k)
        den = same + K_kk - 2.0 * own
        if den <= FLAT * (same + K_kk) or self.a[k] >= 1.0:  # eq. (6) has no lower limit at a = 1
            return
        lam_u = (same - self.PN - own + other) / den  # eq. (4), (5)
        self._approach(k, min(1.0, max(-self.a[k] / (1.0 - self.a[k]), lam_u)))  # eq. (6)

    def _approach(self, k: int, lam: float) -> None:
        """X <- (1 - lam) X + lam phi_k for the class of k."""
        own, other, same = self._dot(k, self.y[k]), self._dot(k, -self.y[k]), self._square(k)
        same = (1 - lam) ** 2 * same + 2 * lam * (1 - lam) * own + lam**2 * self._self(k)
        self.PN = (1 - lam) * self.PN + lam * other  # eq. (7), (8)
        if self.y[k] > 0:
            self.PP = same
        else:
            self.NN = same
        leaves = lam < 0.0 and lam == -self.a[k] / (1.0 - self.a[k])
        self.a[self.y == self.y[k]] *= 1 - lam
        self.a[k] = 0.0 if leaves else self.a[k] + lam

    def _insert(self, x: Array, y: float, ridge: float, id: int) -> None:
        """The first few of a class are averaged; others enter if that brings the hulls closer."""
        self._append(x, y=y, a=0.0, ridge=ridge, ids=id)
        k = len(self.a) - 1
        if self.averaged[y] < self.init:
            self.averaged[y] += 1
            self._approach(k, 1.0 / self.averaged[y])
        elif self.complete:
            self.update(k)

    def _prune(self) -> None:
        """Who supports nothing is dropped."""
        for k in np.flatnonzero(self.a == 0.0)[::-1]:
            self._swap_out(int(k))

    # ---- products --------------------------------------------------------------------------------

    def _dot(self, k: int, y: float) -> float:
        """X of class y times phi_k, the delta of the example itself included."""
        K = self.kernel(self.X[[k]], self.X)[0]
        K[k] += self.ridge[k]
        return float(K @ np.where(self.y == y, self.a, 0.0))

    def _self(self, k: int) -> float:
        return float(self.kernel(self.X[[k]], self.X[[k]])[0, 0] + self.ridge[k])

    def _square(self, k: int) -> float:
        return self.PP if self.y[k] > 0 else self.NN

    # ---- finishing and taking back ---------------------------------------------------------------

    def finish(self, tol: float = 1e-3, sweeps: int = 100_000) -> None:
        """Sweep over the examples held until the gap is below tol times N2."""
        for _ in range(sweeps):
            if not self.complete or self.gap <= tol * self.N2:
                break
            for k in range(len(self.a)):
                self.update(k)
            self._refresh()
        self._prune()

    def unlearn(self, *ids: int, tol: float = 1e-3) -> None:
        """The hull of each example shrinks to what the others span; then finish."""
        for id in ids:
            for k in np.flatnonzero(self.ids == id):
                y, a = self.y[k], self.a[k]
                self._swap_out(int(k))
                self.a[self.y == y] /= 1.0 - a if a < 1.0 else 1.0
                if not (self.y == y).any():
                    self.averaged[y] = 0
        self._refresh()
        self.finish(tol)

    def _refresh(self) -> None:
        """The products from their definition."""
        K = self.kernel(self.X, self.X) + np.diag(self.ridge)
        p, n = (np.where(self.y == y, self.a, 0.0) for y in (1.0, -1.0))
        self.PP, self.NN, self.PN = float(p @ K @ p), float(n @ K @ n), float(p @ K @ n)

    # ---- looking ---------------------------------------------------------------------------------

    @property
    def complete(self) -> bool:
        """Both hulls are there."""
        return min(self.averaged.values()) > 0

    @property
    def N2(self) -> float:
        """What every step lowers: |X_P - X_N|^2."""
        return self.PP + self.NN - 2.0 * self.PN

    @property
    def gap(self) -> float:
        """N2 is above its least value by at most twice this, over the examples held."""
        g = (self.kernel(self.X, self.X) + np.diag(self.ridge)) @ (self.y * self.a)
        return float(self.N2 - g[self.y > 0].min() + g[self.y < 0].max())

    @property
    def alpha(self) -> Array:
        """The multipliers of the SVM."""
        return 2.0 * self.a / self.N2 if self.complete else 0.0 * self.a

    @property
    def b(self) -> float:
        """The bias; with one class alone, that class."""
        if self.complete:
            return (self.NN - self.PP) / self.N2
        return float(np.sign(self.averaged[1.0] - self.averaged[-1.0]))

    def score(self, X: ArrayLike) -> Array:
        """f(x) for every row, bias included."""
        return self._f(X, self.y * self.alpha) + (self.b if len(self.a) else 0.0)
