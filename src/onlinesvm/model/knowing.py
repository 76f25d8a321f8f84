"""What type checkers are to know of the attributes of an estimator that are no parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..data.sklearn_types import BaseEstimator

if TYPE_CHECKING:
    from ..core import Core, Floats, Numbering
    from ..data.labels import Labels
    from .balance import ClassCounts
    from .compression import Compression
    from .door import Door
    from .gamma import FirstExamples
    from .state import State

    class Knowing(BaseEstimator):
        """An estimator with a lock, a state and a door; in none of them is a parameter."""

        _register: Numbering
        _state: State
        _door: Door
        _core: Core
        _core_name: str
        _core_settings: dict[str, Any]
        _labels: Labels
        _class_factors: Floats | None
        _class_counts: ClassCounts | None
        _compression: Compression | None
        _held: FirstExamples | None
        _removed_from: tuple[str, ...]
        _settled_elsewhere: tuple[str, ...]

else:
    Knowing = BaseEstimator
