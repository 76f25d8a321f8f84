"""Models kept as weights if the kernel is linear, as examples with coefficients otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor

from ..kernels import KernelFunction
from .kernel_method import KernelMethod
from .parameters import inherit


class LinearOrKernel(KernelMethod):
    """A learner that is cheap for a linear kernel and keeps the examples it needs for any other."""

    _attributes: ClassVar[Mapping[str, str]] = {
        "coef_": "array, the weights of each output; linear only",
        "support_": "ids of the examples kept; with a kernel only, as the next",
    }

    kernel: str | KernelFunction = inherit(default="linear")
    dtype: Literal["float32", "float64"] = inherit(
        default="float64",
        doc="""Type of the examples, and of those kept with a kernel; weights are float64
        throughout.""",
    )

    def _learns_weights(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "linear"

    def _keeps_weights(self) -> bool:
        """Whether the model in hand holds weights rather than examples."""
        return bool(self._core_settings["kernel"]["name"] == "linear")

    def _support(self, attribute: str) -> dict[str, Any]:
        self._fitted_core(attribute)
        if self._keeps_weights():
            raise AttributeError(
                f"{type(self).__name__} has no {attribute}: a linear model keeps weights, "
                "not examples; see coef_"
            )
        return super()._support(attribute)

    def _weights(self, attribute: str) -> dict[str, NDArray[np.float64]]:
        core = self._fitted_core(attribute)
        if not self._keeps_weights():
            raise AttributeError(
                f"{type(self).__name__} has {attribute} only with kernel='linear'; see dual_coef_"
            )
        weights: dict[str, NDArray[np.float64]] = core.weights()
        return weights

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights of each output; of a regressor, those of the only one."""
        self._fitted_core("coef_")
        if not self._keeps_weights():
            return super().coef_
        coef = self._by_output(self._weights("coef_")["coef"], axis=0)
        return coef[0] if is_regressor(self) else coef

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The bias of each output."""
        self._fitted_core("intercept_")
        if self._keeps_weights():
            return self._by_output(self._weights("intercept_")["intercept"])
        return super().intercept_
