"""All verbs on a real Dask cluster of two worker processes, one of which is killed on the way."""

from __future__ import annotations

import os
import signal

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

distributed = pytest.importorskip("distributed", reason="needs dask: pip install onlinesvm[dask]")
dask = pytest.importorskip("dask")

X, Y = make_checkerboard(400, noise=0.1, random_state=3)
MODEL = SmoSVC(C=10.0, gamma=4.0)
KEYS = np.arange(400) % 37
SMALL = PassiveAggressiveClassifier(classes=[-1, 1])


def read_part(number: int) -> Part:
    X, Y = make_checkerboard(400, noise=0.1, random_state=3)
    rows = np.array_split(np.arange(400), 4)[number]
    return Part(X[rows], Y[rows])


def read_keys(number: int) -> Part:
    X, Y = make_checkerboard(400, noise=0.1, random_state=3)
    keys = np.arange(400) % 37
    rows = deal_by_key(keys, 4)[number]
    return Part(X[rows], Y[rows], keys=keys[rows])


@pytest.fixture(scope="module")
def client():
    quiet = {"distributed.worker.daemon": False, "distributed.admin.tick.limit": "1h"}
    with (
        dask.config.set(quiet),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_is_the_cascade_of_one_process_and_survives_a_kill(client):
    from onlinesvm.cluster.dask import DaskParts

    parts = DaskParts(client, [dask.delayed(read_part)(number) for number in range(4)])
    here = cascade(LocalParts.cut(X, Y, 4), MODEL)
    assert cascade(parts, MODEL).certificate == here.certificate
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    assert cascade(parts, MODEL).certificate == here.certificate
    averaged = average(parts, PegasosSVC(), rounds=2).model
    np.testing.assert_array_equal(
        averaged.coef_, average(LocalParts.cut(X, Y, 4), PegasosSVC(), rounds=2).model.coef_
    )


def test_balls_merged_there_are_those_merged_here(client):
    from onlinesvm.cluster.dask import DaskParts

    parts = DaskParts(client, [dask.delayed(read_part)(number) for number in range(4)])
    here = merge_balls(LocalParts.cut(X, Y, 4), StreamSVC()).model
    ball = merge_balls(parts, StreamSVC()).model
    np.testing.assert_array_equal(ball.decision_function(X), here.decision_function(X))
    np.testing.assert_array_equal(ball.radius_bound_, here.radius_bound_)


def test_a_model_for_each_key_is_the_one_of_a_loop(client):
    from onlinesvm.cluster.dask import DaskParts

    parts = DaskParts(client, [dask.delayed(read_keys)(number) for number in range(4)])
    bank = fit_by_key(parts, SMALL).model
    assert sorted(bank) == list(range(37))
    for key in bank:
        alone = clone(SMALL).partial_fit(X[key == KEYS], Y[key == KEYS])
        np.testing.assert_array_equal(bank.model(key).coef_, alone.coef_)
