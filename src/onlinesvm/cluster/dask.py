"""Parts that lie on the workers of a Dask cluster. Extra ``onlinesvm[dask]``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from .parts import Part, Parts

S = TypeVar("S")
T = TypeVar("T")


class DaskParts(Parts):
    """Parts that lie on the workers of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client
    parts : iterable of delayed values or futures, each of a Part
        Computed once and kept where they were computed. What was lost with a worker is computed
        again, so reading a part must give the same rows every time: ``delayed(read)(path)``.

    Examples
    --------
    >>> from dask import delayed  # doctest: +SKIP
    >>> parts = DaskParts(client, [delayed(read_part)(path) for path in paths])  # doctest: +SKIP
    >>> learned = onlinesvm.cluster.fit(parts, SmoSVC(C=10))  # doctest: +SKIP
    """

    def __init__(self, client: Any, parts: Iterable[Any]) -> None:
        self._client = client
        self._parts = client.compute(list(parts))

    def __len__(self) -> int:
        return len(self._parts)

    def map(self, function: Callable[[Part, S], T], shared: S) -> list[T]:
        # A task, not scattered: what was lost with a worker is made again by the scheduler.
        once = self._client.submit(_same, shared, pure=False)
        futures = [
            self._client.submit(_on_part, function, part, number, once, pure=False)
            for number, part in enumerate(self._parts)
        ]
        results: list[T] = self._client.gather(futures)
        return results

    def run(self, function: Callable[[S], T], items: Sequence[S]) -> list[T]:
        results: list[T] = self._client.gather(
            [self._client.submit(function, item, pure=False) for item in items]
        )
        return results


def _same(thing: T) -> T:
    return thing


def _on_part(function: Callable[[Part, S], T], part: Part, number: int, shared: S) -> T:
    return function(replace(part, number=number), shared)
