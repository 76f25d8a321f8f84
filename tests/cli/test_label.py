"""`onlinesvm label`: keys in, labels out, and it goes on where it stopped."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import onlinesvm
from onlinesvm.cli import labelling
from onlinesvm.cli.app import app

ROWS = 60


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    lines = ["height,town,note"]
    for i in range(ROWS):
        lines.append(f"{rng.normal(170, 10):.4f},{['Rom', 'Bonn'][i % 2]},{'' if i % 5 else i}")
    path = tmp_path / "pool.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def label(pool: Path, *words: str, typed: str) -> Any:
    command = ["label", str(pool), "--run", str(pool.parent / "labels"), *words]
    return CliRunner().invoke(app, command, input=typed)


def labelled(pool: Path) -> list[dict[str, str]]:
    with (pool.parent / "labels" / "labelled.csv").open() as file:
        return list(csv.DictReader(file))


def test_keys_labels_skips_and_quits(pool: Path) -> None:
    told = label(pool, "--classes", "tall,short", "--target", "size", typed="1\nshort\ns\n1\nq\n")
    assert told.exit_code == 0, told.output
    assert [row["size"] for row in labelled(pool)] == ["tall", "short", "tall"]
    assert set(labelled(pool)[0]) == {"height", "town", "note", "size"}
    model = onlinesvm.load(pool.parent / "labels" / "model.onlinesvm")
    assert model.n_seen_ == 3


def test_it_goes_on_with_the_row_that_was_shown(pool: Path) -> None:
    first = label(pool, "--classes", "a,b", typed="a\nb\n")  # and the end of the input
    shown = first.output.rsplit("row ", 1)[1].splitlines()[0]
    again = label(pool, typed="a\n")
    assert again.exit_code == 0, again.output
    assert again.output.split("row ")[1].splitlines()[0] == shown
    assert [row["label"] for row in labelled(pool)] == ["a", "b", "a"]


def test_every_row_is_shown_once(pool: Path) -> None:
    for _ in range(3):  # in three sittings
        told = label(pool, "--classes", "a,b", typed="a\nb\ns\n" * 7)
        assert told.exit_code == 0
    told = label(pool, "--classes", "a,b", typed="a\nb\ns\n" * 7)
    rows = labelled(pool)
    assert len(rows) == 2 * ROWS // 3
    assert len({(row["height"], row["town"], row["note"]) for row in rows}) == len(rows)


def test_undo_takes_back_across_sittings(pool: Path) -> None:
    label(pool, "--classes", "a,b", typed="a\nb\nq\n")
    label(pool, typed="u\na\nu\nu\nb\n")
    assert [row["label"] for row in labelled(pool)] == ["b"]
    told = label(pool, typed="u\nu\n")
    assert "no answer to take back" in told.output
    assert labelled(pool) == []


def test_numbers_are_labels_and_the_target_is_no_feature(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("x,y\n" + "".join(f"{i},{i % 2}\n" for i in range(20)))
    told = label(path, "--classes", "0,1", "--target", "y", typed="0\n1\n0\n")
    assert told.exit_code == 0, told.output
    model = onlinesvm.load(tmp_path / "labels" / "model.onlinesvm")
    assert model.feature_names_in_.tolist() == ["x"]
    assert model.classes_.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "--classes is missing"),
        (["--classes", "a"], "name two labels or more"),
        (["--classes", "a,a"], "each once"),
        (["--classes", "a,b", "-p", "C=3"], "name it by --model"),
        (["--classes", "a,b", "--model", "NormaSVR"], "no classifier that goes on learning"),
    ],
)
def test_what_cannot_work_is_said_in_one_line(pool: Path, words: list[str], message: str) -> None:
    told = label(pool, *words, typed="")
    assert told.exit_code == 2
    assert message in told.output
    assert not (pool.parent / "labels" / "labels.jsonl").exists()


def test_another_pool_or_other_classes_are_refused(pool: Path) -> None:
    label(pool, "--classes", "a,b", typed="a\n")
    told = label(pool, "--classes", "a,c", typed="a\n")
    assert told.exit_code == 2
    assert "are a,b" in told.output
    pool.write_text(pool.read_text().replace("Rom", "Ulm"))
    told = label(pool, typed="a\n")
    assert told.exit_code == 2
    assert "is not what it was" in told.output
    assert len(labelled(pool)) == 1


def test_single_keys_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    pressed: list[Any] = ["a", "\x1b[A", KeyboardInterrupt()]

    def key() -> str:
        one = pressed.pop(0)
        if isinstance(one, BaseException):
            raise one
        return str(one)

    monkeypatch.setattr(typer, "getchar", key)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    read = labelling._reader({"a": "a", "b": "b"})
    assert [read("> "), read("> ")] == ["a", "\x1b[A"]
    with pytest.raises(EOFError):  # Ctrl-C ends as q does
        read("> ")
    lines = io.StringIO("12\n")
    lines.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stdin", lines)
    assert labelling._reader({str(i): i for i in range(1, 13)})("> ") == "12"  # no single keys
