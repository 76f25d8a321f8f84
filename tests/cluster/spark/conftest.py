"""One Spark session for all: `make test-all` has two threads, `make test-spark` two executors."""

import os

import numpy as np
import pytest

MASTER = os.environ.get("ONLINESVM_SPARK_MASTER", "local[2]")


def pytest_itemcollected(item):
    if item.get_closest_marker("executors") and not MASTER.startswith("local-cluster"):
        item.add_marker(pytest.mark.skip(reason="make test-spark runs it, with executors"))


@pytest.fixture(scope="session")
def spark():
    pytest.importorskip("pyspark")
    from onlinesvm.cluster.spark.local import local_session, why_no_spark

    if why := why_no_spark():
        pytest.skip(why)
    session = local_session(MASTER)
    yield session
    session.stop()


@pytest.fixture
def rng():
    return np.random.default_rng(0)
