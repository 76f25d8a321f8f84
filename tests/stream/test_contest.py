"""The demo's story as assertions: what the ramp and the questions buy on a noisy stream."""

import math

import numpy as np
import pytest

from onlinesvm import PassiveAggressiveClassifier, RampSVC
from onlinesvm.cli.demo import ASKING, HINGE, RAMP, Board, contestants
from onlinesvm.stream import lessons, prequential


@pytest.mark.slow
def test_ramp_is_smaller_and_better_and_questions_are_cheap():
    board = Board.draw(4000, seed=3)
    stream = lessons(board.X, board.y, board.truth)
    *_, last = prequential(contestants(), stream, classes=[-1, 1])
    ramp, asking, hinge = last[RAMP], last[ASKING], last[HINGE]
    assert ramp.support_vectors < 0.35 * hinge.support_vectors
    assert ramp.recent_accuracy > 0.94
    assert ramp.clean_accuracy > hinge.clean_accuracy
    assert ramp.clean_accuracy > ramp.accuracy + 0.1  # 15 % of the labels cannot be told
    assert asking.labels_used < 0.25 * asking.seen
    assert ramp.labels_used == hinge.labels_used == 4000


def test_the_size_of_lessons_does_not_change_the_model():
    board = Board.draw(300, seed=0, test_rows=50)
    scores = []
    for size in (1, 7, 300):
        model = RampSVC(C=10, gamma=4, settle="example")
        for _ in prequential({"m": model}, lessons(board.X, board.y, size=size), classes=[-1, 1]):
            pass
        scores.append(model.decision_function(board.X_test))
    np.testing.assert_array_equal(scores[0], scores[1])
    np.testing.assert_array_equal(scores[0], scores[2])


def test_a_linear_machine_keeps_no_examples():
    board = Board.draw(200, seed=0, test_rows=1)
    model = PassiveAggressiveClassifier()
    *_, last = prequential({"m": model}, lessons(board.X, board.y), classes=[-1, 1])
    assert last["m"].support_vectors is None
    assert last["m"].labels_used == 200
    assert not math.isnan(last["m"].accuracy)
