"""Parts worked on by processes of this machine; one that dies is replaced."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

import joblib

from ..data.arguments import check_count, check_word
from .parts import Part, Parts

S = TypeVar("S")
T = TypeVar("T")

#: A call during which so many processes die in a row, none finishing anything, is hopeless.
_LOSSES_MOST = 5


class ProcessParts(Parts):
    """Parts worked on by processes of this machine, as many at once as it has processors.

    The parts are written to a temporary folder once and mapped into memory where they are needed,
    and so is what all of them share: nothing large goes through a pipe. A process that is killed
    costs the calls it had in hand, which are made again.

    Parameters
    ----------
    parts : iterable of Part
        Taken one by one, so a generator needs memory for one part at a time.
    processes : int or None, default=None
        None: as many as processors.
    start : {"spawn", "forkserver"}, default="spawn"
        How processes begin.

    Examples
    --------
    A script that uses it must be importable: ``if __name__ == "__main__":`` around what it does.

    >>> from onlinesvm.cluster import ProcessParts, cascade  # doctest: +SKIP
    >>> with ProcessParts(parts, processes=2) as cluster:  # doctest: +SKIP
    ...     learned = cascade(cluster, SmoSVC())
    """

    def __init__(
        self,
        parts: Iterable[Part],
        *,
        processes: int | None = None,
        start: Literal["spawn", "forkserver"] = "spawn",
    ) -> None:
        if processes is not None:
            check_count("processes", processes, at_least=1)
        check_word("start", start, ("spawn", "forkserver"))
        self._processes = processes or os.cpu_count() or 1
        self._context: Any = multiprocessing.get_context(start)
        self._executor: ProcessPoolExecutor | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="onlinesvm-parts-")
        self._calls = 0
        self._paths = [
            self._written(f"part-{number}", replace(part, number=number))
            for number, part in enumerate(parts)
        ]

    def __len__(self) -> int:
        return len(self._paths)

    def map(self, function: Callable[[Part, S], T], shared: S) -> list[T]:
        self._calls += 1
        path = self._written(f"shared-{self._calls}", shared)
        try:
            return self._done([(_on_part, function, part, path) for part in self._paths])
        finally:
            with suppress(OSError):  # some systems keep what is still mapped; close removes it
                os.unlink(path)

    def run(self, function: Callable[[S], T], items: Sequence[S]) -> list[T]:
        return self._done([(function, item) for item in items])

    def processes(self) -> list[int]:
        """The ids of the processes at work."""
        return list(getattr(self._executor, "_processes", None) or {})

    def close(self) -> None:
        """End the processes and remove the temporary folder."""
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)
            self._executor = None
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _written(self, name: str, thing: Any) -> str:
        path = str(Path(self._folder.name) / name)
        joblib.dump(thing, path)
        return path

    def _done(self, calls: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The results of all calls, in order; those that a dead process had in hand, again."""
        results: dict[int, Any] = {}
        losses = 0
        while len(results) < len(calls):
            before = len(results)
            try:
                self._collect(calls, results)
            except BrokenProcessPool:
                losses = losses + 1 if len(results) == before else 1
                self._renew()
                if losses >= _LOSSES_MOST:
                    raise
        return [results[number] for number in range(len(calls))]

    def _collect(self, calls: Sequence[tuple[Any, ...]], results: dict[int, Any]) -> None:
        """Add the results of the calls that have none; BrokenProcessPool where one was lost."""
        if self._executor is None:
            self._executor = ProcessPoolExecutor(self._processes, mp_context=self._context)
        missing = [number for number in range(len(calls)) if number not in results]
        waiting: dict[Future[Any], int] = {}
        try:
            waiting = {self._executor.submit(*calls[number]): number for number in missing}
            for future in as_completed(waiting):
                results[waiting[future]] = future.result()
        finally:
            for future in waiting:  # where one failed, no other is waited for
                future.cancel()

    def _renew(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
            self._executor = None


@lru_cache(maxsize=1)
def _shared(path: str) -> Any:
    """What all parts of a call share, read once by each process."""
    return joblib.load(path, mmap_mode="r")


def _on_part(function: Callable[[Part, Any], Any], part: str, shared: str) -> Any:
    return function(joblib.load(part, mmap_mode="r"), _shared(shared))
