"""Threads: asked for by n_jobs, the same bits for any number of them."""

import os
import pickle

import numpy as np
import pytest

from onlinesvm import LASVC, IncrementalSVC, RampSVC
from onlinesvm.data.arguments import threads

THREADS = (2, 3, 8)


def stream(n, width, classes, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    X = rng.normal(size=(n, width)).astype(np.float32)
    X[np.arange(n), y] += 1
    return X, y


# Large enough for rows, steps and h to be divided (function/kernel_cache.hpp and
# machine/one_vs_rest.hpp).
CASES = [
    pytest.param(LASVC(C=5, gamma=1.0), stream(1600, 24, 4), id="LASVC"),
    pytest.param(RampSVC(C=5, gamma=0.01, settle="example"), stream(700, 700, 2), id="RampSVC"),
    pytest.param(RampSVC(C=5, gamma=0.5, settle="example"), stream(500, 60, 3), id="RampSVC-3"),
    pytest.param(
        IncrementalSVC(C=5, gamma=0.5, tol=1e-4, settle="example"),
        stream(700, 24, 2),
        id="IncrementalSVC",
    ),
]


def state(model):
    return {name: array.tobytes() for name, array in model._core.state().items()}


def learned(model, data, n_jobs, cuts=()):
    model = pickle.loads(pickle.dumps(model)).set_params(n_jobs=n_jobs)
    X, y = data
    for part in np.split(np.arange(len(y)), cuts):
        model.partial_fit(X[part], y[part], classes=np.unique(y))
    return model


@pytest.mark.parametrize("method", [LASVC, RampSVC])
def test_wide_rows_learned_by_many_threads_give_the_same_bits(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 900)).astype(np.float32)
    y = rng.integers(0, 3, 700)  # noise: every example stays, so that rows are long
    one, three = (method(gamma=1e-3, n_jobs=n).fit(X, y) for n in (1, 3))
    assert np.array_equal(one.dual_coef_, three.dual_coef_)
    assert np.array_equal(one.decision_function(X), three.decision_function(X))


def test_what_n_jobs_means():
    processors = os.cpu_count()
    assert [threads(n) for n in (None, 1, 7, -1)] == [1, 1, 7, processors]
    assert threads(-processors - 5) == 1


def test_a_kernel_of_ones_own_may_be_called_by_threads():
    def kernel(x, Z):
        return Z @ x

    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 3))
    y = (X[:, 0] > 0).astype(int)
    model = LASVC(kernel=kernel, n_jobs=4).fit(X[:50], y[:50])
    assert np.array_equal(
        model.decision_function(X), model.set_params(n_jobs=1).decision_function(X)
    )


def test_a_failing_kernel_in_a_thread_is_an_error_here():
    angry = False

    def kernel(x, Z):
        if angry:
            raise RuntimeError("no more")
        return Z @ x

    X = np.random.default_rng(2).normal(size=(2000, 3))
    model = LASVC(kernel=kernel, n_jobs=4).fit(X[:50], (X[:50, 0] > 0).astype(int))
    angry = True
    with pytest.raises(RuntimeError, match="no more"):
        model.decision_function(X)
    angry = False
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize(("model", "data"), CASES)
def test_any_number_of_threads_learns_the_same_bits(model, data):
    n = len(data[1])
    alone = state(learned(model, data, None))
    for hands in THREADS:
        assert state(learned(model, data, hands)) == alone
    assert state(learned(model, data, 3, cuts=[1, 50, n - 100, n - 99])) == alone


@pytest.mark.parametrize(("model", "data"), CASES)
def test_a_copy_goes_on_with_another_number_of_threads(model, data):
    X, y = data
    n = len(y) - 60
    half = learned(model, (X[:n], y[:n]), 2)
    copy = pickle.loads(pickle.dumps(half)).set_params(n_jobs=8)
    for one in (half, copy):
        one.partial_fit(X[n:], y[n:])
    assert state(half) == state(copy) == state(learned(model, data, None))


def test_a_kernel_that_raises_takes_the_call_back():
    X, y = stream(400, 24, 3)
    left = None

    def kernel(x, Z):
        nonlocal left
        if left is not None:
            left -= 1
            if left < 0:
                raise LookupError("no more")
        return np.exp(-((Z - x) ** 2).sum(axis=1))

    model = LASVC(kernel=kernel, n_jobs=4).partial_fit(X[:300], y[:300], classes=range(3))
    before = state(model)
    left = 50
    with pytest.raises(LookupError, match="no more"):
        model.partial_fit(X[300:], y[300:])
    assert state(model) == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_learns_on_with_threads_of_its_own():
    X, y = stream(1300, 24, 4)
    model = learned(LASVC(C=5, gamma=1.0), (X[:1200], y[:1200]), 3)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            model.partial_fit(X[1200:], y[1200:])
            code = 0 if model.n_seen_ == 1300 else 1
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
