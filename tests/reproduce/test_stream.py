"""StreamSVM's table and figures at a tiny size, and the rule that chooses its settings."""

from functools import partial
from math import sqrt

import numpy as np
import pytest


@pytest.fixture
def stream(checkout, monkeypatch):
    from reproduce import stream

    def digits():
        task = stream.clusters(6, 0.95)
        return stream.Task(task.X[:300], task.y[:300], task.X_test, task.y_test)

    def lopsided():
        task = digits()
        rare = (task.y < 0) | (np.arange(len(task.y)) % 10 == 0)
        rare_test = (task.y_test < 0) | (np.arange(len(task.y_test)) % 10 == 0)
        return stream.Task(
            task.X[rare], task.y[rare], task.X_test[rare_test], task.y_test[rare_test]
        )

    printed = stream.ROWS["MNIST 8v9"].printed
    rows = {
        "Synthetic A": stream.Row(partial(stream.clusters, 2, 0.965), printed, stated=False),
        "MNIST 8v9": stream.Row(digits, printed),
        "w3a": stream.Row(lopsided, printed),
    }
    monkeypatch.setattr(stream, "ROWS", rows)
    stream.load.cache_clear()
    yield stream
    stream.load.cache_clear()


@pytest.fixture
def journal(stream, tmp_path):
    from reproduce.journal import Journal

    return Journal("stream", folder=tmp_path, quick=True)


def test_the_table_has_every_column_and_a_verdict_on_every_printed_cell(stream, journal):
    shown = stream.table_1(journal)
    heads = [line for line in shown.text.splitlines() if line.startswith(("| data", "| accuracy"))]
    assert heads[0] == f"| data | {' | '.join(stream.PRINTED)} |"
    assert heads[1] == f"| data | {' | '.join(stream.OURS)} |"
    assert "w3a, chosen by balanced accuracy" in heads[-1]
    assert "MNIST 8v9, chosen by" not in heads[-1]  # its classes are alike
    words = [one.word for one in shown.verdicts]
    assert len(words) == 3 * 7
    assert words.count("cannot be repeated") == 7  # the set that is not described
    assert "not measured yet" not in words


def test_the_figures(stream, journal):
    assert len(stream.figure_2(journal).verdicts) == 1
    assert len(stream.figure_3(journal).verdicts) == 3
    shown = stream.figure_4(journal)
    assert shown.picture is not None
    assert len(shown.verdicts) == 9


def test_settings_are_chosen_without_a_look_at_the_test_rows(stream, monkeypatch):
    plain = stream.choose("MNIST 8v9", "algorithm 1", 200)
    task = stream.ROWS["MNIST 8v9"].load()
    blind = stream.Task(task.X, task.y, np.full_like(task.X_test, np.nan), task.y_test)
    monkeypatch.setitem(stream.ROWS, "MNIST 8v9", stream.Row(lambda: blind, ()))
    stream.load.cache_clear()
    assert stream.choose("MNIST 8v9", "algorithm 1", 200) == plain


def test_folds_hold_each_row_out_once(stream):
    task = stream.clusters(2, 0.9).at_most(103)
    folds = list(task.folds())
    held_out = np.concatenate([fold.X_test for fold in folds])
    assert sorted(map(tuple, held_out)) == sorted(map(tuple, task.X))
    for fold in folds:
        kept = {tuple(row) for row in fold.X}
        assert len(kept) == 103 - len(fold.y_test)
        assert not kept & {tuple(row) for row in fold.X_test}


def test_rows_are_prepared_by_the_training_rows(stream):
    task = stream.clusters(3, 0.9).at_most(50)
    prepared = stream.Preparation("standardised", constant=False, unit=False).of(task)
    assert prepared.X.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert prepared.X.std(axis=0) == pytest.approx(1)
    again = (task.X_test - task.X.mean(axis=0)) / task.X.std(axis=0)
    assert prepared.X_test == pytest.approx(again)
    unit = stream.Preparation("as is", constant=True, unit=True).of(task)
    assert unit.X.shape == (50, 4)
    assert np.linalg.norm(unit.X_test, axis=1) == pytest.approx(1)


def test_prepared_rows_are_what_the_model_makes_of_plain_ones(stream):
    """A constant feature and length one by hand, or by ``bias`` and ``normalize``: one model."""
    from onlinesvm import StreamSVC

    task = stream.clusters(3, 0.8).at_most(200)
    prepared = stream.Preparation("as is", constant=True, unit=True).of(task)
    by_hand = stream.stream_svm(10.0, lookahead=10).partial_fit(prepared.X, prepared.y).flush()
    by_words = StreamSVC(10.0, lookahead=10, classes=[-1, 1]).partial_fit(task.X, task.y).flush()
    assert (by_hand.predict(prepared.X_test) == by_words.predict(task.X_test)).all()


@pytest.mark.parametrize("body", ["L = 1", "L = 10", "L = 50"])
def test_one_ball_pays_the_lower_bound_when_the_singleton_comes_last(stream, body):
    facts = stream.adversarial(n=301, body=body, count=10)
    assert facts["singleton last"] == pytest.approx((1 + sqrt(2)) / 2, abs=1e-4)
    assert min(facts["random"]) > 1 - 1e-5
    assert max(facts["random"]) <= 1.5


def test_ten_balls_do_not(stream):
    assert stream.adversarial(301, "ten balls", 5)["singleton last"] == pytest.approx(1, abs=1e-4)


def test_a_constant_guess_is_marked(stream):
    guess = stream.Entry({}, 90.0, [90.0, 90.0], [50.0, 50.0])
    assert stream.shown(guess) == "90.00 ± 0.00 °"
    assert stream.shown(stream.Entry({}, 90.0, [92.0], [80.0])) == "92.00"


@pytest.mark.parametrize(
    ("printed", "accuracies", "word"),
    [
        ("90.5", [90.0, 90.0], "degenerate"),  # ours is the constant guess
        ("90.5", [88.0, 86.0], "degenerate"),
        ("90.0", [93.0, 93.0], "degenerate"),  # the printed one is no better
        ("90.5", [93.0, 93.0], "better"),
        ("94.5", [92.4, 94.4, 92.4, 94.4], "met"),  # 93.4, standard error .58
        ("94.5", [92.4, 94.4] * 10, "short"),  # the same, standard error .23
        ("93.4", [93.5, 93.4], "met"),
    ],
)
def test_a_cell_is_judged_by_the_error_of_its_mean_and_beside_the_constant_guess(
    stream, printed, accuracies, word
):
    entry = stream.Entry(
        {"scaling": "as is", "constant": False, "unit": False, "parameter": 1.0},
        90.0,
        accuracies,
        [60.0] * len(accuracies),
    )
    verdict = stream.judged("MNIST 8v9, algorithm 2", printed, entry)
    assert verdict.word == word
    assert verdict.why.endswith("chosen: 1, as is")
    assert ("always the frequent class has 90.00" in verdict.why) == (word == "degenerate")


@pytest.mark.parametrize(
    ("accuracies", "word", "ours"),
    [
        ((80, 85, 90, 96), "met", "between 150 and 420"),
        ((80, 94, 92, 96), "met", "between 150 and 420"),  # a lucky pass does not count
        ((80, 94, 95, 96), "short", "between 1 and 50"),
        ((80, 85, 90, 92), "met", "more than 420"),
    ],
)
def test_passes_until_cvm_stays_above_the_bar(stream, accuracies, word, ours):
    course = list(zip((1, 50, 150, 420), accuracies, strict=True))
    verdict = stream.passes_verdict(course, 93.0)
    assert (verdict.word, verdict.ours) == (word, ours)


def test_a_pass_of_cvm_is_that_of_the_compiled_search(stream):
    """Both end with one ball: that around all rows."""
    from onlinesvm import CoreVectorSVC

    how = {"scaling": "standardised", "constant": False, "unit": True, "parameter": 1.0}
    task = stream.Preparation("standardised", False, True).of(stream.load("MNIST 8v9", 120))
    whole = CoreVectorSVC(
        1.0, kernel="linear", sample="all", bias="none", tol=1e-6, classes=[-1, 1]
    ).fit(task.X, task.y)
    facts = stream.passes_of_cvm(**how, looks=[1, 118], rows=120)
    assert facts["accuracy"][1] == 100 * whole.score(task.X_test, task.y_test)
    assert facts["accuracy"][0] < facts["accuracy"][1]
