"""ALMA_p, the Approximate Large Margin Algorithm (Gentile 2001), readable.

With weights for any p, and with coefficients of examples, for any kernel, for p = 2.
"""

from __future__ import annotations

import numpy as np

from onlinesvm.reference.function import StepLearner, WeightLearner, signs
from onlinesvm.reference.kernels import Array, Kernel


def grad(v: Array, r: float) -> Array:
    """The gradient of |v|_r^2 / 2; grad(., p) undoes grad(., q)."""
    norm = np.linalg.norm(v, r)
    return np.sign(v) * np.abs(v) ** (r - 1) / norm ** (r - 2) if norm else np.zeros_like(v)


class Alma(WeightLearner):
    """Figure 1 of the paper, for each output.

    Parameters
    ----------
    features : int
    alpha, B, C, p : float
    bias : bool
    outputs : int
        1 for labels -1 and +1, or the number of classes for labels 0, 1, 2, ...

    Examples
    --------
    >>> from onlinesvm.reference.alma import Alma
    >>> model = Alma(2, C=0.5)
    >>> for x, y in [([3.0, 4.0], 1), ([0.0, 2.0], -1)]:
    ...     model.learn(x, y)
    >>> model.W.round(4), model.k
    (array([[0.3   , 0.0464]]), array([3.]))
    """

    def __init__(
        self,
        features: int,
        *,
        alpha: float = 0.9,
        B: float | None = None,
        C: float = 2**0.5,
        p: float = 2.0,
        bias: bool = False,
        outputs: int = 1,
    ) -> None:
        super().__init__(features, bias=bias, outputs=outputs)
        self.alpha, self.B, self.C, self.p = alpha, B or 8**0.5 / alpha, C, p
        self.k = np.ones(outputs)

    def step(self, x: Array, y: float, weight: float) -> None:
        """One round for each output."""
        labels, p, q = signs(y, len(self.W)), self.p, self.p / (self.p - 1)
        self.W, self.k = self.W.copy(), self.k.copy()
        length = np.linalg.norm(x, p)
        if length == 0.0:
            return
        x = x / length
        for r, (w, label, k) in enumerate(zip(self.W, labels, self.k, strict=True)):
            if label * (w @ x) <= (1 - self.alpha) * self.B * np.sqrt((p - 1) / k):
                theta = grad(w, q) + weight * self.C / np.sqrt((p - 1) * k) * label * x
                moved = grad(theta, p)
                self.W[r] = moved / max(1.0, float(np.linalg.norm(moved, q)))
                self.k[r] += 1


class KernelAlma(StepLearner):
    """The same for p = 2, with a kernel."""

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        alpha: float = 0.9,
        B: float | None = None,
        C: float = 2**0.5,
        outputs: int = 1,
    ) -> None:
        super().__init__(kernel, outputs)
        self.alpha, self.B, self.C = alpha, B or 8**0.5 / alpha, C
        self.k_next = np.ones(outputs)

    def step(self, x: Array, y: float, weight: float) -> None:
        """One round for each output."""
        length = np.sqrt(self.kernel(x, x)[0, 0])
        if length == 0.0:
            return
        labels, k = signs(y, len(self.s)), self.k_next
        short = labels * self.score(x) / length <= (1 - self.alpha) * self.B / np.sqrt(k)
        if not short.any():
            return
        self.add(x, np.where(short, weight * self.C / np.sqrt(k) * labels / length, 0.0))
        K = self.kernel(self.X, self.X)
        norms = np.sqrt(np.maximum(0.0, np.einsum("ri,ij,rj->r", self.s, K, self.s)))
        self.s = self.s / np.where(short, np.maximum(1.0, norms), 1.0)[:, None]
        self.k_next = k + short
