"""What the tests of sources share: files, and all of a source at once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from onlinesvm.stream.sources import BadRow, Frame, Source, open_source


@dataclass
class All:
    """All blocks of a source, one behind the other."""

    X: Any
    y: list[Any]
    keys: list[Any]
    bad: list[BadRow]
    n: int


def everything(source: Source, since: Any = None) -> All:
    X, y, keys, bad, n = [], [], [], [], 0
    for block in source.blocks(since):
        part = block.examples
        X += part.X.to_dicts() if isinstance(part.X, Frame) else np.asarray(part.X).tolist()
        y += [] if part.y is None else part.y.tolist()
        keys += part.keys or []
        bad += block.bad
        n += len(part)
    return All(X, y, keys, bad, n)


def written(folder: Path, text: str | bytes, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def read(folder: Path, text: str | bytes, name: str = "data.csv", **options: Any) -> All:
    return everything(open_source(written(folder, text, name), **options))


def schema_of(folder: Path, text: str | bytes, name: str = "data.csv", **options: Any):
    return {c.name: c for c in open_source(written(folder, text, name), **options).schema.columns}


def same_blocks(one: Any, other: Any) -> bool:
    """Whether two blocks have the same bits."""
    a, b = one.examples, other.examples
    if isinstance(a.X, Frame):
        rows = a.X == b.X
    else:
        rows = a.X.dtype == b.X.dtype and np.array_equal(a.X, b.X, equal_nan=True)
    labels = (a.y is None and b.y is None) or (
        a.y.dtype == b.y.dtype and a.y.tolist() == b.y.tolist()
    )
    return rows and labels and (a.keys, one.end, one.bad) == (b.keys, other.end, other.bad)


def assert_restarts(source: Source) -> int:
    """Every end of a block is a place to start from; gives the number of blocks."""
    blocks = list(source.blocks())
    for i, block in enumerate(blocks):
        rest = list(source.blocks(block.end))
        assert len(rest) == len(blocks) - i - 1
        assert all(map(same_blocks, rest, blocks[i + 1 :]))
    return len(blocks)
