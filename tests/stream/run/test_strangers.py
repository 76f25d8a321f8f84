"""Run folders from strangers: links, pipes and devices in them are neither followed nor read."""

from __future__ import annotations

import os
import shutil

import pytest
from command import run
from doubles import LABELS, ArraySource, a_model, stream
from typer.testing import CliRunner

from onlinesvm.cli.app import app
from onlinesvm.stream.run import Run, RunOptions, read_run
from onlinesvm.stream.run.folder import RunFolder

pytest.importorskip("pyarrow")
pytest.importorskip("matplotlib")
pytestmark = [
    pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="needs O_NOFOLLOW"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # that a file is put aside
]

NAMES = (
    "metrics.jsonl",
    "timings.jsonl",
    "drifts.jsonl",
    "dead_letters.jsonl",
    "lock",
    "model.onlinesvm",
    "report.html",
    "run.json",
    "unlearning.json",
    "checkpoint",
    "log",
)


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A run over a file with keys, half of which is learned."""
    folder = tmp_path_factory.mktemp("learned")
    X, y = stream(300)
    rows = "".join(f"{a},{b},k{i % 9},{y[i]}\n" for i, (a, b, _) in enumerate(X))
    (folder / "a.csv").write_text("a,b,who,y\n" + rows)
    words = ("--key", "who", "--target", "y", "--model", "IncrementalSVC", "--limit", 150)
    run("learn", folder / "a.csv", *words, "--run", folder / "r", "-q")
    return folder


@pytest.fixture
def folder(learned, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(learned, tmp_path / "work")
    return tmp_path / "work"


def path_of(folder, name):
    home = RunFolder(folder / "r")
    if name in ("checkpoint", "log"):
        return getattr(home, name)(getattr(home, f"{name}s")()[-1])
    return folder / "r" / name


LEARN = ("learn", "a.csv", "--run", "r", "-q")
UNLEARN = ("unlearn", "r", "--where", "who=k3")
REPORT, INSPECT = ("report", "r"), ("inspect", "r")
OTHER = {"report.html": REPORT, "run.json": INSPECT, "checkpoint": INSPECT, "log": INSPECT}


@pytest.mark.parametrize("name", NAMES)
def test_a_link_is_not_followed(folder, monkeypatch, name):
    monkeypatch.chdir(folder)
    shutil.copytree("r", "kept")
    path = path_of(folder, name)
    content = path.read_bytes() if path.exists() else b"precious"
    victim = folder / "victim"
    for words in (LEARN, OTHER.get(name, UNLEARN)):
        shutil.rmtree("r")
        shutil.copytree("kept", "r")
        victim.write_bytes(content)
        path.unlink(missing_ok=True)
        path.symlink_to(victim)
        result = CliRunner().invoke(app, words)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        assert victim.read_bytes() == content


@pytest.mark.parametrize("name", ["checkpoint", "log", "run.json", "metrics.jsonl", "lock"])
def test_a_pipe_is_not_waited_for(folder, monkeypatch, name):
    monkeypatch.chdir(folder)
    path = path_of(folder, name)
    path.unlink()
    os.mkfifo(path)
    for words in (INSPECT, LEARN):
        result = CliRunner().invoke(app, words)
        assert result.exit_code in (0, 2)
        assert result.exception is None or isinstance(result.exception, SystemExit)


def test_the_newest_checkpoint_that_is_a_file_is_used(folder):
    home = RunFolder(folder / "r")
    newest = home.checkpoint(home.checkpoints()[-1])
    newest.unlink()
    newest.symlink_to("/dev/zero")
    assert read_run(folder / "r").checkpoint().number < home.checkpoints()[-1]


def test_a_lock_of_somebody_else_stays(tmp_path):
    (tmp_path / "lock").write_text("combination: 1234567890\n")
    X, y = stream(50)
    with pytest.raises(ValueError, match="is not the lock of a run"):
        Run.begin(tmp_path, ArraySource(X, y), a_model(), RunOptions(classes=LABELS))
    assert "combination" in (tmp_path / "lock").read_text()
