"""The ellipsoid holds every point it has seen, whatever comes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from oracles import Stream, blobs, streams

from onlinesvm.reference.ellipsoid import EllipsoidSVM


@given(stream=streams())
def test_every_point_stays_inside_property(stream: Stream) -> None:
    model = EllipsoidSVM(C=1.0)
    for i, (x, y) in enumerate(zip(stream.X, stream.y, strict=True)):
        model.learn(x, y)
        for j in range(i + 1):
            assert model.distance(stream.y[j] * stream.X[j]) <= 1 + 1e-9


def test_it_holds_the_ellipsoid_before_it() -> None:
    stream, rng = blobs(0, n=40, d=4), np.random.default_rng(0)
    model = EllipsoidSVM(C=10.0)
    for x, y in zip(stream.X, stream.y, strict=True):
        before = (model.c, model.L) if model.updates else None
        model.learn(x, y)
        if before is not None:
            u = rng.normal(size=(200, 4))
            rim = before[0] + (u / np.linalg.norm(u, axis=1)[:, None]) @ before[1].T
            assert max(map(model.distance, rim)) <= 1 + 1e-9
    assert np.allclose(model.L @ model.L_inv, np.eye(4), atol=1e-9)
