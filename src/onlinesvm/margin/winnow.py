"""Winnow: multiply the weights after a mistake, so that idle features cost next to nothing."""

from __future__ import annotations

from typing import Any, Literal

from ..base import LinearStepLearner, OnlineClassifier
from ..base.parameters import number, word


class WinnowClassifier(LinearStepLearner, OnlineClassifier):
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
