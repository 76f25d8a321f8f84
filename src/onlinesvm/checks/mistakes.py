"""Mistakes: every bad input is a one-line ValueError, and the model is exactly as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor

from .streams import (
    Stream,
    adjusted,
    all_classes,
    classifying,
    fingerprint,
    last_of,
    learned,
    predicted,
    predicted_one,
    promise,
    refuses,
    streaming,
)


def _bad_rows(model: Any, stream: Stream) -> Iterator[tuple[str, Any]]:
    gaps = model.__sklearn_tags__().input_tags.allow_nan
    for odd in (np.inf, -np.inf) if gaps else (np.nan, np.inf, -np.inf):
        X = stream.X.copy()
        X[-1, 1] = odd
        yield f"X with {odd}", X
    if not model.__sklearn_tags__().input_tags.string:
        yield "X with text", np.full(stream.X.shape, "text")
    yield "X without rows", stream.X[:0]
    yield "X without columns", stream.X[:, :0]
    yield "X of one dimension", stream.X[0]
    yield "X of three dimensions", stream.X[None]
    yield "X complex", stream.X.astype(complex)


def _bad_widths(stream: Stream) -> Iterator[tuple[str, Any]]:
    yield "X too wide", np.hstack([stream.X, stream.X])
    yield "X too narrow", stream.X[:, :-1]


def _bad_ids(n: int) -> Iterator[tuple[str, Any]]:
    yield "duplicate ids", np.zeros(n, dtype=int)
    yield "ids too short", np.arange(n - 1) + 1000
    yield "negative ids", -1 - np.arange(n)
    yield "ids of floats", np.arange(n) + 0.5


def _bad_learning(model: Any, stream: Stream) -> Iterator[tuple[str, Callable[[], Any]]]:
    learn, X, y, n = model.partial_fit, stream.X, stream.y, len(stream.X)
    last = np.arange(n) == n - 1
    for name, bad in [*_bad_rows(model, stream), *_bad_widths(stream)]:
        yield name, partial(learn, bad, y[: len(bad)])
    if is_regressor(model) or classifying(model):
        yield "y too short", lambda: learn(X, y[:-1])
        yield "y missing", lambda: learn(X, None)
        yield "y of two dimensions", lambda: learn(X, np.column_stack([y, y]))
    if is_regressor(model):
        yield "y with NaN", lambda: learn(X, np.where(last, np.nan, y))
        yield "y with text", lambda: learn(X, np.full(n, "text"))
        yield "one NaN target", lambda: model.learn_one(X[0], float("nan"))
    if classifying(model):
        yield "y with an unknown label", lambda: learn(X, np.where(last, "zebrawood", y))
        yield "y with None", lambda: learn(X, [*y[:-1], None])
        yield "one unknown label", lambda: model.learn_one(X[0], "zebrawood")
        yield "a list for one label", lambda: model.learn_one(X[0], ["ash"])
        yield "None for one label", lambda: model.learn_one(X[0], None)
        yield "other classes", lambda: learn(X, y, classes=["ash", "oak"])
    for odd in (-1.0, np.nan, np.inf):
        weights = np.where(last, odd, 1)
        yield f"a weight of {odd}", partial(learn, X, y, sample_weight=weights)
        yield f"one weight of {odd}", partial(model.learn_one, X[0], y[0], odd)
    yield "weights too short", lambda: learn(X, y, sample_weight=np.ones(n - 1))
    yield "weights of two dimensions", lambda: learn(X, y, sample_weight=np.ones((n, 2)))
    if hasattr(model, "n_seen_"):  # it counts examples
        for name, ids in _bad_ids(n):
            yield name, partial(learn, X, y, ids=ids)
    odd = np.inf if model.__sklearn_tags__().input_tags.allow_nan else np.nan
    x = np.where(np.arange(X.shape[1]) == 1, odd, X[0])
    yield f"one row with {odd}", lambda: model.learn_one(x, y[0])
    yield "one row too wide", lambda: model.learn_one(np.ones(9), y[0])
    yield "a matrix for one row", lambda: model.learn_one(X, y[0])
    yield "a dict for a model of arrays", lambda: model.learn_one({"a": 1.0}, y[0])
    yield f"prediction of one row with {odd}", lambda: predicted_one(model, x)
    yield "prediction of one row too wide", lambda: predicted_one(model, np.ones(9))


@promise(streaming)
def check_bad_calls_change_nothing(estimator: Any, stream: Stream) -> None:
    if classifying(estimator) and isinstance(last_of(estimator).classes, str):
        estimator = adjusted(estimator, classes=None)
    model = learned(estimator, stream)
    before, names = fingerprint(model), set(vars(model))
    for name, call in _bad_learning(model, stream):
        complaint = refuses(call, ValueError, name)
        assert "\n" not in complaint, f"{name}: the complaint is not one line: {complaint!r}"
        assert fingerprint(model) == before, f"{name}: the model has changed"
        assert set(vars(model)) == names, f"{name}: attributes were left behind"


@promise()
def check_bad_rows_are_not_predicted(estimator: Any, stream: Stream) -> None:
    model = learned(estimator, stream)
    for name, X in [*_bad_rows(model, stream), *_bad_widths(stream)]:
        refuses(partial(predicted, model, X), ValueError, f"prediction of {name}")


@promise()
def check_bad_first_calls_start_nothing(estimator: Any, stream: Stream) -> None:
    for name, X in _bad_rows(estimator, stream):
        model = clone(estimator)
        refuses(partial(model.fit, X, stream.y[: len(X)]), ValueError, f"first {name}")
        assert not model.__sklearn_is_fitted__(), f"first {name}: the model calls itself fitted"
        left = set(vars(model)) - set(vars(clone(estimator)))
        assert left <= {"_register"}, f"first {name}: leftovers"  # whose turn it is, no example


@promise()
def check_a_bad_fit_keeps_the_old_model(estimator: Any, stream: Stream) -> None:
    model = learned(estimator, stream)
    before = fingerprint(model)
    for name, X in _bad_rows(model, stream):
        refuses(partial(model.fit, X, stream.y[: len(X)]), ValueError, f"fit of {name}")
        assert fingerprint(model) == before, f"fit of {name}: the model has changed"


@promise()
def check_bad_parameters(estimator: Any, stream: Stream) -> None:
    plain = adjusted(estimator, classes=None) if classifying(estimator) else clone(estimator)
    for name, declared in last_of(estimator)._parameters.items():
        weights = [{"ash": -1.0}, {"oak": 2.0}] if name == "class_weight" else []
        for value in (*declared.bad, *weights):
            model = adjusted(plain, **{name: value})
            call = partial(model.fit, stream.X, stream.y)
            complaint = refuses(call, ValueError, f"{name}={value!r}")
            assert name in complaint, f"{name}={value!r}: {complaint!r} does not name it"
            assert "\n" not in complaint
            assert not model.__sklearn_is_fitted__(), f"{name}={value!r} left a fitted model"


@promise(streaming, classifying)
def check_first_partial_fit_needs_classes(estimator: Any, stream: Stream) -> None:
    model = adjusted(estimator, classes=None)
    complaint = refuses(lambda: model.partial_fit(stream.X, stream.y), ValueError, "no classes")
    assert "classes" in complaint
    assert not model.__sklearn_is_fitted__()


@promise(streaming, lambda estimator: estimator.can("unlearn"), n=20)
def check_ids_in_use_are_refused(estimator: Any, stream: Stream) -> None:
    model = clone(estimator)
    model.partial_fit(stream.X, stream.y, ids=np.arange(20) + 5, **all_classes(model))
    if not hasattr(model, "support_"):
        return  # weights bear no ids
    before, held = fingerprint(model), model.support_[:1]
    refuses(
        lambda: model.partial_fit(stream.X[:1], stream.y[:1], ids=held), ValueError, "reused id"
    )
    assert fingerprint(model) == before
