"""The metrics of a stream, by name: what each one reads off the counts.

A value that is not defined yet, such as the recall of a class that never came, is nan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from onlinesvm.data.arguments import check_word
from onlinesvm.stream.tallies import Changes, Confusion, Errors, Likelihoods, Ranks, Tally

__all__ = ["METRICS", "UNUSUAL", "USUAL", "Metric", "resolve"]

_NAN = float("nan")
UNUSUAL, USUAL = -1, 1  # what detectors say, as in scikit-learn


@dataclass(frozen=True, slots=True)
class Metric:
    """One number about the answers to a stream.

    Attributes
    ----------
    counts : type of Tally
        What has to be counted for it.
    kinds : tuple of str
        The models that can have it.
    read : function of that tally to float
    """

    counts: type[Tally]
    kinds: tuple[str, ...]
    read: Callable[[Any], float]


def _share(part: float, whole: float) -> float:
    return part / whole if whole else _NAN


# --- labels ---------------------------------------------------------------------------------------


def _accuracy(tally: Confusion) -> float:
    return _share(tally.right().total(), tally.count)


def _balanced_accuracy(tally: Confusion) -> float:
    right, truths = tally.right(), tally.truths()
    return _share(math.fsum(right[k] / n for k, n in truths.items()), len(truths))


def _kappa(tally: Confusion) -> float:
    """Cohen's: 1 for all right, 0 for what guessing with the same frequencies would get."""
    n, truths, guesses = tally.count, tally.truths(), tally.guesses()
    by_chance = sum(count * guesses[label] for label, count in truths.items())
    return _share(n * tally.right().total() - by_chance, n * n - by_chance)


def _kappa_temporal(tally: Changes) -> float:
    """Above 0 only for what beats repeating the label before; the first example has none."""
    return _share(tally.right - tally.kept, tally.count - tally.kept)


def _f1_of(tally: Confusion, labels: Iterable[Any]) -> float:
    right, truths, guesses = tally.right(), tally.truths(), tally.guesses()
    scores = [_share(2 * right[k], truths[k] + guesses[k]) for k in labels]
    return _share(math.fsum(scores), len(scores))


def _f1_macro(tally: Confusion) -> float:
    """The mean over all classes that were met or said."""
    return _f1_of(tally, tally.truths() | tally.guesses())


def _f1(tally: Confusion) -> float:
    """Of the second of two classes, or of what a detector looks for."""
    return _f1_of(tally, [tally.positive])


# --- scores and probabilities ---------------------------------------------------------------------


def _auc(tally: Ranks) -> float:
    """The chance that an example of the second class is scored above one of the first.

    Exact, ties counted half, for two classes.
    """
    known = ~np.isnan(tally.score)
    scores, positive = tally.score[known], tally.second(known)
    if positive is None:
        return _NAN
    above = int(positive.sum())
    doubled = int(2 * rankdata(scores)[positive].sum())  # ranks are halves: this is exact
    return (doubled - above * (above + 1)) / (2 * above * (len(scores) - above))


def _log_loss(tally: Likelihoods) -> float:
    return _share(tally.loss, tally.count)


# --- targets --------------------------------------------------------------------------------------


def _mae(tally: Errors) -> float:
    return _share(tally.absolute, tally.count)


def _rmse(tally: Errors) -> float:
    return math.sqrt(tally.squared / tally.count) if tally.count else _NAN


def _r2(tally: Errors) -> float:
    """The share of the variance of the targets that is explained; 0 for their mean."""
    if tally.count < 2 or not math.isfinite(tally.squared):
        return _NAN
    spread = tally.spread
    if not spread:
        return 0.0 if tally.squared else 1.0  # as scikit-learn has it
    return 1 - tally.squared / spread


# --- alarms ---------------------------------------------------------------------------------------


def _alarms(tally: Confusion) -> float:
    """The share of examples that a detector called unusual; needs no labels."""
    return _share(tally.guesses()[UNUSUAL], tally.count)


def _false_alarms(tally: Confusion) -> float:
    """The share of usual examples that a detector called unusual."""
    return _share(tally.pairs[USUAL, UNUSUAL], tally.truths()[USUAL])


def _detections(tally: Confusion) -> float:
    """The share of unusual examples that a detector called so."""
    return _share(tally.pairs[UNUSUAL, UNUSUAL], tally.truths()[UNUSUAL])


# --- by name --------------------------------------------------------------------------------------

_LABELS = ("classifier", "detector")
METRICS: Mapping[str, Metric] = {
    "accuracy": Metric(Confusion, _LABELS, _accuracy),
    "balanced_accuracy": Metric(Confusion, _LABELS, _balanced_accuracy),
    "kappa": Metric(Confusion, _LABELS, _kappa),
    "kappa_temporal": Metric(Changes, ("classifier",), _kappa_temporal),
    "f1_macro": Metric(Confusion, _LABELS, _f1_macro),
    "f1": Metric(Confusion, _LABELS, _f1),
    "auc": Metric(Ranks, _LABELS, _auc),
    "log_loss": Metric(Likelihoods, ("classifier",), _log_loss),
    "mae": Metric(Errors, ("regressor",), _mae),
    "rmse": Metric(Errors, ("regressor",), _rmse),
    "r2": Metric(Errors, ("regressor",), _r2),
    "alarms": Metric(Confusion, ("detector",), _alarms),
    "false_alarms": Metric(Confusion, ("detector",), _false_alarms),
    "detections": Metric(Confusion, ("detector",), _detections),
}


def resolve(metrics: Iterable[str]) -> list[str]:
    """Names of metrics that were given; each once."""
    if isinstance(metrics, str):
        raise ValueError(f"metrics must be a list of names, got {metrics!r}; put [ ]")
    names = [check_word("metrics", name, METRICS) for name in metrics]
    if len(set(names)) < len(names):
        raise ValueError(f"metrics has a name twice: {', '.join(names)}; leave one out")
    return names
