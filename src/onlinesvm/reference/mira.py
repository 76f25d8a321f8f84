"""MIRA, the Margin Infused Relaxed Algorithm (Crammer and Singer 2003), readable.

The multiplier theta is found by bisection.
"""

from __future__ import annotations

import numpy as np

from onlinesvm.reference.function import StepLearner, hinge
from onlinesvm.reference.kernels import Array, Kernel
from onlinesvm.reference.perceptron import Perceptron


def project(b: Array, cap: Array) -> Array:
    """tau_r = min(theta - b_r, cap_r), with theta such that they sum to 0."""
    low, high = float((b + cap).min()), float((b + cap).max())
    low = min(low, float(b.min()))
    for _ in range(200):
        theta = (low + high) / 2
        if np.minimum(theta - b, cap).sum() > 0.0:
            high = theta
        else:
            low = theta
    return np.minimum(low - b, cap)


class Mira(StepLearner):
    """min sum_r |M_r + tau_r x|^2 subject to tau_r <= [r = y] and sum_r tau_r = 0.

    Parameters
    ----------
    kernel : Kernel
    margin : float
        Rivals count as if they were so much higher; 0 is the paper's.
    outputs : int
        1 for labels -1 and +1, or the number of classes for labels 0, 1, 2, ...

    Examples
    --------
    >>> from onlinesvm.reference.mira import Mira
    >>> model = Mira(margin=1.0, outputs=3)
    >>> model.learn([3.0, 4.0], 0)
    >>> model.w.round(3)
    array([[ 0.08 ,  0.107],
           [-0.04 , -0.053],
           [-0.04 , -0.053]])
    """

    def __init__(
        self, kernel: Kernel | None = None, *, margin: float = 1.0, outputs: int = 1
    ) -> None:
        super().__init__(kernel, outputs)
        self.margin = margin

    def step(self, x: Array, y: float, weight: float) -> None:
        """One round."""
        B, A = self.score(x), self.kernel(x, x)[0, 0]
        loss, direction = hinge(B, y, self.margin)
        if self.margin == 0.0 and self.norm**2 <= 1e-14 * A:  # no step would ever leave zero
            step = weight * Perceptron(self.kernel, len(B))._repair(B, y)
        elif A == 0.0 or loss <= 0.0:
            return
        elif len(B) == 1:
            step = min(weight, loss / A) * direction
        else:
            true = np.arange(len(B)) == int(y)
            step = project(np.where(true, B, B + self.margin) / A, np.where(true, weight, 0.0))
        if step.any():
            self.add(x, step)
