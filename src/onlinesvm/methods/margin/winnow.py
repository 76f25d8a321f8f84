"""Winnow: multiply the weights after a mistake, so that idle features cost next to nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Literal

import numpy as np

from ...model.bounds import Bounded, Floats
from ...model.classifier import OnlineClassifier
from ...model.groups import LinearStepLearner
from ...model.parameters import number, word


class WinnowClassifier(LinearStepLearner, Bounded, OnlineClassifier):
    """Winnow (Littlestone): for many features, of which any few decide.

    Only a mistake changes it: the weights of the features present are multiplied up, or down. To
    learn that any of k features out of D is enough, takes mistakes in proportion to ``k log D``,
    where a perceptron's grow with D. Where all features matter a little, as in text with all its
    words, :class:`KernelPerceptron` with a linear kernel makes fewer.

    ``variant="balanced"`` takes features of any sign and scale, each row in units of its largest
    value; the others are the paper's, for values from 0 to 1 and two classes. More than two
    classes are learned natively: the true one is promoted, those not below it are demoted.

    A step costs one pass over the features present in the example, a mistake a power of each.
    Weights only; there is no kernel.

    References
    ----------
    N. Littlestone: Learning Quickly When Irrelevant Attributes Abound: A New Linear-threshold
    Algorithm. Machine Learning 2 (1988).

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import KernelPerceptron, WinnowClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(2000, 500)).astype(float)
    >>> y = X[:, :3].any(axis=1)  # any of three features
    >>> for model in WinnowClassifier("divide"), KernelPerceptron(kernel="linear"):
    ...     print(model.partial_fit(X, y, classes=[False, True]).mistakes_)
    40
    342
    """

    _stem = "Winnow"

    variant: Literal["balanced", "divide", "eliminate"] = word(
        default="balanced",
        words=("balanced", "divide", "eliminate"),
        kw_only=False,
        doc="""``"balanced"`` has a weight for and one against each feature. ``"divide"`` and
        ``"eliminate"`` have positive weights and a threshold; a false alarm multiplies the weights
        by ``demotion``, or sets them to 0 for good.""",
    )
    promotion: float | None = number(
        default=None,
        above=1,
        none=0.0,
        doc="""What multiplies weights that ought to be larger, > 1; None is 2, balanced 1.5. The
        value of the feature is its exponent, times the weight of the sample.""",
    )
    demotion: float | None = number(
        default=None,
        above=0,
        below=1,
        none=0.0,
        doc="What multiplies weights that ought to be smaller, between 0 and 1; None is 0.5.",
    )
    threshold: float | None = number(
        default=None,
        above=0,
        none=0.0,
        doc="""What positive weights have to reach together, > 0; None is half the number of
        features. Balanced weights have none.""",
    )

    def _core_params(self, n_features: int) -> dict[str, Any]:
        settings = super()._core_params(n_features)
        balanced = settings["variant"] == "balanced"
        if not balanced:  # the threshold is their bias
            settings["kernel"]["offset"] = 0.0
        settings["promotion"] = settings["promotion"] or (1.5 if balanced else 2.0)
        settings["demotion"] = settings["demotion"] or 0.5
        if settings["variant"] == "eliminate":
            settings["demotion"] = 0.0
        return settings

    _theorem: ClassVar[str] = "Littlestone (1988)"

    def _bound(self, X: Floats, y: Floats, u: Floats) -> Floats:
        """For bits, and a disjunction of k of them: those where u is not 0.

        At most k (1 + log_a theta) are missed: each time the weight of one of the k grows, up to
        a theta. All weights, D at first, gain at most (a - 1) theta by each, and lose (1 - b)
        theta by each false alarm. Eliminating, b = 0: a k (1 + log_a theta) + D / theta.
        """
        if self.variant == "balanced":
            raise ValueError("variant must be 'divide' or 'eliminate' for a proved bound")
        if not np.isin(X, (0.0, 1.0)).all():
            raise ValueError("X must hold bits, 0 and 1, for a proved bound of Winnow")
        D, settings = X.shape[1], self._core_params(X.shape[1])
        a, b, theta = (settings[name] for name in ("promotion", "demotion", "threshold"))
        theta = theta or D / 2
        missed = np.count_nonzero(u) * (1 + np.log(max(theta, 1 / a)) / np.log(a))
        bound = missed + (D / theta + (a - 1) * missed) / (1 - b)
        wrong = np.logical_or.accumulate((X[:, u != 0].any(axis=1)) != (y > 0))
        return np.where(wrong, np.inf, bound)

    def _rivals(self, X: Floats, y: Floats) -> Iterable[Floats]:
        """Features that no negative row has, taken one by one: that of most positive rows left."""
        u, left = np.zeros(X.shape[1]), X[y > 0] * ~X[y < 0].any(axis=0)
        while (gains := left.sum(axis=0)).any():
            best = gains.argmax()
            u[best], left = 1.0, left[left[:, best] == 0]
        yield u
