"""ROMMA: the shortest weights that repair the example and remember all before it as one."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from ...model.bounds import Bounded, Floats, hinge, longest2, total
from ...model.classifier import OnlineClassifier
from ...model.groups import StepLearner
from ...model.parameters import number, word


class RommaClassifier(StepLearner, Bounded, OnlineClassifier):
    """ROMMA (Li and Long): large margins at the price of a perceptron, no learning rate.

    For data that is nearly separable: each step goes to the shortest weights that give the example
    at hand its margin and satisfy one half-space standing in for all examples before. So the
    margin grows towards the largest there is, as of an SVM without a bias that is not regularised,
    where the perceptron stops at any that makes no mistake. The scale of the features does not
    matter.

    The paper's margin is hard (``C=inf``): on noisy labels its weights grow without end, and only
    their mean is of use. A finite ``C`` gives every example a slack of its own.

    A linear step costs one pass over the features present in the example. With a kernel every
    example that caused a step is kept, so on noisy data time and memory grow with the stream;
    :class:`RampSVC` then stays far smaller. More than two classes are learned one against the rest.

    References
    ----------
    Y. Li, P. M. Long: The Relaxed Online Maximum Margin Algorithm. Machine Learning 46 (2002).

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import RommaClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 5))
    >>> y = np.where(X @ [1, -2, 0, 1, 0.5] > 0.5, "spam", "ham")
    >>> model = RommaClassifier(classes=["ham", "spam"]).partial_fit(X[:1000], y[:1000])
    >>> print(f"{model.score(X[1000:], y[1000:]):.3f}")
    0.985
    """

    _stem = "Romma"

    C: float = number(
        default=0.1,
        above=0,
        also=math.inf,
        kw_only=False,
        doc="""Weight of an error against a large margin, > 0: an example of squared length L steps
        as if it were of length L + 1 / C. Sample weights multiply it. ``inf`` is the paper's hard
        margin, for which weights count only as 0 or not.""",
    )
    variant: Literal["aggressive", "plain"] = word(
        default="aggressive",
        words=("aggressive", "plain"),
        doc="What causes a step: an example inside the margin, or only a mistake.",
    )

    _theorem: ClassVar[str] = "Li and Long (2002)"

    def _bound(self, X: Floats, y: Floats, u: Floats) -> Floats:
        """R^2 |u|^2, of rows and a rival with a coordinate for the slack of each example."""
        return (longest2(X) + 1 / self.C) * (u @ u + total(self.C, hinge(X, y, u) ** 2))
