"""Proved bounds: what a method may cost along a stream, beside a rival u that knows it beforehand.

A class with a theorem lists `Bounded`. Rows are those that the method sees: with a constant feature
for its bias and, for a kernel, with coordinates whose dot products are the kernel's values.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from .parameters import Parameters, group

Floats = NDArray[np.float64]


@group
class Bounded(Parameters):
    """A learner of two classes, or of targets, whose cost on every stream a theorem bounds.

    ``_theorem`` says whose it is, ``_counts`` what it bounds. ``_bound(X, y, u)`` is what may have
    been paid after each row, beside the rival ``u``; infinite where the theorem is silent.
    """


def counted(model: Any) -> str:
    """What the theorem bounds."""
    return str(getattr(model, "_counts", "mistakes"))


def rivals(model: Any, X: Floats, y: Floats) -> Iterable[Floats]:
    """Weights worth comparing with, found on the whole stream; any others are as fair."""
    own = getattr(model, "_rivals", None)
    found: Iterable[Floats] = separators(X, y) if own is None else own(X, y)
    return found


def only_for(model: Any, **settings: Any) -> None:
    """Refuses settings for which nothing is proved."""
    for name, value in settings.items():
        if getattr(model, name) != value:
            raise ValueError(
                f"{name} must be {value!r} for a proved bound, got {getattr(model, name)!r}"
            )


def separators(X: Floats, y: Floats) -> Iterator[Floats]:
    """Support vector machines without a bias, from very soft to nearly hard margins.

    Those without a mistake come once more, as short as they can be with all margins at least 1.
    """
    from sklearn.svm import LinearSVC  # only who asks for a rival waits for it

    yield np.zeros(X.shape[1])
    unit = float(np.mean((X**2).sum(axis=1))) or 1.0
    for C in np.logspace(-4, 6, 11) / unit:
        machine = LinearSVC(C=C, fit_intercept=False, dual=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # what it has found is a rival, too
            u = np.asarray(machine.fit(X, y).coef_[0])
        yield u
        least = (y * (X @ u)).min()
        if least > 0:
            yield u / (least * (1 - 1e-12))


def least_squares(X: Floats, y: Floats) -> Iterator[Floats]:
    """Ridge regressions, from the shortest weights to the best."""
    yield np.zeros(X.shape[1])
    left, s, right = np.linalg.svd(X, full_matrices=False)
    for ridge in np.logspace(-12, 2, 15) * (s[0] ** 2 or 1.0):
        yield right.T @ (s / (s**2 + ridge) * (left.T @ y))


def hinge(X: Floats, y: Floats, u: Floats) -> Floats:
    """The losses of u: how far each margin falls short of 1."""
    return np.maximum(0.0, 1.0 - y * (X @ u))


def unit_length(X: Floats) -> Floats:
    """The rows with length one, but for those without any."""
    lengths = np.sqrt((X**2).sum(axis=1))[:, None]
    return np.asarray(X / np.where(lengths > 0, lengths, 1.0))


def longest2(X: Floats) -> Floats:
    """R^2 after each row: the squared length of the longest so far."""
    return np.asarray(np.maximum.accumulate((X**2).sum(axis=1)))


def total(price: float, losses: Floats) -> Floats:
    """The losses so far at that price each; what costs nothing is free at any price."""
    return np.asarray(
        np.cumsum(np.multiply(price, losses, out=np.zeros_like(losses), where=losses > 0))
    )
