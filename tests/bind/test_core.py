"""The compiled module as the faces see it: names, refusals, state, threads."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest
import scipy.sparse as sp

from onlinesvm import _core

LINEAR = {"name": "linear", "offset": 1.0}
PARAMS = {"variant": "PA-I", "C": 0.5, "average": False, "kernel": LINEAR}


def learner(bits: int = 64, **changes):
    return _core.Model("PassiveAggressiveClassifier", f"float{bits}", PARAMS | changes)


def stream(n: int = 200, d: int = 5):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = (X @ rng.normal(size=d) + rng.normal(size=n) > 0).astype(float)
    return X, y, np.ones(n), np.arange(n)


@pytest.mark.parametrize(
    ("params", "complaint"),
    [
        ({"C": 1.0}, "missing 'variant'"),
        (PARAMS | {"nonsense": 1}, "unknown name 'nonsense'"),
        (PARAMS | {"C": "much"}, "'C' has the wrong type"),
        (PARAMS | {"variant": "PA-III"}, "variant"),
        (PARAMS | {"kernel": {"name": "sigmoid"}}, "sigmoid"),
        (PARAMS | {"kernel": {"gamma": 1.0}}, "missing 'name'"),
        (PARAMS | {"kernel": LINEAR | {"width": 1}}, "unknown name 'width'"),
        (PARAMS | {"kernel": {"name": "function"}}, "needs a callable"),
        (PARAMS | {"kernel": {"name": "function", "function": 3}}, "callable"),
    ],
)
def test_bad_params_are_named(params, complaint):
    with pytest.raises(ValueError, match=complaint):
        _core.Model("PassiveAggressiveClassifier", "float64", params)


@pytest.mark.parametrize(
    ("method", "dtype", "complaint"),
    [("Nonsense", "float64", "no method 'Nonsense'"), ("Romma", "float16", "'float16' is neither")],
)
def test_what_there_is_not_is_named(method, dtype, complaint):
    with pytest.raises(ValueError, match=complaint):
        _core.Model(method, dtype, {"kernel": LINEAR})


def test_a_verb_is_there_where_the_method_has_it():
    model = learner()
    assert _core.offers("PassiveAggressiveClassifier", "weights")
    assert hasattr(model, "weights")
    assert model.mistakes == 0
    assert not _core.offers("PassiveAggressiveClassifier", "finish")
    assert not _core.offers("Nonsense", "weights")
    with pytest.raises(AttributeError, match="does not offer 'finish'"):
        model.finish(1e-3)
    with pytest.raises(ValueError, match="holds: takes 1 arguments, got 0"):
        model.holds()
    with pytest.raises(ValueError, match=r"holds: argument 1 has the wrong type, got 0\.5"):
        model.holds(0.5)


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_all_ways_in_agree(bits, dtype):
    X, y, w, ids = stream()
    X = X.astype(np.float32).astype(dtype)
    S = sp.csr_array(X)
    batch, rows, sparse, named = (learner(bits) for _ in range(4))
    vocabulary: dict[str, int] = {}
    numbers = _core.Register(), _core.Register()
    batch.learn_dense(X, y, w, ids)
    sparse.learn_sparse(S.data, S.indices, S.indptr, S.shape[1], y, w, ids)
    for i, x in enumerate(X):
        assert rows.learn_next(x, y[i], 1.0, numbers[0])
        record = {f"f{j}": v for j, v in enumerate(x)}
        assert named.learn_next_dict(record, vocabulary, y[i], 1.0, numbers[1])
    assert [taken.next for taken in numbers] == [len(X), len(X)]
    assert (batch.weights()["coef"] == rows.weights()["coef"]).all()
    for other in (sparse, named):
        np.testing.assert_allclose(other.weights()["coef"], batch.weights()["coef"], rtol=1e-9)
    assert vocabulary == {f"f{j}": j for j in range(5)}
    scores = batch.score_dense(X)
    assert scores.shape == (len(X), 1)
    assert batch.score_one(X[3]) == tuple(scores[3])
    fourth = S[[3]]
    got = batch.score_sparse(fourth.data, fourth.indices, fourth.indptr, 5)
    np.testing.assert_allclose(got, scores[[3]], atol=1e-12)
    unknown = {"f1": X[3, 1], "stranger": 9.0}
    alone = np.where(np.arange(5) == 1, X[3], 0).astype(dtype)
    np.testing.assert_allclose(named.score_one_dict(unknown, vocabulary), batch.score_one(alone))
    assert len(vocabulary) == 5


def test_state_is_taken_as_saved_or_not_at_all():
    X, y, w, ids = stream()
    model, fresh = learner(), learner()
    model.learn_dense(X, y, w, ids)
    state = model.state()
    for broken, complaint in [
        ({}, "missing"),
        (state | {"stranger": np.zeros(3)}, "1 unknown"),
        (state | {"f.model.w": state["f.model.w"].astype(np.float32)}, "f.model.w"),
        (state | {"f.model.w": state["f.model.w"][:-1]}, "shape"),
        (state | {"f.model.stride": np.array(-1)}, "f.model.stride"),
    ]:
        with pytest.raises(ValueError, match=complaint):
            fresh.load(broken)
        assert fresh.weights()["coef"].size == 0
    fresh.load(state)
    for either in (model, fresh):
        either.learn_dense(X[:1], 1 - y[:1], w[:1], ids[:1] + 1000)
    assert (fresh.score_dense(X) == model.score_dense(X)).all()


def test_refusals_leave_the_model_alone():
    X, y, w, ids = stream()
    model = learner()
    model.learn_dense(X, y, w, ids)
    before, vocabulary = model.weights()["coef"], {"a": 0}
    numbers = _core.Register()
    one = np.ones(1), np.ones(1), np.zeros(1, np.int64)  # y, w, ids
    column, below = np.array([1], np.int32), np.array([-1], np.int32)
    row_of_1, row_of_2 = np.array([0, 1]), np.array([0, 2])  # indptr
    S = sp.csr_array(X)
    crossed = S.indices[::-1].copy()
    for attempt in [
        lambda: model.learn_next(X[0, :3], 1.0, 1.0, numbers),
        lambda: model.learn_next(X[0], 2.0, 1.0, numbers),
        lambda: model.learn_dense(X.astype(int), y, w, ids),
        lambda: model.learn_dense(X[:, :4].copy(), y, w, ids),
        lambda: model.learn_dense(X, y[:3], w, ids),
        lambda: model.learn_dense(X, y, w, ids[:3]),
        lambda: model.learn_sparse(S.data, crossed, S.indptr, 5, y, w, ids),
        lambda: model.learn_sparse(S.data, S.indices, S.indptr, 3, y, w, ids),
        lambda: model.learn_sparse(S.data, S.indices, S.indptr + 1, 5, y, w, ids),
        lambda: model.learn_sparse(np.ones(2), column, row_of_2, 5, *one),
        lambda: model.learn_sparse(np.ones(1), below, row_of_1, 5, *one),
        lambda: model.score_one(X[0, :3]),
        lambda: model.score_one(np.full(5, np.nan)),
        lambda: model.score_one(X[0].astype(int)),
        lambda: model.score_sparse(np.ones(2), column, row_of_2, 5),
        lambda: model.score_sparse(np.ones(1), below, row_of_1, 5),
        lambda: model.score_one_dict({"b": 1.0, "a": "text"}, vocabulary),
        lambda: model.score_one_dict({"a": np.inf}, vocabulary),
        lambda: model.score_one_dict({"a": 1.0}, {"a": 7}),
    ]:
        with pytest.raises(ValueError):
            attempt()
    for left_to_the_long_way in [
        lambda: model.learn_next(np.full(5, np.nan), 1.0, 1.0, numbers),
        lambda: model.learn_next(X[0].astype(int), 1.0, 1.0, numbers),
        lambda: model.learn_next_dict({"b": 1.0, "a": "text"}, vocabulary, 1.0, 1.0, numbers),
        lambda: model.learn_next_dict({"b": np.inf}, vocabulary, 1.0, 1.0, numbers),
        lambda: model.learn_next_dict({"a": 1.0}, {"a": 7}, 1.0, 1.0, numbers),
    ]:
        assert not left_to_the_long_way()
    assert numbers.next == 0
    assert (model.weights()["coef"] == before).all()
    assert vocabulary == {"a": 0}


@pytest.mark.parametrize("kernel", [LINEAR, {"name": "rbf"}], ids=["linear", "rbf"])
def test_rows_without_any_entry_are_sparse_rows_all_the_same(kernel):
    empty = sp.csr_array((3, 5))
    model = learner(kernel=kernel)
    parts = empty.data, empty.indices, empty.indptr, 5
    model.learn_sparse(*parts, np.array([1.0, 0.0, 1.0]), np.ones(3), np.arange(3))
    alone = sp.csr_array((1, 5))
    one = np.ones(1), np.ones(1), np.array([3])
    model.learn_sparse(alone.data, alone.indices, alone.indptr, 5, *one)
    numbers = _core.Register()
    numbers.next = 4
    assert model.learn_next_dict({}, {}, 1.0, 1.0, numbers)
    assert np.isfinite(model.score_sparse(alone.data, alone.indices, alone.indptr, 5)).all()
    assert np.isfinite(model.score_sparse(*parts)).all()


def test_float32_models_refuse_what_would_overflow():
    model, huge = learner(32), np.array([1e300])
    assert not model.learn_next(huge, 1.0, 1.0, _core.Register())
    with pytest.raises(ValueError, match="infinity"):
        model.score_one(huge)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_all_finite(dtype):
    edge = np.finfo(dtype)
    values = np.full((37, 11), edge.max, dtype=dtype)
    values[::2] = edge.smallest_subnormal
    assert _core.all_finite(values)
    assert _core.all_finite(np.empty((0, 3), dtype=dtype))
    for bad in (np.nan, np.inf, -np.inf):
        for place in [(0, 0), (36, 10), (20, 5)]:
            broken = values.copy()
            broken[place] = bad
            assert not _core.all_finite(broken)
            assert not _core.all_finite(broken.T)
            assert not _core.all_finite(broken[:, place[1]])
            assert _core.all_finite(broken[:, [j for j in range(11) if j != place[1]]])


def test_readers_and_a_writer_share_a_model():
    X, y, w, ids = stream(4000, 20)
    model = learner(kernel={"name": "rbf", "gamma": 0.05})
    model.learn_dense(X[:1], y[:1], w[:1], ids[:1])
    done, trouble = threading.Event(), []

    def look():
        while not done.is_set():
            try:
                assert np.isfinite(model.score_dense(X[:50])).all()
                assert np.isfinite(model.score_one(X[0])).all()
            except Exception as error:
                trouble.append(error)

    readers = [threading.Thread(target=look) for _ in range(3)]
    for reader in readers:
        reader.start()
    model.learn_dense(X[1:], y[1:], w[1:], ids[1:])
    done.set()
    for reader in readers:
        reader.join()
    alone = learner(kernel={"name": "rbf", "gamma": 0.05})
    alone.learn_dense(X, y, w, ids)
    assert not trouble
    assert (model.score_dense(X) == alone.score_dense(X)).all()


@pytest.fixture
def nobody_is_preempted():
    """A thread that has the interpreter keeps it until it lets go of its own accord."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("verb", ["learn_dense", "score_dense"])
@pytest.mark.usefixtures("nobody_is_preempted")
def test_batches_let_other_threads_run(verb):
    X, *rest = stream(2000, 50)
    model = learner()
    model.learn_dense(X, *rest)
    batch = (X, *rest) if verb == "learn_dense" else (X,)
    gate, passed = threading.Lock(), False

    def pass_by():
        nonlocal passed
        with gate:
            passed = True

    with gate:
        waiting = threading.Thread(target=pass_by)
        waiting.start()
    for _ in range(20_000):  # until the system finds a moment for the other thread, however busy
        if passed:
            break
        getattr(model, verb)(*batch)
    assert passed, "the GIL was held through every batch"
    waiting.join()
