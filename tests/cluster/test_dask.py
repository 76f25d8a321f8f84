"""The cascade on a real Dask cluster of two worker processes, one of which is killed."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

from onlinesvm import PegasosSVC, SmoSVC
from onlinesvm.cluster import LocalParts, Part, average, cascade
from onlinesvm.datasets import make_checkerboard

distributed = pytest.importorskip("distributed", reason="needs dask: pip install onlinesvm[dask]")
dask = pytest.importorskip("dask")

X, Y = make_checkerboard(400, noise=0.1, random_state=3)
MODEL = SmoSVC(C=10.0, gamma=4.0)


def read_part(number: int) -> Part:
    X, Y = make_checkerboard(400, noise=0.1, random_state=3)
    rows = np.array_split(np.arange(400), 4)[number]
    return Part(X[rows], Y[rows])


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
