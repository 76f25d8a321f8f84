"""The cascade on a real Ray node of two worker processes."""

from __future__ import annotations

import numpy as np
import pytest

from onlinesvm import SmoSVC, StreamSVC
from onlinesvm.cluster import LocalParts, Part, cascade, merge_balls
from onlinesvm.datasets import make_checkerboard

ray = pytest.importorskip("ray", reason="needs ray: pip install onlinesvm[ray]")

X, Y = make_checkerboard(400, noise=0.1, random_state=3)
MODEL = SmoSVC(C=10.0, gamma=4.0)


def read_part(number: int) -> Part:
    rows = np.array_split(np.arange(400), 4)[number]
    return Part(X[rows], Y[rows])


@pytest.fixture(scope="module")
def node():
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        object_store_memory=100 << 20,
        configure_logging=False,
    )
    yield
    ray.shutdown()


@pytest.mark.usefixtures("node")
def test_is_the_cascade_of_one_process():
    from onlinesvm.cluster.ray import RayParts

    reading = ray.remote(read_part)
    parts = RayParts([reading.remote(number) for number in range(4)])
    here = LocalParts.cut(X, Y, 4)
    assert cascade(parts, MODEL).certificate == cascade(here, MODEL).certificate
    ball = merge_balls(parts, StreamSVC()).model
    np.testing.assert_array_equal(
        ball.decision_function(X), merge_balls(here, StreamSVC()).model.decision_function(X)
    )
