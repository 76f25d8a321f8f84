"""Online Passive-Aggressive Algorithms (Crammer et al., JMLR 2006), readable.

On each example: suffer a loss; if it is zero stay passive, else move w as little as possible so
that it becomes zero (PA), or trade the movement against the loss (PA-I, PA-II). One step in
closed form serves all tasks, since each says which way the outputs would have to move.
"""

from __future__ import annotations

from collections.abc import Callable

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
