"""Parts worked on by processes: the same bits as in one, whoever dies on the way."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from onlinesvm import SmoSVC
from onlinesvm.cluster import LocalParts, Part, ProcessParts, cascade
from onlinesvm.datasets import make_checkerboard

X, Y = make_checkerboard(600, noise=0.1, random_state=1)
MODEL = SmoSVC(C=10.0, gamma=4.0)


def parts_of(cut: LocalParts) -> list[Part]:
    return [cut[number] for number in range(len(cut))]


def total(part: Part, factor: float) -> float:
    return factor * float(part.X.sum())


def fails(part: Part, which: int) -> int:
    if part.number == which:
        raise KeyError(f"part {which}")
    return part.number


def dies_once(part: Part, mark: str) -> int:
    """The process that first comes to part 1 kills itself."""
    if part.number == 1:
        try:
            Path(mark).touch(exist_ok=False)
        except FileExistsError:
            return part.number
        os.kill(os.getpid(), signal.SIGKILL)
    return part.number


def always_dies(part: Part, _: None) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("start", [pytest.param("spawn", marks=pytest.mark.slow), "forkserver"])
def test_results_come_in_order_and_errors_come_out(start, tmp_path):
    here = LocalParts.cut(sp.csr_array(X), Y, 5)
    with ProcessParts(parts_of(here), processes=2, start=start) as cluster:
        assert len(cluster) == 5
        assert cluster.map(total, 2.0) == here.map(total, 2.0)
        assert cluster.run(abs, [-1, 2, -3]) == [1, 2, 3]
        with pytest.raises(KeyError, match="part 3"):
            cluster.map(fails, 3)
        assert cluster.map(fails, 9) == [0, 1, 2, 3, 4]
        assert cluster.map(dies_once, str(tmp_path / "mark")) == [0, 1, 2, 3, 4]


@pytest.mark.slow
def test_a_call_that_kills_every_process_is_given_up():
    with ProcessParts(parts_of(LocalParts.cut(X[:9], Y[:9], 1)), processes=1) as cluster:
        with pytest.raises(Exception, match="terminated abruptly"):
            cluster.map(always_dies, None)
        assert cluster.map(fails, 9) == [0]


def test_kills_at_random_change_no_bit():
    """SIGKILL to whichever process is there, again and again, while a cascade learns."""
    cut = LocalParts.cut(X, Y, 4)
    alone = cascade(cut, MODEL)
    rng, kills, stop = np.random.default_rng(0), [0], threading.Event()
    with ProcessParts(parts_of(cut), processes=2, start="forkserver") as cluster:

        def killer() -> None:
            while not stop.wait(float(rng.uniform(0.2, 1.5))) and kills[0] < 4:
                alive = cluster.processes()
                if alive:
                    os.kill(alive[int(rng.integers(len(alive)))], signal.SIGKILL)
                    kills[0] += 1

        thread = threading.Thread(target=killer)
        thread.start()
        try:
            deadline = time.monotonic() + 120
            while True:
                learned = cascade(cluster, MODEL)
                assert learned.certificate == alone.certificate
                np.testing.assert_array_equal(learned.model.dual_coef_, alone.model.dual_coef_)
                if kills[0] >= 4 or time.monotonic() > deadline:
                    break
        finally:
            stop.set()
            thread.join()
    assert kills[0] >= 4
