"""The SVM with a free bias, solved by hand: whoever claims to solve it gives these numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from oracles import alphas

from onlinesvm import IncrementalSVC, PokerSVC, SmoSVC

ON_A_LINE = (-1, 0, 1, 3), (-1, 1, -1, 1)


@dataclass(frozen=True)
class Solver:
    """A way to solve it, and how near it must come."""

    make: Callable[..., Any]
    within: float

    def __call__(
        self, x: Any, y: Any, kernel: str = "linear", **params: Any
    ) -> tuple[Any, NDArray[np.float64]]:
        """The model of points on a line, and its alphas."""
        X = np.array(x, dtype=np.float64)[:, None]
        model = self.make(kernel=kernel, classes=[-1.0, 1.0], **params)
        model.partial_fit(X, np.array(y, dtype=np.float64))
        return model, alphas(model, len(X))[0]


SMO = partial(SmoSVC, tol=1e-10, dtype="float64")
SOLVERS = {
    "IncrementalSVC": Solver(IncrementalSVC, 1e-12),
    "PokerSVC": Solver(PokerSVC, 1e-12),
    "SmoSVC": Solver(SMO, 1e-9),
    "SmoSVC, first order": Solver(partial(SMO, order="first"), 1e-9),
}
pytestmark = pytest.mark.parametrize("solve", SOLVERS.values(), ids=SOLVERS.keys())


@pytest.mark.parametrize(("x", "w", "b"), [((1, -1), 1.0, 0.0), ((0, 2), -1.0, 1.0)])
def test_two_points(solve, x, w, b):
    model, alpha = solve(x, (1, -1), C=10.0)
    np.testing.assert_allclose(alpha, [0.5, 0.5], atol=solve.within)
    np.testing.assert_allclose(model.decision_function([[0.0], [1.0]]), [b, w + b], atol=1e-12)


def test_four_points_on_a_line(solve):
    model, alpha = solve(*ON_A_LINE, C=1.0)
    np.testing.assert_allclose(alpha, [0.375, 1, 1, 0.375], atol=solve.within)
    np.testing.assert_allclose(model.intercept_, [-0.5], atol=solve.within)
    assert model.objective() == pytest.approx(2.625)


def test_everybody_at_the_bound(solve):
    model, alpha = solve(*ON_A_LINE, kernel="rbf", gamma=1.0, C=1.0)
    assert (alpha == 1.0).all()
    assert model.intercept_[0] == pytest.approx(-0.165686, abs=1e-6)


def test_contradictory_pair(solve):
    model, alpha = solve((1, 1), (1, -1), C=3.0)
    assert (alpha == 3.0).all()
    np.testing.assert_allclose(model.decision_function([[1.0], [5.0]]), 0.0, atol=1e-12)


def test_one_class_has_its_label_everywhere(solve):
    model, alpha = solve((1, 2, 0), (1, 1, 1))
    assert not alpha.any()
    assert (model.decision_function([[-3.0], [0.0]]) == 1.0).all()
