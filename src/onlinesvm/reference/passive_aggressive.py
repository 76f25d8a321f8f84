"""Online Passive-Aggressive Algorithms (Crammer et al., JMLR 2006), readable.

On each example: suffer a loss; if it is zero stay passive, else move w as little as possible so
that it becomes zero (PA), or trade the movement against the loss (PA-I, PA-II). One step in
closed form serves all tasks, since each says which way the outputs would have to move.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from onlinesvm.reference.kernels import Array, Kernel

# A task turns scores f and the truth y into a loss and the direction of the outputs that lowers it.
Task = Callable[[Array, float], tuple[float, Array]]


def binary(f: Array, y: float) -> tuple[float, Array]:
    """Hinge loss of a label -1 or +1."""
    return 1.0 - y * f[0], np.array([y])


def multiclass(f: Array, y: float) -> tuple[float, Array]:
    """The true class against the best of the others; of equals, the first."""
    label = int(y)
    rival = int(np.argmax(np.where(np.arange(len(f)) == label, -np.inf, f)))
    direction = np.zeros(len(f))
    direction[[label, rival]] = 1.0, -1.0
    return 1.0 - f[label] + f[rival], direction


def regression(epsilon: float = 0.1) -> Task:
    """Epsilon-insensitive loss of a real target."""
    return lambda f, y: (abs(y - f[0]) - epsilon, np.array([1.0 if y > f[0] else -1.0]))


# The step tau from the loss l, the squared norm V2 of the move, and C.
STEPS: dict[str, Callable[[float, float, float], float]] = {
    "PA": lambda l, V2, C: l / V2,  # noqa: E741
    "PA-I": lambda l, V2, C: min(C, l / V2),  # noqa: E741
    "PA-II": lambda l, V2, C: l / (V2 + 1 / (2 * C)),  # noqa: E741
}


class PassiveAggressive:
    """One closed-form step per example, kernel or linear.

    Every example with a loss is stored, so a step costs as many kernel values as there were losses
    before it.

    Parameters
    ----------
    kernel : Kernel
    task : Task
        ``binary``, ``multiclass`` or ``regression(epsilon)``.
    variant : {"PA", "PA-I", "PA-II"}
    C : float
        Aggressiveness of PA-I and PA-II; C_i = C times the weight of example i.
    outputs : int
        1, or the number of classes for ``multiclass``.

    Attributes
    ----------
    X : array of shape (n, d)
        The examples that suffered a loss.
    s : array of shape (outputs, n)
        Their signed coefficients: f_r(x) = sum_i s_ri k(x_i, x).
    past : list of arrays
        Those of every round, the zero function at the start included.

    Examples
    --------
    >>> from onlinesvm.reference import Kernel, PassiveAggressive
    >>> model = PassiveAggressive(Kernel("linear"), variant="PA")
    >>> model.learn([3.0, 4.0], 1.0)
    >>> model.w.round(4)
    array([[0.12, 0.16]])
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        task: Task = binary,
        variant: str = "PA-I",
        C: float = 1.0,
        outputs: int = 1,
    ) -> None:
        self.kernel = kernel or Kernel("linear")
        self.task = task
        self.step = STEPS[variant]
        self.C = C
        self.X = np.empty((0, 0))
        self.s = np.empty((outputs, 0))
        self.past = [self.s]

    def learn(self, x: ArrayLike, y: float, weight: float = 1.0) -> None:
        """One round of Figure 1."""
        x = np.asarray(x, dtype=np.float64)
        if weight == 0.0:
            return
        self._repair(x, y, weight)
        self.past.append(self.s)

    def _repair(self, x: Array, y: float, weight: float) -> None:
        loss, direction = self.task(self.score(x), y)
        if loss <= 0.0:
            return  # passive
        V2 = float(direction @ direction * self.kernel(x, x)[0, 0])
        if V2 == 0.0:
            return  # x = 0: no step changes the score
        tau = self.step(loss, V2, self.C * weight)  # aggressive
        self.X = np.vstack([self.X.reshape(-1, len(x)), x])
        self.s = np.column_stack([self.s, tau * direction])

    def score(self, x: ArrayLike) -> Array:
        """The outputs f_r(x) of one example."""
        if not self.s.shape[1]:
            return np.zeros(len(self.s))
        return np.asarray(self.s @ self.kernel(self.X, x)[:, 0])

    def averaged(self, x: ArrayLike) -> Array:
        """The mean of f(x) over all rounds, the zero function at the start included."""
        k = self.kernel(self.X, x)[:, 0] if len(self.X) else np.zeros(0)
        return np.asarray(np.mean([s @ k[: s.shape[1]] for s in self.past], axis=0))

    @property
    def w(self) -> Array:
        """Weights of a linear model, one row per output."""
        return np.asarray(self.s @ self.X)
