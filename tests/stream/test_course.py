"""A course that was put away as plain values goes on as if it never had been."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlinesvm import (
    NormaOneClassSVM,
    OnlineScaler,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    make_online_pipeline,
)
from onlinesvm.files.json_values import from_json, to_json
from onlinesvm.stream.baselines import BASELINES
from onlinesvm.stream.choice import usual_metrics
from onlinesvm.stream.course import Course
from onlinesvm.stream.lesson import lessons
from onlinesvm.stream.runners import BaselineRunner, ModelRunner
from onlinesvm.stream.scorecard import Scorecard
from onlinesvm.stream.students import kind_of
from onlinesvm.stream.tallies import Codec, Targets

WINDOW = 40


def course_of(model, classes=None):
    kind = kind_of(model)

    codec = Targets() if kind == "regressor" else Codec()

    def card():
        return Scorecard(usual_metrics(kind, classes, model), WINDOW, codec)

    runners = {"model": ModelRunner("model", model, kind, classes, card(), codec)}
    for name, baseline in BASELINES[kind].items():
        runners[name] = BaselineRunner(baseline(codec), kind, card(), codec)
    return Course(runners, kind, codec)


def through_json(state):
    return from_json(json.loads(json.dumps(to_json("state", state), allow_nan=False)))


def told(course):
    rows = {name: shot.row() for name, shot in course.glance().items()}
    for row in rows.values():
        for name in ("seconds", "examples_per_second", "nbytes"):
            del row[name]
    return repr(rows)  # nan equals nan


def marks(course):
    state = through_json(course.state())
    del state["runners"]["model"]["own"]["seconds"]
    return repr(state)


def streams():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(240, 3))
    X[:, 1] *= 1e3
    words = np.where(X[:, 0] > 0.3, "ja", np.where(X[:, 2] > 0, "nein", "weiss nicht"))
    numbers = 1e9 + X[:, 0] * 1e-3
    rare = np.where(X[:, 2] > 1.5, -1, 1)
    two, three = np.array([0, 1]), np.array(["ja", "nein", "weiss nicht"])
    yield PassiveAggressiveClassifier(), X, (X[:, 0] > 0).astype(int), two
    pipeline = make_online_pipeline(OnlineScaler(warm_up=50), PassiveAggressiveClassifier())
    yield pipeline, X, words, three
    yield PassiveAggressiveRegressor(), X, numbers, None
    yield NormaOneClassSVM(), X, rare, None
    yield NormaOneClassSVM(), X, None, None


@pytest.mark.parametrize("at", [0, 1, 5, 17])
@pytest.mark.parametrize("number", range(5))
def test_property_goes_on_as_if_it_had_never_stopped(number, at):
    model, X, y, classes = list(streams())[number]
    through, stopped = course_of(model, classes), course_of(copy.deepcopy(model), classes)
    parts = list(lessons(X, y, size=12))
    for i, part in enumerate(parts):
        if i == at:
            state = through_json(stopped.state())
            again = course_of(stopped._runners["model"].student.model, classes)
            again.load(state)
            stopped = again
        for course in (through, stopped):
            course.test(part)
            course.train(part)
            if i % 4 == 3:
                course.snapshots()
        assert told(stopped) == told(through)
    assert marks(through) == marks(stopped)


def test_a_glance_begins_nothing():
    model, X, y, classes = next(streams())
    looked, not_looked = course_of(model, classes), course_of(copy.deepcopy(model), classes)
    for part in lessons(X, y, size=20):
        for course in (looked, not_looked):
            course.test(part)
            course.train(part)
        looked.glance()
    assert told(looked) == told(not_looked)


def halfway(number):
    model, X, y, classes = list(streams())[number]
    course = course_of(model, classes)
    for part in list(lessons(X, y, size=12))[:9]:
        course.test(part)
        course.train(part)
    return course, classes


def places(value):
    keys = list(value) if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


ODD = [None, -1, 2**70, 1.5, float("nan"), "x", [], {}, [[1]], True, {"a": 1}]


@given(number=st.integers(0, 4), where=st.integers(0, 10**6), what=st.sampled_from(ODD))
def test_property_a_forged_state_is_refused_or_harmless(number, where, what):
    course, classes = halfway(number)
    state = through_json(course.state())
    found = list(places(state))
    holder, key = found[where % len(found)]
    holder[key] = what
    again = course_of(course._runners["model"].student.model, classes)
    refusal = ""
    try:
        again.load(state)
        again.glance()
    except ValueError as error:
        refusal = str(error)
    assert "\n" not in refusal


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda s: s.update(more=1), "nothing else"),
        (lambda s: s.update(started=1), "started or not"),
        (lambda s: s.update(seen=2**63), r"below 2\*\*63"),
        (lambda s: s["runners"].pop("majority"), "nothing else"),
        (lambda s: s["runners"]["model"]["labels"].__setitem__(0, 10**6), "more right answers"),
        (lambda s: s["runners"]["model"]["card"]["window"].pop("truth"), "other columns"),
        (
            lambda s: [c.extend(c) for c in s["runners"]["model"]["card"]["window"].values()],
            "more than its 40",
        ),
        (lambda s: s["runners"]["majority"]["own"].update(most="x"), "never heard"),
        (lambda s: s["before"].update(coming=[1, 2, 3]), "under way"),
    ],
)
def test_what_contradicts_itself_is_refused(change, match):
    course, classes = halfway(0)
    state = course.state()
    change(state)
    with pytest.raises(ValueError, match=match):
        course_of(course._runners["model"].student.model, classes).load(state)
