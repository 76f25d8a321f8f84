"""The maps against independent fits: scikit-learn's, and definitions taken by their word."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import _SigmoidCalibration
from sklearn.isotonic import IsotonicRegression

from onlinesvm.compose.calibrate.maps import (
    Sigmoid,
    Steps,
    fit_platt,
    fit_temperature,
    fit_venn_abers,
    many,
)

RNG = np.random.default_rng(0)
S = RNG.normal(size=500) * 3 + 1
HITS = RNG.random(500) < 1 / (1 + np.exp(-0.8 * S + 1))
halves = st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=25)


def test_platt_is_scikit_learns() -> None:
    theirs = _SigmoidCalibration().fit(S, HITS)
    ours = fit_platt(S, HITS)
    assert np.allclose([ours.slope, ours.offset], [-theirs.a_, -theirs.b_], atol=1e-3)
    assert np.allclose(many(ours, S), theirs.predict(S), atol=1e-3)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_platt_does_not_mind_the_scale(scale: float) -> None:
    assert np.allclose(many(fit_platt(S * scale, HITS), S * scale), many(fit_platt(S, HITS), S))


def test_platt_never_turns_the_scores_over() -> None:
    level = fit_platt(-S, HITS)
    assert level.slope == 0
    assert np.isclose(level.one(3.0), (HITS.sum() + 1) / (len(HITS) + 2))


@given(points=halves)
def test_venn_abers_by_its_definition(points: list[tuple[int, bool]]) -> None:
    scores = np.array([s for s, _ in points]) / 2.0
    hits = np.array([h for _, h in points])
    stairs = fit_venn_abers(scores, hits)
    for x in (*np.unique(scores), *(np.unique(scores) + 0.25), -1.0, 99.0):
        low, high = (
            IsotonicRegression().fit(np.append(scores, x), np.append(hits, label)).predict([x])[0]
            for label in (0, 1)
        )
        assert np.isclose(stairs.one(x), high / (1 - low + high))
        assert many(stairs, np.array([x]))[0] == stairs.one(x)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e4])
def test_temperature_is_the_best_of_a_fine_grid(scale: float) -> None:
    scores = RNG.normal(size=(400, 3)) * scale
    odds = np.exp(2.5 * scores / scale)
    codes = (RNG.random(400)[:, None] > np.cumsum(odds / odds.sum(1, keepdims=True), 1)).sum(1)

    def loss(factor: float) -> float:
        z = factor * scores
        return float((np.log(np.exp(z).sum(axis=1)) - z[np.arange(400), codes]).sum())

    best = fit_temperature(scores, codes)
    assert all(loss(best) <= loss(best * (1 + off)) + 1e-9 for off in (-0.1, -0.01, 0.01, 0.1))


@pytest.mark.parametrize("fit", [fit_platt, fit_venn_abers])
@given(points=halves)
def test_all_rise_and_come_back_from_their_tables(fit, points) -> None:  # type: ignore[no-untyped-def]
    scores = np.array([s for s, _ in points]) / 2.0
    made = fit(scores, np.array([h for _, h in points]))
    grid = np.linspace(-1, 6, 57)
    p = many(made, grid)
    assert (np.diff(p) >= -1e-12).all()
    assert ((p >= 0) & (p <= 1)).all()
    assert np.allclose(p, [made.one(x) for x in grid])
    again = type(made).from_table(made.table())
    assert np.array_equal(many(again, grid), p)


@pytest.mark.parametrize(
    ("scale", "shift"), [(1.0, 0.0), (1e-300, 0.0), (1e-9, 1e6), (1e200, -1e200)]
)
def test_rows_by_thousands_have_the_bits_of_rows_by_few(scale, shift) -> None:  # type: ignore[no-untyped-def]
    knots = S * scale + shift
    made = fit_venn_abers(knots, HITS)
    between = (knots[1:] + knots[:-1]) / 2
    near = np.nextafter(knots, np.inf), np.nextafter(knots, -np.inf)
    asked = np.concatenate([knots, *near, between, 100 * knots, -100 * knots, [np.inf, -np.inf]])
    few = np.concatenate([many(made, part) for part in np.array_split(asked, 9)])
    assert np.array_equal(many(made, asked), few)
    assert np.array_equal([made.one(x) for x in asked[::7]], few[::7])


@pytest.mark.parametrize(
    ("kind", "table"),
    [
        (Sigmoid, [[-1.0, 0.0]]),
        (Sigmoid, [[np.nan, 0.0]]),
        (Steps, [[0.0, 0.3], [1.0, 0.5]]),
        (Steps, [[0.0, 0.3], [np.inf, 0.2]]),
        (Steps, [[0.0, 0.3], [0.0, 0.4], [np.inf, 0.5]]),
        (Steps, [[0.0, 0.3], [np.inf, 1.5]]),
    ],
)
def test_forged_tables_are_refused(kind, table) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match="calibration"):
        kind.from_table(np.array(table))
