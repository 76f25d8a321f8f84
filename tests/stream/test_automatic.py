"""From columns to a model: every kind gets what it needs, and the saved model knows its columns."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import onlinesvm
from onlinesvm import NormaSVR, PassiveAggressiveClassifier, PegasosSVC, RampSVC
from onlinesvm.stream.automatic import (
    as_they_are,
    choose,
    kinds_of,
    prepared,
    task_of,
    with_open_classes,
)
from onlinesvm.stream.sources import Column, Examples, Schema

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
N = 400
TABLE = pd.DataFrame(
    {
        "age": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(40, 9, N)),
        "member": np.where(RNG.random(N) < 0.1, np.nan, RNG.integers(0, 2, N)),
        "town": RNG.choice(np.array(["Rom", "Bonn", None], dtype=object), N),
        "customer": [f"c{k}" for k in RNG.integers(0, 300, N)],
        "note": RNG.choice(["the goods came late", "all was very well indeed"], N),
        "sent": RNG.uniform(1.7e9, 1.8e9, N),
    }
)
KINDS = {
    "age": "number",
    "member": "flag",
    "town": "category",
    "customer": "category",
    "note": "text",
    "sent": "date",
}
LABELS = np.where(TABLE["town"] == "Rom", "yes", "no").astype(object)


def schema_of(kinds=KINDS, target="category", **more):
    columns = [Column(name, kind) for name, kind in kinds.items()]
    columns += [Column("y", target, "target")] if target else []
    return Schema(tuple(columns), **more)


def numeric(*names):
    return schema_of(dict.fromkeys(names, "number"))


# --- the task -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "y", "task"),
    [
        ("category", ["a", "b", "a"], "classify"),
        ("number", [0, 1, 1], "classify"),
        ("number", [0.0, 1.0, 1.0], "classify"),
        ("number", [0.5, 1.0, 1.0], "regress"),
        ("number", list(range(20)), "classify"),
        ("number", list(range(21)), "regress"),
        (None, None, "detect"),
    ],
)
def test_the_target_says_what_is_to_be_learned(target, y, task):
    rows = 1 if y is None else len(y)
    y = None if y is None else np.array(y, dtype=object if target == "category" else None)
    examples = Examples(np.zeros((rows, 1)), y)
    assert task_of(schema_of({"x": "number"}, target), examples) == task


def test_the_choice_is_said_and_fits_the_rows():
    few = Examples(np.zeros((4, 1)), np.array(["a", "b", "a", "c"], dtype=object))
    many = Examples(np.zeros((30, 1)), np.array([f"l{k}" for k in range(30)], dtype=object))
    sizes = Examples(np.zeros((30, 1)), np.linspace(0, 1, 30))
    assert type(choose(numeric("x"), few).model) is RampSVC
    assert choose(numeric("x"), few).model.max_support == 1000
    assert "3 labels" in choose(numeric("x"), few).why
    assert type(choose(numeric("x"), many).model) is PassiveAggressiveClassifier
    assert type(choose(schema_of({"x": "number"}, "number"), sizes).model) is NormaSVR
    assert "regression" in choose(schema_of({"x": "number"}, "number"), sizes).why
    text = schema_of({"x": "text"})
    assert type(choose(text, few).model) is PassiveAggressiveClassifier
    assert "no target" in choose(schema_of({"x": "number"}, None), few).why


# --- preparation ----------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [PegasosSVC(classes="open"), RampSVC(classes="open")])
def test_a_table_of_every_kind_is_learned_saved_and_known(model, tmp_path):
    examples = Examples(TABLE, LABELS)
    pipeline = prepared(schema_of(), examples, model)
    for start in range(0, N, 100):
        pipeline.partial_fit(TABLE[start : start + 100], LABELS[start : start + 100])
    pipeline.save(tmp_path / "model.safetensors")
    loaded = onlinesvm.load(tmp_path / "model.safetensors")
    assert np.mean(loaded.predict(TABLE) == LABELS) > 0.9
    assert kinds_of(loaded) == KINDS
    assert loaded.steps[0][1].columns_["many"] == ["customer"]


def test_numbers_are_filled_and_scaled_and_keep_their_names():
    X = np.column_stack([RNG.normal(1e6, 1e4, N), RNG.normal(size=N)])
    X[::9] = np.nan
    y = np.where(np.nan_to_num(X[:, 1]) > 0, "up", "down").astype(object)
    model = prepared(numeric("big", "small"), Examples(X, y), PegasosSVC(classes="open"))
    model.partial_fit(X, y)
    assert model.score(X, y) > 0.9
    assert kinds_of(model) == {"big": "number", "small": "number"}


def test_sparse_rows_go_as_they_are():
    model = PegasosSVC()
    schema = Schema((Column("y", "category", "target"),), sparse=True)
    assert prepared(schema, Examples(sp.csr_array((1, 9))), model) is model
    assert as_they_are(schema, model) is model


def test_without_preparation_words_are_refused_by_name():
    with pytest.raises(ValueError, match="'town' is a category"):
        as_they_are(schema_of(), PegasosSVC())
    model = as_they_are(numeric("a", "b"), PegasosSVC(classes=[0, 1]))
    model.partial_fit(np.eye(2), [0, 1])
    assert kinds_of(model) == {"a": "number", "b": "number"}
    assert len(model.steps) == 1


def test_a_model_without_names_says_so():
    assert kinds_of(PegasosSVC().fit(np.eye(2), [0, 1])) is None


def test_classes_are_open_unless_they_were_named():
    assert with_open_classes(RampSVC()).classes == "open"
    assert with_open_classes(RampSVC(classes=[0, 1])).classes == [0, 1]
    assert with_open_classes(NormaSVR()).get_params() == NormaSVR().get_params()
