"""A pipeline over many machines: each part prepares its own rows, and the last step learns them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ..compose.columns import OnlineColumns
from ..compose.pipeline import OnlinePipeline
from .learned import Learned
from .parts import Part, Parts

S = TypeVar("S")
T = TypeVar("T")


class Prepared(Parts):
    """The same parts as the last step of a pipeline sees them.

    Steps must be settled: what they take from rows would else depend on the part. Each part is
    prepared anew at every call, where it lies.
    """

    def __init__(self, parts: Parts, pipeline: OnlinePipeline) -> None:
        for name, step in pipeline.steps[:-1]:
            _demand_settled(name, step)
        self._parts, self._pipeline = parts, pipeline
        self._steps = tuple(step for _, step in pipeline.steps[:-1])

    @property
    def last(self) -> Any:
        """The step that learns."""
        return self._pipeline.steps[-1][1]

    def behind(self, learned: Learned) -> Learned:
        """What the last step has learned, as a pipeline with the same preparation."""
        steps = [(name, copy.deepcopy(step)) for name, step in self._pipeline.steps[:-1]]
        whole = type(self._pipeline)([*steps, (self._pipeline.steps[-1][0], learned.model)])
        return replace(learned, model=whole._settled_as_it_is())

    def __len__(self) -> int:
        return len(self._parts)

    def map(self, function: Callable[[Part, S], T], shared: S) -> list[T]:
        return self._parts.map(_Preparing(self._steps, function), shared)

    def run(self, function: Callable[[S], T], items: Sequence[S]) -> list[T]:
        return self._parts.run(function, items)


@dataclass(frozen=True)
class _Preparing:
    """A function of a part whose rows are prepared first."""

    steps: tuple[Any, ...]
    function: Callable[[Part, Any], Any]

    def __call__(self, part: Part, shared: Any) -> Any:
        X = part.X
        for step in self.steps if len(part) else ():  # an empty part may not know its width
            X = step.transform(X)
        return self.function(replace(part, X=X), shared)


def _demand_settled(name: str, step: Any) -> None:
    if isinstance(step, OnlineColumns):
        raise ValueError(
            f"steps has {name}={type(step).__name__}, which wants columns by name; over parts rows "
            "are arrays: prepare the columns before"
        )
    try:
        check_is_fitted(step)
        settled = bool(step._done)
    except NotFittedError:
        settled = False
    if not settled:
        raise ValueError(
            f"steps has {name}={type(step).__name__}, which every part would fit to rows of its "
            "own; fit it to a sample of all rows first"
        )
