"""A mixture of kernels: eight bandwidths learn at once, and the stream says which one to follow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ...model.classifier import OnlineClassifier
from ...model.estimator import OnlineEstimator
from ...model.groups import StepByStep, WithGamma
from ...model.parameters import count, flag, inherit, number, word
from ...model.regressor import OnlineRegressor


class MultiKernelModel(WithGamma, StepByStep, OnlineEstimator):
    """Learners of several bandwidths over the same random waves, weighted by what each has lost."""

    _scores_are_sums = False  # over examples
    _attributes: ClassVar[Mapping[str, str]] = {
        "gammas_": "array, the gamma of each learner, ascending; 0 for the linear one, the first",
        "expert_weights_": "array, how much the mixture counts on each of them now; they sum to 1",
        "expert_losses_": "array, what each has lost so far, each row before it was learned",
        "loss_": "float, what the mixture has lost so far",
    }

    n_components: int = count(
        default=500,
        at_least=1,
        kw_only=False,
        doc="""Random Fourier features of each bandwidth, a cosine and a sine for every frequency,
        of which there is one at least.
        The more, the more accurate; time and memory are proportional.""",
    )
    kernel: Literal["rbf", "laplacian"] = word(
        default="rbf",
        words=("rbf", "laplacian"),
        core="kernel.name",
        doc="The kernel of all bandwidths.",
    )
    gamma: float | Literal["scale", "auto"] = inherit(
        default="scale",
        doc="""The middle of the ladder, which reaches far enough to both sides that a word will
        do. The words are scikit-learn's: ``1 / (n_features X.var())`` and ``1 / n_features``. A
        stream settles them on its first 256 examples, learned afresh after 1, 2, 4, ...""",
    )
    n_bandwidths: int = count(
        default=8,
        at_least=1,
        doc="""Learners, each of half the bandwidth of the one before: ``gamma`` is 4 times as large
        for rbf, twice for laplacian. Eight reach from 1/256 of the middle to 64 times it.""",
    )
    linear: bool = flag(
        default=True,
        doc="""Whether a linear learner, the limit of ever wider bandwidths, takes part. It is what
        texts and other rows of many features need, and costs little.""",
    )
    share: float = number(
        default=1e-3,
        at_least=0,
        below=1,
        doc="""Of the weight of all learners, so much is given out in equal parts after each row.
        One that was wrong for long comes back within some multiple of ``log(1 / share)`` nats of
        loss when the stream turns. 0 is for streams that never do.""",
    )
    random_state: int = inherit(
        default=0, core="random_state", doc="Seed of the frequencies, and of the orders of ``fit``."
    )
    dtype: Literal["float32", "float64"] = inherit(
        default="float32", doc="Type of the waves and of their weights."
    )

    def _experts(self, attribute: str, name: str) -> NDArray[np.float64]:
        """By ascending gamma; the core has the linear one last."""
        values = np.asarray(self._fitted_core(attribute).state()[name], dtype=np.float64)
        return np.roll(values, int(self._core_settings["linear"]))

    @property
    def gammas_(self) -> NDArray[np.float64]:
        """The gamma of each learner, ascending; 0 for the linear one."""
        self._fitted_core("gammas_")
        settings = self._core_settings
        octave = 4.0 if settings["kernel"]["name"] == "rbf" else 2.0
        n = settings["n_bandwidths"]
        ladder = settings["kernel"]["gamma"] * octave ** (np.arange(n) - n // 2)
        return np.concatenate([np.zeros(int(settings["linear"])), ladder])

    @property
    def expert_weights_(self) -> NDArray[np.float64]:
        """How much the mixture counts on each learner, in the order of ``gammas_``."""
        return self._experts("expert_weights_", "shares")

    @property
    def expert_losses_(self) -> NDArray[np.float64]:
        """What each learner has lost so far, in the order of ``gammas_``."""
        return self._experts("expert_losses_", "losses")

    @property
    def loss_(self) -> float:
        """What the mixture has lost so far, each row before it was learned."""
        return float(self._fitted_core("loss_").suffered)


class MultiKernelClassifier(MultiKernelModel, OnlineClassifier):
    """A kernel classifier for endless streams with no gamma to choose, and with probabilities.

    A stream cannot be searched for a good gamma, and what was good may not stay so. Here eight
    bandwidths and a linear learner learn side by side, and the prediction is the mean of their
    probabilities, weighted by how well each has predicted so far. Time and memory are constant.
    All share one set of random waves, so that two classes cost 2.4 to 3.8 times one bandwidth; on
    17 of 18 streams they are within .2 points of the best one or ahead of it
    (docs/papers/multi_kernel.md). Prefer it whenever there is nothing to tune on;
    :class:`BudgetedSVC` or :class:`RampSVC` with a well chosen gamma can be more accurate where 500
    random features are too few.

    Nothing of the past is kept but weights, and learners step by the newest 2,000 examples, so it
    follows a drift. Probabilities are those of a logistic model, true as far as a learner fits:
    :class:`CalibratedOnline` corrects them. A name in dicts has the frequencies of its place in
    order of arrival, so the order of names in the first dict matters.

    Weights of learners are Bayes' rule with fixed share: for any stream, the log loss is at most
    that of the best of N learners plus ``log N + T log(1 / (1 - share))`` after T rows, and that of
    any sequence of them with S changes plus ``S log(N / share)`` more. This holds for weights of 1.

    References
    ----------
    Y. Shen, T. Chen, G. Giannakis: Random Feature-based Online Multi-kernel Learning in
    Environments with Unknown Dynamics. Journal of Machine Learning Research 20 (2019).
    M. Herbster, M. Warmuth: Tracking the Best Expert. Machine Learning 32 (1998).

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import MultiKernelClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(4000, 2))
    >>> y = np.floor(X).sum(axis=1) % 2 > 0
    >>> model = MultiKernelClassifier().partial_fit(X[:3000], y[:3000], classes=[False, True])
    >>> print(f"{model.score(X[3000:], y[3000:]):.2f}", model.expert_weights_.argmax())
    0.94 7
    """

    _stem = "MultiKernelClassification"

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class for each row of ``X``; learns nothing.

        Returns
        -------
        array of shape (n, n_classes), in the order of ``classes_``
        """
        return _probabilities(self._scores(X), len(self.classes_))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithms of :meth:`predict_proba`."""
        return np.log(self.predict_proba(X))

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """The probability of each class for one 1-D array or dict; {} before any is known."""
        if not self.__sklearn_is_fitted__():
            return {}
        scores = np.reshape(self._labels.signed_one(self._scores_one(x)), (1, -1))
        classes = self.classes_.tolist()
        return dict(zip(classes, _probabilities(scores, len(classes))[0].tolist(), strict=True))


def _probabilities(scores: NDArray[np.float64], classes: int) -> NDArray[np.float64]:
    """Of log odds of the second of two classes, or of logarithms up to a constant."""
    if classes == 1:
        return np.ones((len(scores), 1))
    if scores.shape[1] == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


class MultiKernelRegressor(MultiKernelModel, OnlineRegressor):
    """A kernel regressor for endless streams with no gamma to choose, and no scale of the targets.

    Eight bandwidths and a linear learner follow the stream side by side by their squared errors,
    and the prediction is their mean, weighted by how well each has predicted so far; see
    :class:`MultiKernelClassifier`. Targets may have any mean and spread; predictions stay within
    the range of the targets seen. One far outlier makes that range, and the weights slow;
    :class:`BudgetedSVR` is made for those.

    The squared error is at most that of the best of N learners plus ``2 R^2 (log N + T log(1 / (1 -
    share)))`` after T rows whose targets have the range R, plus R^2 for each row that made the
    range larger. This holds for weights of 1.

    References
    ----------
    Y. Shen, T. Chen, G. Giannakis: Random Feature-based Online Multi-kernel Learning in
    Environments with Unknown Dynamics. Journal of Machine Learning Research 20 (2019).
    N. Cesa-Bianchi, G. Lugosi: Prediction, Learning, and Games. Cambridge (2006), chapter 3.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import MultiKernelRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(4000, 2))
    >>> y = 20 + 5 * np.sin(2 * X[:, 0]) * X[:, 1]
    >>> model = MultiKernelRegressor().partial_fit(X[:3000], y[:3000])
    >>> print(f"{model.score(X[3000:], y[3000:]):.2f}")
    0.99
    """

    _stem = "MultiKernelRegression"
