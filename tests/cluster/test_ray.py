"""All verbs on a real Ray node of two worker processes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from onlinesvm import PassiveAggressiveClassifier, PegasosSVC, SmoSVC, StreamSVC
from onlinesvm.cluster import (
    LocalParts,
    Part,
    average,
    cascade,
    deal_by_key,
    fit_by_key,
    merge_balls,
)
from onlinesvm.datasets import make_checkerboard

ray = pytest.importorskip("ray", reason="needs ray: pip install onlinesvm[ray]")

X, Y = make_checkerboard(400, noise=0.1, random_state=3)
MODEL = SmoSVC(C=10.0, gamma=4.0)
KEYS = np.arange(400) % 37
SMALL = PassiveAggressiveClassifier(classes=[-1, 1])


def read_part(number: int) -> Part:
    rows = np.array_split(np.arange(400), 4)[number]
    return Part(X[rows], Y[rows])


def read_keys(number: int) -> Part:
    rows = deal_by_key(KEYS, 4)[number]
    return Part(X[rows], Y[rows], keys=KEYS[rows])


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
    averaged = average(parts, PegasosSVC(), rounds=2).model
    np.testing.assert_array_equal(averaged.coef_, average(here, PegasosSVC(), rounds=2).model.coef_)


@pytest.mark.usefixtures("node")
def test_a_model_for_each_key_is_the_one_of_a_loop():
    from onlinesvm.cluster.ray import RayParts

    reading = ray.remote(read_keys)
    bank = fit_by_key(RayParts([reading.remote(number) for number in range(4)]), SMALL).model
    assert sorted(bank) == list(range(37))
    for key in bank:
        alone = clone(SMALL).partial_fit(X[key == KEYS], Y[key == KEYS])
        np.testing.assert_array_equal(bank.model(key).coef_, alone.coef_)
