"""The door: by its script, as a module, and without what only pictures need."""

import subprocess
import sys

import pytest

from onlinesvm.cli import main


def test_version_through_the_door(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["onlinesvm", "--version"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 0
    assert capsys.readouterr().out.startswith("onlinesvm ")


def test_as_a_module():
    command = [sys.executable, "-m", "onlinesvm", "methods"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "RampSVC" in done.stdout


def test_without_matplotlib_only_the_picture_is_missing(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setattr(sys, "argv", ["onlinesvm", "demo", "--out", str(tmp_path / "demo.png")])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == "error: pictures need matplotlib: install it with `pip install matplotlib`"


def test_what_the_command_line_imports_is_installed_with_the_package():
    from importlib.metadata import requires

    always = {line.split(">")[0] for line in requires("onlinesvm") if "extra ==" not in line}
    assert {"typer", "rich"} <= always
