"""Blocks as bytes and back, joined and cut."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from onlinesvm.stream.run.cutter import Cutter
from onlinesvm.stream.run.rows import block_from_bytes, block_to_bytes, joined, part, row_text
from onlinesvm.stream.sources import BadRow, Block, Column, Examples, Frame, Schema

BAD = BadRow("a;b;\x00", "too short", "x", 7, 70, "f.csv")


def tables(n=5):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    X[0, 0] = np.nan
    yield X
    yield sp.csr_array(np.where(X > 0, X, 0))
    words = np.array(["Rom", None, "", "ß", "x"] * n, dtype=object)[:n]
    yield Frame({"town": words, "age": X[:, 1]})


def columns(n=5):
    yield None
    yield np.arange(n)
    yield np.linspace(0, 1, n)
    yield np.array([True, False, True, True, False] * n)[:n]
    yield np.array(["ja", "nein", "weiss nicht", "ja", ""] * n)[:n]


def same(one, other):
    if sp.issparse(one):
        assert one.shape == other.shape
        one, other = one.toarray(), other.toarray()
    if isinstance(one, Frame):
        assert one == other
    elif one is None:
        assert other is None
    else:
        assert one.dtype == other.dtype
        assert np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


@pytest.mark.parametrize("n", [0, 1, 5])
def test_blocks_come_back(n):
    for X in tables(n) if n else [np.zeros((0, 3))]:
        for y in columns(n):
            for keys in (None, [("a", i) for i in range(n)]):
                block = Block(Examples(X, y, keys), {"id": "17-3", "n": [1]}, [BAD], 0.5)
                again = block_from_bytes(block_to_bytes(block))
                same(X, again.examples.X)
                same(y, again.examples.y)
                assert again.examples.keys == keys
                assert (again.end, again.bad, again.done) == (block.end, block.bad, 0.5)


@given(at=st.integers(0, 10**6), bit=st.integers(0, 7), table=st.integers(0, 2))
def test_property_a_flipped_bit_is_refused_or_harmless(at, bit, table):
    X = list(tables())[table]
    data = bytearray(block_to_bytes(Block(Examples(X, np.arange(5)), {"n": 1}, [BAD])))
    data[at % len(data)] ^= 1 << bit
    refusal = ""
    try:
        block_from_bytes(bytes(data))
    except ValueError as error:
        refusal = str(error)
    assert "\n" not in refusal


@pytest.mark.parametrize("length", [0, 3, 4, 20, 100])
def test_shortened_blocks_are_refused(length):
    data = block_to_bytes(Block(Examples(np.eye(3), np.arange(3)), {}))
    with pytest.raises(ValueError):
        block_from_bytes(data[:length])


@given(
    cuts=st.lists(st.integers(1, 9), min_size=1, max_size=9),
    table=st.integers(0, 2),
    lesson=st.integers(1, 12),
)
def test_property_lessons_do_not_know_the_blocks(cuts, table, lesson):
    n = sum(cuts)
    X, y = list(tables(n))[table], np.arange(n)
    whole, cutter, at, lessons = Examples(X, y, list(range(n))), Cutter(lambda _: lesson), 0, []
    for size in cuts:
        cutter.add(part(whole, at, at + size))
        at += size
        lessons += list(iter(cutter.lesson, None))
    if cutter.waiting:
        lessons.append(cutter.rest())
    assert [len(one) for one in lessons[:-1]] == [lesson] * (len(lessons) - 1)
    together = joined(lessons)
    same(X, together.X)
    same(y, together.y)
    assert together.keys == list(range(n))
    assert cutter.taken == n


def test_sparse_rows_of_unlike_width_are_joined():
    narrow, wide = sp.csr_array(np.eye(2)), sp.csr_array(np.eye(3))
    together = joined([Examples(narrow, np.zeros(2)), Examples(wide, np.zeros(3))])
    expected = np.vstack([np.eye(2, 3), np.eye(3)])
    assert np.array_equal(together.X.toarray(), expected)


def test_earlier_cuts_are_kept():
    cutter = Cutter(lambda taken: 4, taken=10, cuts=[3, 10, 12, 13, 40])
    cutter.add(Examples(np.zeros((9, 1))))
    assert [len(one) for one in iter(cutter.lesson, None)] == [2, 1, 4]
    assert cutter.cuts() == [40]
    assert (cutter.taken, cutter.waiting) == (17, 2)


def test_a_row_in_words():
    schema = Schema((Column("x", "number"), Column("z", "number"), Column("y", "flag", "target")))
    one = Examples(np.array([[1.5, np.nan]]), np.array([True]))
    assert row_text(one, schema) == '{"x": 1.5, "z": NaN, "y": true}'
    one = Examples(sp.csr_array([[0.0, 2.0]]), None)
    assert row_text(one, schema) == '{"1": 2.0}'
    one = Examples(Frame({"x": np.array(["Rom"], object)}), np.array([1]))
    assert row_text(one, schema) == '{"x": "Rom", "y": 1}'
