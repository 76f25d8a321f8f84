"""ROMMA, the Relaxed Online Maximum Margin Algorithm (Li and Long 2002), readable.

A function is spelled out as coefficients of all examples that ever moved it, each with a slack
coordinate of its own, and every length comes from their inner products.
"""

from __future__ import annotations

import numpy as np

from onlinesvm.reference.function import StepLearner
from onlinesvm.reference.kernels import Array, Kernel


class Romma(StepLearner):
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
        super().__init__(kernel, outputs)
        self.C, self.aggressive = C, aggressive
        self.slack = np.empty(0)

    def step(self, x: Array, y: float, weight: float) -> None:
        """One round for each output."""
        f = self.score(x)
        self.add(x, np.zeros(len(f)))
        self.slack = np.append(self.slack, 1.0 / (self.C * weight))
        signs = np.array([y]) if len(f) == 1 else np.where(np.arange(len(f)) == int(y), 1.0, -1.0)
        self.s = np.array(list(map(self._move, self.s, signs, signs * f)))

    def _move(self, s: Array, y: float, m: float) -> Array:
        """min |w|^2 subject to y w.x >= 1 and w.w_t >= |w_t|^2; x is the newest example."""
        if m >= 1.0 or (m > 0.0 and not self.aggressive):
            return s
        X, N = self.Q[-1, -1], s @ self.Q @ s
        x = y * np.eye(len(s))[-1]
        D = X * N - m**2
        if X == 0.0:
            return s
        if m >= X * N or D <= 1e-12 * X * N:  # the example alone binds, or x is parallel to w
            return s if m < 0 else x / X
        return np.asarray(((X * N - m) * s + N * (1 - m) * x) / D)

    @property
    def Q(self) -> Array:
        """The inner products of the examples, slack coordinates included."""
        return np.asarray(self.kernel(self.X, self.X) + np.diag(self.slack))

    @property
    def norm2(self) -> Array:
        """|w|^2 of each output, slack coordinates included."""
        return np.asarray(((self.s @ self.Q) * self.s).sum(axis=1))
