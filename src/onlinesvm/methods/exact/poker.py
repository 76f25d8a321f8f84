"""POKER: support vector machines solved along a path, batch, by chunks, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ...model.classifier import OnlineClassifier
from ...model.estimator import OnlineEstimator
from ...model.groups import SoftMargin, StoresExamples
from ...model.outlier import OnlineOutlierDetector
from ...model.parameters import count, group, inherit, number, word
from ...model.progress import Progress
from ...model.regressor import OnlineRegressor
from ...model.state import State
from ...unlearn.certificate import EXACT
from .warm_start import as_poker, demand_same_problem, solved, with_bias

#: What happens at a breakpoint, as the core numbers it.
EVENTS = np.array(["O->S", "E->S", "S->O", "S->E", "O->E", "E->O", "end"])


@group
class GivenBias(StoresExamples):
    """A bias that is free or held at a number, and may be moved later."""

    bias: float | Literal["free", "none"] = number(
        default="free",
        words={"free": None, "none": 0.0},
        doc="""``"free"`` is the problem of scikit-learn; a number is the bias itself, which is held
        there, and ``"none"`` is 0. Set on a model that has learned, the next call that learns
        first follows the solution from the old bias to the new.""",
    )

    def _adjust(self, settings: dict[str, Any], n_features: int) -> None:
        given = settings["bias"]
        settings |= {"bias": "free" if given is None else "none", "given_bias": given or 0.0}


class PokerModel(StoresExamples, OnlineEstimator):
    """What the three tasks share: the engine, its path, the bias."""

    _any_cut_gives = "solution"
    _optimal_after = ("learn", "unlearn")
    _claim = EXACT
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

    def _can_change(self, name: str, value: Any) -> bool:
        return (name == "bias" and "bias" in self._parameters) or super()._can_change(name, value)

    def _ready(self) -> None:
        moves = "bias" in self._changed()
        super()._ready()
        if not moves:
            return
        asked = self._core_params(self.n_features_in_)
        settings = self._core_settings | {n: asked[n] for n in ("bias", "given_bias")}
        state = self._core.state()
        if settings["bias"] == "none":
            state = with_bias(state, settings["given_bias"])
        core = solved(self._core_name, settings, state)
        self._state = self._state.but(core=core, core_settings=settings)
        self._set_fast_path()


class PokerSVC(GivenBias, SoftMargin, PokerModel, OnlineClassifier):
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
    per_round: int = count(
        default=1,
        at_least=1,
        doc="""Examples that ``select`` lets in at a time, those that rank first: more of them save
        rounds of ranking, and let in some that the others would have made needless.""",
    )

    def start_from(self, model: Any) -> Self:
        """Take over the examples and the solution of another machine, and adjust the bias.

        The other solver's multipliers are where the path begins: from a solution whose bias was
        held (``SmoSVC(bias="none")``, :class:`RampSVC` with ``s=-inf``) to the one with a free
        bias, or with any other. What was learned before is forgotten; ids, keys and classes are
        those of ``model``, which stays as it is. Costs a breakpoint for each multiplier between its
        bounds and for each that has to move.

        Parameters
        ----------
        model : SmoSVC, RampSVC, LASVC, IncrementalSVC or PokerSVC
            Fitted, one against the rest, with the same ``C``, kernel, classes, ``class_weight`` and
            ``dtype``. The solution is that of the examples which it holds.

        Returns
        -------
        self

        Examples
        --------
        >>> import numpy as np
        >>> from onlinesvm import PokerSVC, SmoSVC
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(300, 2))
        >>> y = np.where(X[:, 0] > 0.5, 1, -1)
        >>> begun = SmoSVC(bias="none", gamma=0.5, dtype="float64").fit(X, y)
        >>> model = PokerSVC(gamma=0.5).start_from(begun)
        >>> exact = PokerSVC(gamma=0.5).fit(X, y)
        >>> bool(np.allclose(model.decision_function(X), exact.decision_function(X), atol=1e-7))
        True
        """
        check_is_fitted(model)
        demand_same_problem(self, model)
        with model._register:
            facts, state, evidence = model._facts(), model._core.state(), model._core.evidence()
            kernel = model._core_settings["kernel"]
        settings = self._core_params(facts["n_features_in"]) | {"kernel": kernel}
        name = self._core_stem() + self.dtype.removeprefix("float")
        core = solved(name, settings, as_poker(state, evidence, settings))
        with self._register:
            self._state = State(core, name, settings, self.get_params(deep=False))
            self._recall(facts | {"begun": None})
            self._set_fast_path()
        return self


class PokerSVR(GivenBias, SoftMargin, PokerModel, OnlineRegressor):
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

    boundary: Literal["plane", "ball"] = word(
        default="plane",
        words=("plane", "ball"),
        doc="""What encloses the usual in feature space: ``"plane"`` is the one-class SVM, a plane
        that leaves the origin behind; ``"ball"`` is SVDD, a ball around all but the outliers, and
        ``decision_function`` how far inside it an example is, in squared units. For rbf and others
        with the same ``k(x, x)`` everywhere both are the same; for linear and poly take the
        ball.""",
    )

    def _core_params(self, n_features: int) -> dict[str, Any]:
        if self.boundary == "ball" and self._is_pairwise():
            raise NotImplementedError(
                "PokerOneClassSVM(boundary='ball') has no kernel='precomputed': the distance of a "
                "row from the centre needs k(x, x), which is none of its values; take 'plane'."
            )
        fixed = {"C": 1.0, "bias": "free", "given_bias": 0.0}
        return super()._core_params(n_features) | fixed

    @property
    def _scores_are_sums(self) -> bool:  # type: ignore[override]
        return self.boundary == "plane"

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
