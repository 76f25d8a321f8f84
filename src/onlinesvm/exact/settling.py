"""When a machine is optimal: after every example, or at the end of every call."""

from __future__ import annotations

from typing import Literal

from ..base import SoftMargin
from ..base.parameters import word


class Settling(SoftMargin):
    """A machine that its user may let settle once a call."""

    settle: Literal["example", "call"] = word(
        default="example",
        words=("example", "call"),
        doc="""``"call"`` makes each ``partial_fit`` optimal at its end, not in between: faster for
        large chunks, and the same solution within ``tol``, but not the same bits for another
        cut.""",
    )

    @property
    def _solves_calls(self) -> bool:  # type: ignore[override]
        return self.settle == "call"

    @property
    def _any_cut_gives(self) -> Literal["bits", "solution"]:  # type: ignore[override]
        return "solution" if self.settle == "call" else "bits"

    def _end_call(self, verb: Literal["learn", "unlearn"], changes: int) -> None:
        if self.settle == "call" and verb == "learn":
            self._core.solve()  # until then the core has only taken the rows in
        super()._end_call(verb, changes)
