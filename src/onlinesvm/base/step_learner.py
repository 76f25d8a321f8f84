"""A learner that takes one step per example."""

from __future__ import annotations

from typing import Literal

from .kernel_method import KernelBias
from .linear_or_kernel import LinearOrKernel
from .parameters import flag, inherit
from .passes import StepByStep


class StepLearner(KernelBias, LinearOrKernel, StepByStep):
    """One step per example, and a mean over all rounds that predicts."""

    average: bool = flag(
        default=True,
        doc="""Predict with the mean of the weights of all rounds, which the last noisy step cannot
        spoil; it costs next to nothing. False predicts with the newest: for streams that drift,
        which a mean over the whole past follows too late.""",
    )
    bias: Literal["none", "kernel"] = inherit(
        default="kernel", doc='``"kernel"`` adds a constant feature 1, regularised like any other.'
    )
