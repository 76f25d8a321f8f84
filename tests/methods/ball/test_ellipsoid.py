"""The ellipsoid around a stream: the twin step by step, every point inside, what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from oracles import Stream, blobs, streams

from onlinesvm import StreamSVC
from onlinesvm.checks.streams import assert_same_bits
from onlinesvm.reference.ellipsoid import EllipsoidSVM


def plain(**options) -> StreamSVC:
    """As the twin: raw rows, no bias."""
    paper = {"normalize": False, "bias": "none", "classes": [-1.0, 1.0], "dtype": "float64"}
    return StreamSVC(**{**paper, "shape": "ellipsoid"} | options)


def body(model: StreamSVC, o: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Centre and L^-1 of an output."""
    state = model._core.state()
    sizes = state["bodies.lengths.centre"]
    n, before = sizes[o], sizes[:o]
    centre = state["bodies.centre"][before.sum() :][:n]
    return centre, state["bodies.inverse"][(before**2).sum() :][: n * n].reshape(n, n)


def distances(model: StreamSVC, P: np.ndarray, o: int = 0) -> np.ndarray:
    centre, inverse = body(model, o)
    return np.linalg.norm((P - centre) @ inverse.T, axis=1)


@pytest.mark.parametrize(("C", "lookahead"), [(0.1, 1), (1.0, 1), (100.0, 1), (1.0, 4), (50.0, 7)])
def test_fast_equals_twin_step_by_step(C: float, lookahead: int) -> None:
    stream = blobs(0, n=120, d=5)
    fast, slow = plain(C=C, lookahead=lookahead), EllipsoidSVM(C, lookahead)
    for x, y in zip(stream.X, stream.y, strict=True):
        fast.learn_one(x, y)
        slow.learn(x, y)
        centre, inverse = body(fast)
        assert np.allclose(centre, slow.c, rtol=1e-5, atol=1e-6)
        assert np.allclose(inverse, slow.L_inv, rtol=1e-5, atol=1e-6 * np.abs(slow.L_inv).max())
    assert np.allclose(fast.decision_function(stream.X), slow.decide(stream.X), atol=1e-5)
    assert np.allclose(fast.coef_, slow.c, rtol=1e-5, atol=1e-6)


def test_bias_and_length_one_are_the_twin_on_such_rows() -> None:
    stream, slow = blobs(1, n=60, d=3), EllipsoidSVM(1.0)
    fast = StreamSVC(shape="ellipsoid", classes=[-1.0, 1.0]).partial_fit(stream.X, stream.y)
    rows = np.hstack([stream.X, np.ones((60, 1))])
    for x, y in zip(rows / np.linalg.norm(rows, axis=1)[:, None], stream.y, strict=True):
        slow.learn(x, y)
    assert np.allclose(fast.decision_function(stream.X), rows @ slow.c, atol=1e-5)
    assert np.allclose(np.append(fast.coef_[0], fast.intercept_), slow.c, atol=1e-5)


@given(stream=streams())
def test_every_point_stays_inside_property(stream: Stream) -> None:
    model, looking = plain(), plain(lookahead=3)
    P = stream.y[:, None] * stream.X
    for i, (x, y) in enumerate(zip(stream.X, stream.y, strict=True)):
        model.learn_one(x, y)
        assert distances(model, P[: i + 1]).max() <= 1 + 1e-9
        looking.learn_one(x, y)
        assert (distances(looking, P[: i + 1]) > 1 + 1e-9).sum() < 3, "they wait"
    assert distances(looking.flush(), P).max() <= 1 + 1e-9


def test_near_twins_enter_together() -> None:
    """What a lookahead is for: the farthest takes in what waits beside it."""
    X = np.array([[0.0, 1.0], [3.0, 1.0], [3.5, 1.0], [4.0, 1.0]])
    model, twin = plain(lookahead=3), EllipsoidSVM()
    model.partial_fit(X, np.ones(4))
    for x in X[[0, 3]]:
        twin.learn(x, 1.0)
    assert np.allclose(body(model)[0], twin.c, atol=1e-9)
    centre = body(model)[0]
    model.partial_fit([[9.0, 9.0], [-9.0, 5.0]], [1.0, 1.0])
    assert (body(model)[0] == centre).all()
    assert not (body(model.flush())[0] == centre).all()


def test_it_holds_the_ellipsoid_before_it() -> None:
    stream, rng = blobs(0, n=40, d=4), np.random.default_rng(0)
    model = plain(C=10.0).learn_one(stream.X[0], stream.y[0])
    for x, y in zip(stream.X[1:], stream.y[1:], strict=True):
        centre, inverse = body(model)
        model.learn_one(x, y)
        u = rng.normal(size=(200, 4))
        rim = centre + np.linalg.solve(inverse, (u / np.linalg.norm(u, axis=1)[:, None]).T).T
        assert distances(model, rim).max() <= 1 + 1e-9


def test_three_classes_each_against_the_rest() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 600)
    X = rng.normal(size=(600, 2)) * 0.3 + 2 * np.array([[1, 0], [-0.5, 0.9], [-0.5, -0.9]])[y]
    model = StreamSVC(shape="ellipsoid", classes="open").partial_fit(X[:500], y[:500])
    assert model.score(X[500:], y[500:]) > 0.95
    assert model.coef_.shape == (3, 2)


def test_a_third_class_finds_the_mirror_image_of_the_second() -> None:
    stream = blobs(2, n=40, d=3)
    model = plain(classes="open").partial_fit(stream.X, stream.y)
    f = model.decision_function(stream.X)
    model.partial_fit(stream.X[:1], [7.0])
    P = (
        -stream.y[0] * stream.y[:, None] * stream.X
    )  # the class that came second is the positive one
    assert distances(model, P, 1).max() <= 1 + 1e-9
    assert distances(model, -P, 0).max() <= 1 + 1e-9
    assert f.shape == (40,)
    assert model.decision_function(stream.X).shape == (40, 3)


def test_fit_is_one_pass_and_memory_does_not_grow() -> None:
    stream = blobs(4, n=500, d=4)
    model = plain(shuffle=False).fit(stream.X, stream.y)
    assert_same_bits(model, plain(shuffle=False).partial_fit(stream.X, stream.y), "one pass")
    assert model.n_iter_ == 1
    size = model.nbytes_
    assert model.partial_fit(stream.X, stream.y).flush().nbytes_ <= 2 * size


def test_what_only_a_ball_can_is_refused_in_one_line() -> None:
    stream = blobs(0, n=20, d=3)
    for options, words in (
        ({"kernel": "rbf"}, r"kernel='rbf' is for shape='ball'"),
        ({"balls": 3}, r"balls=3 is for shape='ball'"),
    ):
        with pytest.raises(ValueError, match=words):
            plain(**options).fit(stream.X, stream.y)
    wide = np.zeros((2, 4097))
    with pytest.raises(ValueError, match=r"4097 features, at most 4096 .* choose shape='ball'"):
        plain().fit(wide, [-1.0, 1.0])
    with pytest.raises(ValueError, match="X is sparse, which shape='ellipsoid' cannot take"):
        plain().fit(sp.csr_array(stream.X), stream.y)
    with pytest.raises(ValueError, match="sparse"):
        plain().learn_one({"a": 1.0}, 1.0)
    model = plain().fit(stream.X, stream.y)
    before = model.decision_function(stream.X)
    with pytest.raises(ValueError, match="an ellipsoid cannot weigh"):
        model.partial_fit(stream.X, stream.y, sample_weight=np.full(20, 2.0))
    with pytest.raises(NotImplementedError, match=r"cannot merge: .* can\.$"):
        model.merge(plain().fit(stream.X, stream.y))
    with pytest.raises(ValueError, match="shape='ball' differs"):
        model.set_params(shape="ball").partial_fit(stream.X, stream.y)
    assert np.array_equal(model.decision_function(stream.X), before)
    for name in ("radius_", "radius_bound_"):
        with pytest.raises(AttributeError, match=f"has no {name}"):
            getattr(model, name)
