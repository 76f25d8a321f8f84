"""Streams in every container, cut anywhere, and labels that come late."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from onlinesvm.stream import Lesson, lessons
from onlinesvm.stream.containers import count_rows, records
from onlinesvm.stream.lesson import Late, read_lesson

A = np.arange(14.0).reshape(7, 2) - 3
Y = np.array(list("abcabca"))
CONTAINERS = {
    "array": A,
    "csr": sp.csr_matrix(A),
    "coo": sp.coo_array(A),
    "pandas": pd.DataFrame(A, columns=["u", "v"], index=list("zyxwvut")),
    "polars": pl.DataFrame(A, schema=["u", "v"]),
    "dicts": [{"u": u, "v": v} for u, v in A.tolist()],
    "lists": A.tolist(),
}


def values(X):
    """The numbers of a container, whatever it is."""
    if sp.issparse(X):
        return X.toarray().tolist()
    return [list(row.values()) for row in records(X)]


@pytest.mark.parametrize("kind", CONTAINERS)
@pytest.mark.parametrize("size", [1, 3, 7, 20])
def test_lessons_cut_any_container(kind, size):
    cut = list(lessons(CONTAINERS[kind], pd.Series(Y), size=size))
    assert [count_rows(part.X) for part in cut] == [len(part.y) for part in cut]
    assert [row for part in cut for row in values(part.X)] == A.tolist()
    assert np.concatenate([part.y for part in cut]).tolist() == list(Y)


def test_csr_rows_as_dicts_leave_zeros_out():
    X = sp.csr_array(np.array([[0.0, 5.0], [0.0, 0.0]]))
    assert records(X) == [{1: 5.0}, {}]


@given(st.lists(st.integers(1, 4), max_size=8), st.integers(0, 12))
def test_property_labels_come_late_and_none_is_lost(sizes, delay):
    late, seen, arrived = Late(delay), 0, []
    for size in sizes:
        y = np.arange(seen, seen + size)
        seen += size
        for part in late.pass_on(Lesson(y.reshape(-1, 1), y)):
            assert part.X.ravel().tolist() == part.y.tolist()
            arrived += part.y.tolist()
        assert arrived == list(range(max(0, seen - delay)))
    for part in late.rest():
        arrived += part.y.tolist()
    assert arrived == list(range(seen))


def test_single_examples_are_lessons_of_one():
    X, y, truth = read_lesson(({"u": 1.0}, "spam"))
    assert (X, y.tolist(), truth) == ([{"u": 1.0}], ["spam"], None)
    X, y, truth = read_lesson((np.array([1.0, 2.0]), 3, 4))
    assert (X.tolist(), y.tolist(), truth.tolist()) == ([[1.0, 2.0]], [3], [4])


def test_hostile_lessons():
    for item in (3, A, (), (A, Y, Y, Y)):
        with pytest.raises(ValueError, match="stream must give lessons"):
            read_lesson(item)
    with pytest.raises(ValueError, match="y of a lesson has 3 labels for 7 rows of X"):
        read_lesson((A, Y[:3]))
    with pytest.raises(ValueError, match="y must be one column"):
        read_lesson((A, A))
    with pytest.raises(ValueError, match="delay must be an integer >= 0"):
        Late(-1)
