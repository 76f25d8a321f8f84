"""``unlearn(scope="all")``: whatever removed rows had settled is settled anew by the rows left."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor

from ..data.keys import Keys
from .certificate import Evidence
from .settled import IdRuns

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Remaining:
    """The rows that a model is to be trained on again, in the order of their ids."""

    X: Any
    y: NDArray[Any] | None
    weights: NDArray[np.float64] | None
    ids: Ids
    keys: Keys | None
    of_fit: NDArray[np.bool_]  # rows of a call of fit; the others were a stream

    def part(self, chosen: NDArray[np.bool_]) -> Remaining:
        """Only the rows of a mask."""
        at = np.flatnonzero(chosen)
        rows = [self.X[i] for i in at] if isinstance(self.X, list) else self.X[at]
        return replace(
            self,
            X=rows,
            y=None if self.y is None else self.y[at],
            weights=None if self.weights is None else self.weights[at],
            ids=self.ids[at],
            keys=None if self.keys is None else [self.keys[i] for i in at],
            of_fit=self.of_fit[at],
        )

    def teach(self, fresh: Any, classes: Any) -> Any:
        """Let a model that knows nothing learn them; ``classes``: as its first call named them."""
        if self.of_fit.any():
            first = self.part(self.of_fit)
            fresh._fit_rows(first.X, first.y, first.weights, first.ids, first.keys)
            rest, named = self.part(~self.of_fit), {}
        else:
            rest, named = self, {} if classes is None else {"classes": classes}
        if len(rest.ids):
            more = {"sample_weight": rest.weights, "ids": rest.ids, "keys": rest.keys}
            fresh.partial_fit(rest.X, rest.y, **more, **named)
        return fresh


def demand_rows_left(ids: Ids, labels: NDArray[Any] | None) -> None:
    """A ValueError where the rows left are too few to train a model of them."""
    if not len(ids):
        raise ValueError("scope='all' would leave no example; delete the model instead")
    if labels is not None and len(np.unique(labels)) < 2:
        raise ValueError(
            "scope='all' would leave examples of one class only, of which no classifier can be "
            "trained; use scope='examples', or delete the model"
        )


def retrained_without(model: Any, gone: Ids) -> Any:
    """A model with these parameters that learned only the other examples that this one holds."""
    rows = _held_by(model, gone)
    demand_rows_left(rows.ids, rows.y if is_classifier(model) else None)
    classes: Any = None
    if is_classifier(model) and model.classes is None:
        labels = model._labels
        met = labels.is_open or model._classes_met
        classes = "open" if labels.is_open else None if met else labels.arrived()
        if met and not labels.is_open and not rows.of_fit.any():  # the rows of fit are all gone
            classes = np.unique(np.asarray(rows.y))
    fresh = rows.teach(clone(model), classes)
    if model._vocabulary is None:
        fresh._state = fresh._state.but(columns=model._state.columns)
    return fresh


def _held_by(model: Any, gone: Ids) -> Remaining:
    """What a model holds besides these, as it was learned."""
    if model._is_pairwise():
        raise NotImplementedError(
            "scope='all' has to train again, and a precomputed kernel keeps no rows to train on; "
            "fit a new model without them"
        )
    if is_classifier(model) and model._weights_lost:
        raise NotImplementedError(
            "scope='all' has to weigh the classes anew, and sample weights are not kept beside "
            "class_weight='balanced'; fit a new model without these rows"
        )
    e = Evidence.of(model)
    order = np.argsort(e.ids)
    order = order[~np.isin(e.ids[order], gone)]
    ids = e.ids[order]
    y: Any = None
    if is_classifier(model):
        y = model._labels.arrived()[e.label[order]]
    elif is_regressor(model):
        y = e.base[0].mean(axis=1)[order]  # two variables, half a tube above and below
    book = {} if model._keys is None else model._keys.to_facts()
    key_of = dict(zip(book["ids"].tolist(), book["of"], strict=True)) if book else {}
    keys = [key_of.get(i) for i in ids.tolist()] if key_of else None
    by = model._settled_by
    of_fit = np.zeros(len(ids), dtype=bool)
    if model._by_fit and by is not None:
        of_fit = by.include(ids)
    return Remaining(_rows(model, e, order), y, _weights(model, e, order), ids, keys, of_fit)


def _rows(model: Any, e: Evidence, order: NDArray[np.intp]) -> Any:
    if not e.sparse:
        return e.examples[0][order]
    data, indices, indptr = e.examples
    width = max(e.width, model.n_features_in_)
    X = sp.csr_array((data, indices, indptr), shape=(len(e.ids), width))[order]
    if model._vocabulary is None:
        return X
    names = model._vocabulary.names()
    cuts = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    return [
        {names[j]: float(v) for j, v in zip(X.indices[a:b], X.data[a:b], strict=True)}
        for a, b in cuts
    ]


def _weights(model: Any, e: Evidence, order: NDArray[np.intp]) -> NDArray[np.float64] | None:
    """The sample weights, without those of the classes."""
    if is_classifier(model) and model._class_counts is not None:
        return None  # all were 1
    weights = e.cost[order] / model._core_settings["C"]
    if is_classifier(model) and model._class_factors is not None:
        weights = weights / model._class_factors[e.label[order]]
    return None if (weights == 1).all() else weights


def adopt(model: Any, fresh: Any) -> None:
    """Let a model go on as the one that was trained again; ids and counts stay."""
    note_gone(fresh, model._next_id)
    model._state = fresh._state
    model._set_fast_path()


def note_gone(fresh: Any, number: int) -> None:
    """Note in a model trained again that of ids below ``number`` only those held count."""
    fresh._wholly_gone = IdRuns.first(number).without(Evidence.of(fresh).ids)
