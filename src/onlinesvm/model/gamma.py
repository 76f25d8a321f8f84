"""``gamma`` by word: in a stream it is settled on the first examples, which are kept until then."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from ..core import Core, create, revive
from ..data.arguments import threads
from ..data.batch import Batch
from ..data.rows import DenseRows, Rows, SparseRows
from ..unlearn.settled import IdRuns

#: The settings that make a core use every label.
ASK_ALL = {"query": "all"}
#: So many examples settle gamma; after 1, 2, 4, ... of them it is taken anew.
WARM_UP = 256
#: Rows whose own gamma differs by this factor from the one in use are worth a warning.
FAR = 10.0


@dataclass(frozen=True)
class Spread:
    """How many examples passed, of how many features, the mean of their values and the variance."""

    examples: int = 0
    features: int = 0
    mean: float = 0.0
    variance: float = 0.0

    @staticmethod
    def of(rows: Rows, *, named: bool) -> Spread:
        """Of all values of the rows, zeros of sparse ones included, as scikit-learn takes it.

        ``named``: features are those that occur, since no matrix says how many there are.
        """
        if not len(rows):
            return Spread()
        features = rows.columns_met() if named else rows.columns()
        return Spread(len(rows), features, *rows.moments(max(1, len(rows) * features)))

    def and_then(self, more: Spread) -> Spread:
        """Of both together; features may have been added since."""
        features = max(self.features, more.features, 1)
        n = max(1, (self.examples + more.examples) * features)
        parts = [(part.examples * part.features, part) for part in (self, more)]
        mean = sum(m * part.mean for m, part in parts) / n
        zeros = n - sum(m for m, _ in parts)  # of features that the other had not met
        squares = sum(m * (part.variance + (part.mean - mean) ** 2) for m, part in parts)
        variance = (squares + zeros * mean**2) / n if self.examples + more.examples else 0.0
        return Spread(self.examples + more.examples, features, mean, variance)

    def gamma(self, word: str) -> float:
        """What the word means for these values: ``"auto"`` or ``"scale"``."""
        gamma = 1.0 / max(1, self.features)
        if word == "scale":
            gamma = gamma / self.variance if self.variance else 1.0
        return float(np.clip(gamma, 1e-37, 1e37))  # what float32 can hold


@dataclass(frozen=True)
class FirstExamples:
    """The first examples of a stream; immutable, so that a failed call changes nothing."""

    arrived: int = 0  # examples that counted so far, but for those unlearned
    pieces: tuple[Rows, ...] = ()
    targets: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    weights: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    ids: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    classes: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))  # known then

    def __len__(self) -> int:
        return len(self.ids)

    def next_look(self, coming: int) -> int:
        """After how many of the coming examples gamma is taken for the last time; 0: not yet."""
        total = min(self.arrived + coming, WARM_UP)
        last = 1 << (total.bit_length() - 1) if total else 0
        return max(0, last - self.arrived)

    def columns(self) -> dict[str, NDArray[Any]]:
        """What is known of each example, by name."""
        return {name: getattr(self, name) for name in ("targets", "weights", "ids", "classes")}

    def and_then(self, rows: Rows, **more: Any) -> FirstExamples:
        """With these examples, and their columns, after the last."""
        if not len(rows):
            return self
        longer = {name: np.append(column, more[name]) for name, column in self.columns().items()}
        return FirstExamples(self.arrived + len(rows), (*self.pieces, rows.kept()), **longer)

    def rows(self) -> Rows:
        return self.pieces[0].joined(self.pieces[1:])

    def without(self, ids: NDArray[np.int64]) -> FirstExamples:
        """Only the others; what was unlearned is not learned again."""
        stay = np.flatnonzero(~np.isin(self.ids, ids))
        if len(stay) == len(self):
            return self
        pieces = (self.rows().picked(stay),) if len(stay) else ()
        shorter = {name: column[stay] for name, column in self.columns().items()}
        return FirstExamples(self.arrived - (len(self) - len(stay)), pieces, **shorter)

    def reweighted(self, ids: NDArray[np.int64], weights: NDArray[np.float64]) -> FirstExamples:
        changed = self.weights.copy()
        for i, w in zip(ids, weights, strict=True):
            changed[self.ids == i] = w
        return replace(self, weights=changed)

    @property
    def nbytes(self) -> int:
        return sum(piece.nbytes() for piece in self.pieces) + 32 * len(self)

    # --- persistence --------------------------------------------------------------------------

    def to_facts(self) -> dict[str, Any]:
        rows = self.rows().to_facts() if self.pieces else {}
        return {"arrived": self.arrived, **self.columns(), **rows}

    @staticmethod
    def from_facts(facts: Mapping[str, Any], width: int, *, sparsely: bool) -> FirstExamples:
        """FirstExamples examples from a file, which is not to be trusted."""
        targets, weights = (np.asarray(facts[name], np.float64) for name in ("targets", "weights"))
        ids, classes = (np.asarray(facts[name], np.int64) for name in ("ids", "classes"))
        n, arrived = len(targets), int(facts["arrived"])
        columns = (targets, weights, ids, classes)
        if any(column.shape != (n,) or not np.isfinite(column).all() for column in columns):
            raise ValueError("its first examples do not fit together")
        in_order = n <= arrived < WARM_UP and not (np.diff(classes) < 0).any()
        if not in_order or len(np.unique(ids)) < n or (weights <= 0).any():
            raise ValueError("its first examples are out of order")
        if not n:
            return FirstExamples(arrived)
        rows: Rows = (SparseRows if sparsely else DenseRows).from_facts(facts, width)
        if len(rows) != n or not rows.within(np.inf):
            raise ValueError("its first examples are damaged")
        return FirstExamples(arrived, (rows,), targets, weights, ids, classes)


def runs(classes: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Where the number of known classes stays the same: consecutive (start, stop)."""
    cuts = [0, *(np.flatnonzero(np.diff(classes)) + 1).tolist(), len(classes)]
    return list(pairwise(cuts))


def settles_gamma(model: Any, settings: Mapping[str, Any]) -> bool:
    """Whether a word stands for gamma, and the kernel uses it."""
    kernel = settings.get("kernel", {}).get("name")
    return isinstance(getattr(model, "gamma", None), str) and kernel in kernels.WITH_GAMMA


def spread_of(batch: Batch) -> Spread:
    """Of the rows that count."""
    rows = batch.rows if batch.weights is None else batch.rows.picked(batch.counting())
    return Spread.of(rows, named=batch.columns.newcomers is not None)


def warm_up(model: Any, batch: Batch, held: FirstExamples) -> Batch:
    """Hold the first examples of a stream; at the 1st, 2nd, 4th, ... learn all so far afresh.

    Gamma is taken from the examples so far each time, so the model is always ready, and how
    the stream is cut does not matter. Returns what is left to learn as usual.
    """
    counting = batch.counting()
    look = held.next_look(len(counting))
    if not look:
        return batch
    counting, last = counting[:look], int(counting[look - 1])
    ids = model._ids_of(batch, 0, last + 1)
    held = holding(model, held, batch, counting, ids[counting])
    done = held.arrived == WARM_UP
    core, settings = _learned_afresh(model, held, model._classes_at(batch, last), done=done)
    model._state = model._state.but(
        core=core,
        core_settings=settings,
        held=None if done else held,
        settled_by=IdRuns.of(held.ids),
        removed_from=tuple(name for name in model._removed_from if name != "gamma"),
    )
    model._set_fast_path()
    model._count_in(ids, batch.keys_of(0, last + 1))
    model._admit_labels(batch, last, publish=True)
    model._count_classes(batch, 0, last + 1)
    return batch.after(last + 1)


def holding(
    model: Any,
    held: FirstExamples,
    batch: Batch,
    numbers: NDArray[np.intp],
    ids: NDArray[np.int64],
) -> FirstExamples:
    """Hold these rows of the batch, too."""
    classes = [model._classes_at(batch, int(i)) for i in numbers]
    return held.and_then(
        batch.rows.picked(numbers).stored(model._sparsely),
        targets=batch.targets[numbers],
        weights=np.ones(len(numbers)) if batch.weights is None else batch.weights[numbers],
        ids=ids,
        classes=np.array(classes, dtype=np.int64),
    )


def _learned_afresh(
    model: Any, held: FirstExamples, classes: int, *, done: bool
) -> tuple[Core, dict[str, Any]]:
    """A core that learned the held examples with the gamma they give, and its settings."""
    state = model._state
    settings = model._settings_with({})
    gamma = state.core_settings["kernel"]["gamma"]
    if len(held):
        rows = held.rows()
        gamma = Spread.of(rows, named=state.vocabulary is not None).gamma(model.gamma)
    settings["kernel"]["gamma"] = gamma
    # Learning again may ask other labels than before: until gamma is settled, all are used.
    asking = {**settings, **{name: all_ for name, all_ in ASK_ALL.items() if name in settings}}
    core = create(state.core_name, asking)
    core.threads = threads(model.n_jobs)
    for start, stop in runs(held.classes) if len(held) else ():
        model._grow(core, int(held.classes[start]))
        part = slice(start, stop)
        ids, y, w = held.ids[part], held.targets[part], held.weights[part]
        rows.part(start, stop).learn(core, y, w, ids)
    model._grow(core, classes)
    if not done:
        return core, asking
    if asking != settings:
        core = revive(state.core_name, settings, core.state())
    return core, settings


def warn_if_far(model: Any, more: Spread) -> None:
    """Say once when the rows so far are far from those that settled gamma."""
    state = model._state
    model._state = state = state.but(spread=state.spread.and_then(more))
    if state.gamma_warned or state.held is not None or state.spread.examples < WARM_UP:
        return
    now = state.spread.gamma(model.gamma)
    if not 1 / FAR < now / model.gamma_ < FAR:
        model._state = state.but(gamma_warned=True)
        warnings.warn(
            f"gamma={model.gamma!r} was settled at {model.gamma_:.3g} by the first rows, but the "
            f"rows so far would give {now:.3g}; scale the features, or set gamma to a number",
            UserWarning,
            stacklevel=5,
        )


def gamma_of(model: Any) -> float:
    """The value of ``gamma`` in use."""
    model._fitted_core("gamma_")
    kernel = model._core_settings.get("kernel", {})
    if kernel.get("name") not in kernels.WITH_GAMMA:
        raise AttributeError(f"{type(model).__name__} has no gamma_: its kernel does not use it")
    return float(kernel["gamma"])
