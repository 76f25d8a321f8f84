"""Full and slow disks: one clear line, the checkpoint before as it was, and the run goes on."""

from __future__ import annotations

import errno
import os
import threading

import pytest
from doubles import LABELS, ArraySource, a_model, outcome, stream, through

from onlinesvm.stream.run import Run, RunOptions, read_run
from onlinesvm.stream.run.syncing import syncing

CALLS = ("write", "fsync", "fdatasync", "replace", "link")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    X, y = stream(200)
    return through(tmp_path_factory.mktemp("whole") / "run", ArraySource(X, y, spoilt=13))[0]


class Full:
    """A disk that is full from a certain call on."""

    def __init__(self, patch, number):
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


@pytest.mark.parametrize("replays", [True, False])
def test_a_full_disk_is_one_line_whenever_it_strikes(tmp_path, monkeypatch, undisturbed, replays):
    X, y = stream(200)
    options = RunOptions(classes=LABELS, every=90, window=60, checkpoint_seconds=0, fsync="never")
    number, struck = 1, 0
    while True:
        folder = tmp_path / str(number)
        source = ArraySource(X, y, spoilt=13, replays=replays)
        run = Run.begin(folder, source, a_model(), options)
        with monkeypatch.context() as patch:
            Full(patch, number)
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
        number += 5
    assert struck > 9


def test_a_checkpoint_that_finds_no_room_leaves_the_one_before(tmp_path, monkeypatch):
    X, y = stream(200)
    run = Run.begin(tmp_path / "run", ArraySource(X, y), a_model(), RunOptions(classes=LABELS))
    next(run.steps())
    run.checkpoint()
    before = (tmp_path / "run" / "checkpoint-00000001.bin").read_bytes()
    with monkeypatch.context() as patch:
        Full(patch, 1)
        with pytest.raises(OSError, match="could not be written: No space left"):
            run.checkpoint()
    assert (tmp_path / "run" / "checkpoint-00000001.bin").read_bytes() == before
    run.checkpoint()  # there is room again
    run.close()


def test_checkpoints_take_a_twentieth_of_the_time_of_a_slow_disk(tmp_path, monkeypatch):
    X, y = stream(200)
    now = 1000.0
    monkeypatch.setattr("onlinesvm.stream.run.run.time.monotonic", lambda: now)
    options = RunOptions(classes=LABELS, checkpoint_seconds=1)
    run = Run.begin(tmp_path / "run", ArraySource(X, y), a_model(), options)
    sync = os.fsync

    def slow(file):
        nonlocal now
        now += 2.5
        sync(file)

    next(run.steps())
    monkeypatch.setattr(os, "fsync", slow)
    run.checkpoint()  # a file and a folder, twice: ten seconds
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


def test_interval_waits_in_a_thread_and_tells_what_went_wrong(monkeypatch):
    monkeypatch.setattr("onlinesvm.stream.run.syncing._INTERVAL", 0.001)
    done, fail = threading.Event(), threading.Event()

    def sync():
        done.set()
        if fail.is_set():
            raise OSError(errno.EIO, "the disk is broken")

    policy = syncing("interval")
    policy.follow(sync)
    assert done.wait(60)
    policy.settle()
    fail.set()
    policy._thread.join(60)
    with pytest.raises(OSError, match="broken"):
        policy.settle()
    policy.close()
