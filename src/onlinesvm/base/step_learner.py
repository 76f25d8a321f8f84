"""A learner that takes one step per example."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from .kernel_method import KernelBias
from .linear_or_kernel import LinearOrKernel
from .parameters import flag, inherit, word
from .passes import StepByStep


class Averaging(StepByStep):
    """One step per example, and a mean over all rounds that predicts."""

    average: bool = flag(
        default=True,
        doc="""Predict with the mean of the weights of all rounds, which the last noisy step cannot
        spoil; it costs next to nothing. False predicts with the newest: for streams that drift,
        which a mean over the whole past follows too late.""",
    )


class StepLearner(KernelBias, LinearOrKernel, Averaging):
    """With weights if the kernel is linear, with the examples it needs otherwise."""

    bias: Literal["none", "kernel"] = inherit(
        default="kernel", doc='``"kernel"`` adds a constant feature 1, regularised like any other.'
    )


class LinearStepLearner(Averaging):
    """With weights alone: the step is none that kernels know."""

    _attributes: ClassVar[Mapping[str, str]] = {
        "coef_": "array, the weights of each output",
        "intercept_": "array, the bias of each output",
    }

    bias: Literal["none", "constant"] = word(
        default="constant",
        words={"none": 0.0, "constant": 1.0},
        core="kernel.offset",
        doc='``"constant"`` adds a feature that is always 1, with a weight like any other.',
    )

    dtype: Literal["float32", "float64"] = inherit(
        default="float64", doc="Type of the examples; weights are float64 throughout."
    )

    def _learns_weights(self) -> bool:
        return True

    def _core_params(self, n_features: int) -> dict[str, Any]:
        settings = super()._core_params(n_features)
        return settings | {"kernel": {"name": "linear", **settings["kernel"]}}

    def _support(self, attribute: str) -> dict[str, Any]:
        raise AttributeError(f"{type(self).__name__} has no {attribute}: it keeps no examples")

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights of each output."""
        return self._by_output(self._fitted_core("coef_").weights()["coef"], axis=0)

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The bias of each output."""
        return self._by_output(self._fitted_core("intercept_").weights()["intercept"])
