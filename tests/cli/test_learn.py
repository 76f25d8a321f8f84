"""`learn` as people use it: messy files, resuming, Ctrl-C, limits, pipes, and what is refused."""

from __future__ import annotations

import json
import signal

import messy_files
import numpy as np
import pytest
from command import refused, run

import onlinesvm
from onlinesvm.cli import display
from onlinesvm.stream.run import read_run

pytest.importorskip("pyarrow")
pytest.importorskip("matplotlib")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where the user works: petals, flats and an empty desk."""
    monkeypatch.chdir(tmp_path)
    messy_files.petals(tmp_path)
    messy_files.flats(tmp_path)
    return tmp_path


LEARN = ("learn", "petals.csv", "--target", "flower")
ONE = ("--model", "PassiveAggressiveClassifier")


def model_bytes(run_folder):
    return (run_folder / "model.onlinesvm").read_bytes()


# --- what comes out -------------------------------------------------------------------------------


def test_a_file_becomes_a_model_a_report_and_findings(folder):
    said = run(*LEARN)
    assert "columns   length number, width number; target flower category" in said
    assert "3 labels: a kernel" in said
    assert "better than both baselines" in said
    assert (folder / "petals.run" / "report.html").read_text().startswith("<!doctype html>")
    model = onlinesvm.load(folder / "petals.run" / "model.onlinesvm")
    assert model.feature_names_in_.tolist() == ["length", "width"]
    assert type(model.steps[-1][1]) is onlinesvm.RampSVC


def test_the_model_is_the_one_that_python_would_have_made(folder):
    run(*LEARN, *ONE, "-p", "C=0.5", "-q")
    table = np.loadtxt("petals.csv", delimiter=",", skiprows=1, dtype=str)
    X, y = table[:, :2].astype(float), table[:, 2].astype(object)
    here = onlinesvm.make_online_pipeline(
        onlinesvm.OnlineImputer(),
        onlinesvm.OnlineScaler(),
        onlinesvm.PassiveAggressiveClassifier(C=0.5, classes="open"),
    ).partial_fit(X, y)
    there = onlinesvm.load("petals.run/model.onlinesvm")
    np.testing.assert_array_equal(here.decision_function(X), there.decision_function(X))


def test_the_marks_are_those_of_an_independent_count(folder):
    run(*LEARN, *ONE, "--lesson", 1, "-q")
    model = onlinesvm.make_online_pipeline(
        onlinesvm.OnlineImputer(),
        onlinesvm.OnlineScaler(),
        onlinesvm.PassiveAggressiveClassifier(classes="open"),
    )
    table = np.loadtxt("petals.csv", delimiter=",", skiprows=1, dtype=str)
    X, y = table[:, :2].astype(float), table[:, 2].astype(object)
    right = 0
    for k in range(len(y)):
        right += int(bool(k and model.predict(X[k : k + 1])[0] == y[k]))
        model.partial_fit(X[k : k + 1], y[k : k + 1])
    last = read_run("petals.run").evaluation().last["PassiveAggressiveClassifier"]
    assert last.accuracy == right / (len(y) - 1)


def test_a_number_is_a_regression_unless_told_otherwise(folder):
    assert "different numbers in the first rows: regression" in run("learn", "flats.csv")
    assert read_run("flats.run").config.model["name"] == "NormaSVR"
    said = run("learn", "flats.csv", "--model", "SGDSVC", "--run", "b.run", "--limit", 150)
    assert "note: 'price' looks like a number" in said


def test_quiet_says_nothing_and_json_says_all(folder):
    assert run(*LEARN, *ONE, "-q") == ""
    lines = run(*LEARN, *ONE, "--json", "--run", "b.run").splitlines()
    moments = [json.loads(line) for line in lines]
    assert moments[-1] == {"event": "end", "run": "b.run", "model": "b.run/model.onlinesvm"}
    assert [m["event"] for m in moments[:-1]] == ["moment"] * (len(moments) - 1)
    seen = [m["seen"] for m in moments[:-1]]
    assert seen == sorted(seen)
    assert seen[-1] == 900
    assert set(moments[0]["models"]) == {"PassiveAggressiveClassifier", "no-change", "majority"}
    assert moments[-2]["models"]["majority"]["role"] == "baseline"


def test_no_name_of_a_file_is_a_command_to_the_terminal(folder):
    escape = "\x1b]0;owned\x07\x1b[2J"
    name = f"odd{escape}.csv"
    rows = "".join(f"{k % 7},{k % 3},red{escape}\n{k % 5},7,[bold]blu\u202ee\n" for k in range(40))
    (folder / name).write_text(f"width{escape},height,colour\n{rows}")
    said = run("learn", name, "--run", "odd.run")
    said += run("inspect", "odd.run") + refused("learn", name, "--target", "no", "--run", "c.run")
    assert not set(said) & {"\x1b", "\x07", "\u202e"}
    assert "[bold]blu\\u202ee" in said


# --- going on -------------------------------------------------------------------------------------


def test_the_same_command_goes_on_and_learns_nothing_twice(folder):
    run(*LEARN, *ONE, "-q")
    before = model_bytes(folder / "petals.run")
    said = run(*LEARN, *ONE)
    assert "petals.run has 900 rows of petals.csv" in said
    assert model_bytes(folder / "petals.run") == before


def test_rows_that_are_added_are_learned(folder):
    whole = (folder / "petals.csv").read_text()
    lines = whole.splitlines(keepends=True)
    (folder / "petals.csv").write_text("".join(lines[:500]))
    run(*LEARN, *ONE, "-q")
    (folder / "petals.csv").write_text(whole)
    assert "900 rows learned" in run(*LEARN, *ONE)


def test_ctrl_c_keeps_everything_and_the_same_command_goes_on(folder, monkeypatch):
    run(*LEARN, *ONE, "-q", "--run", "whole.run")
    once = iter([signal.SIGINT])
    with monkeypatch.context() as patch:
        patch.setattr(display.NoDisplay, "show", lambda *_: [signal.raise_signal(s) for s in once])
        run(*LEARN, *ONE, "-q", code=130)
    assert read_run("petals.run").checkpoint().model.n_seen_ < 900
    run(*LEARN, *ONE, "-q")
    assert model_bytes(folder / "petals.run") == model_bytes(folder / "whole.run")


def test_ctrl_c_says_how_to_go_on(folder, monkeypatch):
    monkeypatch.setattr("sys.argv", ["onlinesvm", *LEARN])
    once = iter([signal.SIGINT])
    monkeypatch.setattr(
        display.LineDisplay, "show", lambda *_: [signal.raise_signal(s) for s in once]
    )
    said = run(*LEARN, *ONE, code=130)
    assert "stopped, nothing is lost; to go on: onlinesvm learn petals.csv --target flower" in said


def test_a_run_goes_on_as_it_was_begun_or_not_at_all(folder):
    run(*LEARN, *ONE, "-p", "C=2", "-q")
    before = model_bytes(folder / "petals.run")
    assert "was begun with PassiveAggressive" in refused(*LEARN, "--model", "LASVC")
    assert "-p C 3: the run in petals.run was begun with 2" in refused(*LEARN, *ONE, "-p", "C=3")
    assert "--lesson 7" in refused(*LEARN, "--lesson", 7)
    assert "another --run" in refused("learn", "flats.csv", "--run", "petals.run")
    assert model_bytes(folder / "petals.run") == before


def test_a_limit_is_exact_and_can_be_raised_or_lifted(folder):
    run(*LEARN, *ONE, "-q", "--limit", 123)
    assert read_run("petals.run").model().n_seen_ == 123
    run(*LEARN, *ONE, "-q", "--limit", 500)
    assert read_run("petals.run").model().n_seen_ == 500
    run(*LEARN, *ONE, "-q")
    assert read_run("petals.run").model().n_seen_ == 900
    run(*LEARN, *ONE, "-q", "--run", "whole.run")
    assert read_run("petals.run").model().n_seen_ == 900


def test_bad_rows_do_not_count_against_a_limit(folder):
    messy_files.customers(folder)
    ask = ("learn", "customers.csv.gz", "--target", "churn", "-q")
    for limit in (698, 720, 1000):
        run(*ask, "--limit", limit)
        assert read_run("customers.run").model().n_seen_ == limit
    run(*ask)
    assert read_run("customers.run").model().n_seen_ == 1498
    assert len(list(read_run("customers.run").dead_letters())) == 2


# --- what is refused ------------------------------------------------------------------------------


def test_parameters_are_refused_before_the_file_is_looked_at(folder):
    absent = ("learn", "absent.csv")
    assert "did you mean RampSVC?" in refused(*absent, "--model", "rampsvm")
    assert "did you mean gamma?" in refused(*absent, "--model", "RampSVC", "-p", "gama=1")
    assert "NAME=VALUE" in refused(*absent, "--model", "RampSVC", "-p", "C")
    assert "C must be" in refused(*absent, "--model", "rampsvc", "-p", "C=-1")
    assert "name it by --model" in refused(*absent, "-p", "C=1")
    assert "--prepare" in refused(*absent, "--prepare", "maybe")
    assert "fsync" in refused(*absent, "--fsync", "sometimes")
    assert "metrics" in refused(*absent, "--metric", "luck")
    assert "NAME=VALUE" in refused(*absent, "--types", "zip")
    assert "absent.csv: no such file" in refused(*absent)


def test_what_cannot_be_learned_is_refused_and_leaves_no_run(folder):
    assert "the columns are 'length', 'width', 'flower'" in refused(*LEARN[:2], "--target", "leaf")
    assert "take a classifier" in refused(*LEARN, "--model", "NormaSVR")
    assert "take a regressor" in refused(
        "learn", "flats.csv", "--target", "metres", "--model", "SGDSVC"
    )
    assert "needs a target" in refused(
        "learn", "petals.csv", "--target", "none", "--model", "SGDSVC"
    )
    assert "in one batch" in refused(*LEARN, "--model", "OfflineRampSVC")
    assert "'district' is a category" in refused("learn", "flats.csv", "--prepare", "as-is")
    assert "has an end" in refused(*LEARN, "--follow")
    assert "is a file; name a folder" in refused(*LEARN, "--run", "flats.csv")
    (folder / "header.csv").write_text("a,b,c\n")
    assert "header.csv" in refused("learn", "header.csv")
    assert sorted(path.name for path in folder.iterdir()) == [
        "flats.csv",
        "header.csv",
        "petals.csv",
    ]


def test_without_preparation_numbers_go_as_they_are(folder):
    run(*LEARN, *ONE, "--prepare", "as-is", "-q")
    assert len(onlinesvm.load("petals.run/model.onlinesvm").steps) == 1


def test_without_a_target_it_learns_what_is_usual(folder):
    said = run("learn", "petals.csv", "--target", "none", "--ignore", "flower")
    assert "it learns what is usual" in said
    assert "alarms" in said


# --- a file of options ----------------------------------------------------------------------------


def test_a_toml_file_is_the_same_as_flags_and_flags_win(folder):
    (folder / "job.toml").write_text(
        'source = "petals.csv"\ntarget = "flower"\nmodel = "PassiveAggressiveClassifier"\n'
        'run = "job.run"\nlimit = 200\n[params]\nC = 2\n'
    )
    run("learn", "job.toml", "-q", "--limit", 300)
    model = read_run("job.run").model()
    assert model.n_seen_ == 300
    assert model.steps[-1][1].C == 2
    run(*LEARN, *ONE, "-p", "C=2", "-q", "--limit", 300)
    assert model_bytes(folder / "job.run") == model_bytes(folder / "petals.run")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("sorce = 'a.csv'", "did you mean source?"),
        ("limit = 'many'", "limit must be a whole number"),
        ("limit = true", "limit must be a whole number"),
        ("types = {zip = 3}", "types must have strings"),
        ("source = ", "Invalid value"),
        ("\xff\xfe", "job.toml"),
        ("", "SOURCE is missing"),
    ],
)
def test_a_toml_file_that_nobody_understands_is_refused(folder, text, line):
    (folder / "job.toml").write_bytes(text.encode("latin-1"))
    assert line in refused("learn", "job.toml")


# --- reports --------------------------------------------------------------------------------------


def test_report_draws_what_there_is(folder):
    run(*LEARN, "-q")
    page = folder / "petals.run" / "report.html"
    assert "what it thinks of the plane" in page.read_text()
    page.unlink()
    assert run("report", "petals.run").strip() == "petals.run/report.html"
    assert "truth in rows" in page.read_text()
    assert "what it thinks" not in page.read_text()
    run("report", "petals.run", "--source", "petals.csv", "--out", "other.html")
    assert "what it thinks" in (folder / "other.html").read_text()
    assert "no run" in refused("report", ".")


def test_report_of_two_classes_says_what_scores_are_worth(folder):
    messy_files.customers(folder)
    run("learn", "customers.csv.gz", "--target", "churn", "-q")
    page = (folder / "customers.run" / "report.html").read_text()
    assert "how often it was yes" in page
    assert "2 rows could not be used" in page
    assert "line 901" in page
    assert "<script" not in page


# --- nothing lost, nothing silent -----------------------------------------------------------------


def test_a_refused_row_among_word_labels_is_a_dead_letter(folder):
    lines = (folder / "petals.csv").read_text().splitlines()
    lines.insert(60, "1e300,2,rose")
    (folder / "petals.csv").write_text("\n".join(lines) + "\n")
    run(*LEARN, *ONE, "-q")
    (letter,) = read_run("petals.run").dead_letters()
    assert json.loads(letter["text"]) == {"length": 1e300, "width": 2.0, "flower": "rose"}
    assert read_run("petals.run").checkpoint().course["seen"] == len(lines) - 2


@pytest.mark.parametrize("kind", ["one class", "far away", "dollars", "many classes"])
def test_a_picture_that_cannot_be_drawn_does_not_fail_the_command(folder, kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = {
        "one class": ["p"] * 200,
        "far away": ["1", "0"] * 100,
        "dollars": ["$a_$", "b"] * 100,
        "many classes": [f"n{i % 60}" for i in range(200)],
    }[kind]
    if kind == "far away":
        X[120] = 1e290, 2
    rows = "".join(f"{a},{b},{label}\n" for (a, b), label in zip(X, y, strict=True))
    (folder / "odd.csv").write_text("a,b,y\n" + rows)
    said = run("learn", "odd.csv", *ONE)
    assert "Error" not in said
    assert "no report" not in said
    page = (folder / "odd.run" / "report.html").read_text()
    assert ("its boundary" in page) == (kind in ("far away", "dollars"))


def test_a_report_that_fails_is_a_note(folder, monkeypatch):
    def broken(*_, **__):
        raise IndexError("index 1 is out of bounds")

    monkeypatch.setattr("onlinesvm.cli.learn.write_report", broken)
    assert "note: no report: IndexError: index 1 is out of bounds" in run(*LEARN, *ONE)
    assert onlinesvm.load("petals.run/model.onlinesvm").n_seen_ > 0


@pytest.mark.parametrize(
    "name", ["model.onlinesvm", "metrics.jsonl", "checkpoint-00000000.bin", ".note.tmp", "mail/x"]
)
def test_files_of_others_stay_in_a_folder_without_a_run(folder, name):
    path = folder / "mine" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(b"of value")
    first = name.partition("/")[0]
    assert f"has other files, such as {first!r}" in refused(*LEARN, *ONE, "--run", "mine")
    assert path.read_bytes() == b"of value"
    assert len([*(folder / "mine").iterdir()]) <= 2  # and the lock


def test_a_stray_field_is_no_target(folder):
    rows = [json.dumps({"a": k % 7, "b": k, "y": "pq"[k % 2]}) for k in range(300)]
    rows.insert(40, json.dumps({"a": 1, "b": 2, "y": "p", "debug": "x"}))
    (folder / "m.jsonl").write_text("\n".join(rows) + "\n")
    said = run("learn", "m.jsonl", *ONE)
    assert "the target is the last that most rows have, 'y'" in said
    assert "301 rows learned" in said


def test_too_many_bad_rows_stop_and_ask(folder):
    rows = [f"{k},{k % 7}," + ("x" if k % 5 else "") for k in range(200)]
    (folder / "odd.csv").write_text("a,b,y\n" + "\n".join(rows) + "\n")
    words = ("learn", "odd.csv", *ONE, "-q")
    for _ in range(2):  # again is no way around it
        said = refused(*words)
        assert "40 of 200 rows could not be used, mostly y: no target" in said
        assert "--max-bad 1" in said
    run(*words, "--max-bad", 1)
    assert read_run("odd.run").checkpoint().course["seen"] == 160
    assert sum(1 for _ in read_run("odd.run").dead_letters()) == 40
