"""Stochastic gradient descent for the SVM, with a learning rate of one's choice."""

from __future__ import annotations

from typing import Any, Literal

from ...model.classifier import OnlineClassifier
from ...model.groups import StepLearner
from ...model.parameters import Parameters, group, inherit, number, word


@group
class LearningRate(Parameters):
    """Steps of a length that is set, and weights that shrink with each of them."""

    alpha: float = number(
        default=1e-4,
        above=0,
        doc="Regularisation, > 0: lambda, ``1 / (n C)`` of a batch SVM on n examples.",
    )
    learning_rate: Literal["constant", "invscaling", "optimal"] = word(
        default="optimal",
        words=("constant", "invscaling", "optimal"),
        doc="""The step of round t: ``eta0``, ``eta0 / sqrt(t)`` or
        ``eta0 / (1 + eta0 alpha (t - 1))``.""",
    )
    eta0: float = number(default=0.1, above=0, doc="The first step, > 0 and below ``1 / alpha``.")

    def _adjust(self, settings: dict[str, Any], n_features: int) -> None:
        first, alpha = settings["eta0"], settings["alpha"]
        if first * alpha >= 1:  # the weights would not shrink, but change their sign
            raise ValueError(f"eta0 must be below 1 / alpha = {1 / alpha:g}, got {first!r}")


class SGDSVC(LearningRate, StepLearner, OnlineClassifier):
    """SGD for the SVM (Bottou): the workhorse of large linear problems, one cheap step each.

    Each example shrinks the weights a little and, if inside the margin, pulls them its way. The
    step of round t is ``eta0 / (1 + eta0 alpha t)``: at first as long as told, in the long run
    that of :class:`PegasosSVC`, but without its violent first steps. A constant rate follows
    streams that drift.

    A linear step costs one pass over the features present in the example. With a kernel every
    example inside the margin is kept, so time and memory grow with the stream. ``eta0`` matters:
    a good value is about one over the squared length of an example; unlike batch programs, a
    stream cannot try several first.

    References
    ----------
    L. Bottou: Large-Scale Machine Learning with Stochastic Gradient Descent. COMPSTAT 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import SGDSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 5))
    >>> y = X @ [1, -2, 0, 1, 0.5] > 0
    >>> model = SGDSVC().fit(X[:2000], y[:2000])
    >>> print(f"{model.score(X[2000:], y[2000:]):.2f}")
    0.99
    """

    _stem = "Sgd"

    alpha: float = inherit(default=1e-4, kw_only=False)
