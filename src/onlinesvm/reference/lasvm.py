"""LASVM (Bordes, Ertekin, Weston & Bottou, JMLR 6, 2005), readable.

Maximise the dual of the SVM with a free bias, one example at a time. In signed coefficients
s_i = y_i alpha_i it reads

    max  sum_i y_i s_i - s'Ks / 2   with   lo_i <= s_i <= hi_i   and   sum_i s_i = 0,

and g_i = y_i - (K s)_i is its gradient. A pair (i, j) violates when s_i may rise, s_j may fall and
g_i - g_j > tau; moving both by the same amount then raises the dual.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from onlinesvm.reference.kernels import Array, Kernel
from onlinesvm.reference.stored import StoredExamples, middle

SNAP = 1e-12  # s this close to a bound is put exactly on it
FLAT = 1e-12  # least curvature: duplicates run to a bound


class LASVM(StoredExamples):
    """SVM with a free bias in one pass and a few steps per example, for labels -1 and +1.

    Every example costs one kernel column against the expansion S. One pass ends near the optimum,
    :meth:`finish` at the optimum over S; the optimum over everything takes a few epochs (learn the
    rows again under their ids) before that.

    Parameters
    ----------
    kernel : Kernel
    C : float
        Price of a unit of loss; C_i = C times the weight of example i.
    tau : float
        Pairs whose gradients differ by no more are left alone.
    reprocess : int
        Steps after each example.
    seed_per_class : int
        Examples kept while the other class is missing.

    Attributes
    ----------
    X, lo, hi, s, g, ids : arrays
        The expansion S: examples, bounds, coefficients, gradients.

    Examples
    --------
    >>> from onlinesvm.reference import LASVM, Kernel
    >>> model = LASVM(Kernel("linear"), C=10.0)
    >>> for x, y in [(0.0, 1), (2.0, -1)]:
    ...     model.learn([x], y)
    >>> model.s.tolist(), model.b, model.score([[0.0], [2.0]]).tolist()
    ([0.5, -0.5], 1.0, [1.0, -1.0])
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        C: float = 1.0,
        tau: float = 1e-3,
        reprocess: int = 1,
        seed_per_class: int = 5,
    ) -> None:
        super().__init__(kernel, "lo", "hi", "s", "g", "ids")
        self.C, self.tau = C, tau
        self.reprocess, self.seed_per_class = reprocess, seed_per_class
        self.lo, self.hi, self.s, self.g = np.zeros((4, 0))

    # ---- the box ---------------------------------------------------------------------------------

    def learn(self, x: ArrayLike, y: float, weight: float = 1.0, id: int | None = None) -> None:
        """One example passes: PROCESS it, then REPROCESS."""
        if id is None:
            id = self.n_seen
        self.n_seen += 1
        if weight > 0.0:
            changed = self._process(np.asarray(x, dtype=np.float64), y, self.C * weight, id)
            changed |= self._reprocess(self.reprocess)
            if changed:
                self._prune()

    def _process(self, x: Array, y: float, C_k: float, k: int) -> bool:
        """Take the example into S if it violates together with its best partner, and step.

        The paper takes it in first, and has the next REPROCESS throw it out again. Where all of S
        sits at bounds, the gradients leave a gap for the bias; who narrows it is taken in, too, or
        the gap would never close. While S lacks the other class there is no partner; then a few
        examples are kept for its first pairs.
        """
        if k in self.ids:
            return False
        g = y - self._f(x, self.s)[0]
        high, low = self._high(), self._low()
        if np.isfinite(low if y > 0 else high):
            violates = (g - low if y > 0 else high - g) > self.tau
            narrows = -np.inf < high < low < np.inf and (g > high if y > 0 else g < low)
            if not (violates or narrows):
                return False
        elif len(self.s) >= self.seed_per_class:
            return False
        self._append(x, lo=min(0.0, y * C_k), hi=max(0.0, y * C_k), s=0.0, g=g, ids=k)
        if self.delta != 0.0:
            new = len(self.s) - 1
            i, j = (new, self._down()) if y > 0 else (self._up(), new)
            if self.g[i] - self.g[j] > self.tau:
                self._step(i, j)
        return True

    def _reprocess(self, steps: int) -> bool:
        """Step with the pair that violates most, so many times."""
        moved = False
        for _ in range(steps):
            if self.delta <= self.tau:
                break
            self._step(self._up(), self._down())
            moved = True
        return moved

    def _prune(self) -> bool:
        """Drop who supports nothing, could not gain with anybody, and does not fix the bias."""
        high, low, g = self._high(), self._low(), self.g
        if np.isfinite(high) and np.isfinite(low):
            useless = np.where(self.hi > 0.0, (g <= low) & (g < high), (g >= high) & (g > low))
            gone = np.flatnonzero((self.s == 0.0) & useless)
        else:
            gone = np.arange(self.seed_per_class, len(self.s))
        for k in gone[::-1]:
            self._swap_out(int(k))
        return len(gone) > 0

    def finish(self) -> None:
        """REPROCESS until no pair of S violates."""
        while True:
            moved = False
            while self.delta > self.tau:
                self._step(self._up(), self._down())
                moved = True
            if not self._prune() and not moved:
                break
            self.g = np.sign(self.hi + self.lo) - self._f(self.X, self.s)

    # ---- one pair --------------------------------------------------------------------------------

    def _high(self) -> float:
        """The largest gradient of those that may rise."""
        return float(np.max(self.g, where=self.s < self.hi, initial=-np.inf))

    def _low(self) -> float:
        """The smallest gradient of those that may fall."""
        return float(np.min(self.g, where=self.s > self.lo, initial=np.inf))

    def _up(self) -> int:
        return int(np.argmax(np.where(self.s < self.hi, self.g, -np.inf)))

    def _down(self) -> int:
        return int(np.argmin(np.where(self.s > self.lo, self.g, np.inf)))

    def _step(self, i: int, j: int) -> None:
        """The best common step of a violating pair."""
        K = self.kernel(self.X, self.X[[i, j]])
        eta = max(K[i, 0] + K[j, 1] - 2.0 * K[j, 0], FLAT)
        room = min(self.hi[i] - self.s[i], self.s[j] - self.lo[j])
        self._move(i, j, min((self.g[i] - self.g[j]) / eta, room))

    def _move(self, i: int, j: int, step: float) -> None:
        K = self.kernel(self.X, self.X[[i, j]])
        self.s[i] = self._snapped(i, self.s[i] + step)
        self.s[j] = self._snapped(j, self.s[j] - step)
        self.g -= step * (K[:, 0] - K[:, 1])

    def _snapped(self, i: int, s: float) -> float:
        C_i = self.hi[i] - self.lo[i]
        if abs(s) <= SNAP * min(1.0, C_i):
            return 0.0
        return float(np.sign(s) * C_i) if abs(s) >= (1.0 - SNAP) * C_i else s

    # ---- looking and taking back -----------------------------------------------------------------

    def unlearn(self, *ids: int) -> None:
        """Hand the coefficients of these examples to whoever gains most by it, then finish."""
        for k in ids:
            for at in np.flatnonzero(self.ids == k):
                self._clear(int(at))
                self._swap_out(int(at))
        self.finish()

    def _clear(self, k: int) -> None:
        others = np.arange(len(self.s)) != k
        while self.s[k] > 0.0:
            up = int(np.argmax(np.where(others & (self.s < self.hi), self.g, -np.inf)))
            self._move(up, k, min(self.hi[up] - self.s[up], self.s[k]))
        while self.s[k] < 0.0:
            down = int(np.argmin(np.where(others & (self.s > self.lo), self.g, np.inf)))
            self._move(k, down, min(self.s[down] - self.lo[down], -self.s[k]))

    @property
    def delta(self) -> float:
        """How much the worst pair violates; 0 where there is none."""
        high, low = self._high(), self._low()
        return high - low if np.isfinite(high) and np.isfinite(low) else 0.0

    @property
    def b(self) -> float:
        """The bias; with one class alone, that class."""
        return middle(self.g, self.s < self.hi, self.s > self.lo)

    def score(self, X: ArrayLike) -> Array:
        """f(x) for every row, bias included."""
        return self._f(X, self.s) + self.b

    def dual(self) -> float:
        """What every step raises: sum y s - s'Ks / 2."""
        y = np.sign(self.hi + self.lo)
        return float(self.s @ (y + self.g) / 2.0)
