"""Balls of parts made one: around every row, within the bound it states."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import streams
from sklearn.base import clone
from tiers import examples

from onlinesvm import StreamSVC
from onlinesvm.cluster import LocalParts, ProcessParts, fit, merge_balls
from onlinesvm.datasets import make_waveform

X, Y = make_waveform(600, random_state=0)


def lifted(X, y, C):
    """The points that the ball is around: y x with 1 appended, of length 1, and a slack each."""
    Z = y[:, None] * np.hstack([X, np.ones((len(X), 1))])
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    return np.hstack([Z, np.eye(len(X)) / math.sqrt(C)])


def smallest_radius(Z):
    """Of the smallest enclosing ball, from below: its dual by Frank and Wolfe, to a per mille."""
    n = len(Z)
    share = np.full(n, 1 / n)
    squares = (Z**2).sum(axis=1)
    for step in range(20000):
        centre = share @ Z
        away = squares - 2 * Z @ centre
        far = int(away.argmax())
        value = share @ squares - centre @ centre
        if away[far] + centre @ centre <= value * 1.0005:
            break
        share *= 1 - (rate := 2 / (step + 3))
        share[far] += rate
    return math.sqrt(max(0.0, value))


@pytest.mark.parametrize("parts", [1, 2, 3, 8])
@pytest.mark.parametrize("order", ["as they came", "sorted"])
def test_the_bound_holds(parts, order):
    y = np.where(np.unique(Y)[1] == Y, 1, -1)
    rows = np.arange(len(X)) if order == "as they came" else np.argsort(y, kind="stable")
    model = merge_balls(LocalParts.cut(X[rows], y[rows], parts), StreamSVC(C=2.0)).model
    smallest = smallest_radius(lifted(X, y, 2.0))
    radius, bound = model.radius_[0], model.radius_bound_[0]
    assert smallest * 0.999 <= radius <= bound * smallest * 1.001
    assert bound <= 1.5 + math.ceil(math.log2(parts)) + 1e-9
    assert model.n_seen_ == len(X)


@settings(max_examples=examples(30), deadline=None)
@given(stream=streams(max_size=16), data=st.data())
def test_any_cut_is_within_its_bound(stream, data):
    n = len(stream.y)
    where = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    cut = LocalParts.cut(stream.X, stream.y, [np.flatnonzero(where == p) for p in range(4)])
    model = merge_balls(cut, StreamSVC(C=2.0, classes=[-1.0, 1.0])).model
    smallest = smallest_radius(lifted(stream.X, stream.y, 2.0))
    assert model.radius_[0] <= model.radius_bound_[0] * smallest * 1.002 + 1e-6
    assert model.radius_[0] >= smallest * 0.998 - 1e-9


def test_a_centre_at_the_origin_survives_a_journey():
    """Contradictory rows cancel: |centre|^2 must not round to below 0, or no file is readable."""
    X, y = np.zeros((5, 1)), np.array([-1.0, 1.0, -1.0, 1.0, -1.0])
    cut = LocalParts.cut(X, y, [np.array([1, 2]), np.array([0, 3]), np.array([4])])
    model = merge_balls(cut, StreamSVC(C=2.0)).model
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.radius_, model.radius_)


def test_one_part_is_the_stream():
    stream = StreamSVC().partial_fit(X, Y, classes=np.unique(Y)).flush()
    model = merge_balls(LocalParts.cut(X, Y, 1), StreamSVC()).model
    np.testing.assert_array_equal(model.decision_function(X), stream.decision_function(X))


def test_kernels_ids_and_processes():
    cut = LocalParts.cut(sp.csr_array(X), Y, 3)
    here = fit(cut, StreamSVC(kernel="rbf")).model
    with ProcessParts((cut[i] for i in range(3)), processes=2) as cluster:
        there = fit(cluster, StreamSVC(kernel="rbf")).model
    np.testing.assert_array_equal(here.decision_function(X), there.decision_function(X))
    assert here.gamma_ == pytest.approx(clone(here).set_params(gamma="scale").fit(X, Y).gamma_)
    np.testing.assert_allclose(here.support_vectors_.toarray(), X[here.support_], rtol=1e-6)


@pytest.mark.parametrize(
    ("model", "error", "says"),
    [
        (StreamSVC(shape="ellipsoid"), ValueError, "use shape='ball'"),
        (3, TypeError, "StreamSVC, not int"),
    ],
)
def test_what_cannot_be_merged(model, error, says):
    with pytest.raises(error, match=says):
        merge_balls(LocalParts.cut(X, Y, 2), model)
