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
from ..params import threads
from .batch import Batch
from .core import Core, create, revive
from .rows import DenseRows, Rows, SparseRows
from .settled import IdRuns
from .state import ModelState

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


class SettlesGamma(ModelState):
    """An estimator whose ``gamma`` may be a word that the examples give a value."""

    _held: FirstExamples | None = None  # the first examples of a stream that settles gamma
    _spread: Spread | None = None  # of the rows so far, where gamma depends on it
    _far: bool = False  # the warning that they are far from what settled it was given
    _settled_by: IdRuns | None = None  # the rows that settled gamma; None: nobody knows
    _by_fit: bool = False  # these are the rows of a fit, and not the first of a stream
    _removed_from: tuple[str, ...] = ()  # what was settled on rows removed since
    _wholly_gone: IdRuns = IdRuns.first(0)  # ids whose rows left nothing: it was trained again
    # Parameters that a program took from rows for it, such as gamma from all parts of a data set.
    _settled_elsewhere: tuple[str, ...] = ()

    def _settles_gamma(self, settings: Mapping[str, Any]) -> bool:
        """Whether a word stands for gamma, and the kernel uses it."""
        kernel = settings.get("kernel", {}).get("name")
        return isinstance(getattr(self, "gamma", None), str) and kernel in kernels.WITH_GAMMA

    def _spread_of(self, batch: Batch) -> Spread:
        rows = batch.rows if batch.weights is None else batch.rows.picked(batch.counting())
        return Spread.of(rows, named=batch.columns.newcomers is not None)

    def _warm_up(self, batch: Batch, held: FirstExamples) -> Batch:
        """Hold the first examples of a stream; at the 1st, 2nd, 4th, ... learn all so far afresh.

        Gamma is taken from the examples so far each time, so the model is always ready, and how
        the stream is cut does not matter. Returns what is left to learn as usual.
        """
        counting = batch.counting()
        look = held.next_look(len(counting))
        if not look:
            return batch
        counting, last = counting[:look], int(counting[look - 1])
        ids = self._ids_of(batch, 0, last + 1)
        held = self._holding(held, batch, counting, ids[counting])
        done = held.arrived == WARM_UP
        core, settings = self._learned_afresh(held, self._classes_at(batch, last), done=done)
        self._core_settings, self._held = settings, None if done else held
        self._settled_by = IdRuns.of(held.ids)
        self._removed_from = tuple(name for name in self._removed_from if name != "gamma")
        self._install(core)
        self._count_in(ids, batch.keys_of(0, last + 1))
        self._admit_labels(batch, last, publish=True)
        return batch.after(last + 1)

    def _holding(
        self, held: FirstExamples, batch: Batch, numbers: NDArray[np.intp], ids: NDArray[np.int64]
    ) -> FirstExamples:
        """Hold these rows of the batch, too."""
        classes = [self._classes_at(batch, int(i)) for i in numbers]
        return held.and_then(
            batch.rows.picked(numbers).stored(self._sparsely),
            targets=batch.targets[numbers],
            weights=np.ones(len(numbers)) if batch.weights is None else batch.weights[numbers],
            ids=ids,
            classes=np.array(classes, dtype=np.int64),
        )

    def _classes_at(self, batch: Batch, row: int) -> int:
        """How many classes are known when a row of the batch comes; 0 where there are none."""
        return 0

    def _learned_afresh(
        self, held: FirstExamples, classes: int, *, done: bool
    ) -> tuple[Core, dict[str, Any]]:
        """A core that learned the held examples with the gamma they give, and its settings."""
        settings = self._settings_with({})
        gamma = self._core_settings["kernel"]["gamma"]
        if len(held):
            rows = held.rows()
            gamma = Spread.of(rows, named=self._vocabulary is not None).gamma(self.gamma)
        settings["kernel"]["gamma"] = gamma
        # Learning again may ask other labels than before: until gamma is settled, all are used.
        asking = {**settings, **{name: all_ for name, all_ in ASK_ALL.items() if name in settings}}
        core = create(self._core_name, asking)
        core.threads = threads(self.n_jobs)
        for start, stop in runs(held.classes) if len(held) else ():
            self._grow(core, int(held.classes[start]))
            part = slice(start, stop)
            ids, y, w = held.ids[part], held.targets[part], held.weights[part]
            rows.part(start, stop).learn(core, y, w, ids)
        self._grow(core, classes)
        if not done:
            return core, asking
        if asking != settings:
            core = revive(self._core_name, settings, core.state())
        return core, settings

    def _grow(self, core: Core, classes: int) -> None:
        """Let a core know how many classes there are."""

    def _warn_if_far(self, more: Spread) -> None:
        """Say once when the rows so far are far from those that settled gamma."""
        assert self._spread is not None
        self._spread = self._spread.and_then(more)
        if self._far or self._held is not None or self._spread.examples < WARM_UP:
            return
        now = self._spread.gamma(self.gamma)
        if not 1 / FAR < now / self.gamma_ < FAR:
            self._far = True
            warnings.warn(
                f"gamma={self.gamma!r} was settled at {self.gamma_:.3g} by the first rows, but the "
                f"rows so far would give {now:.3g}; scale the features, or set gamma to a number",
                UserWarning,
                stacklevel=4,
            )

    @property
    def gamma_(self) -> float:
        """The value of ``gamma`` in use."""
        self._fitted_core("gamma_")
        kernel = self._core_settings.get("kernel", {})
        if kernel.get("name") not in kernels.WITH_GAMMA:
            raise AttributeError(f"{type(self).__name__} has no gamma_: its kernel does not use it")
        return float(kernel["gamma"])
