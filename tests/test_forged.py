"""Files from strangers, forged with a valid checksum: refused in one line, or harmless."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import onlinesvm
from onlinesvm import (
    LASVC,
    CoreVectorSVC,
    HullerSVC,
    IncrementalSVC,
    PassiveAggressiveClassifier,
    PegasosSVC,
    PokerSVC,
    RampSVC,
    StreamSVC,
)
from onlinesvm.base import persistence

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


def test_more_classes_than_outputs(tmp_path: Path) -> None:
    for model in (RampSVC(), LASVC(), StreamSVC(), PassiveAggressiveClassifier()):
        forgery = Forgery(clone(model).fit(*rows()), tmp_path / "model")
        forgery.facts["classes"] = {"array": list(range(9)), "dtype": "<i8"}
        assert "outputs" in refusal(forgery.write())


FACTS: dict[str, Any] = {
    "next_id": [0, -5, 2**64, 1.5, "x", None],
    "id_gap": [-1, 10**6],
    "n_features_in": [0, 1, 2**40, -3],
    "sparsely": [None, 3],
    "class_factors": ["boo", {"array": [], "dtype": "<f8"}, {"array": [-1, 1], "dtype": "<f8"}],
    "classes": [{"array": [1, 1], "dtype": "<i8"}, {"array": ["a"] * 50, "dtype": "<U99999999"}],
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


def test_a_device_is_no_model() -> None:
    if os.path.exists("/dev/zero"):
        with pytest.raises(ValueError, match="regular file"):
            onlinesvm.load("/dev/zero")
