"""What a model has learned about its surroundings: one frozen value around its core."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ..core import Core, new_numbering
from ..data.labels import NO_LABELS, Labels
from ..data.rows import Columns
from ..data.vocabulary import Vocabulary
from ..unlearn.settled import IdRuns
from .compression import Compression

if TYPE_CHECKING:
    from ..data.keys import KeyBook
    from .balance import ClassCounts
    from .gamma import FirstExamples, Spread


NO_COLUMNS = Columns(0, 0)
NO_IDS = IdRuns.first(0)


@dataclass(frozen=True)
class State:
    """Everything that a fitted model knows; a verb makes another one and commits it at once.

    Ids are counted beside it, by the lock of the model (``_register``), where ``learn_one`` finds
    them. The vocabulary and the keys grow in place: whoever goes back cuts them to a mark.
    """

    core: Core
    core_name: str  # with the type of its rows: "Ramp32"
    core_settings: dict[str, Any]
    begun: Mapping[str, Any]  # the parameters that it was begun with
    altered: bool = False  # some were set since

    # Columns.
    columns: Columns = NO_COLUMNS  # of arrays and data frames
    vocabulary: Vocabulary | None = None  # of dicts: open
    sparsely: bool = False  # how the examples are kept: as the first one came

    # Labels.
    labels: Labels = NO_LABELS
    class_factors: NDArray[np.float64] | None = None  # the weight of each class; None: all are 1
    class_counts: ClassCounts | None = None  # of the examples, where weights hang on them
    classes_met: bool = False  # rows said which classes there are
    weights_lost: bool = False  # sample weights are part of those of balanced classes

    keys: KeyBook | None = None  # of the examples that have one; None: none ever had
    compression: Compression | None = None  # of a copy that predicts and does nothing else
    n_iter: int = 1  # passes of fit

    # gamma by a word.
    held: FirstExamples | None = None  # the first examples of a stream that settles gamma
    spread: Spread | None = None  # of the rows so far, where gamma depends on it
    gamma_warned: bool = False  # that they are far from what settled it

    # What rows settled.
    settled_by: IdRuns | None = None  # the rows that settled gamma; None: nobody knows
    by_fit: bool = False  # these are the rows of a fit, and not the first of a stream
    wholly_gone: IdRuns = NO_IDS  # ids whose rows left nothing: it was trained again
    removed_from: tuple[str, ...] = ()  # what was settled on rows removed since

    # Checks of tol.
    checked: float = 0  # changes up to the last one
    unchecked: float = 0  # and since

    def but(self, **changes: Any) -> Self:
        """The same but for these fields; ``dataclasses.replace``, in a third of its time."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.__dict__.update(changes)
        return other

    @property
    def n_features(self) -> int:
        """Of a row; where names may come, those known."""
        return self.columns.count if self.vocabulary is None else len(self.vocabulary)

    @property
    def row_width(self) -> int:
        """Of a dense row that may go straight to the core; -1: none may."""
        return -1 if self.sparsely else self.columns.count


class Known:
    """A field of the state of a model, for reading; before anything was learned its default."""

    def __init__(self, field: str) -> None:
        self._field = field

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is None:
            return self
        state = model.__dict__.get("_state")
        if state is None:
            if self._field not in _DEFAULTS:
                raise AttributeError(f"{type(model).__name__} has learned nothing yet")
            return _DEFAULTS[self._field]
        return getattr(state, self._field)

    def __set__(self, model: Any, value: Any) -> None:
        model._state = model._state.but(**{self._field: value})


_DEFAULTS = {
    name: field.default
    for name, field in State.__dataclass_fields__.items()
    if isinstance(field.default, bool | int | tuple | Labels | IdRuns | None)
}


class OnDemand:
    """The lock and the numbering of a model, made when it is first needed."""

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        return self if model is None else model.__dict__.setdefault("_register", new_numbering())
