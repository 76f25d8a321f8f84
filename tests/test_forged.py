"""Files from strangers, forged with a valid checksum: refused in one line, or harmless."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import onlinesvm
from onlinesvm import (
    LASVC,
    CoreVectorSVC,
    HullerSVC,
    IncrementalSVC,
    KernelPerceptron,
    NormaSVC,
    PassiveAggressiveClassifier,
    PegasosSVC,
    PokerSVC,
    RampSVC,
    SmoSVC,
    StreamSVC,
)
from onlinesvm.files import persistence
from onlinesvm.queries import Greedy

ROOT = Path(__file__).parents[1]


def rows(n: int = 30, d: int = 3, seed: int = 0) -> tuple[Any, Any]:
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


class Forgery:
    """A saved model taken apart, to be changed and written again."""

    def __init__(self, model: Any, path: Path) -> None:
        model.save(path)
        self.path = path
        self.kind, arrays = persistence._unpack(path.read_bytes())
        self.facts = json.loads(arrays.pop("facts").tobytes())
        self.state = {name.removeprefix("state."): a.copy() for name, a in arrays.items()}

    def write(self) -> Path:
        arrays = {f"state.{name}": array for name, array in self.state.items()}
        arrays["facts"] = np.frombuffer(json.dumps(self.facts).encode(), dtype=np.uint8)
        self.path.write_bytes(persistence._pack(self.kind, arrays))
        return self.path

    def set(self, **changes: Any) -> None:
        for name, value in changes.items():
            name = name.replace("__", ".")
            self.state[name] = np.asarray(value, dtype=self.state[name].dtype)

    def setting(self, value: Any, *names: str) -> None:
        pairs = self.facts["settings"]["dict"]
        for name in names[:-1]:
            pairs = dict(map(tuple, pairs))[name]["dict"]
        next(pair for pair in pairs if pair[0] == names[-1])[1] = value


def refusal(path: Path) -> str:
    with pytest.raises(ValueError, match="is not a model this version can load") as caught:
        onlinesvm.load(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- sizes, indices, numbers --------------------------------------------------------------------

ARRAYS: dict[str, tuple[Any, Callable[[Forgery], None]]] = {
    "n times d wraps": (
        RampSVC(),
        lambda f: f.set(
            rows__examples__size=2**61 + 1, rows__examples__width=8, rows__examples__values=[0] * 8
        ),
    ),
    "no features, many examples": (
        RampSVC(),
        lambda f: f.set(
            rows__examples__size=2**50, rows__examples__width=0, rows__examples__values=[]
        ),
    ),
    "rows wider than the model": (SmoSVC(), lambda f: f.set(rows__examples__width=2**61 + 3)),
    "the inverse wraps": (
        RampSVC(),
        lambda f: f.set(box0__inverse__size=2**61, box0__inverse__values=[]),
    ),
    "stride wraps": (
        PassiveAggressiveClassifier(),
        lambda f: f.set(f__model__stride=2**61, f__model__columns=2**61, f__model__w=[]),
    ),
    "outputs without examples": (
        KernelPerceptron(variant="plain"),
        lambda f: f.set(
            f__model__outputs=10**9,
            f__model__examples__size=0,
            f__model__examples__values=[],
            f__model__ids=[],
            f__model__coef=[],
        ),
    ),
    "the core is narrower than its rows": (RampSVC(), lambda f: f.set(width=1)),
    "NaN examples": (HullerSVC(), lambda f: f.set(rows__examples__values=[np.nan] * 90)),
    "NaN gradients": (LASVC(), lambda f: f.state["box0.g"].fill(np.nan)),
    "infinite inverse": (IncrementalSVC(), lambda f: f.state["box0.inverse.values"].fill(np.inf)),
    "a class that is not there": (RampSVC(), lambda f: f.state["class"].fill(2**31 - 1)),
    "an id twice": (RampSVC(), lambda f: f.state["rows.ids"].fill(5)),
    "a basis that names an example twice": (
        onlinesvm.IndependentSVC(),
        lambda f: f.state["basis.names"].fill(f.state["basis.names"][0]),
    ),
    "an id that was never given": (KernelPerceptron(), lambda f: f.state["f.model.ids"].fill(500)),
    "a negative counter": (NormaSVC(), lambda f: f.set(t=-3)),
    "a scale that overflows": (NormaSVC(), lambda f: f.set(f__outputs__scale=[5e-324])),
    "a set with a member twice": (
        IncrementalSVC(),
        lambda f: f.state["box0.margin"].fill(f.state["box0.margin"][0]),
    ),
    "a coefficient above its bound": (SmoSVC(), lambda f: f.state["box0.s"].fill(7.0)),
    "bounds above the costs": (SmoSVC(), lambda f: f.set(cost=f.state["cost"] / 2)),
    "hulls without members": (HullerSVC(), lambda f: f.state["box0.positive.a"].fill(0)),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_that_contradict_each_other(tmp_path: Path, name: str) -> None:
    model, change = ARRAYS[name]
    forgery = Forgery(clone(model).fit(*rows()), tmp_path / "model")
    change(forgery)
    refusal(forgery.write())


BLOCKS: dict[str, tuple[str, Any]] = {
    "of an output that is not there": ("moves.output", 10**7),
    "with a feature out of range": ("x.indices", 2**30),
    "wider than the model": ("x.width", 2**40),
    "dense and short": ("x.sparse", 0),
    "with more values than there are": ("lengths.x.values", 2**40),
    "with fewer values than there are": ("lengths.x.values", 1),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_an_example_that_waits_in_a_block(tmp_path: Path, name: str) -> None:
    X, y = rows()
    model = PegasosSVC(block=50, classes=np.unique(y)).partial_fit(sp.csr_array(X), y)
    forgery = Forgery(model, tmp_path / "model")
    onlinesvm.load(forgery.write())  # it is the change that is refused
    member, value = BLOCKS[name]
    forgery.state[f"block.waiting.{member}"][0] = value
    refusal(forgery.write())


@pytest.mark.parametrize("count", [-1, 0, 1, 2**40])
def test_more_or_fewer_objects_than_there_are(tmp_path: Path, count: int) -> None:
    X, y = rows()
    model = PegasosSVC(block=50, classes=np.unique(y)).partial_fit(X, y)
    forgery = Forgery(model, tmp_path / "model")
    forgery.set(block__waiting__count=count)
    refusal(forgery.write())


@pytest.mark.parametrize("sparse", [0, 1])
def test_an_example_put_aside_by_a_query(tmp_path: Path, sparse: int) -> None:
    X, y = rows()
    model = RampSVC(query=Greedy(5)).fit(sp.csr_array(X) if sparse else X, y)
    forgery = Forgery(model, tmp_path / "model")
    forgery.set(query__seen=4, query__best=0.0, query__kept__x__sparse=sparse)
    forgery.set(query__kept__x__values=[1.0], query__kept__x__indices=[2**30] * sparse)
    forgery.set(query__kept__x__width=3, query__kept__weight=1.0, query__kept__id=7)
    assert "put aside" in refusal(forgery.write())


def test_more_classes_than_outputs(tmp_path: Path) -> None:
    for model in (RampSVC(), LASVC(), StreamSVC(), PassiveAggressiveClassifier()):
        forgery = Forgery(clone(model).fit(*rows()), tmp_path / "model")
        forgery.facts["classes"] = {"array": list(range(9)), "dtype": "<i8"}
        assert "outputs" in refusal(forgery.write())


FACTS: dict[str, Any] = {
    "next_id": [0, -5, 2**64, 1.5, "x", None],
    "id_gap": [-(2**64), 10**6],  # below 0: some came back after they were unlearned
    "n_features_in": [0, 1, 2**40, -3],
    "sparsely": [None, 3],
    "class_factors": ["boo", {"array": [], "dtype": "<f8"}, {"array": [-1, 1], "dtype": "<f8"}],
    "classes": [
        {"array": [1, 1], "dtype": "<i8"},
        {"array": ["a"] * 50, "dtype": "<U99999999"},
        {"array": ["a", "b"], "dtype": "<U80000"},  # a width that costs the file five digits
    ],
    "vocabulary": [["a", "a", "b"], ["a"], 7],
    "feature_names": [["a"], 5],
    "core": ["Ramp64", "Smo32", None],
    "settings": [None, {"dict": []}],
    "begun": [{"dict": [["C", -1.0]]}, {"dict": [["unknown", 1]]}, 3],
    "held": [{"dict": []}, 3],
}


@pytest.mark.parametrize("fact", FACTS)
def test_facts_that_cannot_be(tmp_path: Path, fact: str) -> None:
    forgery = Forgery(RampSVC().fit(*rows()), tmp_path / "model")
    for value in FACTS[fact]:
        forgery.facts[fact] = value
        refusal(forgery.write())


SETTINGS: list[tuple[Any, Any, tuple[str, ...]]] = [
    (RampSVC(), 0.0, ("tol",)),
    (IncrementalSVC(), {"float": "nan"}, ("tol",)),
    (PokerSVC(), -1.0, ("tol",)),
    (RampSVC(), -5.0, ("C",)),
    (RampSVC(gamma=0.5), {"float": "nan"}, ("kernel", "gamma")),
    (RampSVC(kernel="poly"), 1e300, ("kernel", "degree")),
    (CoreVectorSVC(), 0, ("sample",)),
    (HullerSVC(), 2**62, ("reprocess",)),
    (StreamSVC(), 0, ("balls",)),
    (PegasosSVC(), 2**62, ("block",)),
]


@pytest.mark.parametrize(("model", "value", "names"), SETTINGS, ids=str)
def test_settings_are_those_of_the_parameters(
    tmp_path: Path, model: Any, value: Any, names: tuple[str, ...]
) -> None:
    forgery = Forgery(clone(model).fit(*rows()), tmp_path / "model")
    forgery.setting(value, *names)
    assert "settings" in refusal(forgery.write())


def test_parameters_pass_the_constructors_own_checks(tmp_path: Path) -> None:
    forgery = Forgery(RampSVC().fit(*rows()), tmp_path / "model")
    next(p for p in forgery.facts["params"]["dict"] if p[0] == "C")[1] = -5.0
    forgery.setting(-5.0, "C")
    assert "C must be finite and > 0" in refusal(forgery.write())


# --- what is kept and could be computed ----------------------------------------------------------

DERIVED = [
    (IncrementalSVC(), "box0.inverse.values"),
    (RampSVC(kernel="rbf"), "box0.inverse.values"),
    (PokerSVC(), "box0.gram.kernel"),
    (PokerSVC(), "box0.gram.inverse.values"),
    (IncrementalSVC(), "box0.h"),
    (SmoSVC(), "box0.g"),
    (PokerSVC(), "box0.h"),
    (HullerSVC(), "box0.positive.dot"),
    (CoreVectorSVC(), "box0.rho"),
]


@pytest.mark.parametrize("how", ["roll", "tiny", "huge"])
@pytest.mark.parametrize(("model", "name"), DERIVED, ids=str)
def test_what_the_rows_tell_is_not_believed(
    tmp_path: Path, model: Any, name: str, how: str
) -> None:
    """Learning and unlearning go on, and end, whatever the file says of inverse and gradients."""
    X, y = rows(40)
    later, labels = rows(10, seed=1)
    honest = clone(model).fit(X, y)
    forgery = Forgery(honest, tmp_path / "model")
    array = forgery.state[name]
    array[...] = {"roll": np.roll(array, 1) * 1e8, "tiny": 5e-324, "huge": 1e300}[how]
    again = onlinesvm.load(forgery.write())
    for m in (honest, again):
        m.partial_fit(later, labels)
        m.unlearn([0, 1, 2, 11])
    assert again.kkt_residual() <= max(1e-3, 2 * honest.kkt_residual())
    assert np.allclose(again.decision_function(X), honest.decision_function(X), atol=0.02)


# --- memory and time -----------------------------------------------------------------------------


def test_wide_sparse_rows_take_memory_by_what_is_in_them(tmp_path: Path) -> None:
    wide = 2**31 - 1
    X = sp.csr_array((np.ones(4), [5, 2**30, 5, wide - 1], [0, 2, 4]), shape=(2, wide))
    model = RampSVC(gamma=0.5).fit(X, [0, 1])
    assert model.nbytes_ < 1 << 20
    model.save(tmp_path / "model")
    assert np.array_equal(onlinesvm.load(tmp_path / "model").predict(X), model.predict(X))


def test_a_device_is_no_model() -> None:
    if os.path.exists("/dev/zero"):
        with pytest.raises(ValueError, match="regular file"):
            onlinesvm.load("/dev/zero")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forged_files_by_the_hundred() -> None:
    """A slice of what `make fuzz` does."""
    command = [sys.executable, ROOT / "tools" / "fuzz_models.py", "--count", "600", "--seed", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "600 forged files" in done.stdout
