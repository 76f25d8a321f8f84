"""What the machines that approach the optimum pass by pass have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oracles import NASTY, blobs

from onlinesvm import LASVC, HullerSVC

SIGNS = [-1.0, 1.0]
MACHINES = pytest.mark.parametrize("cls", [HullerSVC, LASVC], ids=lambda cls: cls.__name__)


def machine(cls: Any, **params: Any) -> Any:
    return cls(**{"gamma": 2.0, "classes": SIGNS, **params})


@MACHINES
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", [blobs, *NASTY[:4]], ids=lambda kind: kind.__name__)
def test_finish_is_optimal_over_what_is_held(cls, kind, dtype):
    stream = kind(5, 80)
    model = machine(cls, C=10.0, dtype=dtype).partial_fit(stream.X, stream.y).finish()
    assert model.kkt_residual() <= 1e-3
    before = model.dual_coef_
    np.testing.assert_array_equal(model.finish().dual_coef_, before)


@MACHINES
def test_one_class_alone_is_that_class_and_costs_nothing(cls):
    X = np.random.default_rng(0).normal(size=(300, 3))
    for label in SIGNS:
        model = machine(cls).partial_fit(X, np.full(300, label))
        assert (model.decision_function(X) == label).all()
        assert model._core.held <= 5


@MACHINES
def test_learning_goes_on_after_unlearning_a_class(cls):
    stream = blobs(6, 60)
    model = machine(cls, C=2.0).partial_fit(stream.X, stream.y)
    model.unlearn(np.flatnonzero(stream.y > 0))
    assert (model.decision_function(stream.X) == -1).all()
    model.partial_fit(stream.X, stream.y)
    assert model.score(stream.X, stream.y) > 0.7


@MACHINES
def test_an_epoch_is_no_new_example(cls):
    stream = blobs(2, 50)
    model = machine(cls, C=5.0, max_iter=4).fit(stream.X, stream.y)
    assert model.n_seen_ == 50
    assert model.partial_fit(stream.X, stream.y).n_seen_ == 100


@MACHINES
def test_finish_goes_as_far_as_it_is_told(cls):
    stream = blobs(3, 200)
    model = machine(cls, C=2.0, tol=0.1, dtype="float64").partial_fit(stream.X, stream.y)
    assert 1e-4 < model.finish().kkt_residual() <= 0.1
    assert model.finish(tol=1e-8).kkt_residual() <= 1e-7
    assert model.tol == 0.1  # told for once


@MACHINES
@pytest.mark.parametrize("tol", [0, -1.0, np.nan, "small"])
def test_a_bad_tolerance_is_named_and_changes_nothing(cls, tol):
    stream = blobs(3, 50)
    model = machine(cls).partial_fit(stream.X, stream.y)
    before = model.dual_coef_.copy()
    with pytest.raises((ValueError, TypeError), match="tol"):
        model.finish(tol)
    np.testing.assert_array_equal(model.dual_coef_, before)
