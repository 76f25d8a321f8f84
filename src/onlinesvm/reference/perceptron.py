"""The perceptron with kernels, averaged and voted (Freund and Schapire 1999), readable.

Every hypothesis that ever served is kept as it was, so the average and the vote are written down
as they are defined: by asking each of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from onlinesvm.reference.kernels import Array, Kernel


class Perceptron:
    """Add the example to its class on a mistake; a tie is one.

    Parameters
    ----------
    kernel : Kernel
    outputs : int
        1 for labels -1 and +1, or the number of classes for labels 0, 1, 2, ...

    Attributes
    ----------
    X : array of shape (n, d)
        The examples that were mistaken.
    s : array of shape (outputs, n)
        Their signed coefficients: f_r(x) = sum_i s_ri k(x_i, x).
    past : list of int
        How many of these examples the hypothesis of each round was made of; the newest is last.

    Examples
    --------
    >>> from onlinesvm.reference import Kernel, Perceptron
    >>> model = Perceptron(Kernel("linear"))
    >>> for x, y in [([1.0, 0.0], 1), ([2.0, 1.0], 1), ([1.0, 1.0], -1)]:
    ...     model.learn(x, y)
    >>> model.score([1.0, 2.0]), model.averaged([1.0, 2.0])
    (array([-2.]), array([0.]))
    """

    def __init__(self, kernel: Kernel | None = None, *, outputs: int = 1) -> None:
        self.kernel = kernel or Kernel("linear")
        self.X = np.empty((0, 0))
        self.s = np.empty((outputs, 0))
        self.past = [0]

    def learn(self, x: ArrayLike, y: float, weight: float = 1.0) -> None:
        """One round; weight 0 is none."""
        x = np.asarray(x, dtype=np.float64)
        if weight == 0.0:
            return
        step = self._repair(self.score(x), y)
        if step.any():
            self.X = np.vstack([self.X.reshape(-1, len(x)), x])
            self.s = np.column_stack([self.s, weight * step])
        self.past.append(self.s.shape[1])

    def _repair(self, f: Array, y: float) -> Array:
        if len(f) == 1:
            return np.array([y if y * f[0] <= 0 else 0.0])
        label = int(y)
        rivals = (f >= f[label]) & (np.arange(len(f)) != label)
        step = np.where(rivals, -1.0 / max(1, rivals.sum()), 0.0)
        step[label] = float(rivals.any())
        return np.asarray(step)

    def score(self, x: ArrayLike) -> Array:
        """The newest hypothesis: the outputs f_r(x) of one example."""
        return np.asarray(self.hypotheses(x)[-1])

    def averaged(self, x: ArrayLike) -> Array:
        """The mean over the hypotheses of all rounds."""
        return np.asarray(self.hypotheses(x)[self.past].mean(axis=0))

    def voted(self, x: ArrayLike) -> Array:
        """The share of rounds whose hypothesis chose each class; for one output, yes minus no."""
        F = self.hypotheses(x)[self.past[1:]]
        if F.shape[1] == 1:
            return np.asarray(np.sign(F).mean(axis=0))
        return np.bincount(F.argmax(axis=1), minlength=F.shape[1]) / len(F)

    def hypotheses(self, x: ArrayLike) -> Array:
        """Scores of the hypotheses made of the first 0, 1, 2, ... stored examples, one per row."""
        if not self.s.shape[1]:
            return np.zeros((1, len(self.s)))
        terms = self.s * self.kernel(self.X, x)[:, 0]
        return np.vstack([np.zeros(len(self.s)), np.cumsum(terms, axis=1).T])

    @property
    def w(self) -> Array:
        """Weights of a linear model, one row per output."""
        return np.asarray(self.s @ self.X)
