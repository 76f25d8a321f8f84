"""Kernels that the tests of several families try."""

from __future__ import annotations

import pytest

from onlinesvm.reference import Kernel

#: Of machines that are optimal, as their readable twins take them.
EXACT = {
    "rbf": Kernel("rbf", gamma=2.0),
    "linear": Kernel("linear"),
    "poly": Kernel("poly", gamma=0.5, degree=3, coef0=1.0),
}
#: Of learners by steps, as parameters.
STEPS = [
    {"kernel": "linear"},
    {"kernel": "rbf", "gamma": 0.7},
    {"kernel": "poly", "gamma": 0.3, "degree": 2, "coef0": 1.0},
]
kernels = pytest.mark.parametrize("kernel", STEPS, ids=lambda k: k["kernel"])
