"""POKER: support vector machines solved along a path, batch, by chunks, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..base import (
    FreeBias,
    OnlineClassifier,
    OnlineOutlierDetector,
    OnlineRegressor,
    SoftMargin,
    StoresExamples,
)
from ..base.optimality import EXACT
from ..base.parameters import inherit, number, word
from ..base.progress import Progress

#: What happens at a breakpoint, as the core numbers it.
EVENTS = np.array(["O->S", "E->S", "S->O", "S->E", "O->E", "E->O", "end"])


class PokerModel(StoresExamples):
    """What the three tasks share: the engine, its path, the bias."""

    _any_cut_gives = "solution"
    _optimal_after = ("learn", "unlearn")
    _statement = EXACT
    _attributes: ClassVar[Mapping[str, str]] = {
        "intercept_": "array, the bias of each output; the middle of its interval where it has one",
        "n_iter_": "int, breakpoints of the last call",
        "path_": "structured array, the breakpoints of the last call",
    }

    tol: float = inherit(default=1e-8)
    dtype: Literal["float32", "float64"] = inherit(default="float64")

    def _first_slab(self, n: int, progress: Progress) -> int:
        return n  # the rows of a call are the chunk

    @property
    def n_iter_(self) -> int:
        """Breakpoints of the last call that learned or unlearned."""
        return int(self._fitted_core("n_iter_").breakpoints)

    @property
    def path_(self) -> NDArray[Any]:
        """The breakpoints of the last call, in order; empty after loading.

        Columns: ``output``; ``u``, the parameter of the fixed-bias run, or minus the bias while the
        bias moves; ``event``, ``"O->S"`` for an example that comes to the margin, and so on,
        ``"end"`` of a run; ``id`` of the example; sizes of ``S`` (on the margin), ``E`` (at the
        bound) and ``O`` (at 0) afterwards; and the ``dual`` value.
        """
        path = self._fitted_core("path_").path()
        columns = {name: np.asarray(values) for name, values in path.items()}
        columns["event"] = EVENTS[columns["event"]]
        table = np.empty(
            len(columns["u"]), [(name, values.dtype) for name, values in columns.items()]
        )
        for name, values in columns.items():
            table[name] = values
        return table


class PokerSVC(PokerModel, SoftMargin, FreeBias, OnlineClassifier):
    """POKER (Fine & Scheinberg): the exact SVM in chunks of any size, unlearning included.

    After every call the model is the optimum of the soft-margin SVM over all examples held, with
    a free bias or without: what ``SVC`` would find at tight tolerance, whatever the order and the
    size of the chunks. The solution follows a path that is linear in pieces, so there is nothing
    to tune and no slow convergence: ``fit`` walks in from a bias far out (Self-Init),
    ``partial_fit`` starts from the solution at hand and lets the new rows in together (AltPOKER),
    :meth:`unlearn` pushes examples out. Prefer it where data come in batches, or for a batch fit
    to the last digit; for one example at a time :class:`IncrementalSVC` takes fewer steps.

    The price: all examples are kept, and a breakpoint costs time in proportion to the examples
    times the support vectors on the margin; there are two or three breakpoints per example in
    large chunks, and up to six one by one. Memory grows with the square of the margin.

    References
    ----------
    S. Fine, K. Scheinberg: Incremental Learning and Selective Sampling via Parametric
    Optimization Framework for SVM. NIPS 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import PokerSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] + rng.normal(0, 0.3, 300) > 0, 1, -1)
    >>> batch = PokerSVC(C=10, gamma=0.5).fit(X, y)
    >>> print(f"{batch.score(X, y):.2f}")
    0.84
    >>> chunks = PokerSVC(C=10, gamma=0.5)
    >>> for part in np.array_split(np.arange(300), 6):
    ...     _ = chunks.partial_fit(X[part], y[part], classes=[-1, 1])
    >>> bool(np.allclose(batch.decision_function(X), chunks.decision_function(X), atol=1e-8))
    True
    """

    _stem = "PokerClassifier"

    select: Literal["cls2w", "maxslk", "cls2w+dobj", "maxslk+dobj"] | None = word(
        default=None,
        words=("cls2w", "maxslk", "cls2w+dobj", "maxslk+dobj"),
        none="none",
        doc="""Take the rows of a call as a pool of labelled examples and let in one at a time: the
        one nearest to the decision boundary or the one with the largest slack; with ``+dobj`` the
        one of the ten best whose first three breakpoints raise the dual most. Only examples that
        violate their condition are let in, until none does: the solution is then optimal for all
        rows. Those never let in are stored as well, with coefficient 0.""",
    )


class PokerSVR(PokerModel, SoftMargin, FreeBias, OnlineRegressor):
    """POKER for regression: the exact epsilon-SVR in chunks of any size, unlearning included.

    After every call the model is the optimum of epsilon-insensitive regression over all examples
    held: what ``SVR`` would find at tight tolerance, whatever the order and the size of the
    chunks. The engine is that of :class:`PokerSVC`, with two variables for each example, one above
    the tube and one below. Prefer it where a kernel regression must stay exact while data come,
    or go; for endless streams :class:`NormaSVR` is bounded in memory.

    All examples are kept; a breakpoint costs time in proportion to the examples times the support
    vectors on the edge of the tube.

    References
    ----------
    S. Fine, K. Scheinberg: Incremental Learning and Selective Sampling via Parametric
    Optimization Framework for SVM. NIPS 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import PokerSVR
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(200, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 200)
    >>> model = PokerSVR(C=10, gamma=0.5).fit(X[:100], y[:100])
    >>> print(f"{model.partial_fit(X[100:], y[100:]).score(X, y):.3f}")
    0.979
    """

    _stem = "PokerRegressor"

    C: float = number(
        default=1.0,
        above=0,
        kw_only=False,
        doc="Weight of a deviation against a smooth function, > 0.",
    )
    epsilon: float = number(
        default=0.1,
        at_least=0,
        kw_only=False,
        doc="Half the width of the tube inside which a deviation costs nothing, >= 0.",
    )


class PokerOneClassSVM(PokerModel, OnlineOutlierDetector):
    """POKER for novelty: the exact one-class SVM in chunks of any size, unlearning included.

    After every call the model is the optimum of the nu-one-class SVM over all examples held: what
    ``OneClassSVM`` would find at tight tolerance. At most a share ``nu`` of the examples are
    outliers, at least a share ``nu`` support the boundary. Prefer it where the boundary must be
    exact, or follow removals; for endless streams :class:`NormaOneClassSVM` is bounded in memory.

    All examples are kept; a breakpoint costs time in proportion to the examples times the support
    vectors on the boundary.

    References
    ----------
    S. Fine, K. Scheinberg: Incremental Learning and Selective Sampling via Parametric
    Optimization Framework for SVM. NIPS 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import PokerOneClassSVM
    >>> rng = np.random.default_rng(0)
    >>> model = PokerOneClassSVM(nu=0.1, gamma=0.5).fit(rng.normal(size=(200, 2)))
    >>> model.partial_fit(rng.normal(size=(100, 2))).predict([[0.0, 0.1], [4.0, -4.0]])
    array([ 1, -1])
    """

    _stem = "PokerOneClass"

    nu: float = number(
        default=0.5,
        above=0,
        below=1,
        kw_only=False,
        doc="The share of outliers, above 0 and below 1.",
    )

    def _core_params(self, n_features: int) -> dict[str, Any]:
        return super()._core_params(n_features) | {"C": 1.0, "bias": "free"}

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """How usual the rows of ``X`` are, negative for outliers; learns nothing.

        0 on the boundary, where rounding would give either sign: its examples are usual.
        """
        f = super().decision_function(X)
        return np.where(np.abs(f) <= self._core_settings["tol"], 0.0, f)

    def decide_one(self, x: Any) -> float:
        """``decision_function`` of one 1-D array or dict; 0.0 before anything was learned."""
        f = super().decide_one(x)
        return 0.0 if not f or abs(f) <= self._core_settings["tol"] else f
