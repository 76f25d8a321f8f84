"""Labels keep their numbers for ever and show themselves ascending, few or many, of any kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlinesvm.data.labels import Labels


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=60))
def test_few_or_many_classes_are_encoded_alike(drawn: list[int]) -> None:
    y = np.array(drawn)
    names = np.unique(y)
    codes = Labels(names, is_open=False).encode(y)
    assert np.array_equal(names[codes.astype(int)], y)


@pytest.mark.parametrize("known", [3, 30])
def test_strangers_are_minus_one_and_found_where_they_first_appear(known: int) -> None:
    labels = Labels(np.arange(known), is_open=True)
    y = np.array([0, 99, 2, 77, 99, 77])
    codes = labels.encode(y)
    assert codes.tolist() == [0, -1, 2, -1, -1, -1]
    assert labels.newcomers(y, codes) == {1: 99, 3: 77}
    assert labels.extended([99, 77]).encode(y).tolist() == [
        0,
        known,
        2,
        known + 1,
        known,
        known + 1,
    ]


@pytest.mark.parametrize(
    ("names", "kind"), [([1, 2], "i"), (["a", "bc"], "U"), ([False, True], "b"), ([1, "a"], "O")]
)
def test_labels_stay_what_they_are(names: list[Any], kind: str) -> None:
    labels = Labels(names, is_open=True)
    assert labels.names.dtype.kind == kind
    assert labels.names.tolist() == names


@pytest.mark.parametrize(
    ("arrived", "shown"),
    [
        (["b", "a", "c"], ["a", "b", "c"]),
        ([3, "b", 1, "a"], [1, 3, "a", "b"]),  # by the name of the type, then by value
        ([2, 1.5, True], [True, 1.5, 2]),
        ([1j, 0j], [1j, 0j]),  # no order of their own: as they came
    ],
)
def test_names_ascend_and_numbers_stay(arrived: list[Any], shown: list[Any]) -> None:
    labels = Labels(arrived[:1], is_open=True).extended(arrived[1:])
    assert labels.names.tolist() == shown
    assert labels.arrived().tolist() == arrived
    assert [labels.codes[name] for name in arrived] == list(range(len(arrived)))
    assert labels.first(1).names.tolist() == arrived[:1]


def test_newcomers_of_several_kinds_in_one_batch() -> None:
    y = np.array([7, "b", 7, "a", "b"], dtype=object)
    for known in ([], list(range(100, 120))):
        labels = Labels(known, is_open=True)
        codes = labels.encode(y)
        assert codes.tolist() == [-1] * 5
        assert labels.newcomers(y, codes) == {0: 7, 1: "b", 3: "a"}


def test_outputs_are_brought_into_the_order_of_the_names() -> None:
    three = Labels(["b", "c", "a"], is_open=True)
    by_number = np.array([[1.0, 2.0, 3.0]])
    assert three.signed(by_number).tolist() == [[3.0, 1.0, 2.0]]
    assert three.signed(by_number.T, axis=0).tolist() == [[3.0], [1.0], [2.0]]
    assert three.signed_one((1.0, 2.0, 3.0)) == (3.0, 1.0, 2.0)
    two = Labels(["b", "a"], is_open=True)
    assert two.signed(np.array([[5.0], [0.0]])).tolist() == [[-5.0], [0.0]]
    assert not np.signbit(two.signed(np.zeros((1, 1)))).any()
    assert two.columns(np.array([5.0])).tolist() == [5.0]
    assert two.signed_one((5.0,)) == (-5.0,)


def test_longer_words_are_not_cut() -> None:
    assert Labels(["a"], is_open=True).extended(["longer"]).names.tolist() == ["a", "longer"]


def test_decoding() -> None:
    labels = Labels(["a", "b", "c"], is_open=False)
    scores = np.array([[0.1, 0.3, 0.2], [5.0, -1.0, 0.0]])
    assert labels.decode(scores).tolist() == ["b", "a"]
    assert [labels.decode_one(tuple(row)) for row in scores.tolist()] == ["b", "a"]
    two = Labels(["a", "b"], is_open=False)
    assert two.decode(np.array([[0.0], [0.1], [-0.1]])).tolist() == ["a", "b", "a"]
    assert [two.decode_one((f,)) for f in (0.0, 0.1, -0.1)] == ["a", "b", "a"]
    assert Labels([], is_open=True).decode_one((0.0,)) is None
