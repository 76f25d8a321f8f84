"""The compiled core as the estimators see it.

``_core.Model("Ramp", "float32", settings)`` is a method by its name, for rows of one type. All have
the verbs of :class:`Core`; those of :class:`OptionalVerbs` only where the method can. What a single
method offers besides is known to its own estimator alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from onlinesvm import _core  # type: ignore[attr-defined]

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Curve = Any  #: of the compiled module: from a score to a probability
Parts = tuple[tuple[float, Curve], ...]  #: curves, each with its weight
#: The core of a compressed model, whatever its class: it only predicts.
REDUCED = "ReducedSet"
#: The same where pairs of classes vote.
REDUCED_PAIRS = "ReducedPairs"
#: Cores that are not compiled, by name; see :class:`~onlinesvm.model.numpy_core.NumpyCore`.
NUMPY_CORES: dict[str, type[Any]] = {}


class Numbering(Protocol):
    """The next id of a model's examples, the ids passed over, and the lock for its verbs."""

    next: int
    gap: int

    def __enter__(self) -> None: ...
    def __exit__(self, *args: object) -> None: ...


class Core(Protocol):
    """What every compiled learner does. Targets ``y`` are class numbers or real numbers."""

    threads: int
    longest: float  #: squared norm of a row that ``learn_next`` takes, at most

    # Learning: rows in order, or one that takes its id from the numbering. The last two return
    # False, and learn nothing, if the row is not plain enough to be taken as it is.
    def learn_dense(self, X: NDArray[Any], y: Floats, w: Floats, ids: Ids) -> None: ...
    def learn_sparse(
        self,
        data: NDArray[Any],
        indices: NDArray[np.int32],
        indptr: NDArray[np.int64],
        width: int,
        y: Floats,
        w: Floats,
        ids: Ids,
    ) -> None: ...
    def learn_next(self, x: object, y: float, w: float, numbers: Numbering) -> bool: ...
    def learn_next_dict(
        self, x: dict[Any, Any], vocabulary: dict[Any, int], y: float, w: float, numbers: Numbering
    ) -> bool: ...
    @staticmethod
    def straight(
        core: Core,
        target: Callable[[Any], float | None],
        width: int,
        vocabulary: dict[Any, int] | None,
        numbers: Numbering,
    ) -> Callable[[Any, Any], bool]:
        """The last two in one callable of x and y, for weight 1 and no new name."""

    def grow(self, classes: int) -> None: ...

    # Predicting, which changes nothing.
    def score_dense(self, X: NDArray[Any]) -> Floats: ...
    def score_sparse(
        self,
        data: NDArray[Any],
        indices: NDArray[np.int32],
        indptr: NDArray[np.int64],
        width: int,
    ) -> Floats: ...
    def score_one(self, x: NDArray[Any]) -> tuple[float, ...]: ...
    def score_one_dict(
        self, x: dict[Any, Any], vocabulary: dict[Any, int]
    ) -> tuple[float, ...]: ...

    # Several verbs as one: all changes since begin() stand (commit) or fall (rollback).
    def begin(self) -> None: ...
    def commit(self) -> None: ...
    def rollback(self) -> None: ...

    # Everything it knows, as arrays.
    def state(self) -> dict[str, Any]: ...
    def load(self, state: dict[str, Any]) -> None: ...

    @property
    def changes(self) -> int:
        """Goes up with every change that stands."""

    @property
    def outputs(self) -> int:
        """Scores per example: 1 for two classes."""

    @property
    def has_pairs(self) -> bool:
        """Whether pairs of classes have scores, too: ``score_pairs_dense`` and ``_sparse``."""

    @property
    def nbytes(self) -> int: ...
    def support(self) -> dict[str, Any]: ...

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...  # verbs that only some have


class OptionalVerbs(Protocol):
    """What some cores do; see ``hasattr``, or by class :meth:`OnlineEstimator.can`."""

    def unlearn(self, ids: Ids) -> None: ...
    def holds(self, ids: Ids) -> bool: ...
    def labels(self) -> tuple[Any, ...]: ...
    def objective(self) -> float: ...
    def kkt_residual(self) -> float: ...
    def spot_check(self) -> float:
        """``kkt_residual`` over 64 of the examples held."""

    def evidence(self) -> dict[str, Any]:
        """What a certificate of unlearning is computed from."""

    def weights(self) -> dict[str, Any]: ...
    def bias(self) -> Floats: ...
    def finish(self, tol: float) -> None: ...
    def polish(self, tol: float) -> None: ...
    def solve(self) -> None: ...
    def set_C(self, C: float) -> None: ...
    @property
    def capped(self) -> bool:
        """Whether the last search stopped before it reached its tolerance."""

    @property
    def suffered(self) -> float:
        """The loss of all examples, each taken before it was learned."""

    @property
    def mistakes(self) -> int:
        """Examples whose class was not put first, each before it was learned."""

    @property
    def level(self) -> float: ...
    @property
    def labels_used(self) -> int: ...


def new_numbering() -> Numbering:
    """The lock and the numbering of one model."""
    numbering: Numbering = _core.Register()
    return numbering


def all_finite(values: NDArray[Any]) -> bool:
    """Whether no value is infinite or NaN."""
    return bool(_core.all_finite(values))


def sigmoid(slope: float, offset: float) -> Curve:
    """``1 / (1 + exp(-(slope * score + offset)))``."""
    return _core.sigmoid(slope, offset)


def levels(breaks: Floats, values: Floats) -> Curve:
    """The value behind as many breaks as a score has reached."""
    return _core.levels(breaks, values)


def mix(scores: Floats, parts: Parts) -> Floats:
    """The sum of the curves at each score, each times its weight."""
    sums = np.empty(len(scores))
    _core.mix(sums, scores, parts)
    return sums


def mix_pairs(scores: Floats, parts: Parts) -> Floats:
    """1 less :func:`mix`, and :func:`mix`, side by side: (n, 2)."""
    pairs = np.empty((len(scores), 2))
    _core.mix_pairs(pairs, scores, parts)
    return pairs


def with_a_hit(count: Floats, hits: Floats) -> Floats:
    """The isotonic value at each score if one more hit came there."""
    values: Floats = _core.with_a_hit(count, hits)
    return values


def create(name: str, settings: Mapping[str, Any]) -> Core:
    """A core that has learned nothing yet."""
    if name.startswith((REDUCED, REDUCED_PAIRS)):  # of the settings of its class it needs no more
        settings = {"kernel": settings["kernel"]}
    numpy = NUMPY_CORES.get(name)
    core: Core = numpy(settings) if numpy else _core.Model(*split(name), dict(settings))
    return core


def split(name: str) -> tuple[str, str]:
    """``"Ramp32"``, as files call a core, as its method and the type of its rows."""
    return name[:-2], f"float{name[-2:]}"


def revive(name: str, settings: Mapping[str, Any], state: Mapping[str, NDArray[Any]]) -> Core:
    """A core of the given name, settings and state; state that does not fit is a ValueError."""
    core = create(name, settings)
    core.load(dict(state))
    return core


def offers(stem: str, verb: str) -> bool:
    """Whether the cores of an algorithm have a verb."""
    return bool(_core.offers(stem, verb))
