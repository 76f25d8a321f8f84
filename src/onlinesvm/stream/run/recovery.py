"""From which checkpoint a run goes on: the newest that is whole."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TypeVar

from onlinesvm.stream.run.checkpoint import Checkpoint
from onlinesvm.stream.run.folder import RunFolder

__all__ = ["newest_good", "read_checkpoint"]

T = TypeVar("T")


def newest_good(home: RunFolder, run: str, use: Callable[[Checkpoint], T]) -> T:
    """What `use` makes of the newest checkpoint that it does not refuse.

    Damaged ones are put aside, with a warning; if there is no other, the error says so.
    """
    numbers = home.checkpoints()[::-1]
    damaged: list[tuple[int, str]] = []
    for number in numbers:
        try:
            found = use(read_checkpoint(home, run, number))
        except ValueError as error:
            damaged.append((number, str(error)))
            continue
        for bad, why in damaged:
            path = home.checkpoint(bad)
            path.replace(path.with_name(path.name + ".damaged"))
            told = f"{why}; going on from {home.checkpoint(number).name}, the one before"
            warnings.warn(told, RuntimeWarning, stacklevel=4)
        return found
    why = damaged[0][1] if damaged else "there is no checkpoint"
    raise ValueError(f"the run in {str(home.path)!r} cannot be resumed: {why}")


def read_checkpoint(home: RunFolder, run: str, number: int) -> Checkpoint:
    """A checkpoint that is what its name says."""
    found = Checkpoint.read(home.checkpoint(number))
    if (found.run, found.number) != (run, number):
        raise ValueError(f"{home.checkpoint(number).name} is of another run, or was renamed")
    return found
