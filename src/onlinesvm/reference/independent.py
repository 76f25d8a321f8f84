"""OISVM (Orabona et al. 2010), readable: squared loss on all examples, f in the span of a few."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onlinesvm.reference.kernels import Array, Kernel

RIDGE = 1e-10  # of the bias, which otherwise costs nothing


class Independent:
    """min beta'K_BB beta / 2 + sum_i C_i loss(y_i, K_iB beta + b)^2 / 2 after every example.

    The loss is ``max(0, 1 - y f)``, or ``max(0, |y - f| - epsilon)`` where there is an epsilon.

    Examples
    --------
    >>> from onlinesvm.reference import Kernel
    >>> from onlinesvm.reference.independent import Independent
    >>> model = Independent(Kernel("linear"), C=10.0)
    >>> for x, y in [([1.0], 1), ([-1.0], -1), ([2.0], 1)]:
    ...     model.learn(x, y)
    >>> len(model.basis), model.f([[1.0]]).round(4)
    (1, array([0.9524]))
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        C: float = 1.0,
        eta: float = 0.1,
        bias: str = "free",
        epsilon: float | None = None,
        budget: float = np.inf,
        window: float = np.inf,
        max_rounds: int = 20,
    ) -> None:
        self.kernel, self.C, self.eta, self.epsilon = kernel or Kernel(), C, eta, epsilon
        self.bias, self.budget, self.window, self.max_rounds = bias, budget, window, max_rounds
        self.X: list[Array] = []
        self.y: list[float] = []
        self.C_i: list[float] = []
        self.basis: list[Array] = []
        self.theta = np.zeros(1)  # b and beta

    def learn(self, x: ArrayLike, y: float, weight: float = 1.0) -> None:
        """Algorithm 1; Newton's method also where x joins B and is no error."""
        if weight == 0:
            return
        x = np.asarray(x, dtype=np.float64)
        if len(self.X) == self.window:
            self._drop(0)
        if len(self.basis) < self.budget and self.delta(x) > self.eta:
            self.basis.append(x)
            self.theta = np.append(self.theta, 0.0)
        self.X.append(x)
        self.y.append(float(y))
        self.C_i.append(self.C * weight)
        self.newton()

    def unlearn(self, i: int) -> None:
        """The i-th example's loss counts no more; if it is in B, it stays there."""
        self._drop(i)
        self.newton()

    def delta(self, x: Array) -> float:
        """|k(x, .) - its projection onto the span of B|^2 (eq. 7)."""
        own = float(self.kernel(x, x)[0, 0])
        if not self.basis:
            return own
        k = self.kernel(self.basis, x)[:, 0]
        d = np.linalg.solve(self.kernel(self.basis, self.basis), k)
        return own - float(k @ d)

    def newton(self) -> None:
        """(P + Z_I' C_I Z_I) theta = Z_I' C_I y_I until I, those with a loss, is stable."""
        if not self.X:
            self.theta = np.zeros_like(self.theta)
            return
        for _ in range(self.max_rounds):
            errors = self.errors(self.theta)
            in_I = errors != 0
            Z, C = self.Z(self.X)[in_I], np.array(self.C_i)[in_I]
            edges = Z @ self.theta + errors[in_I]  # what f would have to be
            H = self.penalty() + Z.T @ (C[:, None] * Z)
            target = np.linalg.solve(H, Z.T @ (C * edges))
            if self.bias == "none":
                target[0] = 0.0
            start, before, way = self.theta, self.objective(self.theta), 1.0
            while self.objective(start + way * (target - start)) > before + 1e-12 * (1 + before):
                way /= 2
            self.theta = start + way * (target - start)
            if way == 1.0 and np.array_equal(np.sign(self.errors(self.theta)), np.sign(errors)):
                return

    def errors(self, theta: Array) -> Array:
        """How far f is from where it costs nothing."""
        y = np.array(self.y)
        h = y - self.Z(self.X) @ theta
        if self.epsilon is None:
            return np.asarray(np.where(y * h > 0, h, 0.0))
        return np.asarray(np.sign(h) * np.maximum(0.0, np.abs(h) - self.epsilon))

    def objective(self, theta: Array) -> float:
        """The value of the problem."""
        losses = np.array(self.C_i) @ self.errors(theta) ** 2
        return float(theta @ self.penalty() @ theta + losses) / 2

    def gradient(self) -> Array:
        """Of the objective, at the model; 0 at its optimum."""
        pull = np.array(self.C_i) * self.errors(self.theta)
        g = self.penalty() @ self.theta - self.Z(self.X).T @ pull
        return np.asarray(g[1:] if self.bias == "none" else g)

    def f(self, X: ArrayLike) -> Array:
        """The decision of every row."""
        return np.asarray(self.Z(X) @ self.theta)

    def Z(self, X: ArrayLike) -> Array:
        """A column of 1 for the bias, and the kernel values with B."""
        rows = np.atleast_2d(np.asarray(X, dtype=np.float64))
        one = np.full((len(rows), 1), float(self.bias == "free"))
        return np.hstack([one, self.kernel(rows, self.basis)]) if self.basis else one

    def penalty(self) -> NDArray[np.float64]:
        """P of |w|^2 = theta'P theta."""
        P = np.zeros((len(self.theta), len(self.theta)))
        P[0, 0] = RIDGE if self.bias == "free" else 1.0
        if self.basis:
            P[1:, 1:] = self.kernel(self.basis, self.basis)
        return P

    def _drop(self, i: int) -> None:
        for column in (self.X, self.y, self.C_i):
            del column[i]
