"""Threads: asked for by n_jobs, the same bits for any number of them."""

import os

import numpy as np
import pytest

from onlinesvm import LASVC, RampSVC
from onlinesvm.params import threads


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
