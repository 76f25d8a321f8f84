"""Columns of several kinds: pandas' and scikit-learn's numbers, names, gaps, files, mistakes."""

from __future__ import annotations

import contextlib
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from tiers import examples

import onlinesvm
from onlinesvm import (
    LASVC,
    OnlineColumns,
    OnlineImputer,
    OnlineOneHot,
    OnlineOrdinal,
    OnlinePipeline,
    OnlineScaler,
    make_online_pipeline,
)
from onlinesvm.checks import parametrize
from onlinesvm.checks.streams import fingerprint
from onlinesvm.files import persistence

pandas = pytest.importorskip("pandas")
RNG = np.random.default_rng(0)
N = 700
FRAME = pandas.DataFrame(
    {
        "age": RNG.normal(40, 10, N),
        "town": RNG.choice(["Rom", "Bonn", "Oslo"], N),
        "income": RNG.lognormal(10, 1, N),
        "plan": RNG.choice(["a", "b", None], N),
        "loyal": RNG.random(N) < 0.5,
    }
)
LABELS = np.where((FRAME.age > 40) ^ (FRAME.town == "Rom"), "yes", "no")
FRAME.loc[RNG.random(N) < 0.1, "age"] = np.nan


def by_kind(most: int = 4) -> OnlineColumns:
    return OnlineColumns(
        [
            ("size", [OnlineImputer(), OnlineScaler()], "numbers"),
            ("kind", OnlineOneHot(max_categories=most), "categories"),
        ]
    )


def pipeline() -> OnlinePipeline:
    return make_online_pipeline(by_kind(), LASVC(classes=["no", "yes"]))


def test_numbers_are_pandas() -> None:
    columns = by_kind().fit(FRAME)
    assert columns.columns_ == {"size": ["age", "income", "loyal"], "kind": ["town", "plan"]}
    ours = columns.transform(FRAME).toarray()
    numbers = FRAME[["age", "income", "loyal"]].astype(float)
    numbers = numbers.fillna(numbers.mean())
    assert np.allclose(ours[:, :3], (numbers - numbers.mean()) / numbers.std(ddof=0))
    names = columns.get_feature_names_out().tolist()
    for town in ("Rom", "Bonn", "Oslo"):
        assert np.array_equal(ours[:, names.index(f"kind__town_{town}")], FRAME.town == town)
    assert np.array_equal(ours[:, names.index("kind__plan_None")], FRAME.plan.isna())


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_dicts_and_orders_agree(library: str) -> None:
    frames = pytest.importorskip(library)
    as_dict = {
        name: [None if v != v else v for v in FRAME[name].tolist()] for name in FRAME.columns
    }
    frame = frames.DataFrame(as_dict)
    model = pipeline().partial_fit(frame, LABELS)
    expected = model.decision_function(frame)
    assert np.array_equal(
        model.decision_function(frame[["plan", "town", *["age", "income", "loyal"]]]), expected
    )
    records = FRAME.to_dict(orient="records")
    assert np.array_equal(model.decision_function(records), expected)
    assert fingerprint(pipeline().partial_fit(records, LABELS)) == fingerprint(model)
    assert model.predict_one({"age": 30, "town": "Rom"}) in ("no", "yes")  # the rest are gaps
    with pytest.raises(ValueError, match="X lacks the column 'town'"):
        model.predict(frame[["age", "income", "loyal", "plan"]])


@settings(max_examples=examples(15), deadline=None)
@given(cuts=st.lists(st.integers(0, 400), max_size=4))
def test_property_any_cut_gives_the_same_bits(cuts: list[int]) -> None:
    model, edges = pipeline(), [0, *sorted(cuts), 400]
    for start, stop in pairwise(edges):
        if start < stop:
            model.partial_fit(FRAME[start:stop], LABELS[start:stop])
    whole = pipeline().partial_fit(FRAME[:400], LABELS[:400])
    assert fingerprint(model) == fingerprint(whole)


def test_it_learns_what_needs_both_kinds() -> None:
    model = pipeline()
    for start in range(0, 500, 50):
        model.partial_fit(FRAME[start : start + 50], LABELS[start : start + 50])
    assert model.score(FRAME[500:], LABELS[500:]) > 0.8


def test_a_kind_without_columns_is_no_harm() -> None:
    numbers = FRAME[["age", "income"]]
    columns = by_kind().fit(numbers)
    assert columns.transform(numbers).shape == (N, 2)
    assert columns.partial_fit(numbers).get_feature_names_out().tolist() == [
        "size__age",
        "size__income",
    ]
    assert columns.transform_one({"age": None, "income": 1e9}).keys() == {"size__income"}


def test_every_column_goes_to_one_place() -> None:
    scaler = OnlineScaler()
    for parts, word in [
        ([("size", scaler, ["age"])], "'town' of categories, which goes nowhere"),
        ([("a", scaler, ["age"]), ("b", scaler, ["age"])], "'age' twice"),
        ([("a", scaler, ["shoe"])], "lacks the column 'shoe'"),
        ([("a", scaler, "letters")], "'numbers' or 'categories'"),
        ([("a", LASVC(), "numbers")], "no transformer of this library"),
        ([("a", scaler, "numbers"), ("a", scaler, "categories")], "name twice"),
        ([], "parts is empty"),
    ]:
        columns = OnlineColumns(parts)
        with pytest.raises(ValueError, match=word):
            columns.fit(FRAME[["age", "town"]].dropna())
        assert not columns.__sklearn_is_fitted__()
    dropped = OnlineColumns([("size", scaler, ["income"]), ("rest", "drop", ["age", "town"])])
    assert dropped.fit(FRAME[["age", "town", "income"]]).transform(FRAME).shape == (N, 1)


def test_a_bad_row_changes_nothing() -> None:
    model = pipeline().partial_fit(FRAME, LABELS)
    before = fingerprint(model)
    bad = FRAME.astype(object).copy()
    bad.loc[N - 1, "age"] = "forty"
    for call in (model.predict, lambda rows: model.partial_fit(rows, LABELS)):
        with pytest.raises(ValueError, match="text in the column 'age'"):
            call(bad)
    times = FRAME.assign(age=pandas.Timestamp("2020-01-01"))
    with pytest.raises(ValueError, match="times in the column 'age'"):
        model.partial_fit(times, LABELS)
    assert fingerprint(model) == before


@pytest.mark.parametrize("n", [1, 100, 400])
def test_saved_with_all_parts(n: int, tmp_path: Any) -> None:
    model = pipeline().partial_fit(FRAME[:n], LABELS[:n])
    model.save(tmp_path / "model")
    again = onlinesvm.load(tmp_path / "model")
    assert repr(again) == repr(model)
    assert fingerprint(again) == fingerprint(model)
    again.partial_fit(FRAME[n:], LABELS[n:])
    assert fingerprint(again) == fingerprint(model.partial_fit(FRAME[n:], LABELS[n:]))
    alone = OnlineColumns([("k", OnlineOrdinal(), "categories"), ("n", "drop", "numbers")])
    for columns in (alone, clone(alone).fit(FRAME)):
        columns.save(tmp_path / "columns")
        assert repr(onlinesvm.load(tmp_path / "columns")) == repr(columns)
    loaded = onlinesvm.load(tmp_path / "columns")
    assert np.array_equal(loaded.transform(FRAME), columns.transform(FRAME))


@settings(max_examples=examples(100), deadline=None)
@given(data=st.data())
def test_forged_files_are_refused_or_harmless(data: Any, tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("saved") / "model"
    pipeline().partial_fit(FRAME[:30], LABELS[:30]).save(path)
    kind, arrays = persistence._unpack(path.read_bytes())
    name = data.draw(st.sampled_from([n for n in sorted(arrays) if n.endswith("facts")]))
    text = np.array(arrays[name])
    text[data.draw(st.integers(0, text.size - 1))] = data.draw(
        st.sampled_from([ord(c) for c in '0919-"[]{}naeE. '])
    )
    path.write_bytes(persistence._pack(kind, arrays | {name: text}))
    with contextlib.suppress(ValueError):
        model = onlinesvm.load(path)
        model.predict(FRAME)
        model.partial_fit(FRAME[30:], LABELS[30:])


# --- the contract -------------------------------------------------------------------------------

NUMBERS = [
    OnlineColumns([("all", OnlineScaler(warm_up=1000), "numbers")]),
    OnlineColumns([("all", [OnlineImputer(warm_up=500), OnlineScaler(after="move")], "numbers")]),
    OnlineColumns([("all", OnlineOneHot(max_categories=9), "numbers")]),
]


@parametrize(*NUMBERS)
def test_ours(estimator: Any, check: Any) -> None:
    check(estimator)


EXPECTED = {"check_dtype_object": "a column of odd things is one of categories, and goes nowhere"}


@parametrize_with_checks(NUMBERS[:1], expected_failed_checks=lambda _: EXPECTED)
def test_scikit_learns(estimator: Any, check: Any) -> None:
    check(estimator)


def test_a_settled_part_gives_the_same_features_however_the_stream_is_cut() -> None:
    """Its own count of rows ends when it is done, and is not compared."""
    X = np.random.default_rng(0).normal(size=(90, 4))
    whole, pieces = (OnlineColumns([("all", OnlineScaler(warm_up=20), "numbers")]) for _ in "ab")
    whole.partial_fit(X)
    for row in X:
        pieces.learn_one(row)
    assert np.array_equal(whole.transform(X), pieces.transform(X))
    for name, array in whole._arrays().items():
        assert "facts" in name or np.array_equal(array, pieces._arrays()[name])


def test_a_bad_weight_is_refused_when_nothing_is_left_to_learn() -> None:
    X = np.random.default_rng(0).normal(size=(90, 4))
    model = OnlineColumns([("all", OnlineScaler(warm_up=20), "numbers")]).partial_fit(X)
    for w in (-np.ones(90), np.full(90, np.nan), np.ones(3)):
        with pytest.raises(ValueError, match="weight"):
            model.partial_fit(X, sample_weight=w)


def test_numbers_among_words_are_read_alike_whatever_marks_their_gaps():
    pandas = pytest.importorskip("pandas")
    columns = OnlineColumns([("n", OnlineImputer(), ["x0"]), ("rest", "drop", ["x1"])])
    made = []
    for gap in (None, float("nan"), pandas.NA):
        table = np.array([[1, "x"], [gap, "y"], [True, "x"], [2.5, None]], dtype=object)
        made.append(clone(columns).fit_transform(table).tolist())
    assert made[0] == made[1] == made[2] == [[1.0], [1.5], [1.0], [2.5]]
    fitted = clone(columns).fit(np.array([[1, "x"], [2, "y"]], dtype=object))
    for wrong in ("one", 10**400, 1j):
        with pytest.raises(ValueError, match="text in the column 'x0'"):
            fitted.transform(np.array([[wrong, "x"]], dtype=object))


@pytest.mark.parametrize("columns", ["no kind", 3, None, [["a"]], ["a", "a"], [1], 1e30])
def test_columns_of_a_part_are_names_or_a_kind(columns: Any, tmp_path: Any) -> None:
    """Also of a model that has learned nothing, and is saved."""
    model = OnlineColumns([("one", OnlineScaler(), columns)])
    with pytest.raises(ValueError, match=r"^parts has [^\n]*$"):
        model.partial_fit(pandas.DataFrame({"a": [1.0, 2.0]}))
    with pytest.raises(ValueError, match="parts has"):
        model.save(tmp_path / "model")
    fine = OnlineColumns([("one", OnlineScaler(), pandas.Index(["a"]))])
    fine.partial_fit(pandas.DataFrame({"a": [1.0, 2.0]}))


def test_there_are_not_endless_categories() -> None:
    for most, why in ((2**70, "an integer below"), (10**8, "at most")):
        with pytest.raises(ValueError, match=f"max_categories must be {why}"):
            OnlineOneHot(max_categories=most).partial_fit([["a"]])
