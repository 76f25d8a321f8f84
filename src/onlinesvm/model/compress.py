"""Fewer support vectors for the same function, within an error that is stated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_outlier_detector
from sklearn.utils.validation import check_is_fitted

from ..core import Floats
from ..data.arguments import check_number
from ..data.rows import Rows
from . import pairs
from .compression import Compression
from .expansion import Expansion
from .pursuit import Pursuit
from .state import State

# Kernels for which k(x, x) is the same everywhere: there a distance bounds every value.
_BOUNDED = ("rbf", "laplacian", "chi2")
Numbers = NDArray[np.intp]
_CLOSER = 0.9  # what to aim at where the direct figure is above the recurrence


def compress(self: Any, tol: float, X: Any = None) -> Any:
    """A copy that predicts the same within ``tol``, from fewer support vectors.

    The copy is of the same class: it predicts, is saved and loaded. It learns no more, and
    nothing can be unlearned from it, since the examples left out are gone; ``fit`` starts
    afresh. Vectors are chosen one by one, by how much each takes from the distance, and every
    output is projected onto them. To choose k of n costs n^2 kernel values, about n k^2
    operations and 8 n k bytes, where rows of ``X`` count to n.

    Parameters
    ----------
    tol : float > 0
        How much any score, or score of a pair of classes, may change. Without ``X``, that of
        any example whatever: a theorem, and most examples stay far below it. With ``X``, that
        of its rows: a measurement, which needs far fewer vectors.
    X : array, sparse matrix, data frame or list of dicts, optional
        Rows like those to be predicted: some thousands, not only those trained on.

    Returns
    -------
    model
        With :attr:`compression_`, which has the bound and what was measured.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import RampSVC
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> model = RampSVC(gamma=1.0).fit(X[:1000], (X[:1000] ** 2).sum(axis=1) > 1)
    >>> few = model.compress(tol=0.1)
    >>> len(few.support_) < len(model.support_) / 3, few.compression_.bound <= 0.1
    (True, True)
    >>> bool(abs(few.decision_function(X) - model.decision_function(X)).max() < 0.05)
    True
    """
    check_is_fitted(self)
    check_number("tol", tol, above=0)
    _demand_compressible(self, everywhere=X is None)
    with self._register:
        whole = _expansion(self)
        facts = self._facts()
    if X is None:
        few, found = _everywhere(whole, tol)
    else:
        rows, _ = self._read_rows(X, fresh=False, learning=False)
        few, found = _on_rows(whole, tol, rows, self.dtype)
    model = type(self)(**self.get_params(deep=False))
    state = self._state
    name = few.stem + self.dtype.removeprefix("float")
    core = few.core(self.dtype, voting=few.classes > 0)
    model._state = State(core, name, state.core_settings, state.begun, state.altered)
    model._recall(facts | {"compression": found.to_facts()})
    model._keys = None  # whose the examples were: they are gone
    model._set_fast_path()
    return model


def _expansion(self: Any) -> Expansion:
    if pairs.votes(self):
        return pairs.expansion(self)
    return Expansion.of(self._core, self._core_settings["kernel"], constants(self))


def constants(self: Any) -> Floats:
    """What is added to the sums of each output, in the order of the core."""
    if is_outlier_detector(self):
        return np.array([0.0 - self._core.level])
    own = self._core.bias() if hasattr(self._core, "bias") else np.zeros(self._core.outputs)
    return np.asarray(own, dtype=np.float64)


def _demand_compressible(self: Any, *, everywhere: bool) -> None:
    self._demand_whole("compress")
    if not self._scores_are_sums:
        raise NotImplementedError(
            f"{type(self).__name__} cannot compress: its scores are distances, not sums over "
            "examples; NormaOneClassSVM and PokerOneClassSVM can."
        )
    if self._is_pairwise():
        raise NotImplementedError(
            f"{type(self).__name__} with kernel='precomputed' cannot compress: rows to predict "
            "would have to keep the columns of all examples, so nothing would be saved; a "
            "kernel of features can, and a budget bounds what is kept while it learns."
        )
    if self._held is not None:
        raise ValueError(
            f"gamma={self.gamma!r} is not settled yet; learn more examples before compress, "
            "or set gamma to a number"
        )
    self._support("compress")  # an error where there are weights
    if everywhere and self._core_settings["kernel"]["name"] not in _BOUNDED:
        raise ValueError(
            "X must be given, rows on which tol is to hold: k(x, x) of this kernel has no "
            "bound, so no bound holds everywhere"
        )


def _everywhere(whole: Expansion, tol: float) -> tuple[Expansion, Compression]:
    """As few vectors as the pursuit needs for a distance that keeps every score within tol."""
    reach = _reach(whole)
    few, _, bound = _fewest(
        whole,
        whole.vectors,
        tol,
        left=lambda pursuit: reach * pursuit.distance,
        measure=lambda few, numbers: reach * _distance(whole, few, numbers),
    )
    return few, Compression(bound, None, len(whole), len(few))


def _on_rows(whole: Expansion, tol: float, rows: Rows, dtype: str) -> tuple[Expansion, Compression]:
    """As few vectors as the pursuit needs to score these rows within tol, in that type."""
    n, scores = len(whole), rows.score(whole.core(dtype))
    few, numbers, error = _fewest(
        whole,
        whole.vectors.joined([rows]),
        tol,
        left=lambda pursuit: float(np.abs(pursuit.left[:, n:]).max()),
        measure=lambda few, _: float(np.abs(rows.score(few.core(dtype)) - scores).max()),
    )
    bounded = whole.kernel["name"] in _BOUNDED
    bound = _reach(whole) * _distance(whole, few, numbers) if bounded else None
    return few, Compression(bound, error, n, len(few))


def _fewest(
    whole: Expansion,
    points: Rows,
    tol: float,
    left: Callable[[Pursuit], float],
    measure: Callable[[Expansion, Numbers], float],
) -> tuple[Expansion, Numbers, float]:
    """Vectors one by one until what is left, and then what is measured, is at most tol.

    The first is kept by recurrence, the second computed from the vectors. Where rounding keeps them
    apart, all vectors stay as they are. Returns the numbers of those that stay, too.
    """
    columns = partial(whole.columns, rows=points)
    sums = whole.sums(points)
    norms2 = (whole.coef * sums[:, : len(whole)]).sum(axis=1)
    pursuit, aim = Pursuit(columns, whole.own(), sums, norms2), tol
    while True:
        while left(pursuit) > aim and pursuit.step():
            pass
        chosen = np.array(pursuit.chosen, dtype=np.intp)
        order = np.argsort(chosen)  # by id, as support vectors are shown
        numbers = chosen[order]
        few = whole.only(numbers, pursuit.coefficients()[:, order])
        found = measure(few, numbers)
        if found <= tol:
            return few, numbers, found
        if left(pursuit) > aim or len(few) == len(whole):
            return whole, np.arange(len(whole)), 0.0
        aim *= _CLOSER


def _reach(whole: Expansion) -> float:
    """sqrt(k(x, x)), the same for all x: a function's value is at most its norm times that."""
    return float(np.sqrt(1.0 + whole.kernel["offset"]))


def _distance(whole: Expansion, few: Expansion, numbers: Numbers) -> float:
    """How far the functions are in the space of the kernel, where they are farthest; in double."""
    between = whole.coef.copy()
    between[:, numbers] -= few.coef
    return float(np.sqrt(max(0.0, replace(whole, coef=between).norms2().max())))
