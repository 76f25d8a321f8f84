"""Sequential minimal optimisation (Platt 1999; Fan, Chen & Lin, JMLR 6, 2005), readable.

The dual of the SVM in signed coefficients s_i = y_i alpha_i,

    max  sum_i y_i s_i - s'Ks / 2   with   lo_i <= s_i <= hi_i   and   sum_i s_i = 0,

climbed two coefficients at a time: the smallest step that keeps the sum. Without a bias there is no
sum to keep; an extra example at the origin, without a label and without bounds, then takes up
whatever the others leave.
"""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from onlinesvm.reference.kernels import Array, Kernel
from onlinesvm.reference.stored import StoredExamples, middle

FLAT = 1e-12  # least curvature: duplicates run to a bound


class SMO(StoredExamples):
    """The SVM of a whole data set, for labels -1 and +1.

    Parameters
    ----------
    kernel : Kernel
    C : float
        Price of a unit of loss; C_i = C times the weight of example i.
    tol : float
        No pair of gradients is left further apart.
    bias : {"free", "none"}
    order : {"second", "first"}
        Who steps with the example that pulls hardest: the best partner, or the one that pulls
        hardest the other way.

    Attributes
    ----------
    X, y, lo, hi, s : arrays
        The examples, their labels, bounds and coefficients.
    duals : list of float
        The value of the dual before each step of the last fit.

    Examples
    --------
    >>> from onlinesvm.reference import SMO, Kernel
    >>> model = SMO(Kernel("linear"), C=1.0).fit([[-1.0], [0.0], [1.0], [3.0]], [-1, 1, -1, 1])
    >>> model.s.round(3).tolist(), round(model.b, 3), round(model.dual(), 3)
    ([-0.375, 1.0, -1.0, 0.375], -0.5, 2.625)
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        C: float = 1.0,
        tol: float = 1e-3,
        bias: Literal["free", "none"] = "free",
        order: Literal["second", "first"] = "second",
    ) -> None:
        super().__init__(kernel, "y", "lo", "hi", "s")
        self.C, self.tol, self.bias, self.order = C, tol, bias, order
        self.b = 0.0
        self.duals: list[float] = []

    def fit(self, X: ArrayLike, y: ArrayLike, weight: ArrayLike = 1.0) -> Self:
        """Forget, then climb from s = 0 to the optimum."""
        self.X, self.y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        edge = self.y * self.C * np.asarray(weight, dtype=np.float64)
        self.lo, self.hi = np.minimum(0.0, edge), np.maximum(0.0, edge)
        self.s = np.zeros(len(self.y))
        self._climb()
        return self

    def _climb(self) -> None:
        """The box: the pair that pulls apart steps, until no pair does."""
        K, y, lo, hi, s = self._problem()
        g = y - K @ s
        self.duals = []
        while True:
            i = int(np.argmax(np.where(s < hi, g, -np.inf)))
            j = int(np.argmin(np.where(s > lo, g, np.inf)))
            if not ((s < hi).any() and (s > lo).any()) or g[i] - g[j] <= self.tol:
                break  # at once where there is one class only
            eta = np.maximum(K[i, i] + np.diag(K) - 2.0 * K[i], FLAT)
            if self.order == "second":
                below = (s > lo) & (g < g[i])
                j = int(np.argmax(np.where(below, (g[i] - g) ** 2 / eta, -np.inf)))
            self.duals.append(float(s @ (y + g) / 2.0))
            step = min((g[i] - g[j]) / eta[j], hi[i] - s[i], s[j] - lo[j])
            s[i] = hi[i] if step == hi[i] - s[i] else s[i] + step
            s[j] = lo[j] if step == s[j] - lo[j] else s[j] - step
            g -= step * (K[i] - K[j])
        self.s = s[: len(self.y)]
        self.b = middle(g, s < hi, s > lo) if self.bias == "free" else 0.0

    def _problem(self) -> tuple[Array, Array, Array, Array, Array]:
        """K, y, lo, hi and s; without a bias, with the example at the origin at their end."""
        K = self.kernel(self.X, self.X)
        if self.bias == "free":
            return K, self.y, self.lo, self.hi, self.s
        K = np.pad(K, (0, 1))
        rest = -self.s.sum()
        ends = zip((self.y, self.lo, self.hi, self.s), (0.0, -np.inf, np.inf, rest), strict=True)
        y, lo, hi, s = (np.append(values, last) for values, last in ends)
        return K, y, lo, hi, s

    def unlearn(self, *rows: int) -> None:
        """Hand the coefficients of these examples to whoever gains most by them, then climb."""
        gone = np.zeros(len(self.y), dtype=bool)
        K = self.kernel(self.X, self.X)
        for k in rows:
            gone[k] = True
            if self.bias == "none":
                self.s[k] = 0.0
            while self.s[k] != 0.0:  # the others sum to -s_k: they have room for it
                way, g = np.sign(self.s[k]), self.y - K @ self.s
                room = np.where(gone, 0.0, self.hi - self.s if way > 0.0 else self.s - self.lo)
                best = int(np.argmax(np.where(room > 0.0, way * g, -np.inf)))
                amount = way * min(room[best], abs(self.s[k]))
                self.s[best] += amount
                self.s[k] -= amount
        self._delete(np.flatnonzero(gone))
        self._climb()

    def score(self, X: ArrayLike) -> Array:
        """f(x) for every row, bias included."""
        return self._f(X, self.s) + self.b

    def dual(self) -> float:
        """What every step raises: sum y s - s'Ks / 2."""
        return float(self.s @ self.y - self.s @ self.kernel(self.X, self.X) @ self.s / 2.0)
