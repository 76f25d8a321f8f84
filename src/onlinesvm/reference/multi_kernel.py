"""A mixture of kernels over random waves: a learner per bandwidth, weighted by fixed share.

Random features are Rahimi & Recht's (2007), many kernels at once those of Shen, Chen and Giannakis
(2019), the weights Herbster and Warmuth's (1998). Steps are AdaGrad's, with one sum of squared
slopes for all components of a learner and the spread of each component for the rest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

STEP = {"classification": 8.0, "regression": 2.0}  # by which a first example moves its output
FLAT = {"classification": 1e-3, "regression": 0.0}  # slopes below it count as 0
MEMORY = 2000.0  # examples that a step length goes by


class Learner:
    """f_r(x) = w_r.z(x) + b_r for its own features z."""

    def __init__(self, size: int, outputs: int, bias: float) -> None:
        self.w = np.zeros((outputs, size))
        self.b = np.zeros(outputs)
        self.s = np.zeros(outputs)  # squared slopes, the newest counting most
        self.rate = np.zeros(size)  # one over the spread of each component
        self.squares = np.zeros(size)
        self.bias = bias  # what the bias moves beside the components
        self.moved = 1.0  # by how much an example moves f when steps are 1

    def step(self, z: Array, along: Array) -> None:
        """Move the outputs against ``along``, which is in units of f."""
        self.w -= along[:, None] / self.moved * (self.rate * z)
        self.b -= along / self.moved * self.bias


class Waves(Learner):
    """Of one bandwidth; the spread is that of some rows, and rates follow it now and then."""

    sampled = 0

    def measure(self, z: Array, t: int) -> None:
        if t <= 256 or t % 16 == 0:
            self.squares += z * z
            self.sampled += 1
        if t & (t - 1) == 0 or t % 4096 == 0:
            mean = np.maximum(self.squares / self.sampled, 1e-6)
            self.rate = 1 / np.sqrt(mean)
            self.moved = self.bias + np.sqrt(mean).sum()


class Linear(Learner):
    """Of the features themselves; the spread is that of all rows so far."""

    def measure(self, z: Array, t: int) -> None:
        self.squares += z * z
        there = self.squares > 0
        self.rate = np.sqrt(np.divide(t, self.squares, out=np.zeros(len(z)), where=there))
        self.moved = (1 if t > 1 else 0) * self.moved
        self.moved += (self.bias + (self.rate * z * z).sum() - self.moved) / t


class MultiKernel:
    """One example at a time.

    Parameters
    ----------
    frequencies : array of shape (m, d)
        Those of the widest bandwidth, in radians; the others have 2, 4, 8, ... times as much.
    """

    def __init__(
        self,
        frequencies: ArrayLike,
        *,
        n_bandwidths: int = 8,
        linear: bool = True,
        share: float = 1e-3,
        outputs: int = 1,
        task: str = "classification",
    ) -> None:
        self.W = np.asarray(frequencies, dtype=np.float64)
        m, d = self.W.shape
        self.task, self.share, self.t = task, share, 0
        self.waves = [Waves(2 * m, outputs, np.sqrt(m)) for _ in range(n_bandwidths)]
        self.learners: list[Waves | Linear] = [*self.waves]
        if linear:
            self.learners.append(Linear(d, outputs, 1.0))
        n = len(self.learners)
        self.v = np.full(n, 1 / n)
        self.losses, self.loss = np.zeros(n), 0.0
        # of regression: the targets so far
        self.n = self.mean = self.squared = self.low = self.high = 0.0
        self.eta = 1.0

    def features(self, x: Array) -> list[Array]:
        """z of each learner."""
        angles = [self.W @ x * 2.0**k for k in range(len(self.waves))]
        waves = [np.concatenate([np.cos(a), np.sin(a)]) for a in angles]
        return [*waves, x][: len(self.learners)]

    def outputs(self, x: ArrayLike) -> Array:
        """f of each learner, one per row."""
        z = self.features(np.asarray(x, dtype=np.float64))
        return np.array([each.w @ z[k] + each.b for k, each in enumerate(self.learners)])

    def predict(self, x: ArrayLike) -> Array:
        """The probabilities of the classes, or the expected target."""
        f = self.outputs(x)
        return self.v @ (probabilities(f) if self.task == "classification" else self.within(f))

    def within(self, f: Array) -> Array:
        return np.asarray(np.clip(self.mean + f, self.low, self.high))

    def learn(self, x: ArrayLike, y: float, weight: float = 1.0) -> None:
        if weight <= 0:
            return
        x = np.asarray(x, dtype=np.float64)
        f, unit = self.outputs(x), 1.0
        self.t += 1
        if self.task == "classification":
            p = probabilities(f)
            eta, losses = 1.0, np.asarray(-np.log(p[:, int(y)]))
            truth = np.arange(p.shape[1]) == int(y)
            slopes = (p - truth)[:, -f.shape[1] :]
            self.loss -= weight * float(np.log(self.v @ p[:, int(y)]))
        else:
            losses = np.asarray((self.within(f)[:, 0] - y) ** 2)
            slopes = (self.mean + f - y) * (self.n > 0)  # the first one is the mean
            self.loss += weight * float(self.v @ self.within(f)[:, 0] - y) ** 2
            unit, eta = self.meet(y, weight)
        self.losses += weight * losses
        v = self.v ** (eta / self.eta) * np.exp(-eta * weight * (losses - losses.min()))
        self.eta = eta
        self.v = (1 - self.share) * v / v.sum() + self.share / len(v)
        for learner, z, g in zip(self.learners, self.features(x), slopes, strict=True):
            learner.measure(z, self.t)
            learner.s = (1 - 1 / MEMORY) * learner.s + weight * g**2
            root = np.sqrt(learner.s)
            along = np.divide(weight * g, root, out=np.zeros_like(g), where=root > 0)
            most = np.abs(g) if self.task == "regression" else np.full(len(g), np.inf)
            step = STEP[self.task] * unit * np.clip(along, -1, 1)
            learner.step(z, np.clip(step, -most, most) * (np.abs(g) > FLAT[self.task]))

    def meet(self, y: float, weight: float) -> tuple[float, float]:
        """The spread of the targets, and eta = 1 / (2 range^2)."""
        first = self.n == 0
        self.low = y if first else min(self.low, y)
        self.high = y if first else max(self.high, y)
        self.n += weight
        apart = y - self.mean
        self.mean += apart * weight / self.n
        self.squared += weight * apart * (y - self.mean)
        wide = self.high - self.low
        return float(np.sqrt(self.squared / self.n)), 0.5 / wide**2 if wide > 0 else 1.0


def probabilities(f: Array) -> Array:
    """Of the classes, by each learner; one output is the log odds of the second of two."""
    if f.shape[1] == 1:
        f = np.hstack([np.zeros_like(f), f])
    raised = np.exp(f - f.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
