"""Sums of floats that do not round."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ExactSum", "squares"]

_DIGITS = 53  # of a float64
_SCALE = 1126  # the last digit of the smallest float is 2**-1126
_HALF = 27
_SPLIT = float(2**_HALF + 1)
_MOST_DIGITS = 2 * _SCALE + 64  # of a sum of as many floats as anybody can count
_SQUARES_EXACT_BELOW = 1e150  # beyond, their halves would overflow


class ExactSum:
    """A sum of floats as one long integer: the same bits for any order, any cut and any merging.

    Adding a chunk costs some 20 microseconds and 40 nanoseconds a value; the size is constant.
    Values that are not finite are summed apart, by the usual rules.

    Examples
    --------
    >>> from onlinesvm.stream.exact_sum import ExactSum
    >>> total = ExactSum()
    >>> total.add([1e100, 1.0, -1e100])
    >>> float(total)
    1.0
    """

    unit = 1 << _SCALE

    __slots__ = ("_odd", "digits")

    def __init__(self) -> None:
        self.digits = 0  # the sum times `unit`
        self._odd = 0.0  # the sum of what is infinite or no number

    def add(self, values: Any) -> None:
        """Add floats."""
        array = np.asarray(values, dtype=np.float64)
        finite = np.isfinite(array)
        if not finite.all():
            with np.errstate(invalid="ignore"):
                self._odd += float(array[~finite].sum())
            array = array[finite]
        if not array.size:
            return
        fractions, exponents = np.frexp(array)
        whole = np.ldexp(fractions, _DIGITS).astype(np.int64)
        lowest = int(exponents.min())
        steps = exponents - lowest
        # Halves of 27 digits, since a float can count no more than 53 of them.
        high = np.bincount(steps, weights=whole >> _HALF)
        low = np.bincount(steps, weights=whole & ((1 << _HALF) - 1))
        for step in np.flatnonzero((high != 0) | (low != 0)).tolist():
            part = (int(high[step]) << _HALF) + int(low[step])
            self.digits += part << (lowest + step + _SCALE - _DIGITS)

    def merge(self, other: ExactSum) -> None:
        """Add what the other has added."""
        self.digits += other.digits
        self._odd += other._odd

    def state(self) -> list[Any]:
        """The sum as plain values, exactly."""
        return [self.digits, self._odd]

    def load(self, state: Any) -> None:
        """Take up the sum where `state` left it; what no sum can be is refused."""
        match state:
            case [int() as digits, float() as odd] if digits.bit_length() <= _MOST_DIGITS:
                if odd and math.isfinite(odd):
                    raise ValueError("a saved sum has a finite part that is none of its digits")
                self.digits, self._odd = digits, odd
            case _:
                raise ValueError("a saved sum must be its digits and what was not finite")

    def over(self, count: int) -> float:
        """The sum divided by a count, rounded once."""
        if self._odd:  # nan counts as true
            return self._odd
        try:
            return self.digits / (count << _SCALE)
        except OverflowError:
            return math.inf if self.digits > 0 else -math.inf

    @property
    def is_finite(self) -> bool:
        return not self._odd

    def __float__(self) -> float:
        return self.over(1)


def squares(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers whose sum is that of the squares of x, without the rounding of a product."""
    with np.errstate(over="ignore", invalid="ignore"):
        product = x * x
        lifted = _SPLIT * x
        high = lifted - (lifted - x)
        low = x - high
        rest = ((high * high - product) + 2 * high * low) + low * low
    rest[~(np.abs(x) < _SQUARES_EXACT_BELOW)] = 0.0
    return np.concatenate([product, rest])
