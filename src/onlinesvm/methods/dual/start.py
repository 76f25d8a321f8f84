"""A solver that begins at coefficients which are known to be near, instead of at 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...core import Core, Floats, Ids
from ...data.rows import DenseRows, Rows, SparseRows
from ...model.expansion import Expansion


def begin_at(core: Core, kernel: Mapping[str, Any], ids: Ids, s: Floats, *, balanced: bool) -> None:
    """Let a core whose examples wait at 0 go on from other coefficients.

    Parameters
    ----------
    core : of a machine of pairs, which holds the examples
    kernel : its settings
    ids : array of n
        Those of the examples.
    s : array of shape (outputs, n)
        Beyond their bounds they are cut.
    balanced : bool
        Whether they must sum up to 0, as a free bias demands; what is too much is taken from the
        largest.
    """
    state = dict(core.state())
    order = np.argsort(ids)
    place = order[np.searchsorted(ids[order], state["rows.ids"])]
    boxes = [f"box{number}." for number in range(len(s))]
    coef = np.array(
        [np.clip(row[place], *_bounds(state, b)) for row, b in zip(s, boxes, strict=True)]
    )
    if balanced:
        coef = np.array([without_surplus(row) for row in coef])
    rows, counts = _rows(state), np.flatnonzero(coef.any(axis=0))
    function = Expansion(kernel, state["rows.ids"], rows, coef, np.zeros(len(s)))
    f = function.only(counts, coef[:, counts]).sums(rows)
    for number, box in enumerate(boxes):
        state[box + "s"] = coef[number]
        state[box + "g"] = np.where(state[box + "hi"] > 0, 1.0, -1.0) - f[number]
    state["rows.active"] = np.array(len(ids))
    core.load(state)


def _bounds(state: Mapping[str, NDArray[Any]], box: str) -> tuple[Floats, Floats]:
    return state[box + "lo"], state[box + "hi"]


def _rows(state: Mapping[str, NDArray[Any]]) -> Rows:
    """The examples of a state, as they lie."""
    values, width = state["rows.examples.values"], int(state["rows.examples.width"])
    n = int(state["rows.examples.size"])
    if not state["rows.examples.kind"]:
        return DenseRows(np.ascontiguousarray(values.reshape(n, width)))
    parts = (values, state["rows.examples.indices"], state["rows.examples.starts"])
    return SparseRows.of(sp.csr_array(parts, shape=(n, width)))


def without_surplus(s: Floats) -> Floats:
    """Coefficients that sum up to 0; those that change are few, since the largest give first.

    >>> import numpy as np
    >>> without_surplus(np.array([2.0, -1.0, 2.0, 1.0])).tolist()
    [0.0, -1.0, 0.0, 1.0]
    """
    surplus = float(s.sum())
    gives = np.maximum(0.0, np.sign(surplus) * s)
    order = np.argsort(-gives, kind="stable")
    before = np.cumsum(gives[order]) - gives[order]
    given = np.zeros_like(s)
    given[order] = np.clip(abs(surplus) - before, 0.0, gives[order])
    return np.asarray(s - np.sign(surplus) * given)
