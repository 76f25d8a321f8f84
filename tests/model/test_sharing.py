"""docs/threads.md, rule by rule: nothing here depends on who runs first."""

from __future__ import annotations

import copy
import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import onlinesvm
from onlinesvm import (
    LASVC,
    IncrementalSVC,
    KernelPerceptron,
    PassiveAggressiveClassifier,
    PokerSVC,
    RampSVC,
    SmoSVC,
    _core,
)

Array = NDArray[np.float64]

rng = np.random.default_rng(0)
X = rng.normal(size=(240, 3))
y = (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    yield
    _core.interrupt_after(0)


class Kernel:
    """A kernel that runs something of the test's once it is armed."""

    def __init__(self) -> None:
        self.inside: Callable[[], Any] | None = None

    def __call__(self, x: Array, Z: Array) -> Array:
        if self.inside is not None:
            self.inside()
        return np.exp(-((Z - x) ** 2).sum(axis=1))


class Door:
    """Holds a call inside its kernel until the test lets it go."""

    def __init__(self, kernel: Kernel) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()
        kernel.inside = self.wait

    def wait(self) -> None:
        self.reached.set()
        self.opened.wait()


@pytest.fixture
def other() -> Iterator[Callable[[Callable[[], Any]], Future[Any]]]:
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit


@contextmanager
def at_work(other: Callable[[Callable[[], Any]], Future[Any]]) -> Iterator[Any]:
    """A model that another thread is teaching 20 more examples, and has taught them afterwards."""
    kernel = Kernel()
    model = RampSVC(kernel=kernel, settle="example").fit(X[:20], y[:20])
    door = Door(kernel)
    learning = other(lambda: model.partial_fit(X[20:40], y[20:40]))
    door.reached.wait()
    try:
        yield model
    finally:
        kernel.inside = None
        door.opened.set()
    assert learning.result() is model


# ---- a kernel and its model ----------------------------------------------------------------------

USES: dict[str, Callable[[Any], Any]] = {
    "predict": lambda model: model.predict(X[:2]),
    "decide_one": lambda model: model.decide_one(X[0]),
    "learn_one": lambda model: model.learn_one(X[0], 1),
    "partial_fit": lambda model: model.partial_fit(X[:3], y[:3]),
    "fit": lambda model: model.fit(X[:9], y[:9]),
    "unlearn": lambda model: model.unlearn([0]),
    "support_": lambda model: model.support_,
    "pickle": pickle.dumps,
}


@pytest.mark.parametrize("inner", USES)
@pytest.mark.parametrize("outer", ["learn_one", "partial_fit", "unlearn", "predict", "decide_one"])
def test_a_kernel_that_uses_its_own_model_is_told(outer, inner):
    kernel = Kernel()
    paper = {"bias": "none", "settle": "example"}
    model = RampSVC(kernel=kernel, n_jobs=2, **paper).fit(X[:40], y[:40])
    before = model.decision_function(X)
    kernel.inside = lambda: USES[inner](model)
    with pytest.raises(RuntimeError, match="may use other models but not this one"):
        USES[outer](model)
    kernel.inside = None
    if outer in ("predict", "decide_one"):
        np.testing.assert_array_equal(model.decision_function(X), before)
    whole = RampSVC(kernel=Kernel(), **paper).fit(X, y)
    np.testing.assert_array_equal(model.fit(X, y).decision_function(X), whole.decision_function(X))


def test_a_kernel_may_use_another_model_of_its_class():
    known = RampSVC(classes="open").partial_fit(X, np.arange(len(X)) % 60)  # 60 outputs
    kernel = Kernel()
    model = RampSVC(kernel=kernel, settle="example").fit(X[:60], y[:60])
    quiet = [model.decide_one(x) for x in X[:9]], model.decision_function(X[:9])
    kernel.inside = lambda: known.decide_one(X[0].astype(np.float32))
    asking = [model.decide_one(x) for x in X[:9]], model.decision_function(X[:9])
    np.testing.assert_array_equal(asking[0], quiet[0])
    np.testing.assert_array_equal(asking[1], quiet[1])


def test_a_value_may_look_at_the_model_that_reads_it():
    class Nosy:
        def __init__(self, model: Any) -> None:
            self.model = model

        def __float__(self) -> float:
            self.model.predict_one({"z": 1.0, "a": 5.0})
            return 2.0

    models = [PassiveAggressiveClassifier(classes=[0, 1]) for _ in range(2)]
    for model in models:
        model.learn_one({"a": 1.0, "b": -1.0, "z": 3.0}, 0)
        model.learn_one({"a": -1.0, "b": 1.0}, 1)
    plain, nosy = models
    plain.learn_one({"a": 1.0, "b": 2.0, "z": 7.0}, 1)
    nosy.learn_one({"a": 1.0, "b": Nosy(nosy), "z": 7.0}, 1)
    np.testing.assert_array_equal(plain.coef_, nosy.coef_)


@pytest.mark.parametrize("change", ["clear", "grow", "delete"])
def test_a_dict_that_changes_while_it_is_read_is_refused(change):
    class Restless:
        def __float__(self) -> float:
            if change == "clear":
                example.clear()
            elif change == "grow":
                example.update({f"new{i}": 1.0 for i in range(2000)})
            else:
                for name in [name for name in example if name.startswith("later")]:
                    del example[name]
            return 1.0

    model = PassiveAggressiveClassifier(classes=[0, 1]).learn_one({"a": 1.0}, 0)
    example: dict[str, Any] = {f"key{i}" * 5: 1.0 for i in range(300)}
    example["restless"] = Restless()
    example |= {f"later{i}" * 5: 1.0 for i in range(300)}
    with pytest.raises((RuntimeError, ValueError), match="changed"):
        model.learn_one(example, 1)
    assert (model.n_seen_, model.n_features_in_) == (1, 1)
    assert model._vocabulary.names() == ["a"]
    assert model.learn_one({"a": 2.0, "b": 1.0}, 1).n_features_in_ == 2


# ---- waiting -------------------------------------------------------------------------------------


@pytest.mark.parametrize("use", USES)
def test_ctrl_c_ends_the_wait_for_another_thread(use, other):
    with at_work(other) as model:
        _core.interrupt_after(1)
        with pytest.raises(KeyboardInterrupt):
            USES[use](model)
    assert model.n_seen_ == 40


def test_the_way_back_never_shows_half_a_model():
    """Who looked between two lines of it would find no lock, and make one of their own."""
    kernel = Kernel()
    model = RampSVC(kernel=kernel, settle="example").fit(X[:20], y[:20])
    kernel.inside = lambda: [][0]
    whole = []

    def look(frame: Any, event: str, arg: Any) -> Any:
        if frame.f_code.co_qualname in ("AllOrNothing._go_back", "AllOrNothing.__exit__"):
            whole.append({"_register", "_state"} <= vars(model).keys())
        return look

    tracing = sys.gettrace()
    sys.settrace(look)
    try:
        with pytest.raises(IndexError):
            model.partial_fit(X[20:40], y[20:40])
    finally:
        sys.settrace(tracing)
    assert len(whole) > 5
    assert all(whole)


def test_readers_look_side_by_side(other):
    kernel = Kernel()
    model = RampSVC(kernel=kernel, settle="example").fit(X[:20], y[:20])
    door = Door(kernel)
    looking = other(lambda: model.decision_function(X))
    door.reached.wait()
    kernel.inside = None
    scores = model.decision_function(X)  # would wait for ever if it had to
    door.opened.set()
    np.testing.assert_array_equal(looking.result(), scores)


# ---- processes -----------------------------------------------------------------------------------

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")


def in_a_fork(look: Callable[[], Any]) -> str:
    """What a forked child sees."""
    mine, its = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            seen = repr(look())
        except BaseException as error:
            seen = f"{type(error).__name__}: {error}"
        os.write(its, seen.encode())
        os._exit(0)
    os.close(its)
    with open(mine, "rb") as answer:
        seen = answer.read().decode()
    os.waitpid(child, 0)
    return seen


@needs_fork
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize("use", ["decide_one", "learn_one", "predict", "pickle"])
def test_a_fork_amid_a_change_gives_a_clear_error(use, other):
    with at_work(other) as model:
        seen = in_a_fork(lambda: USES[use](model))
    assert seen.startswith("RuntimeError: another thread was changing this model")
    assert model.n_seen_ == 40


@needs_fork
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_amid_a_look_gives_the_model(other):
    kernel = Kernel()
    model = RampSVC(kernel=kernel, settle="example").fit(X[:20], y[:20])
    plain = model.decide_one(X[30])
    door = Door(kernel)
    looking = other(lambda: model.decision_function(X))
    door.reached.wait()

    def use() -> list[float]:
        kernel.inside = None
        return [model.decide_one(X[30]), model.learn_one(X[20], int(y[20])).n_seen_]

    seen = in_a_fork(use)
    kernel.inside = None
    door.opened.set()
    assert seen == repr([plain, 21])
    assert len(looking.result()) == len(X)


# ---- writers -------------------------------------------------------------------------------------

WRITERS = [RampSVC, IncrementalSVC, LASVC, PokerSVC, SmoSVC, KernelPerceptron]
WRITERS += [PassiveAggressiveClassifier]


def at_once(*jobs: Callable[[], Any]) -> list[Any]:
    """Run the jobs in threads that begin together; what they return, or the first failure."""
    start = threading.Barrier(len(jobs))

    def run(job: Callable[[], Any]) -> Any:
        start.wait()
        return job()

    with ThreadPoolExecutor(len(jobs)) as pool:
        return [future.result() for future in [pool.submit(run, job) for job in jobs]]


@pytest.mark.parametrize("cls", WRITERS, ids=lambda cls: cls.__name__)
def test_writers_queue_and_no_number_is_given_twice(cls):
    model = cls(classes=[0, 1])

    def batches() -> None:
        for i in range(0, 60, 6):
            model.partial_fit(X[i : i + 6], y[i : i + 6])

    def ones() -> None:
        for i in range(60, 90):
            model.learn_one(X[i], int(y[i]))

    def forgets() -> None:
        for _ in range(10):
            if model.can("unlearn") and model.__sklearn_is_fitted__() and model.n_seen_:
                model.unlearn([model.n_seen_ - 1])

    at_once(batches, ones, batches, forgets)
    assert model.n_seen_ == 150
    held = model._core.state().get("rows.ids", np.array([]))
    assert len(np.unique(held)) == len(held)
    assert model.learn_one(X[0], int(y[0])).n_seen_ == 151


@pytest.mark.parametrize("cls", [RampSVC, PassiveAggressiveClassifier, KernelPerceptron])
def test_classes_and_names_may_come_from_several_threads(cls):
    model = cls(classes="open")

    def stream(first: int) -> None:
        for i in range(first, first + 25):
            model.learn_one({f"w{(i * 7) % (5 + i)}": 1.0, f"w{i}": -1.0}, f"class {i % 12}")

    at_once(lambda: stream(0), lambda: stream(20), lambda: [pickle.dumps(model) for _ in range(20)])
    assert model.n_seen_ == 50
    assert sorted(model.classes_) == sorted({f"class {i % 12}" for i in range(45)})
    assert model.n_features_in_ == len(model._vocabulary)


def test_models_may_merge_each_other():
    a, b = (onlinesvm.StreamSVC().fit(X[part], y[part]) for part in (slice(120), slice(120, 240)))
    at_once(lambda: a.merge(b), lambda: b.merge(a))
    assert sorted([a.n_seen_, b.n_seen_]) == [240, 360]  # whoever came second had the other's, too


# ---- copies --------------------------------------------------------------------------------------

SNAPSHOTS = int(os.environ.get("ONLINESVM_SNAPSHOTS", "12"))


def saved(model: Any, folder: Any) -> Any:
    path = folder / "model.onlinesvm"
    model.save(path)
    return onlinesvm.load(path)


COPIES: dict[str, Callable[[Any, Any], Any]] = {
    "save": saved,
    "pickle": lambda model, _: pickle.loads(pickle.dumps(model)),
    "deepcopy": lambda model, _: copy.deepcopy(model),
}


def by_ones(model: Any, i: int) -> int:
    model.learn_one(X[i], int(y[i]))
    return i + 1


def by_batches(model: Any, i: int) -> int:
    model.partial_fit(X[i : i + 7], y[i : i + 7])
    return min(i + 7, len(X))


def by_dicts(model: Any, i: int) -> int:
    names = (f"w{i % 5}", f"w{i % (5 + i // 2)}", "z")
    model.learn_one({name: X[i, j] for j, name in enumerate(names)}, f"class {i % (2 + i // 9)}")
    return i + 1


def finished(model: Any, step: Callable[[Any, int], int]) -> Any:
    while model.n_seen_ < len(X):
        step(model, model.n_seen_)
    return model


def scores(model: Any, step: Callable[[Any, int], int]) -> Array:
    rows = [{"w0": 1.0, "w3": -0.5, "z": 2.0}] if step is by_dicts else X
    return np.asarray(model.decision_function(rows))


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize(
    ("cls", "step"),
    [
        (RampSVC, by_ones),
        (IncrementalSVC, by_batches),
        (LASVC, by_ones),
        (PokerSVC, by_batches),
        (RampSVC, by_dicts),
        (PassiveAggressiveClassifier, by_dicts),
        (KernelPerceptron, by_dicts),
    ],
)
def test_a_copy_is_a_moment_of_the_stream(cls, step, how, tmp_path):
    classes = "open" if step is by_dicts else [0, 1]
    alone = finished(begun(cls, step, classes), step)
    for _ in range(max(1, SNAPSHOTS // 6)):
        model = begun(cls, step, classes)

        def copies(model: Any = model) -> list[Any]:
            return [COPIES[how](model, tmp_path) for _ in range(6)]

        for again in at_once(lambda model=model: finished(model, step), copies)[1]:
            assert 0 < again.n_seen_ <= len(X)
            whole = finished(again, step)
            np.testing.assert_array_equal(scores(whole, step), scores(alone, step))


def begun(cls: type, step: Callable[[Any, int], int], classes: Any) -> Any:
    model = cls(classes=classes)
    step(model, 0)
    return model


@pytest.mark.parametrize("cls", [RampSVC, KernelPerceptron, PassiveAggressiveClassifier])
def test_a_copy_made_while_a_dict_brings_a_new_name_fits_together(cls: Any) -> None:
    """The other thread starts when the core knows the name and the face does not yet."""
    model = cls(
        classes=[0, 1], **({"gamma": 1.0} if cls is not PassiveAggressiveClassifier else {})
    )
    model.learn_one({"a": 1.0}, 0).learn_one({"a": -1.0}, 1)
    copies: list[bytes] = []

    class Told:
        def __init__(self, core: Any) -> None:
            self.core = core

        def __getattr__(self, name: str) -> Any:
            return getattr(self.core, name)

        def learn_next_dict(self, *args: Any) -> bool:
            learned = self.core.learn_next_dict(*args)
            other.start()
            return bool(learned)

    other = threading.Thread(target=lambda: copies.append(pickle.dumps(model)))
    core = model._core
    model._core = Told(core)
    model.learn_one({"a": 0.5, "b": 2.0}, 1)
    model._core = core
    other.join()
    copied = pickle.loads(copies[0])
    assert copied.n_features_in_ == 2
    assert copied.predict_one({"b": 2.0}) == model.predict_one({"b": 2.0})
