"""The imputer: scikit-learn's and pandas' numbers, gaps of every kind, and in a pipeline."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.impute import SimpleImputer

import onlinesvm
from onlinesvm import SGDSVC, OnlineImputer, OnlineScaler, make_online_pipeline
from onlinesvm.checks.streams import fingerprint

RNG = np.random.default_rng(0)
ROWS = RNG.normal(5, 2, size=(601, 4))
ROWS[RNG.random(ROWS.shape) < 0.2] = np.nan
LABELS = np.where(np.nan_to_num(ROWS[:, 0], nan=5) > 5, 1, 0)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_mean_is_scikit_learns(kind: Any) -> None:
    X = kind(np.where(ROWS < 4, 0, ROWS))
    ours, theirs = OnlineImputer().fit(X), SimpleImputer().fit(X)
    assert np.allclose(ours.statistics_, theirs.statistics_, rtol=1e-13)
    filled, expected = ours.transform(X), theirs.transform(X)
    if sp.issparse(X):
        filled, expected = filled.toarray(), expected.toarray()
    assert np.allclose(filled, expected, rtol=1e-13)


def test_median_is_the_lower_one() -> None:
    ours = OnlineImputer(strategy="median").fit(ROWS)
    expected = [np.quantile(c[~np.isnan(c)], 0.5, method="inverted_cdf") for c in ROWS.T]
    assert ours.statistics_.tolist() == expected


def test_constant_is_ready_at_once() -> None:
    model = OnlineImputer(strategy="constant", fill_value=-7.0)
    assert model._warm_up_rows == 0
    assert model.partial_fit(ROWS[:1]).transform([[np.nan] * 4]).tolist() == [[-7.0] * 4]


def test_a_column_without_values_is_0_and_moves_later() -> None:
    model = OnlineImputer(after="move").partial_fit([[np.nan, 1.0]])
    assert model.transform([[np.nan, np.nan]]).tolist() == [[0.0, 1.0]]
    assert model.partial_fit([[4.0, 1.0]]).transform([[np.nan, 2.0]]).tolist() == [[4.0, 2.0]]


def test_the_first_rows_decide_and_no_cut_shows() -> None:
    whole, parts = (OnlineImputer(warm_up=100) for _ in range(2))
    whole.partial_fit(ROWS)
    for start in range(0, 601, 37):
        parts.partial_fit(ROWS[start : start + 37])
    assert fingerprint(parts) == fingerprint(whole)
    assert np.allclose(whole.statistics_, np.nanmean(ROWS[:100], axis=0))


def test_frames_say_what_was_missing() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, columns=list("abcd"))
    model = OnlineImputer(indicator="columns").set_output(transform="pandas")
    filled = model.fit_transform(frame)
    assert filled.columns.tolist()[4:] == [f"missingindicator_{c}" for c in "abcd"]
    assert np.allclose(filled[list("abcd")], frame.fillna(frame.mean()))
    assert np.array_equal(filled.iloc[:, 4:].to_numpy(), frame.isna().to_numpy())


def test_none_and_nan_in_dicts() -> None:
    model = OnlineImputer(indicator="columns").partial_fit([{"a": 2.0}, {"a": 4.0, "b": 1.0}])
    assert model.transform_one({"a": None}) == {"a": 3.0, "missingindicator_a": 1.0}
    assert model.transform_one({"a": float("nan"), "b": 2.0})["a"] == 3.0
    model.learn_one({"a": None, "b": 3.0})
    assert model.statistics_.tolist() == [3.0, 4 / 3]


def test_infinities_and_text_are_refused() -> None:
    model = OnlineImputer().partial_fit(ROWS)
    before = fingerprint(model)
    for odd in (np.inf, -np.inf):
        with pytest.raises(ValueError, match="infinity"):
            model.partial_fit([[odd, np.nan, 1.0, 1.0]])
    with pytest.raises(ValueError):
        model.partial_fit([["text", 1.0, 1.0, 1.0]])
    assert fingerprint(model) == before


def test_the_median_cannot_move_over_all_rows() -> None:
    with pytest.raises(ValueError, match="use after='forget'"):
        OnlineImputer(strategy="median", after="move").fit(ROWS)


def test_gaps_in_a_pipeline(tmp_path: Any) -> None:
    model = make_online_pipeline(
        OnlineImputer(indicator="columns"), OnlineScaler(), SGDSVC(classes=[0, 1])
    )
    whole = onlinesvm.OnlinePipeline(model.steps).partial_fit(ROWS, LABELS)
    model = make_online_pipeline(
        OnlineImputer(indicator="columns"), OnlineScaler(), SGDSVC(classes=[0, 1])
    )
    model.partial_fit(ROWS[:99], LABELS[:99]).save(tmp_path / "model")
    again = onlinesvm.load(tmp_path / "model").partial_fit(ROWS[99:], LABELS[99:])
    assert fingerprint(again) == fingerprint(whole)
    assert again.score(ROWS, LABELS) > 0.9
