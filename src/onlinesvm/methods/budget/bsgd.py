"""BSGD: a kernel SVM on a fixed number of examples, at a constant price per example."""

from __future__ import annotations

import math
from typing import Any, Literal

from ...kernels import KernelFunction
from ...model.classifier import OnlineClassifier
from ...model.estimator import OnlineEstimator
from ...model.groups import KernelBias, LinearOrKernel, StepByStep, WithBudget
from ...model.parameters import inherit, number, word
from ...model.regressor import OnlineRegressor


class BudgetedModel(WithBudget, KernelBias, LinearOrKernel, StepByStep, OnlineEstimator):
    """Subgradient steps on an SVM's objective, with at most ``budget`` examples in the model."""

    alpha: float = number(
        default=1e-4,
        above=0,
        doc="""Regularisation, > 0: lambda of the paper, ``1 / (n C)`` of a batch SVM on n examples.
        The longer the stream and the cleaner its labels, the smaller.""",
    )
    maintenance: Literal["auto", "merge", "project", "remove"] = word(
        default="auto",
        words=("auto", "merge", "project", "remove"),
        doc="""What happens to the example with the smallest coefficient when there is one too
        many: ``"merge"`` puts one example between it and the other on its side where that changes
        the model least, for the rbf kernel alone; ``"project"`` gives it to all others, in time
        and memory that grow with the square of the budget; ``"remove"`` lets it go, which costs
        most accuracy. ``"auto"`` merges where it can, and projects otherwise. Under a budget in
        bytes, sparse rows are removed instead of merged, for a merger has the features of both.""",
    )
    t0: float | Literal["scale"] = number(
        default="scale",
        at_least=0,
        words={"scale": -1.0},
        doc="""Steps are ``1 / (alpha (t + t0))`` long. 0 is the paper's, ``"scale"`` makes the
        first step repair its example and no more: better where labels are wrong or the stream is
        short, for its steps are shorter.""",
    )
    kernel: str | KernelFunction = inherit(default="rbf")
    dtype: Literal["float32", "float64"] = inherit(default="float32")
    bias: Literal["none", "kernel"] = inherit(default="none")

    def _core_params(self, n_features: int) -> dict[str, Any]:
        settings = super()._core_params(n_features)
        merges = self.kernel in ("rbf", "linear")
        if settings["maintenance"] == "auto":
            settings["maintenance"] = "merge" if merges else "project"
        if settings["maintenance"] == "merge" and not merges:
            raise ValueError(
                f"maintenance='merge' needs kernel='rbf', not {self.kernel!r}: "
                "take 'project' or 'remove'"
            )
        return settings


class BudgetedSVC(BudgetedModel, OnlineClassifier):
    """BSGD (Wang, Crammer, Vucetic): a kernel SVM for endless streams, in memory that never grows.

    Kernel machines keep more and more examples, and each costs more than the one before. This one
    keeps ``budget`` of them and merges two where a step would keep one more, so that an example
    costs the same after a million others. On covtype, 1,000 of them are more accurate than as many
    Nystroem features with SGD, in less time (docs/benchmarks.md). The model is an approximation:
    exact machines are :class:`RampSVC` and :class:`IncrementalSVC`. Where labels are wrong, take
    :class:`BudgetedRampSVC`; on a few thousand rows, ``t0="scale"``.

    Merged examples are no examples of the stream: their id is -1, and unlearning is impossible.
    More than two classes are learned natively: all share the examples kept, and the true one is
    pushed above the strongest rival.

    References
    ----------
    Z. Wang, K. Crammer, S. Vucetic: Breaking the Curse of Kernelization: Budgeted Stochastic
    Gradient Descent for Large-Scale SVM Training. Journal of Machine Learning Research 13 (2012).

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import BudgetedSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(6000, 2))
    >>> y = np.where(np.hypot(*X.T) < 2, "near", "far")
    >>> model = BudgetedSVC(budget=50, alpha=1e-3)
    >>> model = model.partial_fit(X[:5000], y[:5000], classes=["far", "near"])
    >>> print(f"{model.score(X[5000:], y[5000:]):.2f}", len(model.support_))
    0.97 50
    """

    _stem = "BudgetedClassifier"

    t0: float | Literal["scale"] = inherit(default=0.0)


class BudgetedRampSVC(BudgetedModel, OnlineClassifier):
    """BSGD with the ramp loss: a kernel SVM on a budget for endless streams with wrong labels.

    Examples far on the wrong side, as wrong labels are, hardly count, so that neither the steps nor
    the few places of the budget go to noise: on a checkerboard with 15 % wrong labels it is more
    accurate than :class:`BudgetedSVC` (docs/benchmarks.md).

    The ramp loss proper has no slope there, and a region that was once learned wrongly would stay
    so; ``leak`` is what lets it come back, also after a drift. :class:`RampSVC` is the exact
    machine, optimal after every example and able to unlearn; its price grows with the stream.

    References
    ----------
    Z. Wang, K. Crammer, S. Vucetic: Breaking the Curse of Kernelization: Budgeted Stochastic
    Gradient Descent for Large-Scale SVM Training. Journal of Machine Learning Research 13 (2012).

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import BudgetedRampSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(11000, 2))
    >>> y = np.hypot(*X.T) < 2
    >>> noisy = y ^ (rng.random(len(y)) < 0.15)
    >>> model = BudgetedRampSVC(budget=50).fit(X[:10000], noisy[:10000])
    >>> print(f"{model.score(X[10000:], y[10000:]):.2f}")
    0.99
    """

    _stem = "BudgetedRampClassifier"

    s: float = number(
        default=-1.0,
        below=1,
        also=-math.inf,
        doc="""Where the ramp flattens: examples with ``y f(x) < s`` are taken for outliers.
        ``-inf`` gives the hinge loss.""",
    )
    leak: float = number(
        default=0.1,
        at_least=0,
        below=1,
        doc="How much an outlier still counts, 0 <= leak < 1; 0 is the ramp loss proper.",
    )


class BudgetedSVR(BudgetedModel, OnlineRegressor):
    """BSGD for regression: a kernel machine that follows a stream in memory that never grows.

    Errors beyond ``epsilon`` cost their size, so one example can move the model by a step of fixed
    length at most; scale targets that are far from 1, for far ones take many steps to reach.

    References
    ----------
    Z. Wang, K. Crammer, S. Vucetic: Breaking the Curse of Kernelization: Budgeted Stochastic
    Gradient Descent for Large-Scale SVM Training. Journal of Machine Learning Research 13 (2012).

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import BudgetedSVR
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(6000, 1))
    >>> y = np.sin(X[:, 0])
    >>> model = BudgetedSVR(budget=30, gamma=1.0).partial_fit(X[:5000], y[:5000])
    >>> print(f"{model.score(X[5000:], y[5000:]):.2f}", len(model.support_))
    0.99 30
    """

    _stem = "BudgetedRegressor"

    epsilon: float = number(
        default=0.1, at_least=0, doc="Errors up to this size cost nothing, >= 0."
    )
