"""Bytes in blocks: the same from every end of a block, whatever is in them."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlinesvm.stream.sources import raw
from onlinesvm.stream.sources.records import Quoting

QUOTING = Quoting(b",")


class Dripping:
    """A stream that gives a few bytes at a time."""

    def __init__(self, data: bytes, piece: int) -> None:
        self._file, self._piece = io.BytesIO(data), piece

    def read(self, n: int) -> bytes:
        return self._file.read(min(n, self._piece))


def steady(data: bytes, byte: int = 0, line: int = 0, ending: raw.Ending = "record"):
    return list(raw.steady(io.BytesIO(data[byte:]), QUOTING, byte, line, ending))


@pytest.fixture
def sizes(monkeypatch):
    def use(block: int, longest: int = 1 << 20):
        monkeypatch.setattr(raw, "BLOCK", block)
        monkeypatch.setattr(raw, "LONGEST", longest)

    return use


def joined(blocks: list[raw.Raw]) -> bytes:
    return b"".join(block.data for block in blocks)


@given(st.text(alphabet='ab,"\r\n é', max_size=120), st.sampled_from([1, 2, 7, 16, 64, 1000]))
def test_blocks_are_the_same_from_every_place(text, block):
    data = text.encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(raw, "BLOCK", block)
        blocks = steady(data)
        for i, part in enumerate(blocks):
            assert steady(data, part.end_byte, part.end_line) == blocks[i + 1 :]
        assert [b.byte for b in blocks[1:]] == [b.end_byte for b in blocks[:-1]]
        assert (blocks[-1].end_byte if blocks else 0) == len(data)
        for part in blocks:
            assert part.line == data.count(b"\n", 0, part.byte)
            assert QUOTING.last(part.data) == len(part.data) or part is blocks[-1] or part.bad
        dripped = list(raw.arriving(Dripping(data, 3), QUOTING, b"", 0, 0))
        assert joined(dripped) == joined(blocks)
        assert [b for d in dripped for b in d.bad] == [b for d in blocks for b in d.bad]


def test_a_block_ends_with_the_first_record_behind_its_size(sizes):
    sizes(10)
    ends = [block.end_byte for block in steady(b"1,2\n" * 10)]
    assert ends == [12, 20, 32, 40]


def test_a_quote_that_nothing_closes_costs_one_line(sizes):
    sizes(1000)
    (block, rest) = steady(b'1,2\n3,"4\n5,6\n7,8')
    assert (block.data, rest.data) == (b"1,2\n", b"5,6\n7,8")
    (bad,) = block.bad
    assert (bad.text, bad.line, bad.byte) == ('3,"4', 2, 4)
    assert "quote" in bad.reason


def test_an_endless_record_is_passed_over_in_bounded_memory(sizes):
    sizes(16, longest=64)
    data = b"1,2\n" + b"x" * 500 + b"\n3,4\n"
    blocks = steady(data)
    assert joined(blocks) == b"1,2\n3,4\n"
    (bad,) = [row for block in blocks for row in block.bad]
    assert (bad.line, bad.byte) == (2, 4)
    assert len(bad.text) < 200
    dripped = list(raw.arriving(Dripping(data, 20), QUOTING, b"", 0, 0))
    assert joined(dripped) == b"1,2\n3,4\n"


def test_an_open_quote_is_given_up_before_the_memory_is_full(sizes):
    sizes(16, longest=64)
    blocks = steady(b'1,"2\n' + b"3,4\n" * 100)
    assert joined(blocks) == b"3,4\n" * 100
    assert [row.line for block in blocks for row in block.bad] == [1]


def test_an_unfinished_record_waits(sizes):
    sizes(1000)
    assert joined(steady(b"1,2\n3,", ending="unfinished")) == b"1,2\n"
    assert joined(steady(b'1,2\n3,"\n', ending="unfinished")) == b"1,2\n"
    assert steady(b"1,", ending="unfinished") == []


def test_what_has_come_is_given_at_once():
    stream = Dripping(b"1,2\n3,4\n5", 6)
    blocks = raw.arriving(stream, QUOTING, b"", 0, 0)
    assert next(blocks).data == b"1,2\n"
    assert next(blocks).data == b"3,4\n"
    assert [block.data for block in blocks] == [b"5"]
