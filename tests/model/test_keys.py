"""Keys: who owns which example, whatever happens to the model in between."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
import threading
import warnings
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from tiers import examples

import onlinesvm
from onlinesvm import (
    LASVC,
    HullerSVC,
    IncrementalSVC,
    NormaSVC,
    PassiveAggressiveClassifier,
    RampSVC,
    verify,
)
from onlinesvm.checks import fingerprint
from onlinesvm.data.keys import KeyBook, read_keys, read_wanted
from onlinesvm.files import persistence

RNG = np.random.default_rng(5)
X = RNG.normal(size=(400, 3))
Y = np.where(X[:, 0] * X[:, 1] > 0, 1, 0)
CLASSES = {"classes": [0, 1]}
KEYS = st.one_of(
    st.integers(-(2**70), 2**70),
    st.text(max_size=4),
    st.tuples(st.integers(0, 3), st.text(max_size=2)),
)


# --- the book -------------------------------------------------------------------------------------


@given(st.data())
@settings(max_examples=examples(60), deadline=None)
def test_a_book_is_a_dict_of_what_is_held(data: Any) -> None:
    book, plain, held = KeyBook(), dict[int, Any](), set[int]()
    for _ in range(data.draw(st.integers(1, 8))):
        ids = data.draw(st.lists(st.integers(0, 30), unique=True, max_size=6))
        keys = data.draw(st.lists(st.none() | KEYS, min_size=len(ids), max_size=len(ids)))
        match data.draw(st.sampled_from(["note", "fail", "without", "sweep"])):
            case "note":
                book.note(ids, keys)
                held |= set(ids)
                for i, key in zip(ids, keys, strict=True):
                    plain.pop(i, None)
                    plain |= {i: key} if key is not None else {}
            case "fail":
                fresh = [i for i in ids if i not in held]
                mark = book.mark()
                book.note(fresh, keys[: len(fresh)])
                book.back_to(mark)
            case "without":
                book, held = book.without(ids), held - set(ids)
                plain = {i: key for i, key in plain.items() if i not in ids}
            case "sweep":
                held -= set(ids)
                book = book.held_by(lambda ids, held=held: not held.isdisjoint(ids.tolist()))
                plain = {i: key for i, key in plain.items() if i in held}
        everybody = list(plain.values())
        assert sorted(book.ids_of(everybody)) == sorted(plain)
        for key in everybody:
            assert sorted(book.ids_of([key])) == sorted(i for i, k in plain.items() if k == key)
        again = KeyBook.from_facts(book.to_facts(), 31) if plain else KeyBook()
        assert again.to_facts()["of"] == book.to_facts()["of"]
        assert again.nbytes <= 2 * book.nbytes + 1000


def test_the_size_of_a_book_is_what_it_takes() -> None:
    import tracemalloc

    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    book = KeyBook()
    book.note(range(1000, 21000), [f"customer number {i}" for i in range(20000)])
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert 0.8 * taken <= book.nbytes <= 1.25 * taken
    book.back_to(0)
    assert len(book) == 0
    assert book._key_bytes == 0


class Town(StrEnum):
    BONN = "bonn"


class Number(IntEnum):
    SEVEN = 7


def test_forms_of_keys() -> None:
    plain = ["a", "b", None]
    frames = (pd.Series(plain, dtype=object), pl.Series(plain), np.array(plain, object), plain)
    for form in (*frames, tuple(plain), iter(plain)):
        assert read_keys(form, 3) == plain
    assert read_keys(np.array([1, 2]), 2) == [1, 2]
    assert read_keys(np.array(["a", "b"]), 2) == ["a", "b"]
    assert [type(k) for k in read_keys([np.int32(3), np.str_("x")], 2) or []] == [int, str]
    odd = read_keys([Town.BONN, Number.SEVEN, (Number.SEVEN, Town.BONN)], 3)
    assert odd == ["bonn", 7, (7, "bonn")]
    assert {type(odd[0]), type(odd[1])} == {str, int}
    assert read_keys([None, None], 2) is None
    assert read_wanted(("a", 1)) == [("a", 1)]
    assert sorted(read_wanted({"a", "b"})) == ["a", "b"]
    assert read_wanted(np.int64(3)) == [3]
    assert read_wanted(pd.Series([1, 2])) == [1, 2]


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param(pd.DataFrame({"a": [1, 2], "b": [1, 2]}), id="frame"),
        pytest.param(pl.DataFrame({"a": [1, 2], "b": [1, 2]}), id="polars frame"),
        pytest.param(pd.Series([1, None]), id="floats with a gap"),
        pytest.param(pd.Series([1, None], dtype="Int64"), id="integers with a gap"),
        pytest.param({"a": 1, "b": 2}, id="dict"),
        pytest.param([1, 10**5000], id="an endless number"),
        pytest.param([1, np.ones((3, 3))], id="an array"),
        pytest.param([1, np.datetime64("2020-01-01")], id="a date"),
        pytest.param(b"ab", id="bytes"),
    ],
)
def test_what_is_no_key_is_refused_in_one_line(odd: Any) -> None:
    with pytest.raises(ValueError, match=r"^keys (has|must be) [^\n]*$"):
        read_keys(odd, 2)


# --- whatever happens -----------------------------------------------------------------------------

VERBS = ["batch", "one", "plain", "ids", "unlearn", "copy", "save"]
MODELS = [
    LASVC(gamma=0.5, **CLASSES),
    LASVC(classes="open"),
    RampSVC(**CLASSES, keep_non_support=3, max_support=12),
    RampSVC(**CLASSES, query="greedy"),
    NormaSVC(**CLASSES, kernel="rbf", truncation=9),
    HullerSVC(**CLASSES),
    onlinesvm.ForgettingSVC(**CLASSES, chunk=7, budget=6),
]


@pytest.mark.parametrize("estimator", MODELS, ids=lambda e: " ".join(repr(e).split()))
@settings(max_examples=examples(12), deadline=None)
@given(data=st.data())
def test_any_calls_leave_each_example_its_owner(estimator: Any, data: Any) -> None:
    """Against a list of who owned what, filtered by what the model says it holds."""
    model = copy.deepcopy(estimator)
    owners: dict[int, Any] = {}
    names = [*range(3), "a", "b", ("a", 1)]
    at = 0
    for _ in range(data.draw(st.integers(1, 10))):
        n = data.draw(st.integers(1, 30))
        rows, labels = X[at : at + n], Y[at : at + n]
        keys = data.draw(st.lists(st.sampled_from([*names, None]), min_size=n, max_size=n))
        match data.draw(st.sampled_from(VERBS)):
            case "batch":
                owners |= dict(enumerate(keys, model._next_id))
                model.partial_fit(rows, labels, keys=keys)
            case "one" if at:
                owners[model._next_id] = keys[0]
                model.learn_one(rows[0], labels[0], key=keys[0])
                n = 1
            case "plain" if at:
                model.learn_one(rows[0], labels[0])
                n = 1
            case "ids" if at:
                gone = [i for i in range(model._next_id) if not model._holds(np.array([i]))][:2]
                for i in gone:
                    owners.pop(i, None)
                if gone:
                    model.partial_fit(rows[: len(gone)], labels[: len(gone)], ids=gone)
                n = len(gone)
            case "unlearn" if at:
                known = model.keys_held()
                assert set(known) == {k for k in names if len(model.ids_of([k]))}
                model.unlearn(keys=[k for k in keys[:2] if k in known])
                n = 0
            case "copy" if at:
                model = pickle.loads(pickle.dumps(model))
                n = 0
            case "save" if at:
                _, arrays = persistence._unpack(persistence._pack("", model._arrays()))
                model = persistence.rebuilt(type(model).__name__, arrays)
                n = 0
            case _:
                continue
        at += n
        if not model.__sklearn_is_fitted__():
            continue
        for name in names:
            theirs = [i for i, k in owners.items() if k == name and model._holds(np.array([i]))]
            assert sorted(model.ids_of([name])) == sorted(theirs)


def test_an_id_that_is_given_again_has_a_new_owner() -> None:
    model = RampSVC(**CLASSES, keep_non_support=0, max_support=5, gamma=0.5)
    model.partial_fit(X[:100], Y[:100], keys=["old"] * 100)
    free = [i for i in range(100) if not model._core.holds(np.array([i]))]
    assert len(free) > 80
    model.partial_fit(X[100:120], Y[100:120], ids=free[:20])
    assert not set(free[:20]) & set(model.ids_of("old").tolist())
    model.partial_fit(X[120:140], Y[120:140], ids=free[20:40], keys=["new"] * 20)
    assert set(model.ids_of("new").tolist()) <= set(free[20:40])


def test_the_first_examples_keep_their_owner_until_gamma_is_settled() -> None:
    """A model may drop an example and learn it again with another gamma."""
    model = NormaSVC(**CLASSES, kernel="rbf", truncation=4)
    model.partial_fit(X[:60], Y[:60], keys=[f"k{i}" for i in range(60)])
    assert model.ids_of([f"k{i}" for i in range(60)]).tolist() == list(range(60))
    model.unlearn(keys="k3")
    assert 3 not in model._held.ids
    model.partial_fit(X[60:300], Y[60:300])
    assert len(model.ids_of([f"k{i}" for i in range(60)])) <= 4


def test_forgetting_that_anybody_came_frees_numbers_and_keys() -> None:
    model = IncrementalSVC(**CLASSES, gamma=1.0)
    model.partial_fit(X[:10], Y[:10], sample_weight=np.arange(10) < 8, keys=["a"] * 10)
    model.forget_ids([8, 9])
    model.learn_one(X[11], Y[11])  # takes number 8, which a skipped example of a's had
    assert model.ids_of("a").tolist() == list(range(8))


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("rows", [50, 2500])
def test_a_call_that_fails_leaves_the_keys_of_what_stands(failure: Any, rows: int) -> None:
    many, labels = np.resize(X, (rows, 3)) + np.arange(rows)[:, None] / 1e4, np.resize(Y, rows)
    left = [10**9]

    def kernel(x: Any, Z: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise failure("enough")
        return np.exp(-((Z - x) ** 2).sum(axis=1))

    model = NormaSVC(**CLASSES, kernel=kernel, truncation=40)
    model.partial_fit(X[:20], Y[:20], keys=["first"] * 20)
    before = fingerprint(model)["keys"]
    left[0] = 10**9
    copy.deepcopy(model).partial_fit(many, labels)
    left[0] = 7 * (10**9 - left[0]) // 10
    with pytest.raises(failure):
        model.partial_fit(many, labels, keys=[f"row {i}" for i in range(rows)])
    left[0] = 10**9
    if failure is ValueError or rows == 50:
        assert fingerprint(model)["keys"] == before
        assert model.n_seen_ == 20
    else:
        assert 20 < model.n_seen_ < 20 + rows
    seen = model.n_seen_
    model.learn_one(X[0] + 1, Y[0])  # nobody's
    for i in model.ids_of([f"row {i}" for i in range(rows)]):
        assert i < seen
        assert model.ids_of(f"row {i - 20}").tolist() == [i]


def test_unlearning_that_fails_gives_the_keys_back(monkeypatch: pytest.MonkeyPatch) -> None:
    model = IncrementalSVC(**CLASSES, gamma=1.0).partial_fit(X[:50], Y[:50], keys=["a", "b"] * 25)
    before = fingerprint(model)

    def warn(*_: Any) -> None:
        warnings.warn("not exact", ConvergenceWarning, stacklevel=2)

    monkeypatch.setattr(IncrementalSVC, "_end_call", warn)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ConvergenceWarning):
            model.unlearn(keys="a")
    assert fingerprint(model) == before
    assert len(model.ids_of("a")) == 25


def test_threads_never_mix_up_owners() -> None:
    model = LASVC(classes=[0, 1], gamma=0.5).partial_fit(X[:20], Y[:20])

    def learn(owner: int) -> None:
        for i in range(owner, 400, 4):
            model.learn_one(np.array([owner, *X[i, 1:]]), Y[i], key=owner)

    threads = [threading.Thread(target=learn, args=(owner,)) for owner in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = dict(zip(model.support_.tolist(), model.support_vectors_[:, 0].tolist(), strict=True))
    for owner in range(4):
        mine = set(model.ids_of(owner).tolist())
        assert mine
        assert all(rows[i] == owner for i in mine & rows.keys())
        assert all(i in mine for i, x in rows.items() if x == owner and i >= 20)


def test_a_long_stream_of_keys_takes_no_more_memory() -> None:
    model = NormaSVC(**CLASSES, kernel="rbf", gamma=0.5, truncation=50)
    most = 0
    for start in range(0, 40_000, 400):
        model.partial_fit(X, Y, keys=[("customer", start + i) for i in range(400)])
        most = max(most, model.nbytes_ - model._core.nbytes)
    assert most < 600_000
    assert len(model.ids_of([("customer", i) for i in range(40_000)])) <= 50


def test_a_method_that_cannot_unlearn_takes_keys_and_keeps_none() -> None:
    model = PassiveAggressiveClassifier(**CLASSES).partial_fit(X, Y, keys=Y)
    assert model._keys is None
    for call in (lambda: model.unlearn(keys=1), lambda: model.ids_of(1)):
        with pytest.raises(NotImplementedError, match="IncrementalSVC"):
            call()


# --- files ----------------------------------------------------------------------------------------


def forged(model: Any, keys: Any) -> Any:
    arrays = model._arrays()
    facts = json.loads(arrays["facts"].tobytes())
    facts["keys"] = persistence.to_json("keys", keys)
    arrays["facts"] = np.frombuffer(json.dumps(facts).encode(), np.uint8)
    return persistence.rebuilt(type(model).__name__, arrays)


IDS = np.arange(3)


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param({"ids": IDS, "of": ["a", "b"]}, id="too few"),
        pytest.param({"ids": IDS, "of": ["a", "b", None]}, id="nobody"),
        pytest.param({"ids": IDS, "of": ["a", "b", 1.5]}, id="a float"),
        pytest.param({"ids": IDS, "of": ["a", "b", True]}, id="a flag"),
        pytest.param({"ids": IDS, "of": ["a", "b", np.int64(3)]}, id="a scalar"),
        pytest.param({"ids": IDS, "of": ["a", "b", ["c"]]}, id="a list"),
        pytest.param({"ids": IDS, "of": ("a", "b", "c")}, id="no list"),
        pytest.param({"ids": IDS.astype(float), "of": ["a", "b", "c"]}, id="ids of floats"),
        pytest.param({"ids": IDS * 0, "of": ["a", "b", "c"]}, id="one id for all"),
        pytest.param({"ids": IDS - 1, "of": ["a", "b", "c"]}, id="an id below 0"),
        pytest.param({"ids": IDS + 10**6, "of": ["a", "b", "c"]}, id="an id never given"),
        pytest.param({"ids": np.array([0, 1, 29]), "of": ["a", "b", "c"]}, id="not held"),
        pytest.param({"ids": IDS[:0], "of": []}, id="none at all"),
        pytest.param({"ids": IDS}, id="no keys"),
        pytest.param(None, id="nothing"),
        pytest.param(["a"], id="a list alone"),
    ],
)
def test_forged_keys_are_refused(keys: Any) -> None:
    model = IncrementalSVC(**CLASSES, gamma=1.0).partial_fit(X[:30], Y[:30], keys=["a"] * 30)
    model.unlearn([29])
    fine = forged(model, {"ids": IDS, "of": ["a", "b", ("c", 1)]})
    assert fine.ids_of(("c", 1)).tolist() == [2]
    with pytest.raises((ValueError, TypeError, LookupError)):
        forged(model, keys)


def test_a_method_without_unlearning_has_no_keys_in_its_file() -> None:
    model = PassiveAggressiveClassifier(**CLASSES).partial_fit(X, Y)
    with pytest.raises(ValueError, match="keys"):
        forged(model, {"ids": IDS, "of": ["a", "b", "c"]})


def test_a_model_without_keys_has_the_file_it_had() -> None:
    model = LASVC(**CLASSES).partial_fit(X, Y)
    assert "keys" not in json.loads(model._arrays()["facts"].tobytes())


def test_what_is_forgotten_is_in_no_copy() -> None:
    model = LASVC(**CLASSES, gamma=0.5).partial_fit(X, Y, keys=["Ada Lovelace", "Bob"] * 200)
    assert b"Ada" in pickle.dumps(model)
    model.unlearn(keys="Ada Lovelace")
    assert b"Ada" not in pickle.dumps(model)
    assert b"Ada" not in model._arrays()["facts"].tobytes()


# --- a story --------------------------------------------------------------------------------------

FORGET = """
import sys, onlinesvm
model = onlinesvm.load(sys.argv[1])
proof = model.unlearn(keys=("shop 2", "customer 17"), certificate=True)
model.save(sys.argv[1])
proof.save(sys.argv[2])
"""


def test_a_customer_of_a_month_is_forgotten_in_another_process(tmp_path: Path) -> None:
    """40 rows of one customer in the stream of 30 days; the model is as if she had never come."""
    rng = np.random.default_rng(17)
    days = []
    for _ in range(30):
        rows = rng.normal(size=(20, 4))
        customers = [(f"shop {i % 3}", f"customer {i}") for i in rng.integers(100, 200, 20)]
        for at in rng.choice(20, 2 if len(days) % 3 == 0 else 1, replace=False):
            customers[at] = ("shop 2", "customer 17")
        days.append((rows, rows[:, 0] + rng.normal(0, 0.3, 20) > 0, customers))
    model = IncrementalSVC(C=3.0, gamma=0.3, classes=[False, True])
    without = IncrementalSVC(C=3.0, gamma=0.3, classes=[False, True])
    for rows, bought, customers in days:
        model.partial_fit(rows, bought, keys=customers)
        others = np.array([c != ("shop 2", "customer 17") for c in customers])
        without.partial_fit(rows[others], bought[others])
    assert len(model.ids_of(("shop 2", "customer 17"))) == 40
    before = model.decision_function(X[:, [0, 1, 2, 0]])
    model.save(tmp_path / "model")
    files = [str(tmp_path / name) for name in ("model", "proof")]
    subprocess.run([sys.executable, "-c", FORGET, *files], check=True)
    model = onlinesvm.load(tmp_path / "model")
    proof = onlinesvm.Certificate.load(tmp_path / "proof")
    assert verify(proof, model)
    assert len(proof.ids_removed) == 40
    assert not len(model.ids_of(("shop 2", "customer 17")))
    assert b'"customer 17"' not in (tmp_path / "model").read_bytes()
    after, never = (m.decision_function(X[:, [0, 1, 2, 0]]) for m in (model, without))
    assert np.abs(after - never).max() <= 2 * (proof.distance + proof.bias_distance)
    assert np.abs(after - never).max() < 1e-6 < np.abs(before - never).max()
