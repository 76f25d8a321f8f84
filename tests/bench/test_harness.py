"""The benchmark harness: turns, minimum, ratios, bars, and files that tell no tales."""

import importlib
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


def test_sizing_by_key_gives_back_what_it_was_made_from(bench, monkeypatch, tmp_path):
    from bench import tables
    from bench.quality.sizing import CASE, KEYS, KeyCosts

    paths = {"1 executor": 10.0, "2 executors": 6.0}
    spark = {name: {"path_cpu_s": path} for name, path in paths.items()}
    spark = {"cases": {CASE: spark | {"the library alone": {"best_s": 1.0}}}}
    memory = {"cases": {"learn": {"bank": {"MB": 40.0}}}}
    costs = KeyCosts.of(spark, memory)
    assert (costs.once, costs.work * KEYS, costs.model_bytes) == pytest.approx((2.0, 8.0, 400.0))
    assert costs.simulated(KEYS, 1)[0] == pytest.approx(10.0, abs=0.05)
    assert costs.simulated(KEYS, 10)[1] == pytest.approx(4e6)
    seconds = [costs.simulated(10**8, n)[0] for n in (1, 10, 100, 1_000)]
    assert seconds == sorted(seconds, reverse=True)
    assert costs.simulated(KEYS, 1_000)[0] > costs.simulated(KEYS, 100)[0]  # tasks are given out
    place = "<!-- results: sizing_by_key -->\n<!-- end -->\n"
    monkeypatch.setattr(tables, "RESULTS", Path(tables.__file__).parent / "results")
    assert "| 100,000,000 | 2,000,000,000 |" in tables.fill(place)
    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    assert "Not measured yet." in tables.fill(place)


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


# ---- accuracy on a budget ------------------------------------------------------------------------


@pytest.fixture
def contest(bench):
    """A stream of 400 rows that turns round; nothing needs data or a download."""
    from bench.quality.quality_budget import Contest
    from onlinesvm.datasets import make_rotating_boundary

    X, y = make_rotating_boundary(400, random_state=0)
    return Contest("turning", X.astype(np.float32), (np.asarray(y) > 0).astype(int)).measured()


def test_a_contestant_is_a_line_and_those_who_are_not_there_are_left_out(bench, contest):
    from bench.quality import quality_budget as budget

    assert all(family.there for family in budget.FIELD if family.name.startswith("Budgeted"))
    nobody = budget.ours("NobodySVC", C=(1.0,))
    assert not nobody.there
    ramp = budget.ours("BudgetedRampSVC", alpha=(1e-3,), unheard_of=(7,))
    model = ramp.make(contest, 30, {"gamma": 2.0, "alpha": 1e-3, "unheard_of": 7})
    assert (model.budget, model.alpha) == (30, 1e-3)
    assert model.gamma == pytest.approx(2.0 * contest.unit)
    assert not budget.ours("LASVC", C=(1.0,)).sized


def test_what_does_not_count_and_who_knows_nothing(bench, contest):
    from bench.quality.quality_budget import Contest, ignorant, play

    class Reader:
        """Says 1 for ever, and remembers what it was asked before what it was told."""

        def __init__(self):
            self.calls = []

        def predict(self, X):
            self.calls.append("asked")
            return np.ones(len(X), dtype=int)

        def partial_fit(self, X, y, classes=None):
            self.calls.append("told")

    reader = Reader()
    _, right = play(reader, contest, first=40)
    assert reader.calls[:5] == ["told", "asked", "told", "asked", "told"]
    assert right == pytest.approx(contest.y[40:].mean())
    assert len(contest.trial.y) == 40
    runs = Contest("runs", np.zeros((40, 1)), np.repeat([0, 1, 1, 0], 10))
    assert ignorant(runs) == {
        "the last label": pytest.approx(34 / 36),
        "the majority": pytest.approx((6 + 9) / 36),  # zeros at first, ones from the tie on
    }


def test_the_table_and_the_picture_of_a_contest(bench, report, contest, tmp_path):
    from bench.quality import quality_budget as budget

    options = bench.Options(repeats=1, quick=True, only=())
    budget.run(report, contest, options)
    assert {budget.kin(name) for name in report.cases["turning"]} >= {"BudgetedSVC", budget.PEER}
    assert (
        budget.kin("PassiveAggressiveClassifier, linear") == "PassiveAggressiveClassifier, linear"
    )
    budget.show(report)
    (table,) = report.details["tables"]
    assert {len(row) for row in table["rows"]} == {3}
    assert table["rows"][-2][0] == "the last label"
    budget.draw(report, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_every_class_of_margin_and_gradient_is_raced(bench):
    import onlinesvm
    from bench.speed.linear_all import SETTINGS

    families = ("onlinesvm.methods.margin.", "onlinesvm.methods.gradient.")
    names = {
        cls.__name__ for cls in onlinesvm.all_estimators() if cls.__module__.startswith(families)
    }
    assert set(SETTINGS) == names


def test_a_case_may_bear_the_name_of_a_benchmark(bench, monkeypatch):
    from bench.speed import smo

    command, asked = importlib.import_module("bench.__main__"), []
    monkeypatch.setattr(smo, "main", asked.append)
    assert command.main(["smo", "--only", "predict"]) == 0
    assert asked == [["--only", "predict"]]


def test_every_benchmark_takes_its_words(bench):
    command = importlib.import_module("bench.__main__")
    for path in command.BENCHMARKS.values():
        text = path.read_text(encoding="utf-8")
        assert "@benchmark(" in text or "def main(words: " in text, path
