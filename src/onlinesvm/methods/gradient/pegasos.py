"""Pegasos: the SVM objective by subgradient steps whose length needs no tuning."""

from __future__ import annotations

from typing import Literal

from ...model.classifier import OnlineClassifier
from ...model.groups import StepLearner
from ...model.parameters import count, flag, number


class PegasosSVC(StepLearner, OnlineClassifier):
    """Pegasos (Shalev-Shwartz, Singer, Srebro): a linear SVM from a stream, no rate to tune.

    For streams of any scale that one pass must do: in the mean over the 23 sets of the tournament
    of defaults (docs/benchmarks.md), raw and standardised, it is among the most accurate linear
    learners after one pass. With ``fit``, which makes many, :class:`SGDSVC` and
    :class:`PassiveAggressiveClassifier` do as well. Where no straight line parts the classes, as on
    the banana set, ``fit`` may end below the majority; take a kernel, or ``alpha=1e-3``.

    Step t is ``1 / (alpha (t + t0))`` long, along the subgradient of the SVM objective on a block
    of examples, and back into the ball in which the optimum must lie. After T steps the average of
    the weights is within ``O(log T / (alpha T))`` of the optimum. More than two classes are
    learned natively: the true one is pushed above the strongest rival.

    A linear step costs one pass over the features present in the example. With a kernel every
    example inside the margin is kept, so time and memory grow with the stream; prefer
    :class:`RampSVC` there.

    References
    ----------
    S. Shalev-Shwartz, Y. Singer, N. Srebro: Pegasos: Primal Estimated sub-GrAdient SOlver for
    SVM. ICML 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import PegasosSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 5))
    >>> y = X @ [1, -2, 0, 1, 0.5] > 0
    >>> model = PegasosSVC(alpha=1e-3).fit(X[:2000], y[:2000])
    >>> print(f"{model.score(X[2000:], y[2000:]):.2f}")
    0.99
    """

    _stem = "Pegasos"

    alpha: float = number(
        default=1e-4,
        above=0,
        kw_only=False,
        doc="Regularisation, > 0: lambda of the paper, ``1 / (n C)`` of a batch SVM on n examples.",
    )
    block: int = count(
        default=1,
        at_least=1,
        doc="""Examples per step, k of the paper. Predictions lag behind by the examples of a block
        that is not full yet.""",
    )
    t0: float | Literal["scale"] = number(
        default="scale",
        at_least=0,
        words={"scale": -1.0},
        doc="""The first steps are as long as if so many had been taken before, >= 0. ``"scale"`` is
        the mean of ``|x|^2`` so far over ``alpha``: the first step then repairs its example and no
        more, whatever the scale of the features. 0 is the paper's: first steps ``1 / alpha`` long,
        from which features in the hundreds do not recover within any usual stream.""",
    )
    project: bool = flag(
        default=True, doc="Whether each step ends inside the ball of radius ``1 / sqrt(alpha)``."
    )
