"""The arithmetic of test-then-train, checked with learners whose every answer is known."""

import math

import numpy as np
import pytest

from onlinesvm.stream import Lesson, Snapshot, lessons, prequential


class Parrot:
    """Says the label it heard last; records how it was spoken to."""

    def __init__(self):
        self.calls = []

    def partial_fit(self, X, y, classes=None):
        if classes is not None:
            self.classes_ = np.asarray(classes)
        self.calls.append(("partial_fit", len(y)))
        self.last = y[-1]

    def decision_function(self, X):
        self.calls.append(("decision_function", X.shape[0]))
        return np.full(X.shape[0], 1.0 if self.last == self.classes_[1] else -1.0)


class QuickParrot(Parrot):
    labels_used_ = 3
    support_ = np.arange(7)

    def predict_one(self, x):
        assert x.ndim == 1
        self.calls.append("predict_one")
        return self.last

    def learn_one(self, x, y):
        self.calls.append("learn_one")
        self.last = y


class Chooser(Parrot):
    """Three classes, always the last of them."""

    def decision_function(self, X):
        return np.tile([0.0, 1.0, 2.0], (X.shape[0], 1))


X = np.arange(12.0).reshape(6, 2)
Y = np.array([1, 1, -1, -1, -1, 1])


def run(model, stream, **options):
    return [shot["m"] for shot in prequential({"m": model}, stream, classes=[-1, 1], **options)]


def test_tests_before_it_trains():
    (shot,) = run(Parrot(), lessons(X, Y), every=100)
    # The first example only trains; then: right, wrong, right, right, wrong.
    assert shot.seen == 6
    assert shot.accuracy == pytest.approx(3 / 5)
    assert shot.clean_accuracy is None
    assert shot.support_vectors is None
    assert shot.labels_used == 6
    assert shot.seconds > 0
    assert shot.examples_per_second == pytest.approx(6 / shot.seconds)


def test_true_labels_score_and_never_teach():
    truth = np.ones(6, dtype=int)
    (shot,) = run(Parrot(), lessons(X, Y, truth), every=100)
    assert shot.accuracy == pytest.approx(3 / 5)
    assert shot.clean_accuracy == pytest.approx(2 / 5)
    assert shot.recent_accuracy == pytest.approx(2 / 5)


def test_snapshots_come_on_time_and_once_more_at_the_end():
    shots = run(Parrot(), lessons(X, Y), every=4)
    assert [shot.seen for shot in shots] == [4, 6]
    assert shots[0].accuracy == pytest.approx(2 / 3)
    assert shots[1].recent_accuracy == pytest.approx(1 / 2)
    assert [shot.seen for shot in run(Parrot(), lessons(X, Y), every=3)] == [3, 6]
    assert [shot.seen for shot in run(Parrot(), lessons(X, Y, size=4), every=3)] == [4, 6]


def test_lessons_of_several_rows_are_tested_whole():
    model = Parrot()
    (shot,) = run(model, lessons(X, Y, size=4), every=100)
    assert model.calls == [("partial_fit", 4), ("decision_function", 2), ("partial_fit", 2)]
    assert shot.accuracy == pytest.approx(1 / 2)


def test_single_rows_take_the_short_way():
    model = QuickParrot()
    (shot,) = run(model, lessons(X, Y), every=100)
    assert model.calls == [("partial_fit", 1)] + ["predict_one", "learn_one"] * 5
    assert shot.accuracy == pytest.approx(3 / 5)
    assert (shot.labels_used, shot.support_vectors) == (3, 7)


def test_the_largest_score_wins_with_several_classes():
    stream = [(X, Y), (X, np.array([0, 1, 2, 2, 2, 1]))]
    *_, last = prequential({"m": Chooser()}, stream, classes=[0, 1, 2])
    assert last["m"].accuracy == pytest.approx(1 / 2)


def test_models_share_the_stream_and_keep_their_order():
    models = {"b": Parrot(), "a": QuickParrot()}
    (shots,) = prequential(models, iter([Lesson(X, Y)]), classes=[-1, 1])
    assert list(shots) == ["b", "a"]
    assert all(isinstance(shot, Snapshot) and math.isnan(shot.accuracy) for shot in shots.values())


def test_an_empty_stream_says_nothing():
    assert run(Parrot(), []) == []


def test_hostile_arguments():
    with pytest.raises(ValueError, match="models is empty"):
        next(prequential({}, [(X, Y)], classes=[-1, 1]))
    with pytest.raises(ValueError, match="every must be a positive"):
        run(Parrot(), [(X, Y)], every=0)
    with pytest.raises(ValueError, match="size must be a positive"):
        next(lessons(X, Y, size=0))
    with pytest.raises(ValueError, match="one label for each of the 6 rows"):
        next(lessons(X, Y[:3]))
