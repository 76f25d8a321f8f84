"""Classifiers with one machine for each pair of classes, as scikit-learn's ``SVC`` has them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..core import Floats
from .expansion import Expansion


def votes(model: Any) -> bool:
    """Whether several machines vote."""
    core = model._core if model.__sklearn_is_fitted__() else None
    return bool(core is not None and getattr(core, "has_pairs", False) and core.outputs > 1)


def pairwise_decision_function(self: Any, X: Any) -> Floats:
    """The decision value of every pair of classes, with ``multiclass="one-vs-one"``.

    As ``SVC(decision_function_shape="ovo")`` gives them: the pairs (0, 1), (0, 2), ..., (1, 2),
    ... of ``classes_``, each positive for its first class. Learns nothing.

    Returns
    -------
    array of shape (n, k (k - 1) / 2) for k classes; for two, what ``decision_function`` gives
    """
    check_is_fitted(self)
    if not self._core.has_pairs:
        raise NotImplementedError(
            f"{type(self).__name__} has one machine for each class; use "
            "multiclass='one-vs-one' for one of each pair"
        )
    if not votes(self):
        return np.asarray(self.decision_function(X))
    rows, _ = self._read_rows(X, fresh=False, learning=False)
    self._use_threads()
    places, signs = self._labels.pairs()
    return np.asarray(rows.score_pairs(self._core)[:, places] * signs + 0.0)


def dual_coef(model: Any) -> Floats:
    """As ``SVC`` has them: k - 1 rows, which of a support vector are its coefficients against the
    other classes in their order; of a compressed model, one row for each pair.
    """
    if model._compression is not None:
        return coef(model)
    own, against = _duels(model, "dual_coef_")
    others = np.arange(len(against) - 1)[:, None]
    return np.take_along_axis(against, others + (others >= own), axis=0)


def intercept(model: Any, offset: float) -> Floats:
    """The bias of each pair of classes."""
    core = model._core
    places, signs = model._labels.pairs()
    bias = core.bias()[places] if hasattr(core, "bias") else np.zeros(len(places))
    constant = offset * coef(model).sum(axis=1) if offset else 0.0
    return np.asarray(bias * signs + constant + 0.0)


def n_support(model: Any) -> NDArray[np.int64]:
    """Support vectors of each class; of a compressed model, of each pair."""
    if model._compression is not None:
        return np.asarray(np.count_nonzero(coef(model), axis=1))
    own, against = _duels(model, "n_support_")
    return np.bincount(own, minlength=len(against))


def coef(model: Any) -> Floats:
    """The coefficients of all support vectors, a row for each pair of classes."""
    if model._compression is not None:
        places, signs = model._labels.pairs()
        values = np.asarray(model._support("dual_coef_")["coef"])
        return np.asarray(values[places] * signs[:, None])
    own, against = _duels(model, "dual_coef_")
    firsts, seconds = np.triu_indices(len(against), 1)
    both = zip(firsts, seconds, strict=True)
    rows = [np.where(own == i, against[j], np.where(own == j, against[i], 0)) for i, j in both]
    return np.array(rows)


def margins(model: Any, X: Any) -> Floats:
    """Of each class the decision value against the rival that it fears most."""
    f = pairwise_decision_function(model, X)
    least = np.full((len(f), len(model._labels)), np.inf)
    for p, (i, j) in enumerate(zip(*np.triu_indices(least.shape[1], 1), strict=True)):
        least[:, i] = np.minimum(least[:, i], f[:, p])
        least[:, j] = np.minimum(least[:, j], -f[:, p])
    return least


def expansion(model: Any) -> Expansion:
    """The function of each pair of classes, in the order of the core."""
    core = model._core
    places, signs = model._labels.pairs()
    in_order, values = np.argsort(places), coef(model) * signs[:, None]
    bias = core.bias() if hasattr(core, "bias") else np.zeros(len(places))
    whole = Expansion.of(core, model._core_settings["kernel"], np.asarray(bias))
    return replace(whole, coef=values[in_order], classes=len(model._labels))


def _duels(model: Any, attribute: str) -> tuple[NDArray[np.intp], Floats]:
    """The class of each support vector, and its coefficients against all, by place.

    As ``SVC`` signs them: positive where its own class is the first of the two.
    """
    support = model._support(attribute)
    held, numbers = map(np.asarray, model._core.labels())
    order = np.argsort(held)
    at = np.searchsorted(held, support["ids"], sorter=order)
    number = numbers[order[at]] if len(held) else np.zeros(0, np.int64)
    values = np.asarray(support["coef"])
    others = np.arange(len(values))[:, None]
    by_number = np.zeros((len(values) + 1, len(number)))
    np.put_along_axis(by_number, others + (others >= number), values, axis=0)
    own = model._labels.places()[number]
    first = own < np.arange(len(by_number))[:, None]
    return own, np.where(first, 1.0, -1.0) * np.abs(model._labels.columns(by_number, axis=0))
