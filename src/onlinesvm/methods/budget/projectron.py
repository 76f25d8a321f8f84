"""The Projectron: a kernel perceptron that stores only what it cannot say by what it has stored."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from ...kernels import KernelFunction
from ...model.bounds import Bounded, Floats, hinge, only_for, total, unit_length
from ...model.classifier import OnlineClassifier
from ...model.groups import KernelBias, LinearOrKernel, StepByStep, WithBudget
from ...model.parameters import inherit, number, word
from ...model.room import room


class ProjectronClassifier(
    Bounded, WithBudget, KernelBias, LinearOrKernel, StepByStep, OnlineClassifier
):
    """Projectron++ (Orabona, Keshet, Caputo): a kernel perceptron that finds its size by itself.

    A mistake is stored only if it is further than ``eta`` from the span of those stored; otherwise
    their coefficients take its place. On data in a bounded region their number comes to a rest by
    itself, without a budget, and nothing learned is forgotten. ``variant="++"`` also learns from
    examples inside the margin, and makes fewer mistakes.

    Each step costs the square of the examples stored, and so does the memory: take ``eta`` larger,
    or a ``budget``, beyond a few thousand. A smaller ``gamma`` needs fewer of them. Where labels
    are wrong, every mistake still counts in full: :class:`BudgetedRampSVC` is made for that.
    Examples count with length one, whatever the kernel. They are kept also if the kernel is linear,
    no more than there are features.

    References
    ----------
    F. Orabona, J. Keshet, B. Caputo: Bounded Kernel-Based Online Learning. Journal of Machine
    Learning Research 10 (2009).

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import ProjectronClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 2))
    >>> y = np.hypot(*X.T) > 1.2
    >>> model = ProjectronClassifier(gamma=1.0)
    >>> model = model.partial_fit(X[:3000], y[:3000], classes=[False, True])
    >>> print(f"{model.score(X[3000:], y[3000:]):.2f}", len(model.support_), model.mistakes_)
    0.97 27 143
    """

    _stem = "Projectron"

    budget: int | str | None = room(
        default=None,
        doc="""Examples stored at most, >= 2, or the memory of the model, such as ``"64MB"``; once
        it is used up, every mistake is projected. ``None``: as many as ``eta`` asks for.""",
    )
    eta: float = number(
        default=0.1,
        at_least=0.01,
        below=1,
        doc="""How far an example may be from what is stored, as a share of its own length, without
        being stored itself. The larger, the smaller the model and the coarser.""",
    )
    variant: Literal["++", "plain"] = word(
        default="++",
        words=("++", "plain"),
        doc='``"plain"`` learns from mistakes alone, and is cheaper.',
    )
    kernel: str | KernelFunction = inherit(default="rbf")
    dtype: Literal["float32", "float64"] = inherit(default="float32")

    _theorem: ClassVar[str] = "the argument of Orabona et al. (2009)"

    def _bound(self, X: Floats, y: Floats, u: Floats) -> Floats:
        """(|u|^2 + 2 sum of hinge losses) / (1 - 2 eta |u|), for |u| < 1 / (2 eta)."""
        only_for(self, variant="plain", budget=None)
        X = unit_length(X)
        slack = 1 - 2 * self.eta * np.linalg.norm(u)
        if slack <= 0:
            return np.full(len(y), np.inf)
        return (u @ u + total(2.0, hinge(X, y, u))) / slack

    def _keeps_weights(self) -> bool:
        return False
