"""The perceptron with kernels, averaged and voted (Freund and Schapire 1999), readable.

The average and the vote are written down as they are defined: by asking every hypothesis that ever
served.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from onlinesvm.reference.function import StepLearner
from onlinesvm.reference.kernels import Array


class Perceptron(StepLearner):
    """Add the example to its class on a mistake; a tie is one.

    Parameters
    ----------
    kernel : Kernel
    outputs : int
        1 for labels -1 and +1, or the number of classes for labels 0, 1, 2, ...

    Examples
    --------
    >>> from onlinesvm.reference import Kernel, Perceptron
    >>> model = Perceptron(Kernel("linear"))
    >>> for x, y in [([1.0, 0.0], 1), ([2.0, 1.0], 1), ([1.0, 1.0], -1)]:
    ...     model.learn(x, y)
    >>> model.score([1.0, 2.0]), model.averaged([1.0, 2.0])
    (array([-2.]), array([0.]))
    """

    def step(self, x: Array, y: float, weight: float) -> None:
        """Add the example where it was mistaken."""
        step = self._repair(self.score(x), y)
        if step.any():
            self.add(x, weight * step)

    def _repair(self, f: Array, y: float) -> Array:
        if len(f) == 1:
            return np.array([y if y * f[0] <= 0 else 0.0])
        label = int(y)
        rivals = (f >= f[label]) & (np.arange(len(f)) != label)
        step = np.where(rivals, -1.0 / max(1, rivals.sum()), 0.0)
        step[label] = float(rivals.any())
        return np.asarray(step)

    def voted(self, x: ArrayLike) -> Array:
        """The share of rounds whose hypothesis chose each class; for one output, yes minus no."""
        F = self.served(x)[1:]
        if F.shape[1] == 1:
            return np.asarray(np.sign(F).mean(axis=0))
        return np.bincount(F.argmax(axis=1), minlength=F.shape[1]) / len(F)
