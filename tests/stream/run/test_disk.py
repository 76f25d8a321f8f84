"""Full and slow disks: one clear line, the checkpoint before as it was, and the run goes on."""

from __future__ import annotations

import errno
import os
import threading

import pytest
from doubles import LABELS, ArraySource, a_model, outcome, stream, through

from onlinesvm.stream.run import Run, RunOptions, read_run

CALLS = ("write", "fsync", "fdatasync", "replace", "link")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    X, y = stream(200)
    return through(tmp_path_factory.mktemp("whole") / "run", ArraySource(X, y, spoilt=13))[0]


class Full:
    """A disk that is full from a certain call on: for all files but the database."""

    def __init__(self, patch, run, number):
        self.count, self.number = 0, number
        for name in CALLS:
            patch.setattr(os, name, self._wrapped(getattr(os, name)))

    def _wrapped(self, real):
        def call(*given, **named):
            self.count += 1
            if self.count >= self.number:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(*given, **named)

        return call


class FullDatabase:
    """A disk that has room for so many more pages of the database."""

    def __init__(self, patch, run, number):
        db = run._store._db
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {pages + number}")


@pytest.mark.parametrize("disk", [Full, FullDatabase])
@pytest.mark.parametrize("replays", [True, False])
def test_a_full_disk_is_one_line_whenever_it_strikes(
    tmp_path, monkeypatch, undisturbed, replays, disk
):
    X, y = stream(200)
    options = RunOptions(classes=LABELS, every=90, window=60, checkpoint_seconds=0, fsync="never")
    number, struck = 1, 0
    while True:
        folder = tmp_path / str(number)
        source = ArraySource(X, y, spoilt=13, replays=replays)
        run = Run.begin(folder, source, a_model(), options)
        with monkeypatch.context() as patch:
            disk(patch, run, number)
            try:
                with run:
                    list(run.steps())
            except OSError as error:
                struck += 1
                told = str(error)
                assert "No space left" in told
                assert "\n" not in told
                assert "then resume the run" in told
            else:
                break
        read_run(folder).checkpoint()  # one that is whole is always there
        source = ArraySource(X, y, spoilt=13, replays=replays)
        with Run.resume(folder, source) as run:
            source.since = run.arrived
            list(run.steps())
        assert outcome(folder) == undisturbed
        number += 3 if disk is Full else 1
    assert struck > 5


@pytest.mark.parametrize("disk", [Full, FullDatabase])
def test_a_checkpoint_that_finds_no_room_leaves_the_one_before(tmp_path, monkeypatch, disk):
    X, y = stream(200)
    options = RunOptions(classes=LABELS, every=50)
    run = Run.begin(tmp_path / "run", ArraySource(X, y), a_model(), options)
    steps = run.steps()
    next(steps)
    run.checkpoint()
    next(steps)
    with monkeypatch.context() as patch:
        disk(patch, run, 1)
        with pytest.raises(OSError, match="could not be written: No space left"):
            run.checkpoint()
    found = read_run(tmp_path / "run").checkpoint()
    assert found.number == (1 if disk is FullDatabase else 2)
    run._store._db.execute("PRAGMA max_page_count = 99999")
    run.checkpoint()  # there is room again
    assert read_run(tmp_path / "run").checkpoint().course["seen"] == run.seen
    run.close()


def test_checkpoints_take_a_twentieth_of_the_time_of_a_slow_disk(tmp_path, monkeypatch):
    X, y = stream(200)
    now = 1000.0
    monkeypatch.setattr("onlinesvm.stream.run.run.time.monotonic", lambda: now)
    options = RunOptions(classes=LABELS, checkpoint_seconds=1, fsync="never")
    run = Run.begin(tmp_path / "run", ArraySource(X, y), a_model(), options)
    sync = os.fsync

    def slow(file):
        nonlocal now
        now += 10 / 3
        sync(file)

    next(run.steps())
    for name in ("fsync", "fdatasync"):
        monkeypatch.setattr(os, name, slow)
    run.checkpoint()  # the database, the model and its folder
    run._changed = True
    ended = now
    now = ended + 189
    assert not run._is_checkpoint_due()
    now = ended + 191
    assert run._is_checkpoint_due()
    run.close()


def test_always_waits_once_for_however_many_records(tmp_path, monkeypatch):
    X, y = stream(200)
    source = ArraySource(X, y, block=5, replays=False)
    options = RunOptions(classes=LABELS, every=50, fsync="always")
    run = Run.begin(tmp_path / "run", source, a_model(), options)
    waits, sync = [], os.fdatasync

    def counted(file):
        waits.append(file)
        sync(file)

    monkeypatch.setattr(os, "fdatasync", counted)
    steps = run.steps()
    next(steps)
    assert len(waits) == 1
    next(steps)
    assert len(waits) == 2
    run.close()


def test_interval_waits_in_a_thread_and_tells_what_went_wrong(tmp_path, monkeypatch):
    monkeypatch.setattr("onlinesvm.stream.run.store._INTERVAL", 0.001)
    done, fail, real = threading.Event(), threading.Event(), os.fdatasync

    def sync(file):
        done.set()
        if fail.is_set():
            raise OSError(errno.EIO, "the disk is broken")
        real(file)

    X, y = stream(200)
    monkeypatch.setattr(os, "fdatasync", sync)
    run = Run.begin(tmp_path / "run", ArraySource(X, y), a_model(), RunOptions(classes=LABELS))
    assert done.wait(60)
    run._store.settle()
    fail.set()
    run._store._thread.join(60)
    with pytest.raises(OSError, match="broken"):
        run._store.settle()
    fail.clear()
    run.close()


@pytest.mark.parametrize("fsync", ["always", "interval", "never"])
def test_a_checkpoint_waits_for_the_disk_in_every_mode(tmp_path, monkeypatch, fsync):
    X, y = stream(200)
    options = RunOptions(classes=LABELS, fsync=fsync)
    run = Run.begin(tmp_path / "run", ArraySource(X, y), a_model(), options)
    next(run.steps())
    waits, real = [], os.fdatasync

    def counted(file):
        waits.append(os.readlink(f"/proc/self/fd/{file}"))
        real(file)

    monkeypatch.setattr(os, "fdatasync", counted)
    run._store.sync()  # what the thread has not waited for yet
    waits.clear()
    run.checkpoint()
    assert str(tmp_path / "run" / "run.sqlite-wal") in waits
    run.close()
