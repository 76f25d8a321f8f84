"""`tune`: the winner is one that wins, and a search that was stopped goes on."""

from __future__ import annotations

import json
import shlex

import messy_files
import pytest
from command import refused, run

from onlinesvm.stream.halving import Candidate, candidates, halving, rungs
from onlinesvm.stream.run import read_run

pytest.importorskip("pyarrow")


# --- the search itself ----------------------------------------------------------------------------

METHODS = {"A": {"C": 1.0}, "B": {"alpha": 1e-4, "gamma": "scale"}, "L": {"kernel": "linear"}}


def test_candidates_begin_with_defaults_and_are_the_same_for_a_seed():
    field = candidates(METHODS, {}, 12, seed=3)
    assert [c.params for c in field[:3]] == [{}, {}, {}]
    assert len({c.key for c in field}) == len(field) == 12
    assert field == candidates(METHODS, {}, 12, seed=3)
    assert field != candidates(METHODS, {}, 12, seed=4)
    assert all(0.01 <= c.params["C"] <= 1000 for c in field[3:] if c.method == "A")


def test_what_is_fixed_stays_and_what_does_not_matter_is_not_drawn():
    for candidate in candidates(METHODS, {"C": 7}, 9, seed=0):
        assert candidate.params["C"] == 7
    linear = {"L": {"C": 1.0, "gamma": "scale", "kernel": "linear"}}
    assert all("gamma" not in c.params for c in candidates(linear, {}, 6, seed=0))
    assert len(candidates({"N": {"classes": None}}, {}, 9, seed=0)) == 1


@pytest.mark.parametrize("count", [2, 3, 9, 27, 50])
@pytest.mark.parametrize("rows", [10, 500, 20_000])
def test_rungs_end_with_all_rows_and_few_candidates(count, rows):
    steps = rungs(count, rows)
    assert steps[0][0] == count
    assert steps[-1][1] == rows
    assert [n for n, _ in steps] == sorted((n for n, _ in steps), reverse=True)
    assert [r for _, r in steps] == sorted(r for _, r in steps)


def test_halving_finds_the_best_and_asks_few_on_many_rows():
    field = [Candidate("A", {"C": float(k)}) for k in range(27)]
    asked = []

    def score(trials):
        asked.append(len(trials))
        return [-abs(t.candidate.params["C"] - 13) if t.rows > 1000 else -1.0 for t in trials]

    ranking = halving(field, rungs(27, 9000), score)
    assert asked == [27, 9, 3]
    assert ranking[0][1] == 9000
    assert len(ranking) == 27
    exact = halving(
        field, rungs(27, 9000), lambda ts: [-abs(t.candidate.params["C"] - 13) for t in ts]
    )
    assert exact[0][0].params == {"C": 13.0}
    worst = halving(field, [(27, 9)], lambda ts: [float("nan")] * 26 + [-5.0])
    assert worst[0][0].params == {"C": 26.0}


# --- the command ----------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    messy_files.petals(tmp_path)
    return tmp_path


TUNE = ("tune", "petals.csv", "--target", "flower", "--candidates", 5, "--jobs", 1)


def test_the_command_it_prints_learns_with_the_winner(folder):
    said = run(*TUNE, "--model", "pegasossvc", "--model", "PassiveAggressiveClassifier")
    command = said.splitlines()[-1]
    program, *words = shlex.split(command)
    assert program == "onlinesvm"
    run(*words, "-q")
    model = read_run("petals.run").model().steps[-1][1]
    assert type(model).__name__ in ("PegasosSVC", "PassiveAggressiveClassifier")
    assert type(model).__name__ in command


def test_a_search_that_was_stopped_goes_on(folder, monkeypatch):
    whole = run(*TUNE, "--folder", "whole", "--model", "PegasosSVC")
    trials = (folder / "whole" / "trials.jsonl").read_text().splitlines()
    part = folder / "petals.tune"
    part.mkdir()
    (part / "trials.jsonl").write_text("\n".join(trials[:3]) + '\n["cut sho')
    tried = []
    from onlinesvm.cli import tuning

    once = tuning.try_out
    monkeypatch.setattr(tuning, "try_out", lambda *a: tried.append(a) or once(*a))
    assert run(*TUNE, "--model", "PegasosSVC") == whole
    assert len(tried) == len(trials) - 3
    tried.clear()
    assert run(*TUNE, "--model", "PegasosSVC") == whole
    assert not tried


def test_processes_find_the_same(folder):
    here = run(*TUNE, "--model", "PegasosSVC", "--folder", "a")
    there = run(*TUNE[:-1], 2, "--model", "PegasosSVC", "--folder", "b")
    assert here == there


def test_regression_is_judged_by_the_absolute_error(folder):
    messy_files.flats(folder)
    said = run("tune", "flats.csv", "--rows", 300, "--candidates", 3, "--jobs", 1)
    assert "MAE" in said
    assert "--model" in said


def test_what_tune_refuses(folder):
    assert "not a pipe" in refused("tune", "-")
    assert "did you mean" in refused("tune", "absent.csv", "--model", "rampsvm")
    assert "C must be" in refused("tune", "absent.csv", "--model", "RampSVC", "-p", "C=-1")
    run(*TUNE, "--model", "PegasosSVC")
    line = run(*TUNE, "--rows", 100, "--model", "PegasosSVC", code=2).splitlines()[-1]
    assert "of another search" in line
    about = json.loads((folder / "petals.tune" / "trials.jsonl").read_text().splitlines()[0])
    assert about["rows"] == 20_000
