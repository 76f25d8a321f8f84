"""The perceptron: learn from mistakes only, and let every past hypothesis have its say."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from ...kernels import KernelFunction
from ...model.bounds import Bounded, Floats, hinge, longest2
from ...model.classifier import OnlineClassifier
from ...model.groups import KernelBias, LinearOrKernel, StepByStep
from ...model.parameters import inherit, word


class KernelPerceptron(KernelBias, LinearOrKernel, StepByStep, Bounded, OnlineClassifier):
    """Perceptron with kernels (Rosenblatt; Freund and Schapire): the simplest learner that works.

    Only a mistake changes it: the example is added to its class and taken from the classes that
    scored no less. Predicting with the average of all hypotheses of the past, which costs nothing
    extra, makes it nearly as accurate as a support vector machine on clean data.

    A linear step costs one pass over the features present in the example. With a kernel every
    mistake is kept and each prediction visits all of them: on noisy data, time and memory grow
    with the stream, and :class:`RampSVC` stays far smaller. There is no margin to tune and no
    optimum to reach; the number of mistakes is bounded only where the classes can be separated.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, n_support_ : the mistakes; with a kernel, or voted
        (``dual_coef_`` is then that of the newest hypothesis)

    References
    ----------
    Y. Freund, R. E. Schapire: Large Margin Classification Using the Perceptron Algorithm.
    Machine Learning 37 (1999).

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import KernelPerceptron
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> y = np.hypot(*X.T) > 1.2
    >>> model = KernelPerceptron(gamma=1.0).fit(X[:1000], y[:1000])
    >>> print(f"{model.score(X[1000:], y[1000:]):.2f} with {len(model.support_)} examples")
    0.99 with 138 examples
    """

    _stem = "Perceptron"

    variant: Literal["averaged", "plain", "voted"] = word(
        default="averaged",
        words=("plain", "averaged", "voted"),
        kw_only=False,
        doc="""What predicts: the newest hypothesis, the mean of those of all rounds, or a vote
        among them, each as often as it served. Learning is the same for all three. Voting keeps the
        examples even if the kernel is linear; scores are then shares of the votes.""",
    )
    kernel: str | KernelFunction = inherit(default="rbf")
    dtype: Literal["float32", "float64"] = inherit(default="float32")

    _theorem: ClassVar[str] = "Freund and Schapire (1999)"

    def _bound(self, X: Floats, y: Floats, u: Floats) -> Floats:
        """(R |u| + D)^2, with D^2 the sum of the squared hinge losses of u."""
        D = np.sqrt(np.cumsum(hinge(X, y, u) ** 2))
        return np.asarray((np.sqrt(longest2(X) * (u @ u)) + D) ** 2)

    @property
    def _scores_are_sums(self) -> bool:  # type: ignore[override]
        return self.variant != "voted"

    def _keeps_weights(self) -> bool:
        return super()._keeps_weights() and self._scores_are_sums
