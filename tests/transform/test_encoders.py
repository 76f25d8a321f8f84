"""Encoders: scikit-learn's columns, growth that changes nothing, bounds, gaps, forged files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

import onlinesvm
from onlinesvm import SGDSVC, OnlineOneHot, OnlineOrdinal, make_online_pipeline
from onlinesvm.checks.streams import fingerprint

VALUES = st.sampled_from(["a", "b", "c", "", 1, 2.5, None, float("nan"), True, -7])
TABLES = st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=30)


def table(rows: Any) -> np.ndarray:
    values = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, row in enumerate(rows):
        values[i] = row
    return values


@pytest.mark.parametrize("seed", range(5))
def test_the_columns_are_scikit_learns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.choice(["ash", "birch", "cedar", "dogwood"], size=(40, 2)).astype(object)
    order = [list(dict.fromkeys(column)) for column in X.T]
    width = max(map(len, order))
    ours = OnlineOneHot(max_categories=width).fit(X)
    assert ours.categories_ == order
    dense = ours.transform(X).toarray()
    theirs = OneHotEncoder(categories=order).fit(X)
    kept = [j * width + k for j, column in enumerate(order) for k in range(len(column))]
    assert np.array_equal(dense[:, kept], theirs.transform(X).toarray())
    assert np.array_equal(dense.sum(axis=1), [2.0] * 40)
    assert set(theirs.get_feature_names_out()) <= set(ours.get_feature_names_out())
    numbers = OrdinalEncoder(categories=order).fit_transform(X)
    assert np.array_equal(OnlineOrdinal().fit_transform(X), numbers)


@given(rows=TABLES, cut=st.integers(0, 30), most=st.integers(1, 9))
def test_property_growing_changes_nothing(rows: Any, cut: int, most: int) -> None:
    X = table(rows)
    whole = OnlineOneHot(max_categories=most).partial_fit(X)
    parts = OnlineOneHot(max_categories=most)
    for part in (X[:cut], X[cut:]):
        if len(part):
            before = parts.transform(X).toarray() if parts.__sklearn_is_fitted__() else 0
            after = parts.partial_fit(part).transform(X).toarray()
            assert (after >= before).all(), "a column took back what it said"
    assert fingerprint(parts) == fingerprint(whole)
    assert all(len(column) <= most for column in whole.categories_)


def test_unknown_ones_are_zeros_or_share_a_column() -> None:
    X = table([["a"], ["b"], ["c"]])
    zeros = OnlineOneHot(max_categories=2).fit(X).transform(X).toarray()
    assert zeros.tolist() == [[1, 0], [0, 1], [0, 0]]
    shared = OnlineOneHot(max_categories=2, unknown="infrequent").fit(X)
    assert shared.transform(table([["a"], ["c"], ["never"]])).toarray().tolist() == [
        [1, 0, 0],
        [0, 0, 1],
        [0, 0, 1],
    ]
    assert shared.get_feature_names_out().tolist() == ["x0_a", "x0_b", "x0_infrequent"]
    assert OnlineOrdinal(max_categories=2).fit_transform(X).ravel().tolist() == [0, 1, -1]


def test_gaps_are_a_category() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"c": pandas.Series(["a", None, pandas.NA, np.nan], dtype=object)})
    model = OnlineOneHot(max_categories=3).fit(frame)
    assert model.categories_ == [["a", None]]
    assert model.get_feature_names_out().tolist() == ["c_a", "c_None", "c_free2"]


def test_dicts_by_name() -> None:
    model = OnlineOneHot(max_categories=2)
    assert model.transform_one({"c": "red"}) == {}
    model.learn_one({"c": "red", "d": 1}).learn_one({"d": 2, "c": "blue"})
    assert model.transform_one({"c": "blue"}) == {"c_blue": 1.0}
    assert model.transform_one({"d": 2, "c": "red"}) == {"c_red": 1.0, "d_2": 1.0}
    with pytest.raises(ValueError, match="x has the feature 'e'"):
        model.learn_one({"c": "red", "e": 1})


def test_what_is_no_category_is_refused() -> None:
    model = OnlineOneHot().partial_fit(table([["a", 1]]))
    before = fingerprint(model)
    for odd in (("a", "tuple"), np.inf, object(), [1]):
        with pytest.raises(ValueError) as caught:
            model.partial_fit(table([["b", odd]]))
        assert "\n" not in str(caught.value)
        assert fingerprint(model) == before


@pytest.mark.parametrize(
    "lists",
    ["x", "{}", "[[1,1]]", '[["a"],["b"]]', "[[[1]]]", "[3]", '[["a","b","c"]]', "[[1e999]]"],
)
def test_forged_categories_are_refused(lists: str, tmp_path: Any) -> None:
    from onlinesvm.files import persistence

    path = tmp_path / "model"
    OnlineOneHot(max_categories=2).fit(table([["a"], ["b"]])).save(path)
    kind, arrays = persistence._unpack(path.read_bytes())
    forged = np.frombuffer(lists.encode(), dtype=np.uint8)
    path.write_bytes(persistence._pack(kind, arrays | {"state.categories": forged}))
    with pytest.raises(ValueError, match="is not a model this version can load"):
        onlinesvm.load(path)


def test_new_categories_reach_the_model_behind() -> None:
    rng = np.random.default_rng(0)
    kinds = np.array([f"kind{k}" for k in range(8)], dtype=object)
    codes = np.concatenate([rng.integers(0, 4, 300), rng.integers(0, 8, 900)])
    X, y = kinds[codes].reshape(-1, 1), codes % 2
    model = make_online_pipeline(OnlineOneHot(max_categories=8), SGDSVC(classes=[0, 1]))
    whole = onlinesvm.OnlinePipeline(model.steps).partial_fit(X, y)
    parts = make_online_pipeline(OnlineOneHot(max_categories=8), SGDSVC(classes=[0, 1]))
    for start in range(0, 1200, 50):
        parts.partial_fit(X[start : start + 50], y[start : start + 50])
    assert fingerprint(parts) == fingerprint(whole)
    assert parts.score(X, y) == 1.0
