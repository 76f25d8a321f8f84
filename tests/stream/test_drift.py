"""Alarms: sure ones only, at their place, the same after a pause, and in a run."""

import json

import numpy as np
import pytest
from doubles import LABELS, ArraySource, a_model, outcome, stream, through
from hypothesis import given
from hypothesis import strategies as st

from onlinesvm.stream.drift import DriftWatch
from onlinesvm.stream.run import Run, RunOptions, read_run


def alarms(errors, lesson=100, pause_after=None):
    watch, told = DriftWatch(), []
    for start in range(0, len(errors), lesson):
        part = errors[start : start + lesson]
        drift = watch.hear(start + len(part), part.tolist())
        told += [] if drift is None else [drift]
        if start == pause_after:
            state, watch = json.loads(json.dumps(watch.state())), DriftWatch()
            watch.load(state)
    return told


def errors(*parts, seed=0):
    shares = np.concatenate([np.full(n, share) for n, share in parts])
    return (np.random.default_rng(seed).random(len(shares)) < shares).astype(int)


def test_a_jump_is_an_alarm_and_says_where_it_began():
    (drift,) = alarms(errors((2000, 0.1), (500, 0.5)))
    assert drift.seen == 2100
    assert abs(drift.since - 2000) <= 32
    assert 0.05 < drift.before < 0.15
    assert 0.35 < drift.now < 0.7


def test_a_small_rise_takes_longer_to_be_sure_of():
    (drift,) = alarms(errors((2000, 0.02), (2000, 0.06)))
    assert 2500 < drift.seen <= 4000
    assert 1500 < drift.since < 2500


@pytest.mark.parametrize("lesson", [1, 7, 250, 1024])
def test_one_change_within_a_lesson_is_one_alarm_at_its_place(lesson):
    (drift,) = alarms(errors((2000, 0.02), (2000, 0.98)), lesson)
    assert abs(drift.since - 2000) <= max(32, lesson // 4)  # older stretches are longer
    assert drift.before < 0.1
    assert drift.now > 0.4  # it is sure before it has seen much of it


def test_each_rise_is_an_alarm_of_its_own():
    told = alarms(errors((2000, 0.05), (2000, 0.4), (2000, 0.8)))
    assert len(told) == 2
    assert all(abs(d.since - at) <= 32 for d, at in zip(told, (2000, 4000), strict=True))


def test_steady_and_falling_errors_are_none():
    for seed in range(20):
        assert alarms(errors((20_000, 0.2), seed=seed)) == []
    rng = np.random.default_rng(0)
    assert alarms((rng.random(5000) < np.linspace(0.5, 0.05, 5000)).astype(int)) == []
    assert alarms(np.zeros(3000, int)) == []
    assert alarms(np.ones(3000, int)) == []


def test_a_rise_after_a_fall_is_seen_though_it_only_leads_back():
    (drift,) = alarms(errors((500, 0.5), (4000, 0.05), (500, 0.4)))
    assert abs(drift.since - 4500) <= 32


def test_agrees_with_river_about_jumps():
    adwin = pytest.importorskip("river.drift").ADWIN(delta=0.002)
    heard = errors((3000, 0.05), (1000, 0.35))
    theirs = []
    for i, wrong in enumerate(heard, 1):
        adwin.update(int(wrong))
        theirs += [i] if adwin.drift_detected else []
    (drift,) = alarms(heard, lesson=32)
    assert 3000 < drift.seen <= 3200
    assert abs(drift.seen - theirs[0]) <= 64


@given(st.lists(st.integers(0, 40), min_size=1, max_size=120), st.integers(0, 119))
def test_a_pause_changes_nothing(wrong, when):
    heard = np.concatenate([np.r_[np.ones(k, int), np.zeros(40 - k, int)] for k in wrong])
    assert alarms(heard, 40) == alarms(heard, 40, pause_after=40 * when)


def test_memory_does_not_grow_with_the_stream():
    watch = DriftWatch()
    for i in range(20_000):
        watch.hear(i, [True] * 3 + [False] * 29)
    assert sum(map(len, watch.state()[2])) < 80


@pytest.mark.parametrize(
    "state",
    [None, [], [0, 0, 3], [3, 4, []], [0, 0, [[[32, 33]]]], [0, 0, [[[1, 0]]]], [99, 0, []]],
)
def test_what_cannot_have_been_heard_is_refused(state):
    with pytest.raises(ValueError, match="saved"):
        DriftWatch().load(state)


# --- in a run -------------------------------------------------------------------------------------


def turned(rows=1600):
    X, y = stream(rows)
    y[rows // 2 :] = np.where(y[rows // 2 :] == "ja", "nein", "ja")
    return X, y


def test_a_run_tells_it_in_a_moment_and_writes_it_down(tmp_path):
    _, moments = through(tmp_path / "run", ArraySource(*turned()))
    told = [drift for moment in moments for drift in moment.drifts]
    assert told
    assert told == read_run(tmp_path / "run").drifts()
    assert abs(told[0].since - 800) < 150
    assert all(drift.seen == moment.seen for moment in moments for drift in moment.drifts)


@pytest.mark.parametrize("after", [5, 9, 11])
def test_a_run_that_was_stopped_tells_the_same(tmp_path, after):
    X, y = turned()
    through(tmp_path / "whole", ArraySource(X, y))
    cut = tmp_path / "cut"

    options = RunOptions(classes=LABELS, every=90, window=60)
    with Run.begin(cut, ArraySource(X, y), a_model(), options) as run:
        for n, _ in enumerate(run.steps()):
            if n == after:
                break
    with Run.resume(cut, ArraySource(X, y)) as run:
        list(run.steps())
    assert outcome(cut) == outcome(tmp_path / "whole")
