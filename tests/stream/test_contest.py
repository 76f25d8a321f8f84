"""The demo's story as assertions: what the ramp and the questions buy on a noisy stream."""

import math

import numpy as np
import pytest

from onlinesvm import PassiveAggressiveClassifier, RampSVC
from onlinesvm.datasets import make_checkerboard
from onlinesvm.stream import lessons, prequential

SCALE = 4 / math.sqrt(12)


def board(rows, seed, noise=0.15):
    X, y = make_checkerboard(rows, noise=noise, random_state=seed)
    return (X - 2) / SCALE, y


@pytest.mark.slow
def test_ramp_is_smaller_and_better_and_questions_are_cheap():
    X, y = board(4000, seed=3)
    _, truth = board(4000, seed=3, noise=0.0)
    models = {
        "ramp": RampSVC(C=50, gamma=4),
        "asking": RampSVC(C=50, gamma=4, query="margin"),
        "hinge": RampSVC(C=50, gamma=4, s=-math.inf),
    }
    *_, last = prequential(models, lessons(X, y, truth), classes=[-1, 1])
    ramp, asking, hinge = last.values()
    assert ramp.support_vectors < 0.35 * hinge.support_vectors
    assert ramp.recent_accuracy > 0.94
    assert ramp.clean_accuracy > hinge.clean_accuracy
    assert ramp.clean_accuracy > ramp.accuracy + 0.1  # 15 % of the labels cannot be told
    assert asking.labels_used < 0.25 * asking.seen
    assert ramp.labels_used == hinge.labels_used == 4000


def test_the_size_of_lessons_does_not_change_the_model():
    X, y = board(300, seed=0)
    X_test, _ = board(50, seed=1)
    scores = []
    for size in (1, 7, 300):
        model = RampSVC(C=10, gamma=4, settle="example")
        for _ in prequential({"m": model}, lessons(X, y, size=size), classes=[-1, 1]):
            pass
        scores.append(model.decision_function(X_test))
    np.testing.assert_array_equal(scores[0], scores[1])
    np.testing.assert_array_equal(scores[0], scores[2])


def test_a_linear_machine_keeps_no_examples():
    X, y = board(200, seed=0)
    model = PassiveAggressiveClassifier()
    *_, last = prequential({"m": model}, lessons(X, y), classes=[-1, 1])
    assert last["m"].support_vectors is None
    assert last["m"].labels_used == 200
    assert not math.isnan(last["m"].accuracy)
