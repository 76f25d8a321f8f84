"""The first rows of a source, and a source that was looked into: no row lost, none twice."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlinesvm.stream.sources import BadRow, Block, Column, Examples, Schema
from onlinesvm.stream.sources.wrapped import Limited, Peeked


@dataclass
class Numbers:
    """0, 1, 2, ... in blocks of these sizes, a bad row at the end of each."""

    sizes: list[int]
    replays: bool = True
    live: bool = False
    name: str = "numbers"
    schema: Schema = field(default_factory=lambda: Schema((Column("x", "number"),)))
    notes: tuple[str, ...] = ()
    opened: int = 0

    def identity(self):
        return {}

    def blocks(self, since=None):
        self.opened += 1
        first = 0 if since is None else since["block"]
        for k in range(first, len(self.sizes)):
            start = sum(self.sizes[:k])
            X = np.arange(start, start + self.sizes[k], dtype=float).reshape(-1, 1)
            y = X[:, 0].astype(int)
            bad = [BadRow(f"bad {k}", "why")]
            yield Block(Examples(X, y, y.tolist()), {"block": k + 1}, bad, (k + 1) / 9)

    def close(self):
        pass


def taken(blocks):
    rows, bad, end = [], [], None
    for block in blocks:
        assert len(block.examples) == len(block.examples.y) == len(block.examples.keys)
        rows += block.examples.y.tolist()
        bad += [row.text for row in block.bad]
        end = block.end
    return rows, bad, end


SIZES = st.lists(st.integers(0, 5), min_size=1, max_size=6)


@given(SIZES, st.lists(st.integers(1, 9), max_size=5))
def test_limits_raised_step_by_step_give_every_row_once(sizes, steps):
    total, place, limit = [], None, 0
    letters = []
    for step in steps:
        limit += step
        source = Limited(Numbers(sizes), limit, before=len(total))
        rows, bad, end = taken(source.blocks(place))
        total, letters, place = total + rows, letters + bad, end or place
        assert total == list(range(min(limit, sum(sizes))))
    rows, bad, _ = taken(Limited(Numbers(sizes), None, before=len(total)).blocks(place))
    assert total + rows == list(range(sum(sizes)))
    assert letters + bad == [f"bad {k}" for k in range(len(sizes))]


def test_a_cut_block_has_a_place_that_the_source_alone_refuses():
    (block,) = Limited(Numbers([5, 5]), 3).blocks()
    assert "block" not in block.end
    with pytest.raises(KeyError):
        next(Numbers([5, 5]).blocks(block.end))


@pytest.mark.parametrize(
    "place",
    [
        {"rows_of_next_block": -1, "behind": None},
        {"rows_of_next_block": True, "behind": None},
        {"rows_of_next_block": "3", "behind": None},
        {"rows_of_next_block": 1, "behind": "x"},
        {"rows_of_next_block": 10**9, "behind": None},
    ],
)
def test_a_forged_place_is_refused(place):
    with pytest.raises(ValueError, match="the place"):
        list(Limited(Numbers([5, 5]), None).blocks(place))


@given(SIZES)
def test_a_look_at_the_first_rows_takes_none_away(sizes):
    source = Numbers(sizes)
    peeked = Peeked(source)
    assert (peeked.first is None) == (sum(sizes) == 0)
    whole = taken(Numbers(sizes).blocks())
    assert taken(peeked.blocks()) == whole
    assert source.opened == 1
    assert taken(peeked.blocks({"block": 1})) == taken(Numbers(sizes).blocks({"block": 1}))
