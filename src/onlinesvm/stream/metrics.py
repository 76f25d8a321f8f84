"""Metrics of a stream: small objects with `update` and `value` that merge exactly.

A value that is not defined yet, such as the recall of a class that never came, is nan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.stats import rankdata

from onlinesvm.params import check_count, check_word
from onlinesvm.stream.containers import column
from onlinesvm.stream.tallies import (
    Changes,
    Confusion,
    Errors,
    Likelihoods,
    Marks,
    Ranks,
    Tally,
)

__all__ = [
    "AUC",
    "F1",
    "MAE",
    "METRICS",
    "R2",
    "RMSE",
    "Accuracy",
    "Alarms",
    "BalancedAccuracy",
    "Detections",
    "FalseAlarms",
    "Kappa",
    "KappaTemporal",
    "LogLoss",
    "Metric",
    "Sliding",
    "resolve",
]

_NAN = float("nan")
UNUSUAL, USUAL = -1, 1  # what detectors say, as in scikit-learn


class Metric:
    """One number about the answers to a stream, over all of it; `Sliding` is for the last ones.

    Attributes
    ----------
    name : str
    tally : Tally
        What was counted. Metrics over equal tallies can share one.
    """

    name: str
    counts: ClassVar[type[Tally]]
    kinds: ClassVar[tuple[str, ...]]  # of models that can have it

    def __init__(self) -> None:
        self.tally = self.counts()

    def update(self, y_true: Any, y_pred: Any) -> Self:
        """Count answers, in the order in which they were given."""
        self.tally.update(self.marks(y_true, y_pred))
        return self

    def marks(self, y_true: Any, y_pred: Any) -> Marks:
        """The answers as the tally reads them."""
        truth, guess = _columns(y_true=y_true, y_pred=y_pred)
        return Marks(truth=truth, guess=guess)

    def merge(self, later: Self) -> Self:
        """Count what another one has counted, on the part of the stream that came next."""
        if later._identity() != self._identity():
            raise ValueError(f"later must be the same metric to be merged: {self!r}, got {later!r}")
        self.tally.merge(later.tally)
        return self

    @property
    def value(self) -> float:
        """The metric of all that was counted; nan where it is not defined."""
        return self.read(self.tally)

    def read(self, tally: Any) -> float:
        """The metric of what this tally counted."""
        raise NotImplementedError

    def _identity(self) -> tuple[Any, ...]:
        return (type(self),)

    def __repr__(self) -> str:
        return f"<{self.name}: {self.value:.6g}>"


def _columns(**given: Any) -> list[list[Any]]:
    """Columns of equal length as lists; nothing is counted if they are not."""
    columns = {name: column(name, values) for name, values in given.items()}
    (first, rows), *others = [(name, len(values)) for name, values in columns.items()]
    for name, count in others:
        if count != rows:
            raise ValueError(f"{name} has {count} entries for {rows} of {first}; pass as many")
    return [values.tolist() for values in columns.values()]


def _share(part: float, whole: float) -> float:
    return part / whole if whole else _NAN


# --- labels ---------------------------------------------------------------------------------------


class Accuracy(Metric):
    """The share of right answers; says little where one class is rare.

    Examples
    --------
    >>> from onlinesvm.stream.metrics import Accuracy
    >>> Accuracy().update(["ham", "spam", "ham"], ["ham", "ham", "ham"]).value
    0.6666666666666666
    """

    name = "accuracy"
    counts = Confusion
    kinds = ("classifier", "detector")

    def read(self, tally: Confusion) -> float:
        return _share(tally.right().total(), tally.count)


class BalancedAccuracy(Metric):
    """The share of right answers, taken for each class, then the mean: rare ones count alike."""

    name = "balanced_accuracy"
    counts = Confusion
    kinds = ("classifier", "detector")

    def read(self, tally: Confusion) -> float:
        right, truths = tally.right(), tally.truths()
        return _share(math.fsum(right[k] / n for k, n in truths.items()), len(truths))


class Kappa(Metric):
    """Cohen's kappa: 1 for all right, 0 for what guessing with the same frequencies would get."""

    name = "kappa"
    counts = Confusion
    kinds = ("classifier", "detector")

    def read(self, tally: Confusion) -> float:
        n, truths, guesses = tally.count, tally.truths(), tally.guesses()
        by_chance = sum(count * guesses[label] for label, count in truths.items())
        return _share(n * tally.right().total() - by_chance, n * n - by_chance)


class KappaTemporal(Metric):
    """Kappa against no-change: above 0 only for what beats repeating the label before.

    The first example of all has none before it, and counts as one that no-change does not tell.
    Merging is by order: `earlier.merge(later)`.
    """

    name = "kappa_temporal"
    counts = Changes
    kinds = ("classifier",)

    def read(self, tally: Changes) -> float:
        return _share(tally.right - tally.kept, tally.count - tally.kept)


class F1(Metric):
    """The harmonic mean of precision and recall, of one class or as the mean over all.

    Parameters
    ----------
    average : {"macro", "binary"}, default="macro"
        The mean over all classes that were met or said, or the F1 of `positive` alone.
    positive : label, default=1
        Only read for ``"binary"``.
    """

    counts = Confusion
    kinds = ("classifier", "detector")

    def __init__(self, average: Literal["macro", "binary"] = "macro", positive: Any = 1) -> None:
        super().__init__()
        self.average = check_word("average", average, ("macro", "binary"))
        self.positive = positive
        self.name = "f1" if self.average == "binary" else "f1_macro"

    def _identity(self) -> tuple[Any, ...]:
        return (type(self), self.average, self.positive)

    def read(self, tally: Confusion) -> float:
        right, truths, guesses = tally.right(), tally.truths(), tally.guesses()
        labels = (truths | guesses) if self.average == "macro" else [self.positive]
        scores = [_share(2 * right[k], truths[k] + guesses[k]) for k in labels]
        return _share(math.fsum(scores), len(scores))


# --- scores and probabilities ---------------------------------------------------------------------


class AUC(Metric):
    """The chance that an example of the second class is scored above one of the first.

    Exact, ties counted half. An order has no short summary: every score is kept, 16 bytes and the
    label each, so give an endless stream `Sliding(AUC(), size)`. Defined for two classes.
    """

    name = "auc"
    counts = Ranks
    kinds = ("classifier", "detector")

    def update(self, y_true: Any, y_score: Any) -> Self:
        """Count scores: the higher, the likelier the second class in ascending order."""
        return super().update(y_true, y_score)

    def marks(self, y_true: Any, y_score: Any) -> Marks:
        truth, score = _columns(y_true=y_true, y_score=y_score)
        return Marks(truth=truth, score=score)

    def read(self, tally: Ranks) -> float:
        scores = np.asarray(tally.score, dtype=np.float64)
        truth = np.empty(len(tally.truth), dtype=object)
        truth[:] = tally.truth
        truth, scores = truth[~np.isnan(scores)], scores[~np.isnan(scores)]
        labels = set(truth.tolist())
        if len(labels) != 2 or None in labels:
            return _NAN
        positive = truth == max(labels)
        above = int(positive.sum())
        doubled = int(2 * rankdata(scores)[positive].sum())  # ranks are halves: this is exact
        return (doubled - above * (above + 1)) / (2 * above * (len(truth) - above))


class LogLoss(Metric):
    """Minus the mean logarithm of the probability given to the truth: punishes false certainty."""

    name = "log_loss"
    counts = Likelihoods
    kinds = ("classifier",)

    def update(self, y_true: Any, y_proba: Any, labels: Sequence[Any] | None = None) -> Self:
        """Count probabilities, one row an example and one column for each of `labels`.

        Without `labels`, `y_proba` is the probability of the truth itself.
        """
        self.tally.update(self.marks(y_true, y_proba, labels))
        return self

    def marks(self, y_true: Any, y_proba: Any, labels: Sequence[Any] | None = None) -> Marks:
        if labels is not None:
            chances = [dict(zip(labels, row, strict=True)) for row in np.asarray(y_proba).tolist()]
            y_proba = likelihoods(column("y_true", y_true).tolist(), chances)
        truth, likelihood = _columns(y_true=y_true, y_proba=y_proba)
        return Marks(truth=truth, likelihood=likelihood)

    def read(self, tally: Likelihoods) -> float:
        return tally.loss.over(tally.count) if tally.count else _NAN


def likelihoods(truth: Sequence[Any], chances: Sequence[Mapping[Any, float]]) -> list[float]:
    """What each row of chances gave to its truth; nothing for a label it does not know."""
    return [row.get(label, 0.0) for label, row in zip(truth, chances, strict=True)]


# --- targets --------------------------------------------------------------------------------------


class MAE(Metric):
    """The mean absolute error, rounded once."""

    name = "mae"
    counts = Errors
    kinds = ("regressor",)

    def read(self, tally: Errors) -> float:
        return tally.absolute.over(tally.count) if tally.count else _NAN


class RMSE(Metric):
    """The root of the mean squared error: large errors weigh more than in `MAE`."""

    name = "rmse"
    counts = Errors
    kinds = ("regressor",)

    def read(self, tally: Errors) -> float:
        return math.sqrt(tally.squared.over(tally.count)) if tally.count else _NAN


class R2(Metric):
    """The share of the variance of the targets that is explained; 0 for their mean, 1 at best.

    Without rounding before the last division, so targets far from 0 cost no digit.
    """

    name = "r2"
    counts = Errors
    kinds = ("regressor",)

    def read(self, tally: Errors) -> float:
        if tally.count < 2 or not tally.squared.is_finite:
            return _NAN
        unit, n = tally.squared.unit, tally.count
        spread = n * tally.squared_targets.digits * unit - tally.targets.digits**2
        missed = n * tally.squared.digits * unit
        if not spread:
            return 0.0 if missed else 1.0  # as scikit-learn has it
        try:
            return (spread - missed) / spread
        except OverflowError:
            return -math.inf


# --- alarms ---------------------------------------------------------------------------------------


class Alarms(Metric):
    """The share of examples that a detector called unusual (-1); needs no labels."""

    name = "alarms"
    counts = Confusion
    kinds = ("detector",)

    def read(self, tally: Confusion) -> float:
        return _share(tally.guesses()[UNUSUAL], tally.count)


class FalseAlarms(Metric):
    """The share of usual examples (1) that a detector called unusual (-1)."""

    name = "false_alarms"
    counts = Confusion
    kinds = ("detector",)

    def read(self, tally: Confusion) -> float:
        return _share(tally.pairs[USUAL, UNUSUAL], tally.truths()[USUAL])


class Detections(Metric):
    """The share of unusual examples (-1) that a detector called so: what false alarms buy."""

    name = "detections"
    counts = Confusion
    kinds = ("detector",)

    def read(self, tally: Confusion) -> float:
        return _share(tally.pairs[UNUSUAL, UNUSUAL], tally.truths()[UNUSUAL])


# --- the last ones --------------------------------------------------------------------------------


class Sliding:
    """A metric of the last `size` answers.

    Holds them, and counts them anew when it is asked for its value: exact at any time, at the
    price of one pass over the window for each look.

    Parameters
    ----------
    metric : Metric
    size : int
        The length of the window, in examples.

    Examples
    --------
    >>> from onlinesvm.stream.metrics import Accuracy, Sliding
    >>> Sliding(Accuracy(), 2).update([0, 1, 1], [1, 1, 1]).value
    1.0
    """

    def __init__(self, metric: Metric, size: int) -> None:
        self.metric = metric
        self.size = check_count("size", size, at_least=1)
        self._marks = Marks()

    def update(self, y_true: Any, *answers: Any, **more: Any) -> Self:
        """Count answers, as the metric does."""
        return self._append(self.metric.marks(y_true, *answers, **more))

    def merge(self, later: Self) -> Self:
        """Go on with the window of another one, on the part of the stream that came next."""
        if (self.metric._identity(), self.size) != (later.metric._identity(), later.size):
            raise ValueError("later must slide the same metric over the same size to be merged")
        return self._append(later._marks)

    @property
    def value(self) -> float:
        """The metric of the window; nan where it is not defined."""
        tally = self.metric.counts()
        tally.update(self._marks)
        return self.metric.read(tally)

    def _append(self, marks: Marks) -> Self:
        self._marks.extend(marks)
        self._marks.keep_last(self.size)
        return self

    def __repr__(self) -> str:
        return f"<{self.metric.name} of the last {self.size}: {self.value:.6g}>"


# --- by name --------------------------------------------------------------------------------------

METRICS: Mapping[str, Callable[[], Metric]] = {
    "accuracy": Accuracy,
    "balanced_accuracy": BalancedAccuracy,
    "kappa": Kappa,
    "kappa_temporal": KappaTemporal,
    "f1_macro": F1,
    "f1": partial(F1, "binary"),
    "auc": AUC,
    "log_loss": LogLoss,
    "mae": MAE,
    "rmse": RMSE,
    "r2": R2,
    "alarms": Alarms,
    "false_alarms": FalseAlarms,
    "detections": Detections,
}


def resolve(metrics: Iterable[str | Metric]) -> list[Metric]:
    """Metrics given by name or as objects."""
    if isinstance(metrics, str):
        raise ValueError(f"metrics must be a list of names or metrics, got {metrics!r}; put [ ]")
    found = [
        m if isinstance(m, Metric) else METRICS[check_word("metrics", m, METRICS)]()
        for m in metrics
    ]
    names = [metric.name for metric in found]
    if len(set(names)) < len(names):
        raise ValueError(f"metrics has a name twice: {', '.join(names)}; leave one out")
    return found
