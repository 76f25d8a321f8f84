"""How one model stands at one moment of a stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

__all__ = ["Snapshot"]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """How one model stands after `seen` examples.

    Attributes
    ----------
    seen : int
        Examples that went by.
    accuracy : float
        Share of them whose label the model told before it learnt it; nan before the first test, and
        for regressors.
    clean_accuracy : float or None
        The same against the true labels; None for a stream that does not know them.
    recent_accuracy : float
        Since the snapshot before this one; against the true labels where the stream knows them.
    support_vectors : int or None
        None for a model that keeps no examples.
    labels_used : int
        Labels the model asked for; the rest cost nothing.
    seconds : float
        Time spent inside the model, tests included.
    nbytes : int or None
        Memory of the model, where it says so.
    metrics : dict of str to float
        Over all examples tested, against the true labels where the stream knows them.
    window : dict of str to float
        The same over the last ones.
    role : {"model", "baseline"}
        A baseline looks at no feature, and is there to be beaten.
    """

    seen: int
    accuracy: float
    clean_accuracy: float | None
    recent_accuracy: float
    support_vectors: int | None
    labels_used: int
    seconds: float
    nbytes: int | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    window: Mapping[str, float] = field(default_factory=dict)
    role: Literal["model", "baseline"] = "model"

    @property
    def examples_per_second(self) -> float:
        return self.seen / self.seconds if self.seconds > 0 else float("nan")

    def row(self) -> dict[str, Any]:
        """Everything under one name each: a metric as it is called, its window as `window_...`."""
        plain = [f.name for f in fields(self) if f.name not in ("metrics", "window")]
        return (
            {name: getattr(self, name) for name in plain}
            | {"examples_per_second": self.examples_per_second}
            # Where the truth is known metrics are against it, and `accuracy` keeps its meaning.
            | {name: value for name, value in self.metrics.items() if name not in plain}
            | {f"window_{name}": value for name, value in self.window.items()}
        )
