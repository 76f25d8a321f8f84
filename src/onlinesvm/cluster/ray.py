"""Parts that lie in the object store of a Ray cluster. Extra ``onlinesvm[ray]``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, TypeVar

from .parts import Part, Parts

S = TypeVar("S")
T = TypeVar("T")


class RayParts(Parts):
    """Parts that lie in the object store of a Ray cluster; ``ray.init`` comes before.

    Parameters
    ----------
    parts : iterable of object references, each to a Part
        From tasks rather than ``ray.put``, ``ray.remote(read).remote(path)``: what was lost with a
        node is then read again.

    Examples
    --------
    >>> parts = RayParts([ray.remote(read_part).remote(path) for path in paths])  # doctest: +SKIP
    >>> learned = onlinesvm.cluster.fit(parts, SmoSVC(C=10))  # doctest: +SKIP
    """

    def __init__(self, parts: Iterable[Any]) -> None:
        self._ray: Any = import_module("ray")  # only where it is used
        self._parts = list(parts)

    def __len__(self) -> int:
        return len(self._parts)

    def map(self, function: Callable[[Part, S], T], shared: S) -> list[T]:
        once = self._ray.put(shared)
        call = self._ray.remote(max_retries=-1)(_on_part)
        calls = [call.remote(function, part, n, once) for n, part in enumerate(self._parts)]
        results: list[T] = self._ray.get(calls)
        return results

    def run(self, function: Callable[[S], T], items: Sequence[S]) -> list[T]:
        results: list[T] = self._ray.get(
            [self._ray.remote(function).remote(item) for item in items]
        )
        return results


def _on_part(function: Callable[[Part, S], T], part: Part, number: int, shared: S) -> T:
    return function(replace(part, number=number), shared)
