"""What models say of rows whose labels nobody knows; no model is changed by it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...data.validation import one_row
from ...kernels import PRECOMPUTED
from ...queries import Look

Floats = NDArray[np.float64]


def look_at_one(models: Sequence[Any], x: Any, number: int) -> Look:
    """At one row; a ValueError if it is none that the first model can learn."""
    model = models[0]
    if not model.__sklearn_is_fitted__():
        demand_learnable(model, one_row(x))
    if _votes(model):
        return look_at_many(models, one_row(x), number)
    scores = np.atleast_1d(np.asarray(model.decide_one(x), dtype=np.float64))
    votes = _numbered([[m.predict_one(x) for m in models]]) if len(models) > 1 else _no_votes(1)
    return Look(
        scores[None], np.array([number]), votes, lambda: own(model, one_row(x)), error_price(model)
    )


def look_at_many(models: Sequence[Any], X: Any, first: int) -> Look:
    """At many rows, the first of which has this number in the stream."""
    model = models[0]
    if model.__sklearn_is_fitted__():
        scores = margins(model, X)
    else:
        scores = np.zeros((demand_learnable(model, X), 1))
    n = len(scores)
    votes = _no_votes(n)
    if len(models) > 1 and all(m.__sklearn_is_fitted__() for m in models):
        votes = _numbered(zip(*(m.predict(X).tolist() for m in models), strict=True))
    numbers = first + np.arange(n)
    return Look(scores, numbers, votes, lambda: own(model, X), error_price(model))


def margins(model: Any, X: Any) -> Floats:
    """The decision values of a fitted model in units of the margin, also where machines vote."""
    if _votes(model):
        last = last_step(model)
        if last is not model:
            X, last = model._prepared(X)
        return np.asarray(last._margins(X))
    scores = np.asarray(model.decision_function(X), dtype=np.float64)
    return scores.reshape(len(scores), -1)


def _votes(model: Any) -> bool:
    last = last_step(model)
    return hasattr(last, "_votes") and last._votes()


def demand_learnable(model: Any, X: Any) -> int:
    """How many rows there are; a ValueError if a model that knows nothing could not learn them."""
    if hasattr(model, "steps"):
        rows, _ = model._read_first(X)
        return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)
    return len(model._read_rows(X, fresh=True)[0])


def error_price(model: Any) -> float | None:
    """C of a model, where it has one."""
    return getattr(last_step(model), "C", None)


def own(model: Any, X: Any) -> Floats:
    """k(x, x) of each row, as the model sees it; 1 while it sees nothing."""
    if not model.__sklearn_is_fitted__():
        return np.ones(demand_learnable(model, X))
    last = last_step(model)
    if last is not model:
        X, last = model._prepared(X)
    rows = last._read_rows(X, fresh=False, learning=False)[0].X
    kernel = last._core_settings.get("kernel", {"name": "linear"})
    name, offset = kernel["name"], kernel.get("offset", 0.0)
    if name == "function":
        values = [np.asarray(kernel["function"](x, x[None]), np.float64).item() for x in rows]
        return np.asarray(np.array(values) + offset)
    if name == PRECOMPUTED:
        raise ValueError(
            "k(x, x) of a row is not known with kernel='precomputed'; ask by a query that takes "
            "scores alone, such as Margin"
        )
    if name in ("rbf", "laplacian", "chi2"):
        return np.full(rows.shape[0], 1.0 + offset)
    squared = rows.multiply(rows) if sp.issparse(rows) else np.square(rows, dtype=np.float64)
    squares = np.asarray(squared.sum(axis=1), dtype=np.float64).ravel()
    if name == "poly":
        squares = (kernel["gamma"] * squares + kernel["coef0"]) ** kernel["degree"]
    return np.asarray(squares + offset)


def last_step(model: Any) -> Any:
    """The model itself, or the one at the end of a pipeline."""
    return model.steps[-1][1] if hasattr(model, "steps") else model


def _no_votes(n: int) -> NDArray[np.int64]:
    return np.zeros((n, 1), dtype=np.int64)


def _numbered(votes: Any) -> NDArray[np.int64]:
    """Each label as a number; whoever knows no label yet has a number of its own."""
    numbers: dict[Any, int] = {}
    return np.array([[numbers.setdefault(v, len(numbers)) for v in row] for row in votes])
