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

pytest.importorskip("pyarrow")
pytest.importorskip("matplotlib")
pytestmark = [
    pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="needs O_NOFOLLOW"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # that a file is put aside
]

NAMES = (
    "dead_letters.jsonl",
    "lock",
    "model.onlinesvm",
    "report.html",
    "unlearning.json",
    "run.sqlite",
    "run.sqlite-wal",
    "run.sqlite-shm",
    "run.sqlite-journal",
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


LEARN = ("learn", "a.csv", "--run", "r", "-q")
UNLEARN = ("unlearn", "r", "--where", "who=k3")
REPORT, INSPECT = ("report", "r"), ("inspect", "r")
OTHER = {"report.html": REPORT, "run.sqlite": INSPECT, "run.sqlite-wal": INSPECT}


@pytest.mark.parametrize("name", NAMES)
def test_a_link_is_not_followed(folder, monkeypatch, name):
    monkeypatch.chdir(folder)
    shutil.copytree("r", "kept")
    path = folder / "r" / name
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


@pytest.mark.parametrize(
    "name", ["run.sqlite", "run.sqlite-wal", "run.sqlite-shm", "dead_letters.jsonl", "lock"]
)
def test_a_pipe_is_not_waited_for(folder, monkeypatch, name):
    monkeypatch.chdir(folder)
    path = folder / "r" / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    for words in (INSPECT, LEARN):
        result = CliRunner().invoke(app, words)
        assert result.exit_code in (0, 2)
        assert result.exception is None or isinstance(result.exception, SystemExit)


def test_a_device_is_not_read(folder):
    (folder / "r" / "run.sqlite").unlink()
    (folder / "r" / "run.sqlite").symlink_to("/dev/zero")
    with pytest.raises(ValueError, match="is a link or no regular file"):
        read_run(folder / "r")


def test_a_lock_of_somebody_else_stays(tmp_path):
    (tmp_path / "lock").write_text("combination: 1234567890\n")
    X, y = stream(50)
    with pytest.raises(ValueError, match="is not the lock of a run"):
        Run.begin(tmp_path, ArraySource(X, y), a_model(), RunOptions(classes=LABELS))
    assert "combination" in (tmp_path / "lock").read_text()
