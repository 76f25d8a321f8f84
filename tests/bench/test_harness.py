"""The benchmark harness: turns, minimum, ratios, bars, and files that tell no tales."""

import json
import socket
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def bench(checkout, monkeypatch, tmp_path):
    from bench import common

    monkeypatch.setattr(common, "RESULTS", tmp_path)
    return common


@pytest.fixture
def report(bench):
    return bench.Report("try", "A try", "slow", bench.Options(repeats=1, quick=False, only=()))


def test_race_runs_in_turns_and_keeps_all(bench):
    order = []
    runs = {name: lambda name=name: order.append(name) or name for name in "ab"}
    laps = bench.race(runs, repeats=3)
    assert order == list("abbaab")
    assert {name: lap.product for name, lap in laps.items()} == {"a": "a", "b": "b"}
    assert all(len(lap.seconds) == 3 and lap.best == min(lap.seconds) for lap in laps.values())


def test_ratios_bars_and_file(bench, report, capsys):
    laps = {"fast": bench.Lap([3.0, 1.0, 2.0], None), "slow": bench.Lap([4.0], None)}
    report.add("case", laps, facts={"fast": {"SVs": 7}}, units=100)
    assert report.ratio("case", "fast") == 0.25
    assert report.speed_up("case", "fast") == 4.0
    report.bar("low enough", 0.25, at_most=0.3)
    report.bar("high enough", 4.0, at_least=10)
    report.note("pip install 'onlinesvm[bench]'")
    report.finish()
    printed = capsys.readouterr().out
    assert "does not hold" in printed
    assert "onlinesvm[bench]" in printed

    text = report.path.read_text()
    result = json.loads(text)
    assert [bar["holds"] for bar in result["bars"]] == [True, False]
    assert result["cases"]["case"]["fast"]["per_second"] == 100.0
    assert result["cases"]["case"]["fast"]["SVs"] == 7
    assert {"machine", "compiler", "versions", "commit", "date"} <= set(result)
    assert str(ROOT) not in text
    assert f'"{socket.gethostname()}"' not in text


def test_quick_and_partial_runs_stay_out_of_the_results(bench):
    for options in (bench.Options(1, True, ()), bench.Options(3, False, ("gauss",))):
        assert bench.Report("try", "A try", "slow", options).path.parent.name == "local"
    assert bench.Options(3, False, ("gauss",)).wants("Gauss")
    assert not bench.Options(3, False, ("gauss",)).wants("Adult")


def test_missing_peers_are_named(bench):
    from bench.peers import Learner, present

    lines = []
    here, absent = Learner("here", None), Learner("absent", None, "no_such_module")
    assert present([here, absent], lines.append) == [here]
    assert lines == [
        "absent left out: no_such_module is not installed (pip install 'onlinesvm[bench]')"
    ]


def test_tables_are_filled_between_marks(bench, report, monkeypatch, tmp_path):
    from bench import tables

    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    report.add("case", {"slow": bench.Lap([2.0], None)})
    report.bar("claim", 1.0, at_most=0.5)
    report.finish()
    text = "<!-- results: try -->\nstale\n<!-- end -->\n<!-- results: none -->\n<!-- end -->\n"
    filled = tables.fill(text)
    assert "| case | slow | 2 | 1 |" in filled
    assert "**does not hold**" in filled
    assert "Not measured yet." in filled
    assert "stale" not in filled
    assert tables.fill(filled) == filled


def test_the_summary_shows_what_was_missed_or_nearly(bench, report, monkeypatch, tmp_path):
    from bench import tables

    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    report.add("case", {"slow": bench.Lap([2.0], None)})
    report.bar("easy", 5.0, at_least=1.0)
    report.bar("bytes / |S|", 0.9, at_most=1.0)
    report.finish()
    assert "| try | 2 of 2 | bytes / \\|S\\| | 0.9 | <= 1 |" in tables.summary()
    report.bar("speed", 2.0, at_least=3.0)
    report.finish()
    assert "| try | 2 of 3 | speed **missed** | 2 | >= 3 |" in tables.summary()
    assert "bytes" not in tables.summary()


def test_tables_of_ones_own_take_the_place_of_the_cases(bench, report, capsys):
    from bench.tables import markdown

    report.matrix("flowers", ["set", "iris"], [["SVC", "**97.8**"]])
    report.matrix("drinks", ["set", "wine"], [["SVC", "66.7"]])
    report.bar("below the majority", -0.5, at_most=0)
    report.finish()
    shown = capsys.readouterr().out
    assert "97.8" in shown
    assert "drinks" in shown
    assert "**" not in shown
    text = markdown(json.loads(report.path.read_text()))
    assert "**flowers**\n\n| set | iris |\n| --- | --- |\n| SVC | **97.8** |" in text
    assert text.index("97.8") < text.index("66.7")


def test_every_set_of_the_tournament_can_be_cut(bench, monkeypatch):
    monkeypatch.delenv("ONLINESVM_DATA", raising=False)
    from bench.quality import defaults

    report = bench.Report("try", "", "SVC", bench.Options(repeats=1, quick=True, only=()))
    sets = list(defaults.contests(report))
    assert len({contest.name for contest in sets}) == len(sets) >= 16
    assert {contest.task for contest in sets} == {"classes", "numbers", "usual"}
    iris = sets[0]
    assert (np.diff(iris.y) >= 0).all()
    assert len(iris.y) + len(iris.y_test) == 150


def test_a_miss_is_bold_in_the_tournament_and_named(bench, report):
    from sklearn.svm import SVC

    from bench.quality import defaults
    from onlinesvm import PegasosSVC, SmoSVC

    X, y = np.zeros((100, 1)), np.repeat([0, 1], 50)
    contest = defaults.Contest("coins", X, y, X, y)
    fit = {"SVC": 70.0, "OneVsRestSVC": 70.0, "SGDClassifier": 60.0, "SmoSVC": 69.5}
    scores = {name: (value, None, 0.1) for name, value in fit.items()}
    scores["PegasosSVC"] = (57.0, 39.0, 0.1)
    ours = [SmoSVC, PegasosSVC]
    defaults.show(report, [contest], {"coins": scores}, [SVC, *ours])
    (shown,) = report.details["tables"]
    assert shown["rows"] == [
        ["set (rows)", "coins (100)"],
        ["the majority", "50.0"],
        ["SVC", "70.0"],
        ["SmoSVC", "69.5"],
        ["PegasosSVC", "**57.0** / 39.0"],
    ]
    defaults.hold_to_bars(report, [contest], {"coins": scores}, ours)
    assert [bar["holds"] for bar in report.bars] == [True, True, False, True]
    (note,) = report.notes
    assert "PegasosSVC on coins, 3.0" in note
