"""What is done with a saved model: predict, evaluate, inspect, merge."""

from __future__ import annotations

import csv
import errno
import json
import math
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import messy_files
import numpy as np
import pytest
from command import refused, run
from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score, roc_auc_score

import onlinesvm
from onlinesvm.stream.sources import raw

pytest.importorskip("pyarrow")
pytest.importorskip("matplotlib")


ONE = ("--model", "PassiveAggressiveClassifier")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The messy files and a run of each."""
    path = tmp_path_factory.mktemp("saved")
    messy_files.write_all(path)
    targets = {"customers": "churn", "flats": "price", "mails": "label", "petals": "flower"}
    for name in messy_files.FILES:
        stem = name.partition(".")[0]
        more = ("--target", targets[stem]) if stem in targets else ("--ignore", "x0")
        run("learn", path / name, *more, "--run", path / f"{stem}.run", "-q")
    return path


@pytest.fixture
def folder(made, monkeypatch):
    monkeypatch.chdir(made)
    return made


def predicted(*arguments):
    text = run("predict", *arguments, words="stdout")
    return list(csv.reader(text.splitlines()))


# --- predict --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_rows_come_back_as_they_were_with_a_prediction(folder):
    before = (folder / "petals.csv").read_text().splitlines()
    text = run("predict", "petals.run", "petals.csv", words="stdout").splitlines()
    assert text[0] == "length,width,flower,prediction"
    assert [line.rpartition(",")[0] for line in text] == before
    model = onlinesvm.load("petals.run/model.onlinesvm")
    X = np.loadtxt("petals.csv", delimiter=",", skiprows=1, usecols=(0, 1))
    assert [line.rpartition(",")[2] for line in text[1:]] == model.predict(X).tolist()


def test_scores_belong_to_their_classes(folder):
    rows = predicted("petals.run", "petals.csv", "--scores")
    assert rows[0][3:] == ["prediction", "score_aster", "score_borage", "score_clover"]
    for row in rows[1:50]:
        best = int(np.argmax([float(cell) for cell in row[4:]]))
        assert row[3] == ["aster", "borage", "clover"][best]
    assert "no scores" in refused("predict", "flats.run", "flats.csv", "--scores")


def test_probabilities_of_a_calibrated_model(folder):
    X = np.loadtxt("petals.csv", delimiter=",", skiprows=1, usecols=(0, 1))
    y = np.loadtxt("petals.csv", delimiter=",", skiprows=1, usecols=2, dtype=str)
    inner = onlinesvm.make_online_pipeline(onlinesvm.OnlineScaler(), onlinesvm.SGDSVC())
    model = onlinesvm.CalibratedOnline(inner).fit(X, y)
    model.save("calibrated.onlinesvm")
    np.savetxt("bare.csv", X, delimiter=",", header="length,width", comments="")
    rows = predicted("calibrated.onlinesvm", "bare.csv", "--proba")
    names = ["probability_aster", "probability_borage", "probability_clover"]
    assert rows[0][2:] == ["prediction", *names]
    told = np.array([row[3:] for row in rows[1:]], dtype=float)
    np.testing.assert_allclose(told, model.predict_proba(X), rtol=1e-5)
    assert [row[2] for row in rows[1:]] == model.predict(X).tolist()
    assert "CalibratedOnline" in refused("predict", "petals.run", "petals.csv", "--proba")
    both = ("--proba", "--scores")
    assert "ask for one" in refused("predict", "calibrated.onlinesvm", "bare.csv", *both)


def test_quotes_separators_and_line_ends_inside_are_kept(folder):
    said = run("predict", "flats.run", "flats.csv", "--out", "told.csv")
    assert said == ""
    with (folder / "told.csv").open(newline="", encoding="utf-8") as file:
        told = list(csv.reader(file))
    with (folder / "flats.csv").open(newline="", encoding="utf-8-sig") as file:
        assert [row[:-1] for row in told] == list(csv.reader(file))
    assert all(float(row[-1]) > 0 for row in told[1:])


def test_rows_that_cannot_be_read_stay_in_their_place(folder):
    import gzip

    text = run("predict", "customers.run", "customers.csv.gz", "--out", "told.csv")
    assert "2 rows could not be read: they have no prediction" in text
    told = (folder / "told.csv").read_text().splitlines()
    lines = gzip.decompress((folder / "customers.csv.gz").read_bytes()).decode().splitlines()
    assert [line.rpartition(";")[0] for line in told] == lines
    assert [k for k, line in enumerate(told) if line.endswith(";")] == [700, 900]


def test_json_stays_json(folder):
    lines = run("predict", "mails.run", "mails.jsonl", words="stdout").splitlines()
    first = json.loads(lines[0])
    assert list(first) == ["text", "hour", "label", "prediction"]
    assert lines[0].startswith((folder / "mails.jsonl").read_text().splitlines()[0][:-1])
    assert len(lines) == 1000
    assert lines[500] == (folder / "mails.jsonl").read_text().splitlines()[500]


def test_columns_are_found_by_name_with_and_without_a_run(folder, tmp_path):
    expected = [row[-1] for row in predicted("petals.run", "petals.csv")][1:]
    rows = list(csv.reader((folder / "petals.csv").open()))
    other = tmp_path / "other.csv"
    other.write_text(
        "".join(f"{w},junk,{length}\n" for length, w, _ in rows).replace("junk", "z", 1)
    )
    alone = tmp_path / "alone.onlinesvm"
    alone.write_bytes((folder / "petals.run" / "model.onlinesvm").read_bytes())
    for model in ("petals.run", "petals.run/model.onlinesvm", alone):
        assert [row[-1] for row in predicted(model, other)][1:] == expected
    (tmp_path / "less.csv").write_text("length,z\n1,2\n")
    assert "no column 'width'" in refused("predict", alone, tmp_path / "less.csv")


def test_every_kind_of_column_is_known_to_the_model_alone(folder, tmp_path):
    alone = tmp_path / "alone.onlinesvm"
    for stem, name in (("customers", "customers.csv.gz"), ("flats", "flats.csv")):
        alone.write_bytes((folder / f"{stem}.run" / "model.onlinesvm").read_bytes())
        assert run("predict", alone, name, words="stdout") == run(
            "predict", f"{stem}.run", name, words="stdout"
        )


def test_labels_with_separators_do_not_shift_the_scores(tmp_path):
    table = tmp_path / "commas.csv"
    table.write_text("width,colour\n" + '1,"red, dark"\n-1,blue\n2,"red, dark"\n-2,blue\n' * 9)
    run("learn", table, "--model", "PegasosSVC", "--run", tmp_path / "r", "-q")
    rows = predicted(tmp_path / "r", table, "--scores")
    assert {len(row) for row in rows} == {4}


def test_predictions_are_written_whole_or_not_at_all(folder, monkeypatch, tmp_path):
    out = tmp_path / "precious.csv"
    out.write_text("precious")

    def full_disk(descriptor):
        raise OSError(28, "No space left on device", str(out))

    monkeypatch.setattr("os.fsync", full_disk)
    assert "No space left" in refused("predict", "petals.run", "petals.csv", "--out", out)
    assert out.read_text() == "precious"


def test_refusals_of_predict(folder, tmp_path):
    assert "no such file" in refused("predict", "absent.onlinesvm", "petals.csv")
    assert "no such file" in refused("predict", "petals.run", "absent.csv")
    assert "petals.csv" in refused("predict", "petals.csv", "petals.csv")
    assert "is a folder" in refused("predict", "petals.run", "petals.csv", "--out", folder)
    features = tmp_path / "features.onlinesvm"
    onlinesvm.NystroemFeatures(4).fit([[1.0, 2.0], [2.0, 1.0]]).save(features)
    assert "predicts nothing" in refused("predict", features, "petals.csv")


# --- evaluate -------------------------------------------------------------------------------------


def test_marks_are_those_of_scikit_learn(folder):
    facts = json.loads(
        run("evaluate", "customers.run", "customers.csv.gz", "--json", words="stdout")
    )
    assert facts["rows"] == 1498
    assert facts["bad"] == 2
    text = run("predict", "customers.run", "customers.csv.gz", "--scores", words="stdout")
    rows = [row for row in csv.reader(text.splitlines(), delimiter=";") if row[-1]]
    truth, guess = [row[5] for row in rows[1:]], [row[-2] for row in rows[1:]]
    score = [float(row[-1]) for row in rows[1:]]
    mine = facts["models"]["PassiveAggressiveClassifier"]
    assert mine["accuracy"] == pytest.approx(accuracy_score(truth, guess))
    assert mine["kappa"] == pytest.approx(cohen_kappa_score(truth, guess))
    assert mine["f1_macro"] == pytest.approx(f1_score(truth, guess, average="macro"))
    positive = [label == "yes" for label in truth]
    assert mine["auc"] == pytest.approx(roc_auc_score(positive, score), abs=1e-4)
    assert set(facts["models"]) == {"PassiveAggressiveClassifier", "no-change", "majority"}


def test_nothing_is_learned_by_looking(folder):
    before = (folder / "petals.run" / "model.onlinesvm").read_bytes()
    text = run("evaluate", "petals.run", "petals.csv")
    assert "900 rows" in text
    assert re.search(r"RampSVC +9\d\.\d%", text)
    assert (folder / "petals.run" / "model.onlinesvm").read_bytes() == before


def test_a_regressor_is_judged_by_its_errors(folder):
    text = run("evaluate", "flats.run", "flats.csv")
    assert "MAE" in text
    assert "last value" in text


def test_evaluate_needs_labels(folder, tmp_path):
    bare = tmp_path / "bare.csv"
    bare.write_text("length,width\n1,2\n2,3\n")
    assert "flower" in refused("evaluate", "petals.run", bare)
    alone = tmp_path / "alone.onlinesvm"
    alone.write_bytes((folder / "petals.run" / "model.onlinesvm").read_bytes())
    assert "--target" in refused("evaluate", alone, "petals.csv")
    assert "900 rows" in run("evaluate", alone, "petals.csv", "--target", "flower")


# --- inspect --------------------------------------------------------------------------------------


def test_inspect_tells_what_it_is(folder):
    said = run("inspect", "petals.run")
    assert re.search(r"source +petals\.csv", said)
    assert re.search(r"method +RampSVC", said)
    assert re.search(r"behind +OnlineImputer, OnlineScaler", said)
    assert re.search(r"classes +3 \(aster, borage, clover\)", said)
    assert re.search(r"examples seen +900", said)
    assert re.search(r"can +unlearn", said)
    alone = run("inspect", "petals.run/model.onlinesvm")
    assert "source" not in alone
    assert "no run" in refused("inspect", ".")
    broken = folder / "broken.onlinesvm"
    broken.write_bytes((folder / "petals.run" / "model.onlinesvm").read_bytes()[:-10])
    assert "broken.onlinesvm" in refused("inspect", broken)


# --- merge ----------------------------------------------------------------------------------------


def test_parts_of_a_stream_are_merged(folder, tmp_path):
    lines = (folder / "petals.csv").read_text().splitlines(keepends=True)
    ask = (
        "--target",
        "flower",
        "--model",
        "StreamSVC",
        "-p",
        "classes=['aster','borage','clover']",
    )
    for k, part in enumerate((lines[1:400], lines[400:])):
        (tmp_path / f"{k}.csv").write_text(lines[0] + "".join(part))
        run(
            "learn",
            tmp_path / f"{k}.csv",
            *ask,
            "--prepare",
            "as-is",
            "--run",
            tmp_path / f"{k}",
            "-q",
        )
    said = run("merge", tmp_path / "0", tmp_path / "1", "--out", tmp_path / "m.onlinesvm")
    assert "900 examples" in said
    assert onlinesvm.load(tmp_path / "m.onlinesvm").n_seen_ == 900
    assert onlinesvm.load(tmp_path / "0" / "model.onlinesvm").n_seen_ == 399


def test_what_cannot_be_merged_is_refused(folder, tmp_path):
    out = tmp_path / "m.onlinesvm"
    assert "StreamSVC" in refused("merge", "petals.run", "petals.run", "--out", out)
    assert "two models" in refused("merge", "petals.run", "--out", out)
    for k in (0, 1):
        run(
            "learn",
            "petals.csv",
            "--target",
            "flower",
            "--model",
            "StreamSVC",
            "--limit",
            300 + k,
            *(("--ignore", "length") if k else ()),
            "--run",
            tmp_path / f"{k}",
            "-q",
        )
    line = refused("merge", tmp_path / "0", tmp_path / "1", "--out", out)
    assert "prepared otherwise" in line
    assert not out.exists()


# --- what is in comes out, in its place -----------------------------------------------------------


@pytest.mark.parametrize("scores", [(), ("--scores",)])
def test_predict_gives_a_line_for_each_line(tmp_path, monkeypatch, scores):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(raw, "BLOCK", 256)
    monkeypatch.setattr(raw, "LONGEST", 4096)
    good = [f"{k},{k % 7},{'ab'[k % 2]}" for k in range(120)]
    Path("good.csv").write_text("u,v,y\n" + "\n".join(good) + "\n")
    run("learn", "good.csv", "--model", "PassiveAggressiveClassifier", "--run", "r", "-q")
    lines = [*good[:40], '1,"2,p', *good[40:80], "3," + "4" * 20_000 + ",a", "5", *good[80:]]
    Path("odd.csv").write_text("u,v,y\n" + "\n".join(lines) + "\n")
    said = run("predict", "r", "odd.csv", "--out", "out.csv", *scores, words="stderr")
    assert "3 rows could not be read" in said
    out = Path("out.csv").read_text().splitlines()[1:]
    assert len(out) == len(lines)
    whole = run("predict", "r", "good.csv", *scores, words="stdout").splitlines()[1:]
    assert [line for line in out if line in whole] == whole
    for k, line in enumerate(lines):
        assert out[k].startswith(line[:4000])


def test_formulas_in_labels_are_told_and_can_be_made_harmless(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{k},{'=1+1' if k % 2 else '-5'}\n" for k in range(60))
    Path("f.csv").write_text("a,y\n" + rows)
    run("learn", "f.csv", "--types", "y=category", *ONE, "--run", "r", "-q")
    assert "labels such as '=1+1' are formulas" in run("predict", "r", "f.csv", words="stderr")
    text = run("predict", "r", "f.csv", "--safe-csv", words="stdout")
    assert {line.split(",")[2] for line in text.splitlines()[1:]} <= {"'=1+1", "-5"}
    assert "formulas" not in run("predict", "r", "f.csv", "--safe-csv", words="stderr")


def test_predict_keeps_the_place_of_rows_in_other_formats(tmp_path, monkeypatch):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"u": [1.0, math.inf, 3.0], "v": [0.0, 1.0, 2.0]}), "p.parquet")
    model = onlinesvm.PassiveAggressiveClassifier(classes=[0, 1])
    model.partial_fit([[0.0, 1.0], [1.0, 0.0]], [0, 1]).save("m.onlinesvm")
    text = run("predict", "m.onlinesvm", "p.parquet", words="stdout").splitlines()
    assert [bool(line.strip(",")) for line in text] == [True, True, False, True]
    Path("s.svm").write_text("0 1:1 2:2\n1 1:x\n1 2:1\n")
    text = run("predict", "m.onlinesvm", "s.svm", words="stdout").splitlines()
    assert text[0] == "prediction"
    assert [line.strip('"') for line in text[1:]][1] == ""
    assert len(text) == 4


# --- what is no single model, and what is closed --------------------------------------------------


def test_a_bank_is_refused_in_one_line_and_other_wrappers_are_shown(folder, tmp_path):
    X, y = np.random.default_rng(0).normal(size=(50, 2)), np.arange(50) % 2
    one = onlinesvm.PassiveAggressiveClassifier(classes=[0, 1])
    bank, calibrated = tmp_path / "bank.onlinesvm", tmp_path / "cal.onlinesvm"
    onlinesvm.ModelBank(one).learn_many([1, 2], np.eye(2), [0, 1]).save(bank)
    onlinesvm.CalibratedOnline(one).partial_fit(X, y).save(calibrated)
    for words in (
        ("inspect", bank),
        ("predict", bank, "petals.csv"),
        ("evaluate", bank, "petals.csv", "--target", "flower"),
        ("unlearn", bank, "--where", "a=1"),
    ):
        assert "a ModelBank of 2 models" in refused(*words)
    assert "CalibratedOnline" in run("inspect", calibrated)


def test_a_run_that_names_another_model_has_no_report(folder, tmp_path):
    shutil.copytree("petals.run", tmp_path / "r")
    with closing(sqlite3.connect(tmp_path / "r" / "run.sqlite")) as db, db:
        facts = json.loads(*db.execute("SELECT config FROM about").fetchone())
        facts["model"]["name"] = "Nobody"
        db.execute("UPDATE about SET config = ?", (json.dumps(facts),))
    assert "names another model" in refused("report", tmp_path / "r")


@pytest.mark.parametrize(
    ("words", "closed", "code"),
    [
        ("learn petals.csv --run json.run --limit 60 --json", ">&-", 0),
        ("learn - --run nothing.run", "<&-", 2),
        ("inspect petals.run", ">&- 2>&-", 0),
    ],
)
def test_standard_streams_may_be_closed(folder, words, closed, code):
    command = f"{shlex.quote(sys.executable)} -m onlinesvm {words} {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr


def test_a_page_shows_what_a_browser_would_obey(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labels = ("p\u202egnp", "q\x1b[2J")
    rows = "".join(f"{k},{k % 3},{labels[k % 2]}\n" for k in range(80))
    Path("odd.csv").write_text("a,b,y\n" + rows)
    run("learn", "odd.csv", *ONE, "-q")
    page = Path("odd.run/report.html").read_text()
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)
    assert "\\u202egnp" in page


def test_errors_name_the_file_that_is_meant(folder, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    said = refused("predict", "petals.run", "petals.csv", "--out", "out.csv")
    assert said.startswith("error: out.csv: ")
    assert not [path for path in folder.iterdir() if "onlinesvm-tmp" in path.name]


def test_a_bad_port_does_not_show_the_password(tmp_path):
    for scheme in ("redis", "nats"):
        said = refused("learn", f"{scheme}://me:s3cret@host:99999999/x", "--run", tmp_path / "r")
        assert "s3cret" not in said
        assert "port" in said
