"""ROMMA, the Relaxed Online Maximum Margin Algorithm (Li and Long 2002), readable.

A function is spelled out as coefficients of all examples that ever moved it, each with a slack
coordinate of its own, and every length comes from their inner products.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from onlinesvm.reference.kernels import Array, Kernel


class Romma:
    """Of all w with y w.x >= 1 the shortest that satisfies w.w_t >= |w_t|^2.

    Parameters
    ----------
    kernel : Kernel
    C : float
        The squared slack coordinate of an example is 1 / (C times its weight); inf is the paper's.
    aggressive : bool
        Whether an example inside the margin is reason enough for a step, or only a mistake is.
    outputs : int
        1 for labels -1 and +1, or the number of classes for labels 0, 1, 2, ...

    Examples
    --------
    >>> from onlinesvm.reference.romma import Romma
    >>> model = Romma(C=float("inf"))
    >>> for x, y in [([2.0, 0.0], 1), ([1.0, 1.0], -1)]:
    ...     model.learn(x, y)
    >>> model.w.round(3) + 0.0
    array([[ 0.5, -1.5]])
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        C: float = 0.1,
        aggressive: bool = True,
        outputs: int = 1,
    ) -> None:
        self.kernel = kernel or Kernel("linear")
        self.C = C
        self.aggressive = aggressive
        self.X = np.empty((0, 0))
        self.slack = np.empty(0)
        self.s = np.zeros((outputs, 0))
        self.past = np.zeros((outputs, 0))  # the sum of s over all rounds served
        self.rounds = 0

    def learn(self, x: ArrayLike, y: float, weight: float = 1.0) -> None:
        """One round; weight 0 is none."""
        if weight == 0.0:
            return
        f = self.score(x)
        self._store(np.asarray(x, dtype=np.float64), 1.0 / (self.C * weight))
        self.past = self.past + self.s
        self.rounds += 1
        for r in range(len(f)):
            sign = float(y) if len(f) == 1 else 1.0 if r == int(y) else -1.0
            if self._wants_step(sign * f[r]):
                self.s[r] = self._step(self.s[r], sign, sign * f[r])

    def _wants_step(self, m: float) -> bool:
        return m < 1.0 if self.aggressive else m <= 0.0

    def _step(self, s: Array, y: float, m: float) -> Array:
        """min |w|^2 subject to y w.x >= 1 and w.w_t >= |w_t|^2; x is the newest example."""
        Q = self.kernel(self.X, self.X) + np.diag(self.slack)
        X, N = Q[-1, -1], s @ Q @ s
        x = y * np.eye(len(s))[-1]
        D = X * N - m**2
        if X == 0.0:
            return s
        if m >= X * N or D <= 1e-12 * X * N:  # the example alone binds, or x is parallel to w
            return s if m < 0 else x / X
        return np.asarray(((X * N - m) * s + N * (1 - m) * x) / D)

    def _store(self, x: Array, slack: float) -> None:
        self.X = np.vstack([self.X.reshape(-1, len(x)), x])
        self.slack = np.append(self.slack, slack)
        zero = np.zeros((len(self.s), 1))
        self.s, self.past = np.hstack([self.s, zero]), np.hstack([self.past, zero])

    def score(self, x: ArrayLike) -> Array:
        """The newest function: the outputs f_r(x) of one example."""
        return self._at(self.s, x)

    def averaged(self, x: ArrayLike) -> Array:
        """The mean over the functions of all rounds."""
        return self._at((self.past + self.s) / (self.rounds + 1), x)

    def _at(self, s: Array, x: ArrayLike) -> Array:
        if not s.shape[1]:
            return np.zeros(len(s))
        return np.asarray(s @ self.kernel(self.X, x)[:, 0])

    @property
    def w(self) -> Array:
        """Weights of a linear model, one row per output."""
        return np.asarray(self.s @ self.X)

    @property
    def norm2(self) -> Array:
        """|w|^2 of each output, slack coordinates included."""
        Q = self.kernel(self.X, self.X) + np.diag(self.slack)
        return np.asarray(((self.s @ Q) * self.s).sum(axis=1))
