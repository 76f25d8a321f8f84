"""Saved models: complete, atomic, and safe to load from strangers."""

from __future__ import annotations

import contextlib
import enum
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
from sklearn.base import clone, is_classifier
from tiers import examples

import onlinesvm
from onlinesvm import (
    IncrementalSVC,
    KernelPerceptron,
    OfflineRampSVC,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    RampSVC,
)
from onlinesvm.checks import fingerprint, name_of
from onlinesvm.checks.streams import go_on, learned, stream_for
from onlinesvm.files import persistence
from onlinesvm.files.json_values import from_json, to_json
from onlinesvm.model import container
from onlinesvm.queries import Greedy


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


class Colour(enum.IntEnum):
    RED = 1
    BLUE = 2


ODD_LABELS: list[Any] = [
    np.array(["2020-01-01", "2020-01-02"], dtype="M8[ns]"),
    np.array(["2020-01-01", "2020-01-02"], dtype=">M8[D]"),
    np.array([1, 2], dtype="m8[s]"),
    np.array(["a" * 100_000, "b"]),
    np.array(["a\0b", "\ud800"]),
    np.array([1, 2], dtype=">i4"),
    np.array([1, 2], dtype=np.float16),
    np.array([2**63, 1], dtype=np.uint64),
    np.array([True, False]),
]


@pytest.mark.parametrize("labels", ODD_LABELS, ids=lambda labels: str(labels.dtype))
def test_odd_labels_come_back(tmp_path: Path, labels: Any) -> None:
    model = PassiveAggressiveClassifier().fit(np.eye(2), labels)
    model.save(tmp_path / "model")
    again = onlinesvm.load(tmp_path / "model")
    assert again.classes_.dtype == model.classes_.dtype
    assert np.array_equal(again.classes_, model.classes_)
    assert fingerprint(again) == fingerprint(model)


ODD_NAMES: list[Any] = [("a", 1), ("a", ("b", None)), 3, None, 1.5, np.str_("a"), np.int64(3)]


@pytest.mark.parametrize("name", ODD_NAMES, ids=repr)
def test_odd_feature_names_come_back(tmp_path: Path, name: Any) -> None:
    model = PassiveAggressiveClassifier(classes=[0, 1]).learn_one({name: 1.0, "other": 2.0}, 1)
    model.save(tmp_path / "model")
    again = onlinesvm.load(tmp_path / "model")
    assert [*map(type, again._vocabulary.names())] == [type(name), str]
    assert_goes_on(model, again, {name: 1.0, "new": 1.0}, 0)


def test_what_equals_a_plain_value_comes_back_as_that(tmp_path: Path) -> None:
    model = PassiveAggressiveClassifier(classes="open")
    model.learn_one({Colour.RED: 1.0}, Colour.RED).learn_one({Colour.BLUE: 1.0}, Colour.BLUE)
    model.save(tmp_path / "model")
    assert_goes_on(model, onlinesvm.load(tmp_path / "model"), {2: 1.0}, 1)


@pytest.mark.parametrize(
    "params",
    [
        {"C": np.float32(0.1)},
        {"classes": (0, 1)},
        {"classes": np.array([0, 1], dtype=np.int8)},
        {"class_weight": {0: 1, 1: np.float64(2.0)}},
        {"C": float("inf")},
    ],
    ids=str,
)
def test_odd_parameters_come_back(tmp_path: Path, params: dict[str, Any]) -> None:
    model = PassiveAggressiveClassifier(**params).fit(np.eye(2), [0, 1])
    model.save(tmp_path / "model")
    again = onlinesvm.load(tmp_path / "model")
    assert repr(again.get_params()) == repr(model.get_params())
    assert_goes_on(model, again, np.eye(2)[0], 1)


def test_parameters_set_after_learning_began_come_back_beside_those_in_use(tmp_path: Path) -> None:
    model = RampSVC(C=1.0).fit(np.eye(2), [0, 1]).set_params(C=9.0, query=Greedy(h=np.int64(3)))
    for name in ("model", "again"):
        model.save(tmp_path / name)
        again = onlinesvm.load(tmp_path / name)
        assert again.C == 9.0
        assert again.query == Greedy(h=3)
        assert fingerprint(again) == fingerprint(model)
        model = again
    as_begun = {"C": 1.0, "query": "all"}
    assert_goes_on(model.set_params(**as_begun), RampSVC().fit(np.eye(2), [0, 1]), np.eye(2)[0], 1)


def test_a_C_that_was_moved_comes_back(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = IncrementalSVC(C=1.0).fit(X, X[:, 0] > 0).set_C(5.0)
    model.save(tmp_path / "model")
    assert_goes_on(model, onlinesvm.load(tmp_path / "model"), np.array([0.2, 0.1]), True)


@pytest.mark.parametrize("cls", [c for c in onlinesvm.all_estimators() if is_classifier(c())])
def test_hundreds_of_classes_come_back(tmp_path: Path, cls: Any) -> None:
    n = 130
    X = np.random.default_rng(0).normal(size=(n, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = cls().fit(X[:20], np.arange(20)) if cls is OfflineRampSVC else cls(classes=range(n))
        if cls is not OfflineRampSVC:
            model.set_params(classes=np.arange(n)).partial_fit(X[:5], np.arange(5))
    model.save(tmp_path / "model")
    assert fingerprint(onlinesvm.load(tmp_path / "model")) == fingerprint(model)


class MyRamp(RampSVC):
    """A user's own class."""


class MyGreedy(Greedy):
    """A user's own query."""


UNSAVABLE: list[Any] = [
    (MyRamp(), "class of your own"),
    (RampSVC(query=MyGreedy(3)), "query is a MyGreedy"),
    (RampSVC(kernel=lambda x, X: X @ x), "kernel is a function"),
    (PassiveAggressiveClassifier(classes=range(2)), "classes is a range"),
    (PassiveAggressiveClassifier(classes=np.array([0, 1], dtype=np.longdouble)), "classes has"),
    (PassiveAggressiveClassifier(classes=["a" * 10**6, *map(str, range(50))]), "long and short"),
]


@pytest.mark.parametrize(("model", "why"), UNSAVABLE, ids=lambda value: str(value)[:30])
def test_what_load_could_not_read_is_not_written(tmp_path: Path, model: Any, why: str) -> None:
    labels = model.classes if getattr(model, "classes", None) is not None else [0, 1]
    model = clone(model).fit(np.eye(2), np.asarray(labels)[:2])
    (tmp_path / "model").write_bytes(b"precious")
    with pytest.raises(ValueError, match=why) as caught:
        model.save(tmp_path / "model")
    assert "\n" not in str(caught.value)
    assert (tmp_path / "model").read_bytes() == b"precious"


def test_rows_that_would_overflow_are_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    model = KernelPerceptron(kernel="linear", variant="plain", dtype="float64")
    model.fit(np.eye(2), [0, 1])
    refused = []
    for y in (0, 1):  # one of them is a mistake
        with contextlib.suppress(ValueError):
            model.partial_fit([[1e150, 0.0]], [y], sample_weight=[1e200])
            continue
        refused.append(y)
    assert refused
    model.save(tmp_path / "model")
    assert fingerprint(onlinesvm.load(tmp_path / "model")) == fingerprint(model)


def assert_goes_on(a: Any, b: Any, x: Any, y: Any) -> None:
    assert fingerprint(a) == fingerprint(b)
    assert fingerprint(a.learn_one(x, y)) == fingerprint(b.learn_one(x, y))


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
SCALARS |= st.sampled_from([np.float32(0.1), np.int8(3), np.str_("a"), np.datetime64("2020", "s")])
PLAIN = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.integers() | st.tuples(st.text(), st.integers()), inner)
    ),
)


@given(PLAIN)
def test_any_plain_value_comes_back(value: Any) -> None:
    again = from_json(json.loads(json.dumps(to_json("value", value), allow_nan=False)))
    assert again == value
    assert repr(again) == repr(value)  # of the same types, down to the last member


def test_strings_in_an_array_far_wider_than_they_are() -> None:
    """A part of a column is as wide as the whole; a file may not claim so much for so little."""
    wide = np.array(["no", "yes"], dtype="<U100000")
    again = from_json(to_json("y", wide))
    assert again.tolist() == wide.tolist()
    assert again.dtype == "<U3"
    assert from_json(to_json("y", wide.astype("<U30"))).dtype == "<U30"


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
    path.write_bytes((2 << 20).to_bytes(8, "little") + b"{" * (3 << 20))
    assert "header" in refused(path)


def test_arrays_that_nobody_asked_for(path: Path) -> None:
    _, arrays = persistence._unpack(path.read_bytes())
    crowd = {f"state.{i}": np.zeros(1) for i in range(2000)}
    path.write_bytes(persistence._pack("RampSVC", arrays | crowd))
    assert "2000 unknown entries" in refused(path)


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
    monkeypatch.setattr(container, "FORMAT", container.FORMAT + 1)
    model.save(path)
    monkeypatch.undo()
    assert "update onlinesvm" in refused(path)


@pytest.mark.parametrize("older", [1, 2])  # 2: max_outer, selection, fit_intercept
def test_an_older_format(path: Path, monkeypatch: Any, model: Any, older: int) -> None:
    monkeypatch.setattr(container, "FORMAT", older)
    model.save(path)
    monkeypatch.undo()
    assert f"it has format {older} " in refused(path)
    assert "fit the model anew" in refused(path)


@pytest.mark.parametrize(
    ("cls", "name"),
    [
        (onlinesvm.OfflineRampSVC, "max_outer"),
        (onlinesvm.LASVC, "selection"),
        (onlinesvm.PassiveAggressiveClassifier, "fit_intercept"),
    ],
)
def test_old_names_are_refused_in_a_line(cls: Any, name: str) -> None:
    with pytest.raises(TypeError, match=rf"^{cls.__name__}\(\) .*{name}.*$"):
        cls(**{name: 1})


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
@settings(max_examples=examples(40))
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


def test_the_container_is_that_of_safetensors():
    from safetensors.numpy import load, save

    arrays = {
        "b": np.arange(3.0),
        "a": np.array(3),
        "c.d": np.zeros((0, 2), np.float32),
        "text": np.frombuffer(b"abc", np.uint8),
        "i": np.ones((2, 3), np.int32),
        "aa": np.asfortranarray(np.arange(6.0).reshape(2, 3)).copy(order="C"),
        "f": np.ones(5, np.float32),
    }
    head = json.dumps({"format": 1, "class": 'a "name"'})
    ours = container._serialised(arrays, head)
    assert ours == save(arrays, {"onlinesvm": head})
    packed = load(persistence._pack("Some", {"f": np.asfortranarray(np.arange(6.0).reshape(2, 3))}))
    assert packed["f"].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_loading_raises_an_audit_event(tmp_path):
    path = tmp_path / "m.onlinesvm"
    onlinesvm.PassiveAggressiveClassifier().fit(np.eye(2), [0, 1]).save(path)
    heard, listening = [], [True]
    sys.addaudithook(lambda event, args: listening and heard.append((event, args)))
    onlinesvm.load(path)
    listening.clear()  # no hook can be taken away
    assert ("onlinesvm.load", (str(path),)) in heard
