"""Online Passive-Aggressive Algorithms (Crammer et al., JMLR 2006), readable.

On each example: suffer a loss; if it is zero stay passive, else move w as little as possible so
that it becomes zero (PA), or trade the movement against the loss (PA-I, PA-II). One step in
closed form serves all tasks, since each says which way the outputs would have to move.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from onlinesvm.reference.function import StepLearner, Task, hinge
from onlinesvm.reference.kernels import Array, Kernel

# The step tau from the loss l, the squared norm V2 of the move, and C.
STEPS: dict[str, Callable[[float, float, float], float]] = {
    "PA": lambda l, V2, C: l / V2,  # noqa: E741
    "PA-I": lambda l, V2, C: min(C, l / V2),  # noqa: E741
    "PA-II": lambda l, V2, C: l / (V2 + 1 / (2 * C)),  # noqa: E741
}


class PassiveAggressive(StepLearner):
    """One closed-form step per example, kernel or linear.

    Every example with a loss is stored, so a step costs as many kernel values as there were losses
    before it.

    Parameters
    ----------
    kernel : Kernel
    task : Task
        ``hinge`` or ``tube``.
    level : float
        The margin of the one, epsilon of the other.
    variant : {"PA", "PA-I", "PA-II"}
    C : float
        Aggressiveness of PA-I and PA-II; C_i = C times the weight of example i.
    outputs : int
        1, or the number of classes.

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
        task: Task = hinge,
        level: float = 1.0,
        variant: str = "PA-I",
        C: float = 1.0,
        outputs: int = 1,
    ) -> None:
        super().__init__(kernel, outputs)
        self.task, self.level, self.tau, self.C = task, level, STEPS[variant], C

    def step(self, x: Array, y: float, weight: float) -> None:
        """One round of Figure 1."""
        loss, direction = self.task(self.score(x), y, self.level)
        if loss <= 0.0:
            return  # passive
        V2 = float(direction @ direction * self.kernel(x, x)[0, 0])
        if V2 == 0.0:
            return  # x = 0: no step changes the score
        self.add(x, self.tau(loss, V2, self.C * weight) * direction)  # aggressive


class Uniclass(StepLearner):
    """One class, section 6: a ball around the examples, as wide as they make it.

    The centre and the examples have one more coordinate, ``beta`` of the one and 0 of the others,
    and PA keeps the examples within ``B`` of the centre; it starts at the first of them.

    Parameters
    ----------
    kernel : Kernel
    variant, C
        As above.
    B : float, optional
        The largest radius; None: the farthest that an example was from the centre when it came.

    Examples
    --------
    >>> from onlinesvm.reference.passive_aggressive import Uniclass
    >>> model = Uniclass(Kernel("linear"), variant="PA")
    >>> for x in [[0.0], [2.0]]:
    ...     model.learn(x)
    >>> model.w.round(4), round(model.radius, 4)
    (array([[0.5858]]), 1.4142)
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        variant: str = "PA-II",
        C: float = 1.0,
        B: float | None = None,
    ) -> None:
        super().__init__(kernel)
        self.tau, self.C, self.grows = STEPS[variant], C, B is None
        self.B = self.beta = B or 0.0

    def step(self, x: Array, y: float, weight: float) -> None:
        """One round."""
        if self.t == 1:
            return self.add(x, np.ones(1))
        distance, radius = self.distance(x), self.radius
        if self.grows and distance > self.B:
            self.B = distance
            self.beta = np.sqrt(self.B**2 - radius**2)
        d = np.hypot(distance, self.beta)
        if d - self.B <= 1e-12 * self.B:
            return None
        share = self.tau(d - self.B, 1.0, self.C * weight) / d
        self.shrink(1 - share)
        self.beta *= 1 - share
        return self.add(x, np.array([share]))

    def distance(self, x: ArrayLike) -> float:
        """Of an example from the centre."""
        own = self.kernel(x, x)[0, 0]
        return float(np.sqrt(max(0.0, own - 2 * self.score(x)[0] + self.norm**2)))

    @property
    def radius(self) -> float:
        """Of the ball."""
        return float(np.sqrt(self.B**2 - self.beta**2))
