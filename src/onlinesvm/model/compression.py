"""What is known of a compressed model besides its vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from ..data.arguments import check_count, check_number


@dataclass(frozen=True)
class Compression:
    """How far a compressed model may be from the one it came from.

    Attributes
    ----------
    bound : float or None
        No score of any example whatever differs by more, but for the rounding of ``dtype``: the
        distance in the space of the kernel times ``sqrt(k(x, x))``, computed in double from the
        vectors. None where ``k(x, x)`` has no bound.
    error : float or None
        The largest difference on the rows that were given; None if none were.
    n_before, n_after : int
        Support vectors.
    """

    bound: float | None
    error: float | None
    n_before: int
    n_after: int

    def to_facts(self) -> dict[str, Any]:
        """As a file holds it."""
        return dict(vars(self))

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Self:
        """From a file; what does not fit is a ValueError."""
        bound, error = (
            None if facts[name] is None else check_number(name, facts[name], at_least=0)
            for name in ("bound", "error")
        )
        before, after = (check_count(name, facts[name]) for name in ("n_before", "n_after"))
        if len(facts) != 4 or after > before:
            raise ValueError("what it says of its compression does not fit together")
        return cls(bound, error, before, after)
