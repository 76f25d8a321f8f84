"""Saved models: complete, atomic, and safe to load from strangers."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

import onlinesvm
from onlinesvm import (
    Greedy,
    IncrementalSVC,
    OfflineRampSVC,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    RampSVC,
)
from onlinesvm.base import persistence
from onlinesvm.base.plain import from_plain, to_plain
from onlinesvm.checks import fingerprint, name_of
from onlinesvm.checks.streams import go_on, learned, stream_for


@pytest.fixture
def model() -> Any:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return RampSVC(C=2.0, s=-np.inf, query=Greedy(h=2)).fit(X, X[:, 0] > 0)


@pytest.fixture
def path(tmp_path: Path, model: Any) -> Path:
    model.save(tmp_path / "model")
    return tmp_path / "model"


# --- what comes back ----------------------------------------------------------------------------


def test_parameters_come_back_exactly(path: Path, model: Any) -> None:
    assert onlinesvm.load(path).get_params() == model.get_params()


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1],
        [-1.0, 2.0],
        [False, True],
        ["no", "yes"],
        ["é", "\U0001f600"],
        [np.int8(3), np.int8(4)],
    ],
    ids=str,
)
def test_labels_of_every_kind_come_back(tmp_path: Path, labels: list[Any]) -> None:
    model = PassiveAggressiveClassifier().fit(np.eye(2), labels)
    model.save(tmp_path / "model")
    again = onlinesvm.load(tmp_path / "model")
    assert again.classes_.dtype == model.classes_.dtype
    assert again.classes_.tolist() == model.classes_.tolist()
    assert again.predict_one(np.eye(2)[0]) == model.predict_one(np.eye(2)[0])


def test_labels_of_mixed_kinds_come_back(tmp_path: Path) -> None:
    model = PassiveAggressiveClassifier(classes="open")
    for x, y in zip(np.eye(3), ["ham", 7, True], strict=True):
        model.learn_one(x, y)
    model.save(tmp_path / "model")
    again = onlinesvm.load(tmp_path / "model")
    assert again.classes_.tolist() == [True, 7, "ham"]
    assert_goes_on(model, again, np.eye(3)[0], "ham")


def test_vocabulary_and_weights_come_back(tmp_path: Path) -> None:
    model = PassiveAggressiveClassifier(classes=["ham", "spam"], class_weight={"spam": 3.0})
    model.learn_one({"free": 1.0}, "spam").learn_one({"lunch": 2.0}, "ham")
    model.save(tmp_path / "model")
    again = onlinesvm.load(tmp_path / "model")
    assert again.get_params() == model.get_params()
    assert_goes_on(model, again, {"free": 1.0, "dinner": 1.0}, "spam")


def test_named_columns_come_back(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(np.eye(2), columns=["a", "b"])
    model = PassiveAggressiveClassifier().fit(frame, [0, 1])
    model.save(tmp_path / "model")
    again = onlinesvm.load(tmp_path / "model")
    assert again.feature_names_in_.tolist() == ["a", "b"]
    assert_goes_on(model, again, {"b": 1.0}, 0)


def assert_goes_on(a: Any, b: Any, x: Any, y: Any) -> None:
    assert fingerprint(a) == fingerprint(b)
    assert fingerprint(a.learn_one(x, y)) == fingerprint(b.learn_one(x, y))


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
)


@given(PLAIN)
def test_any_plain_value_comes_back(value: Any) -> None:
    assert from_plain(json.loads(json.dumps(to_plain("value", value), allow_nan=False))) == value


# --- writing ------------------------------------------------------------------------------------


def test_a_failed_save_keeps_the_old_file(path: Path, model: Any, monkeypatch: Any) -> None:
    before = path.read_bytes()

    def full_disk(fd: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="no space"):
        model.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["model"]


def test_a_killed_save_leaves_the_old_file_or_the_new(tmp_path: Path, model: Any) -> None:
    path = tmp_path / "model"
    model.save(path)
    program = (
        "import sys, onlinesvm; m = onlinesvm.load(sys.argv[1]); print('go', flush=True)\n"
        "while True: m.save(sys.argv[1])"
    )
    saver = subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE)
    assert saver.stdout is not None
    saver.stdout.readline()
    for _ in range(20):
        onlinesvm.load(path)
    saver.kill()
    saver.communicate()
    assert fingerprint(onlinesvm.load(path)) == fingerprint(model)


def test_other_tools_can_read_the_arrays(path: Path, model: Any) -> None:
    arrays = load_file(path)
    assert arrays.keys() == {"facts", *(f"state.{name}" for name in model._core.state())}


# --- reading what a stranger wrote --------------------------------------------------------------


def refused(path: Path) -> str:
    with pytest.raises(ValueError, match="is not a model this version can load") as caught:
        onlinesvm.load(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def rewrite(path: Path, kind: str = "RampSVC", **changes: Any) -> None:
    """A file with a valid checksum whose arrays were tampered with."""
    _, arrays = persistence._unpack(path.read_bytes())
    path.write_bytes(persistence._pack(kind, arrays | changes))


def facts(**changes: Any) -> Any:
    text = json.dumps(changes).encode()
    return np.frombuffer(text, dtype=np.uint8)


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        onlinesvm.load(tmp_path / "nothing")


def test_other_peoples_files(path: Path) -> None:
    save_file({"a": np.zeros(3)}, path)
    assert "not written by onlinesvm" in refused(path)


def test_pickles_are_not_run(path: Path) -> None:
    path.write_bytes(b"cos\nsystem\n(S'echo owned'\ntR.")
    refused(path)


def test_a_huge_header_is_not_even_parsed(path: Path) -> None:
    path.write_bytes((1 << 40).to_bytes(8, "little") + b"{" * 100)
    assert "header" in refused(path)
    path.write_bytes((2 << 20).to_bytes(8, "little") + b" " * (3 << 20))
    assert "header" in refused(path)


def test_too_many_arrays(path: Path) -> None:
    _, arrays = persistence._unpack(path.read_bytes())
    crowd = {f"state.{i}": np.zeros(1) for i in range(2000)}
    path.write_bytes(persistence._pack("RampSVC", arrays | crowd))
    assert "arrays" in refused(path)


def test_a_deeply_nested_header(path: Path) -> None:
    header = b'{"a":' * 100_000
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    refused(path)


@pytest.mark.parametrize("kind", ["os.system", "OnlineEstimator", "Greedy", "load", "__class__"])
def test_only_public_estimators_are_made(path: Path, kind: str) -> None:
    rewrite(path, kind)
    assert "no class of this library" in refused(path)


def test_another_class_cannot_take_the_arrays(path: Path) -> None:
    rewrite(path, "PassiveAggressiveClassifier")
    refused(path)


def test_a_newer_format(path: Path, monkeypatch: Any, model: Any) -> None:
    monkeypatch.setattr(persistence, "FORMAT", 2)
    model.save(path)
    monkeypatch.undo()
    assert "update onlinesvm" in refused(path)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"{}",
        b'{"params": 3}',
        b'{"params": {"dict": [["C", 1.0], ["unknown", 2]]}}',
        b'{"params": {"call": "os.system"}}',
        b'{"params": {"array": [1, 2], "dtype": "V8"}}',
        b'{"params": {"dict": []}, "core": "Ramp32"}',
        b'{"params": {"dict": []}, "core": "__import__", "settings": {"dict": []}}',
        b"[" * 100_000,
        b"\xff\xfe",
    ],
    ids=lambda text: text[:40].decode("latin1"),
)
def test_tampered_facts(path: Path, text: bytes) -> None:
    rewrite(path, facts=np.frombuffer(text, dtype=np.uint8))
    refused(path)


def test_tampered_arrays(path: Path, model: Any) -> None:
    for name, array in model._core.state().items():
        other = np.zeros(array.shape, dtype=np.complex64 if array.dtype == bool else bool)
        _, arrays = persistence._unpack(path.read_bytes())
        for bad in (np.zeros((2, 2)), other):
            tampered = persistence._pack("RampSVC", arrays | {f"state.{name}": bad})
            (path.parent / "tampered").write_bytes(tampered)
            refused(path.parent / "tampered")
        del arrays[f"state.{name}"]
        (path.parent / "tampered").write_bytes(persistence._pack("RampSVC", arrays))
        refused(path.parent / "tampered")


STRANGERS = [
    IncrementalSVC(),
    RampSVC(),
    RampSVC(query=Greedy(h=3), keep_non_support=5, dtype="float64"),
    OfflineRampSVC(),
    PassiveAggressiveClassifier(),
    PassiveAggressiveClassifier(kernel="rbf"),
    PassiveAggressiveRegressor(),
]


@pytest.mark.parametrize("sparsely", [False, True])
@pytest.mark.parametrize("estimator", STRANGERS, ids=name_of)
@settings(max_examples=40)
@given(data=st.data())
def test_arrays_that_do_not_belong_together(
    estimator: Any, sparsely: bool, data: st.DataObject, tmp_path_factory: Any
) -> None:
    """Whatever the arrays say: refused, or a model that can be used. Never a crash."""
    stream = stream_for(estimator, 40)
    stream = stream.holding(sp.csr_array(stream.X)) if sparsely else stream
    path = tmp_path_factory.mktemp("saved") / "model"
    learned(estimator, stream).save(path)
    _, arrays = persistence._unpack(path.read_bytes())
    for name in data.draw(st.lists(st.sampled_from(sorted(arrays.keys() - {"facts"})), max_size=2)):
        arrays[name] = data.draw(tampered(arrays[name]))
    path.write_bytes(persistence._pack(type(estimator).__name__, arrays))
    with contextlib.suppress(ValueError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = onlinesvm.load(path)
        model.predict(stream.X)
        go_on(model, stream).predict(stream.X)


@st.composite
def tampered(draw: st.DrawFn, array: Any) -> Any:
    """The array with another length, or with one other number in it."""
    if array.ndim and draw(st.booleans()):
        return np.resize(array, draw(st.integers(0, 2 * array.size)))
    changed = array.copy()
    if changed.size:
        numbers = {"i": [-1, 0, 1, 7, 10**6], "u": [0, 1, 255], "f": [-1, 0, 1e30, np.nan]}
        at = draw(st.integers(0, changed.size - 1))
        changed.flat[at] = draw(st.sampled_from(numbers.get(array.dtype.kind, [0, 1])))
    return changed
