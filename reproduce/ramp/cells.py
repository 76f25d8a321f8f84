"""What table 1 and figures 2 to 6 measure: each function is one cell."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from onlinesvm import OfflineRampSVC, RampSVC
from reproduce.journal import Facts
from reproduce.ramp.setting import LEARNERS, PRINTED, Array, learn, load, percent

TESTED = 4000  # test rows at most for each point of figure 6


def one_pass(
    task: str,
    learner: str,
    order: int,
    C: float,
    width: float,
    scaling: str,
    rows: int | None,
) -> Facts:
    """Test accuracy in percent and support vectors after the training rows of one order."""
    data = load(task, order, rows, scaling)
    model = LEARNERS[learner](C, data.gamma(width))
    began = time.process_time()
    learn(model, data.X, data.y)
    seconds = time.process_time() - began
    return {
        "accuracy": percent(model, data.X_test, data.y_test),
        "support vectors": len(model.support_),
        "labels": int(getattr(model, "labels_used_", len(data.y))),
        "cpu_s": round(seconds, 3),
    }


def orders_of_a_draw(
    task: str, learner: str, draw: int, C: float, width: float, orders: int, rows: int | None
) -> Facts:
    """Test accuracy and support vectors after the same training rows in several orders."""
    data = load(task, draw, rows)
    facts: Facts = {"accuracy": [], "support vectors": []}
    for order in range(orders):
        at = np.random.default_rng([draw, order]).permutation(len(data.y))
        model = LEARNERS[learner](C, data.gamma(width))
        learn(model, data.X[at], data.y[at])
        facts["accuracy"].append(percent(model, data.X_test, data.y_test))
        facts["support vectors"].append(len(model.support_))
    return facts


def solution(learner: str, order: int, C: float, width: float, rows: int) -> Facts:
    """The support vectors on Gauss and their coefficients."""
    data = load("Gauss", order, rows)
    model = LEARNERS[learner](C, data.gamma(width))
    learn(model, data.X, data.y)
    return {
        "rows": model.support_.tolist(),
        "coefficients": [round(float(a), 6) for a in model.dual_coef_[0]],
        "intercept": float(model.intercept_[0]),
    }


def course(
    task: str, learner: str, order: int, C: float, width: float, lengths: list[int]
) -> Facts:
    """Accuracy, support vectors and processor seconds of learning when so many rows have passed."""
    data = load(task, order, lengths[-1])
    model = LEARNERS[learner](C, data.gamma(width))
    facts: Facts = {"accuracy": [], "support vectors": [], "cpu_s": []}
    seconds = 0.0
    for piece in pieces(lengths):
        began = time.process_time()
        learn(model, data.X[piece], data.y[piece])
        seconds += time.process_time() - began
        facts["accuracy"].append(percent(model, data.X_test, data.y_test))
        facts["support vectors"].append(len(model.support_))
        facts["cpu_s"].append(round(seconds, 4))
    return facts


class Counting:
    """The RBF kernel, which counts its values."""

    def __init__(self, gamma: float) -> None:
        self.gamma, self.values = gamma, 0

    def __call__(self, x: Array, X: Array) -> Array:
        self.values += len(X)
        away = X - x
        return np.asarray(np.exp(-self.gamma * np.einsum("ij,ij->i", away, away)))


def kernel_values(
    task: str, learner: str, order: int, C: float, width: float, lengths: list[int]
) -> Facts:
    """Kernel values computed by one online pass up to each length, or by an offline fit of each."""
    data = load(task, order, lengths[-1])
    kernel = Counting(data.gamma(width))
    online = RampSVC(C=C, kernel=kernel, **PRINTED)
    counts = []
    for piece in pieces(lengths):
        if learner == "online":
            online.partial_fit(data.X[piece], data.y[piece])
        else:
            kernel = Counting(data.gamma(width))
            offline = OfflineRampSVC(C=C, kernel=kernel, bias="none", s=-1.0, classes=[-1, 1])
            offline.fit(data.X[: piece.stop], data.y[: piece.stop])
        counts.append(kernel.values)
    return {"kernel values": counts}


def removal(
    task: str, keep: int | None, order: int, C: float, width: float, lengths: list[int]
) -> Facts:
    """Accuracy and kernel values of a pass that keeps so many non-support vectors.

    The values are counted by a kernel in Python; the accuracy is that of the compiled one.
    """
    data = load(task, order, lengths[-1])
    kernel = Counting(data.gamma(width))
    counted = RampSVC(C=C, kernel=kernel, keep_non_support=keep, **PRINTED)
    model = RampSVC(C=C, gamma=data.gamma(width), keep_non_support=keep, **PRINTED)
    facts: Facts = {"accuracy": [], "kernel values": []}
    for piece in pieces(lengths):
        for one in (counted, model):
            one.partial_fit(data.X[piece], data.y[piece])
        facts["accuracy"].append(percent(model, data.X_test, data.y_test))
        facts["kernel values"].append(kernel.values)
    return facts


def pieces(lengths: Sequence[int]) -> Iterator[slice]:
    """The stream cut at these lengths."""
    for start, stop in zip((0, *lengths), lengths, strict=False):
        yield slice(start, stop)


def every(model: Any, X: Array, y: Array) -> Iterator[int]:
    """Labels used after each row, when all are asked for."""
    for labels, (x, label) in enumerate(zip(X, y.tolist(), strict=True), 1):
        model.learn_one(x, label)
        yield labels


def in_the_margin(model: Any, X: Array, y: Array) -> Iterator[int]:
    """The same, when the model itself asks."""
    for x, label in zip(X, y.tolist(), strict=True):
        model.learn_one(x, label)
        yield model.labels_used_


def greedy(model: Any, X: Array, y: Array, h: int = 5) -> Iterator[int]:
    """The same, when of every h rows the label of that closest to the boundary is asked for."""
    for labels, start in enumerate(range(0, len(y) - h + 1, h), 1):
        block = X[start : start + h]
        away = np.abs(model.decision_function(block)) if labels > 1 else np.zeros(h)
        at = start + int(np.argmin(away))
        model.learn_one(X[at], int(y[at]))
        yield labels


STRATEGIES: dict[str, tuple[str, Callable[..., Iterator[int]]]] = {
    "OnlineSVM-R, QueryAll": ("OnlineSVM-R", every),
    "OnlineSVM-R, Greedy": ("OnlineSVM-R", greedy),
    "OnlineASVM-R": ("OnlineASVM-R", in_the_margin),
    "IDSVM, QueryAll": ("IDSVM", every),
    "IDSVM, Greedy": ("IDSVM", greedy),
}


def by_labels(
    task: str,
    strategy: str,
    order: int,
    C: float,
    width: float,
    scaling: str,
    rows: int | None,
) -> Facts:
    """Accuracy each time the labels have grown by a quarter, until Greedy would have no more."""
    data = load(task, order, rows, scaling)
    learner, ask = STRATEGIES[strategy]
    model = LEARNERS[learner](C, data.gamma(width))
    facts: Facts = {"labels": [], "accuracy": []}
    last, due, used = len(data.y) // 5, 10, 0

    def look() -> None:
        facts["labels"].append(used)
        facts["accuracy"].append(percent(model, data.X_test[:TESTED], data.y_test[:TESTED]))

    for used in ask(model, data.X, data.y):
        if used >= due:
            look()
            due = max(used + 1, used * 5 // 4)
        if used >= last:
            break
    if facts["labels"][-1:] != [used]:
        look()
    return facts
