"""A desk in a folder: whatever ends the process, tickets, labels and what was spent are there."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onlinesvm import SGDSVC, LabelDesk, RampSVC
from onlinesvm.compose.labelling.journal import read_labels
from onlinesvm.label_budgets import LabelShare
from onlinesvm.queries import All, Committee, Greedy

TOOL = Path(__file__).parents[3] / "tools" / "label_schedules.py"


def schedules() -> Any:
    spec = importlib.util.spec_from_file_location("label_schedules", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def begun(folder: Path) -> LabelDesk:
    model = RampSVC(C=10.0, gamma=1.0, classes=[0, 1], settle="example")
    return LabelDesk(model, Greedy(2)).keep(folder)


def feed(desk: LabelDesk, n: int, seed: int = 0) -> None:
    for x in np.random.default_rng(seed).normal(size=(n, 2)):
        ticket = desk.ask(x)
        if ticket is not None and len(desk.tickets) > 3:
            first = desk.tickets[0]
            desk.answer(first, int(desk.row(first)[0] > 0))


def test_no_label_is_lost_in_random_schedules(tmp_path: Path) -> None:
    """Ten thousand of them: python tools/label_schedules.py --count 10000."""
    tool = schedules()
    crashes = sum(tool.live(seed, tmp_path / str(seed))["crashes"] for seed in range(60))
    assert crashes > 100


def test_no_label_is_lost_under_ctrl_c_while_the_model_learns_elsewhere(tmp_path: Path) -> None:
    tool = schedules()
    told = [tool.live_together(seed, tmp_path / str(seed) / "desk") for seed in range(4)]
    assert sum(lived["interrupts"] for lived in told) > 10


@pytest.mark.parametrize("planted", ["answers are not noted", "learned twice", "seen is forgotten"])
def test_a_planted_mistake_is_caught(
    planted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = schedules()
    if planted == "answers are not noted":
        note = LabelDesk._note
        monkeypatch.setattr(
            LabelDesk, "_note", lambda desk, event: "answer" in event or note(desk, event)
        )
    elif planted == "learned twice":
        learn = LabelDesk._learn

        def twice(desk: Any, asked: Any, y: Any) -> None:
            learn(desk, asked, y)
            desk.model.learn_one(asked.row, y)

        monkeypatch.setattr(LabelDesk, "_learn", twice)
    else:
        monkeypatch.setattr(tool.journals, "check_count", lambda name, n: 0)

    def search() -> None:
        for seed in range(60):
            tool.live(seed, tmp_path / str(seed))

    with pytest.raises((AssertionError, ValueError)):
        search()


def test_it_goes_on_after_the_process_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    code = (
        "import os, sys; sys.path[:0] = [sys.argv[2]]\n"
        "from test_journal import *\n"
        "desk = begun(Path(sys.argv[1])); feed(desk, 100)\n"
        "print(len(desk.tickets), desk.spent, desk.answered, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, str(folder), str(Path(__file__).parent)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONHASHSEED": "0"},
    )
    assert told.returncode == -9, told.stderr
    with LabelDesk.resume(folder) as desk:
        counts = len(desk.tickets), desk.spent, desk.answered
        assert " ".join(map(str, counts)) == told.stdout.strip()
        alone = RampSVC(C=10.0, gamma=1.0, classes=[0, 1], settle="example")
        for one in read_labels(folder):
            alone.learn_one(one.row, one.y)
        X = np.random.default_rng(9).normal(size=(50, 2))
        assert np.array_equal(desk.model.decision_function(X), alone.decision_function(X))


def test_one_process_at_a_time(tmp_path: Path) -> None:
    desk = begun(tmp_path / "desk")
    with pytest.raises(ValueError, match="is in use"):
        LabelDesk.resume(tmp_path / "desk")
    desk.close()
    LabelDesk.resume(tmp_path / "desk").close()


def test_a_folder_has_one_desk(tmp_path: Path) -> None:
    begun(tmp_path / "desk").close()
    with pytest.raises(ValueError, match=r"LabelDesk\.resume goes on"):
        begun(tmp_path / "desk")
    with pytest.raises(ValueError, match="has no desk"):
        LabelDesk.resume(tmp_path / "other")
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "labels.jsonl").write_text('{"ask": "1-x"}\n')
    with pytest.raises(ValueError, match="has a desk"):  # and the labels in it are left alone
        begun(tmp_path / "half")
    assert (tmp_path / "half" / "labels.jsonl").stat().st_size


def test_an_answer_is_taken_back(tmp_path: Path) -> None:
    desk = begun(tmp_path / "desk")
    feed(desk, 60)
    X = np.random.default_rng(9).normal(size=(50, 2))
    before = desk.model.decision_function(X), desk.tickets, desk.answered
    ticket = desk.tickets[0]
    desk.answer(ticket, 0)
    assert desk.take_back() == ticket
    assert np.array_equal(desk.model.decision_function(X), before[0])
    assert (desk.tickets, desk.answered) == before[1:]
    desk.answer(ticket, 1)
    desk.take_back()
    desk.take_back()  # the one before
    desk.close()
    again = LabelDesk.resume(tmp_path / "desk")
    assert again.answered == before[2] - 1
    assert len(read_labels(tmp_path / "desk")) == again.answered
    while again.answered:
        again.take_back()
    with pytest.raises(ValueError, match="no answer to take back"):
        again.take_back()
    again.close()


def test_what_was_learned_elsewhere_is_not_taken_back_unasked(tmp_path: Path) -> None:
    desk = begun(tmp_path / "desk")
    feed(desk, 20)
    desk.model.learn_one(np.zeros(2), 1)
    before = desk.answered
    with pytest.raises(ValueError, match="learned from elsewhere"):
        desk.take_back()
    assert desk.answered == before
    desk.close()


def test_a_full_disk_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = LabelDesk(SGDSVC(classes=[0, 1]), All()).keep(tmp_path / "desk")
    ticket = desk.ask(np.zeros(2))
    assert ticket is not None
    write = os.write

    def full(file: int, data: bytes) -> int:
        write(file, data[:5])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    for verb in (lambda: desk.answer(ticket, 1), lambda: desk.ask(np.ones(2))):
        with pytest.raises(OSError, match="No space left"):
            verb()
    monkeypatch.undo()
    assert (desk.tickets, desk.spent, desk.answered) == ([ticket], 1, 0)
    desk.answer(ticket, 1)
    desk.close()
    assert LabelDesk.resume(tmp_path / "desk").answered == 1


def test_labels_that_a_line_cannot_hold_are_refused_first(tmp_path: Path) -> None:
    desk = LabelDesk(SGDSVC(classes="open"), All()).keep(tmp_path / "desk")
    ticket = desk.ask(np.zeros(2))
    with pytest.raises(ValueError, match="cannot be saved"):
        desk.answer(ticket, object())  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        desk.answer(ticket, np.nan)  # type: ignore[arg-type]
    desk.answer(ticket, "a")  # type: ignore[arg-type]
    desk.close()
    lines = (tmp_path / "desk" / "labels.jsonl").read_text().splitlines()
    assert [next(iter(json.loads(line))) for line in lines] == ["ask", "answer"]


def test_a_committee_resumes(tmp_path: Path) -> None:
    models = [SGDSVC(classes=[0, 1]), RampSVC(gamma=1.0, classes=[0, 1], settle="example")]
    desk = LabelDesk(models, Committee(), LabelShare(0.5)).keep(tmp_path / "desk")
    feed(desk, 50)
    desk._journal.close()  # type: ignore[union-attr] # the process is gone
    again = LabelDesk.resume(tmp_path / "desk")
    X = np.random.default_rng(9).normal(size=(50, 2))
    for one, other in zip(desk.models, again.models, strict=True):
        assert np.array_equal(one.decision_function(X), other.decision_function(X))


def test_a_damaged_snapshot_does_not_stand_in_the_way(tmp_path: Path) -> None:
    desk = begun(tmp_path / "desk")
    feed(desk, 40)
    desk.close()
    snapshot = tmp_path / "desk" / "desk.onlinesvm"
    snapshot.write_bytes(snapshot.read_bytes()[:-9])
    with pytest.warns(UserWarning, match="all labels are learned again"):
        again = LabelDesk.resume(tmp_path / "desk")
    assert (again.tickets, again.answered, again.spent) == (desk.tickets, desk.answered, desk.spent)
    X = np.random.default_rng(9).normal(size=(50, 2))
    assert np.array_equal(again.model.decision_function(X), desk.model.decision_function(X))
    again.close()


@pytest.mark.parametrize("left", [None, 0, 1])
def test_lost_lines_are_not_passed_over(left: int | None, tmp_path: Path) -> None:
    desk = begun(tmp_path / "desk")
    feed(desk, 40)
    desk.close()
    lines = tmp_path / "desk" / "labels.jsonl"
    whole = lines.read_bytes()
    lines.unlink()
    if left is not None:
        lines.write_bytes(b"".join(whole.splitlines(keepends=True)[:left]))
    with pytest.raises(ValueError, match=r"labels\.jsonl is lost or was cut"):
        LabelDesk.resume(tmp_path / "desk")
    assert LabelDesk.load(tmp_path / "desk" / "desk.onlinesvm").answered == desk.answered
    lines.write_bytes(whole)
    LabelDesk.resume(tmp_path / "desk").close()


@pytest.mark.parametrize("name", ["lock", "labels.jsonl", "desk.onlinesvm"])
def test_links_in_a_strangers_folder_are_not_followed(name: str, tmp_path: Path) -> None:
    desk = begun(tmp_path / "desk")
    feed(desk, 40)
    desk.close()
    own = tmp_path / "own"
    own.write_text("precious")
    (tmp_path / "desk" / name).unlink()
    (tmp_path / "desk" / name).symlink_to(own)
    if name == "desk.onlinesvm":  # which the lines make up for
        with pytest.warns(UserWarning, match="learned again"):
            again = LabelDesk.resume(tmp_path / "desk")
        again.close()
    else:
        with pytest.raises(ValueError, match="is a link or no regular file"):
            LabelDesk.resume(tmp_path / "desk")
    assert own.read_text() == "precious"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("name", ["lock", "labels.jsonl", "desk.onlinesvm", "begin.onlinesvm"])
def test_a_pipe_in_a_strangers_folder_is_not_waited_for(name: str, tmp_path: Path) -> None:
    begun(tmp_path / "desk").close()
    (tmp_path / "desk" / name).unlink()
    os.mkfifo(tmp_path / "desk" / name)
    if name == "desk.onlinesvm":
        with pytest.warns(UserWarning, match="learned again"):
            LabelDesk.resume(tmp_path / "desk").close()
    else:
        with pytest.raises(ValueError, match=r"regular file|has no desk"):
            LabelDesk.resume(tmp_path / "desk")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs a device without end")
def test_a_device_is_no_desk() -> None:
    with pytest.raises(ValueError, match="no regular file"):
        LabelDesk.load("/dev/zero")
