"""Lines of text files, none longer than memory should bear."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import IO, AnyStr

__all__ = ["bounded"]

LONGEST = 64 << 20  # characters: a million columns of sixty


def bounded(file: IO[AnyStr], path: Path) -> Iterator[AnyStr]:
    """The lines of ``file``; one that does not end is refused before it fills the memory."""
    for number in count(1):
        line = file.readline(LONGEST + 1)
        if not line:
            return
        if len(line) > LONGEST:
            raise ValueError(f"{path}: line {number} is longer than {LONGEST:,} characters")
        yield line
