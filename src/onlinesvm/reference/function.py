"""What the twins share that take one step per example: a function f, and how an example judges it.

Nothing is kept up to date here and nothing is saved: every coefficient is multiplied in every step,
and every f that ever served is kept as it was. A twin is its ``step``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from onlinesvm.reference.kernels import Array, Kernel

# A task turns scores f, the truth y and a level (the margin, or epsilon) into a loss, which counts
# where it is positive, and the direction of the outputs that lowers it.
Task = Callable[[Array, float, float], tuple[float, Array]]


def hinge(f: Array, y: float, margin: float = 1.0) -> tuple[float, Array]:
    """One output: y is -1 or +1. More: y is the class, against the first best of the others."""
    if len(f) == 1:
        return margin - y * f[0], np.array([y])
    label = int(y)
    rival = int(np.argmax(np.where(np.arange(len(f)) == label, -np.inf, f)))
    direction = np.zeros(len(f))
    direction[[label, rival]] = 1.0, -1.0
    return margin - (f[label] - f[rival]), direction


def tube(f: Array, y: float, epsilon: float) -> tuple[float, Array]:
    """Epsilon-insensitive loss of a real target."""
    return abs(y - f[0]) - epsilon, np.array([1.0 if y > f[0] else -1.0])


class StepLearner:
    """f_r(x) = sum_i s_ri k(x_i, x), which the ``step`` of a twin moves once per example.

    Attributes
    ----------
    X : array of shape (n, d)
        The examples that f is made of.
    s : array of shape (outputs, n)
        Their signed coefficients.
    born : array of shape (n,)
        The round, from 1, in which each was added.
    past : list of arrays
        The coefficients after every round, the zero function at the start included.
    """

    def __init__(self, kernel: Kernel | None = None, outputs: int = 1) -> None:
        self.kernel = kernel or Kernel("linear")
        self.X = np.empty((0, 0))
        self.s = np.empty((outputs, 0))
        self.born = np.empty(0, dtype=int)
        self.past = [self.s]

    def learn(self, x: ArrayLike, y: float = 0.0, weight: float = 1.0) -> None:
        """One round; weight 0 is none."""
        if weight > 0.0:
            self.step(np.asarray(x, dtype=np.float64), y, weight)
            self.past.append(self.s)

    def step(self, x: Array, y: float, weight: float) -> None:
        """Judge f by the example, and move it."""
        raise NotImplementedError

    # --- what a step reads and moves ----------------------------------------------------------

    @property
    def t(self) -> int:
        """The number of the round that is on, or comes next: 1, 2, ..."""
        return len(self.past)

    def score(self, x: ArrayLike) -> Array:
        """The outputs f_r(x) of one example."""
        return np.asarray(self.s @ self.k(x))

    def k(self, x: ArrayLike) -> Array:
        """k(x_i, x) of the examples that f is made of."""
        return self.kernel(self.X, x)[:, 0] if len(self.X) else np.zeros(0)

    def add(self, x: Array, step: Array) -> None:
        """f += step k(x, .)"""
        self.X = np.vstack([self.X.reshape(-1, len(x)), x])
        self.s = np.column_stack([self.s, step])
        self.born = np.append(self.born, self.t)

    def shrink(self, factor: float) -> None:
        """f *= factor"""
        self.s = factor * self.s

    def drop(self, those: NDArray[np.bool_]) -> None:
        """Strike off the terms of some examples, given as a mask; all else stays as it is."""
        self.s = np.where(those, 0.0, self.s)

    # --- what it then says --------------------------------------------------------------------

    def served(self, x: ArrayLike) -> Array:
        """f(x) by the function of each round, one per row; the first is zero."""
        k = self.k(x)
        return np.array([s @ k[: s.shape[1]] for s in self.past])

    def averaged(self, x: ArrayLike) -> Array:
        """The mean of f(x) over all rounds, the zero function at the start included."""
        return np.asarray(self.served(x).mean(axis=0))

    @property
    def support(self) -> NDArray[np.intp]:
        """Which examples have a term that was not struck off."""
        return np.flatnonzero(self.s.any(axis=0))

    @property
    def norm(self) -> float:
        """|f|, over all outputs."""
        K = self.kernel(self.X, self.X) if len(self.X) else np.zeros((0, 0))
        return float(np.sqrt(np.einsum("ri,ij,rj", self.s, K, self.s)))

    @property
    def w(self) -> Array:
        """Weights of a linear model, one row per output."""
        return np.asarray(self.s @ self.X)


class WeightLearner:
    """f_r(x) = W_r.x, whose weights the ``step`` of a twin moves otherwise than by adding x.

    A bias is the weight of a constant feature 1, the last.

    Attributes
    ----------
    W : array of shape (outputs, features)
    past : list of arrays
        The weights after every round, those at the start included.
    """

    def __init__(self, features: int, *, bias: bool = False, outputs: int = 1) -> None:
        self.bias = bias
        self.W = np.zeros((outputs, features + bias))
        self.past = [self.W]

    def learn(self, x: ArrayLike, y: float = 0.0, weight: float = 1.0) -> None:
        """One round; weight 0 is none."""
        if weight > 0.0:
            self.step(self.full(x), y, weight)
            self.past.append(self.W)

    def step(self, x: Array, y: float, weight: float) -> None:
        """Judge f by the example, constant feature included, and move it."""
        raise NotImplementedError

    def full(self, x: ArrayLike) -> Array:
        """The example with its constant feature."""
        return np.append(np.asarray(x, dtype=np.float64), [1.0] * self.bias)

    @property
    def t(self) -> int:
        """The number of the round that is on, or comes next: 1, 2, ..."""
        return len(self.past)

    def score(self, x: ArrayLike) -> Array:
        """The outputs f_r(x) of one example."""
        return np.asarray(self.W @ self.full(x))

    def averaged(self, x: ArrayLike) -> Array:
        """The mean of f(x) over all rounds, the weights at the start included."""
        return np.asarray(np.mean(self.past, axis=0) @ self.full(x))


def signs(y: float, outputs: int) -> Array:
    """The label of each output: y itself for one, else +1 for the class y and -1 for the others."""
    return np.array([y]) if outputs == 1 else np.where(np.arange(outputs) == int(y), 1.0, -1.0)
