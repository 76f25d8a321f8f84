"""The Forgetron: a kernel perceptron that forgets its oldest mistake, and says what that costs."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import numpy as np

from ...kernels import KernelFunction
from ...model.bounds import Bounded, Floats, hinge, total, unit_length
from ...model.classifier import OnlineClassifier
from ...model.groups import KernelBias, LinearOrKernel, StepByStep, WithBudget
from ...model.parameters import inherit


class ForgetronClassifier(
    Bounded, WithBudget, KernelBias, LinearOrKernel, StepByStep, OnlineClassifier
):
    """Forgetron (Dekel, Shalev-Shwartz, Singer): a kernel perceptron in memory that never grows.

    A perceptron whose old mistakes fade: when there is one more than ``budget``, all shrink just so
    much that leaving out the oldest does little harm. It was the first learner on a budget with a
    bound on its mistakes: against the best f of norm ``sqrt((B + 1) / log(B + 1)) / 4``, for
    B >= 84 examples of two classes.

    It is the cheapest of its kind, and follows a drift, for what is old goes; on a noisy stream it
    fills its places with noise and forgets what it knew. :class:`BudgetedSVC` is far more accurate
    at the same price, :class:`ProjectronClassifier` forgets nothing. Examples count with length
    one, whatever the kernel. They are kept also if the kernel is linear.

    References
    ----------
    O. Dekel, S. Shalev-Shwartz, Y. Singer: The Forgetron: A Kernel-Based Perceptron on a Budget.
    SIAM Journal on Computing 37 (2008).

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import ForgetronClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 2))
    >>> y = np.hypot(*X.T) > 1.2
    >>> model = ForgetronClassifier(budget=100, gamma=1.0)
    >>> model = model.partial_fit(X[:3000], y[:3000], classes=[False, True])
    >>> print(f"{model.score(X[3000:], y[3000:]):.2f}", len(model.support_), model.mistakes_)
    0.97 100 223
    """

    _stem = "Forgetron"

    kernel: str | KernelFunction = inherit(default="rbf")
    dtype: Literal["float32", "float64"] = inherit(default="float32")

    _theorem: ClassVar[str] = "Dekel et al. (2008)"

    def _bound(self, X: Floats, y: Floats, u: Floats) -> Floats:
        """2 |u|^2 + 4 sum of hinge losses, for B >= 84; a longer u than it admits is shortened."""
        if not isinstance(B := self.budget, int):
            raise ValueError(f"budget must be a number of examples for a proved bound, got {B!r}")
        X = unit_length(X)
        u = u * min(1.0, math.sqrt((B + 1) / math.log(B + 1)) / 4 / (np.linalg.norm(u) or 1.0))
        if B < 84:
            return np.full(len(y), np.inf)
        return 2 * (u @ u) + total(4.0, hinge(X, y, u))

    def _keeps_weights(self) -> bool:
        return False
