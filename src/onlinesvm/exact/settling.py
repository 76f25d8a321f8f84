"""When a machine is optimal: at the end of every call, or after every example."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from ..base import SoftMargin
from ..base.batch import Batch
from ..base.parameters import word


class Settling(SoftMargin):
    """A machine that may wait for the end of a call before it is optimal."""

    settle: Literal["call", "example"] = word(
        default="call",
        words=("call", "example"),
        doc="""``"call"``: ``fit`` and ``partial_fit`` are optimal at their end, and ``learn_one``
        after its example. ``"example"`` is optimal after every row, which costs several times as
        much, and gives the same bits however a stream is cut into calls; another cut by
        ``"call"`` gives the same solution within ``tol``.""",
    )

    _collects_one: ClassVar[bool] = False
    _waiting = True  # whether rows of this call wait for its end

    @property
    def _solves_calls(self) -> bool:  # type: ignore[override]
        return self.settle == "call"

    def _core_params(self, n_features: int) -> dict[str, Any]:
        settle = "call" if self._solves_calls else "example"
        return super()._core_params(n_features) | {"settle": settle}

    @property
    def _any_cut_gives(self) -> Literal["bits", "solution", "optimum"]:  # type: ignore[override]
        return "solution" if self._solves_calls else "bits"

    def _learn(self, batch: Batch) -> None:
        # One row alone is learned as learn_one learns it, and nothing waits.
        self._waiting = len(batch.rows) > 1 or bool(batch.arrivals) or self._held is not None
        super()._learn(batch)

    def _end_call(self, verb: Literal["learn", "unlearn"], changes: int) -> None:
        if self._solves_calls and verb == "learn" and self._waiting:
            self._core.solve()  # until then the core has only taken the rows in
        super()._end_call(verb, changes)
