"""What a model remembers besides its parameters, and what the parts of an estimator share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from .compression import Compression
from .core import Core, Numbering, new_numbering
from .keys import KeyBook
from .sklearn_types import BaseEstimator
from .vocabulary import Vocabulary


class OnDemand:
    """The lock and the numbering of a model, made when it is first needed."""

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        return self if model is None else model.__dict__.setdefault("_register", new_numbering())


class ModelState(BaseEstimator):
    """A compiled core, the ids given so far, and the columns of the examples."""

    _stem: ClassVar[str]  # of its core: "Ramp" for _core.Model("Ramp", ...)
    _core: Core
    _core_name: str
    _core_settings: dict[str, Any]
    _register: Numbering = OnDemand()  # type: ignore[assignment]
    _vocabulary: Vocabulary | None = None
    _names: Mapping[Any, None] = {}  # of the columns, in order; none where there is a vocabulary
    _sparsely: bool = False  # how the examples are kept: as the first one came
    _keys: KeyBook | None = None  # of the examples that have one; None: none ever had
    _compression: Compression | None = None  # of a copy that predicts and does nothing else

    def _core_stem(self) -> str:
        """Which core does the work, where parameters choose between several."""
        return self._stem

    def _core_stems(self) -> tuple[str, ...]:
        """Those that may, by the parameters alone."""
        return (self._core_stem(),)

    def _demand_whole(self, verb: str) -> None:
        """A NotImplementedError if the examples that a verb needs were left out by ``compress``."""
        if self._compression is not None:
            raise NotImplementedError(
                f"this {type(self).__name__} was compressed and cannot {verb}: the examples left "
                "out are gone; the model it came from can, and fit starts afresh."
            )

    @property
    def _next_id(self) -> int:
        return int(self._register.next)

    @_next_id.setter
    def _next_id(self, number: int) -> None:
        self._register.next = int(number)

    @property
    def _id_gap(self) -> int:
        """Ids passed over because callers brought their own, less those borne twice."""
        return int(self._register.gap)

    @_id_gap.setter
    def _id_gap(self, numbers: int) -> None:
        self._register.gap = int(numbers)
