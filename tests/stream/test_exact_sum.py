"""ExactSum against fractions: no bit is lost, whatever the order and the cut."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlinesvm.stream.exact_sum import ExactSum, squares

FLOATS = st.lists(st.floats(allow_nan=False, allow_infinity=False, width=64), max_size=40)


def rounded(exact: Fraction) -> float:
    try:
        return exact.numerator / exact.denominator
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


@given(FLOATS, st.integers(0, 40), st.randoms())
def test_property_any_order_and_any_cut_give_the_rounded_sum(values, cut, random):
    shuffled = list(values)
    random.shuffle(shuffled)
    left, right = ExactSum(), ExactSum()
    left.add(shuffled[:cut])
    right.add(shuffled[cut:])
    left.merge(right)
    assert float(left) == rounded(sum(map(Fraction, values), Fraction(0)))


@given(st.lists(st.floats(-1e140, 1e140).filter(lambda x: x == 0 or abs(x) > 1e-140), max_size=20))
def test_property_squares_are_exact(values):
    parts = squares(np.asarray(values, dtype=float))
    assert sum(map(Fraction, parts.tolist()), Fraction(0)) == sum(
        (Fraction(x) ** 2 for x in values), Fraction(0)
    )


def test_many_values_of_one_size_do_not_overflow_the_halves():
    total = ExactSum()
    total.add(np.full(300_000, 1 - 2.0**-53))
    assert float(total) == rounded(300_000 * Fraction(1 - 2.0**-53))


@pytest.mark.parametrize(
    ("values", "sums_to"),
    [([1.0, math.inf], math.inf), ([-math.inf, 3.0], -math.inf), ([1e308, 1e308], math.inf)],
)
def test_infinity_stays_infinity(values, sums_to):
    total = ExactSum()
    total.add(values)
    assert float(total) == sums_to


def test_nan_and_contradictions_are_nan():
    for values in ([math.nan, 1.0], [math.inf, -math.inf]):
        total = ExactSum()
        for value in values:  # each in a call of its own
            total.add([value])
        assert math.isnan(float(total))
        assert not total.is_finite


def test_huge_squares_are_infinite_and_not_nan():
    total = ExactSum()
    total.add(squares(np.array([1e200, 1.0])))
    assert float(total) == math.inf


def test_infinity_survives_merging():
    left, right = ExactSum(), ExactSum()
    left.add([1.0])
    right.add([-math.inf])
    left.merge(right)
    assert float(left) == -math.inf
