"""POKER's table and figures at a tiny size, without any data but what is drawn."""

import numpy as np
import pytest


@pytest.fixture
def poker(checkout, monkeypatch):
    from reproduce import poker

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 8)), rng.integers(0, 2, 300)
    X[:, 0] += y
    X = np.column_stack([rng.integers(0, 3, 300), X[:, 1:]])
    monkeypatch.setattr(poker, "fetch", lambda name: (X, y, X[:0], y[:0]))
    poker.abalone.cache_clear()
    yield poker
    poker.abalone.cache_clear()


@pytest.fixture
def journal(poker, tmp_path):
    from reproduce.journal import Journal

    return Journal("poker", folder=tmp_path, quick=True)


def test_the_table_and_the_figures(poker, journal):
    shown = poker.table_1(journal)
    assert [line.split(" |")[0] for line in shown.text.splitlines()[2:]] == [
        f"| {rule}" for rule in (*poker.RULES, "S, E, O at the end", "C, by the rule")
    ]
    words = [one.word for one in shown.verdicts]
    assert words.count("cannot be repeated") == len(poker.RULES)  # the synthetic set
    assert "not measured yet" not in words
    assert len(poker.figure_2(journal).verdicts) == len(poker.DEGREES)
    assert len(poker.figure_3(journal).verdicts) == len(poker.PENALTIES)


def test_the_C_is_the_one_whose_end_is_nearest(poker, journal):
    name, problem = "diabetes", poker.PROBLEMS["diabetes"]
    rows = poker.rows(journal, problem)
    ends = {C: poker.partition(name, 0.0, C, rows)["S, E, O"] for C in poker.CS}
    away = {C: np.abs(np.subtract(ends[C], problem.partition)).sum() for C in poker.CS}
    choice = poker.chosen(journal)[name]
    assert away[choice.C] == min(away.values())
    assert choice.ends == ends[choice.C]


def test_selection_ends_where_one_by_one_does(poker):
    ends = {
        tuple(poker.breakpoints("diabetes", 0.0, 1.0, rule, 0, 60)["S, E, O"])
        for rule in poker.RULES
    }
    assert len(ends) == 1
    assert sum(ends.pop()) == 60


def test_a_set_that_cannot_be_had_is_left_out_in_one_line(poker, journal, monkeypatch, capsys):
    def unknown(name):
        raise ValueError(f"unknown data set name={name!r}")

    monkeypatch.setattr(poker, "fetch", unknown)
    shown = poker.table_1(journal)
    assert "left out: partition, data diabetes" in capsys.readouterr().out
    assert [one.word for one in shown.verdicts if "diabetes" in one.what] == [
        "not measured yet"
    ] * len(poker.RULES)
    assert poker.figure_2(journal).verdicts == []
