"""ALMA: a perceptron that wants a margin, and knows how large one can be had."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from ...model.bounds import Bounded, Floats, only_for
from ...model.classifier import OnlineClassifier
from ...model.groups import StepLearner
from ...model.parameters import number


class AlmaClassifier(StepLearner, Bounded, OnlineClassifier):
    """ALMA (Gentile): nearly the largest margin at a perceptron's price, for sparse truths too.

    For data that is nearly separable, of any scale: every example counts as if it had length one.
    Its mean weights are good after one pass. Where no straight line parts the classes, as on the
    banana set, ``fit`` may end below the majority; take a kernel.
    Margins that are too small are corrected like mistakes, by steps that become shorter, so that a
    margin of at least ``1 - alpha`` of the largest is reached after a number of corrections that
    does not depend on the number of features. With ``p`` above 2 that number grows only with the
    logarithm of the number of features, if few of them matter: ``p = 2 ln(n_features)``.

    A linear step costs one pass over the features present in the example, with ``p`` above 2 two
    and twice the memory; a whole ``p`` takes multiplications, any other a logarithm and an
    exponential of each feature, several times as long. With a kernel every example that was
    corrected is kept, so on noisy data time and memory grow with the stream; :class:`RampSVC` then
    stays far smaller. More than two classes are learned one against the rest.

    References
    ----------
    C. Gentile: A New Approximate Maximal Margin Classification Algorithm. Journal of Machine
    Learning Research 2 (2001).

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import AlmaClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.choice([-1.0, 1.0], size=(2000, 200))
    >>> y = X[:, :3].sum(axis=1) > 0  # three features matter
    >>> for p in (2, 2 * np.log(200)):
    ...     model = AlmaClassifier(p=p).partial_fit(X[:1000], y[:1000], classes=[False, True])
    ...     print(f"{model.score(X[1000:], y[1000:]):.2f}")
    0.92
    1.00
    """

    _stem = "Alma"

    alpha: float = number(
        default=0.9,
        above=0,
        below=1,
        also=1.0,
        kw_only=False,
        doc="""How much of the largest margin may be missed, above 0 and at most 1, which corrects
        mistakes only. Smaller values take more corrections.""",
    )
    p: float = number(
        default=2.0,
        at_least=2,
        below=300,
        doc="""The norm that measures examples, >= 2 and < 300; the dual one measures weights. Above
        2 only with ``kernel="linear"``: for many features of which few matter.""",
    )
    B: float | None = number(
        default=None,
        above=0,
        none=0.0,
        doc="""The margin asked for at first is ``(1 - alpha) B sqrt(p - 1)``, > 0. None is the
        paper's ``sqrt(8) / alpha``.""",
    )
    C: float = number(
        default=math.sqrt(2),
        above=0,
        shown="sqrt(2)",
        doc="The first step is ``C / sqrt(p - 1)`` long, > 0. Sample weights multiply it.",
    )

    def _core_params(self, n_features: int) -> dict[str, Any]:
        settings = super()._core_params(n_features)
        if settings["p"] > 2 and settings["kernel"]["name"] != "linear":
            raise ValueError(f"p must be 2 with a kernel, got {self.p!r}; or take kernel='linear'")
        settings["B"] = settings["B"] or math.sqrt(8) / settings["alpha"]
        return settings

    _theorem: ClassVar[str] = "Gentile (2001)"

    def _bound(self, X: Floats, y: Floats, u: Floats) -> Floats:
        """2 (p-1) / g^2 (2/alpha - 1)^2 + 8/alpha - 4 corrections, g the smallest margin of u."""
        only_for(self, B=None, C=math.sqrt(2))
        p, a = self.p, self.alpha
        lengths = np.linalg.norm(X, p, axis=1) * np.linalg.norm(u, p / (p - 1))
        margins = np.divide(y * (X @ u), lengths, out=np.zeros(len(y)), where=lengths > 0)
        g = np.maximum(np.minimum.accumulate(margins), 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(2 * (p - 1) / g**2 * (2 / a - 1) ** 2 + 8 / a - 4)
