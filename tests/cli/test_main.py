"""The door: helpful also when the extra is not installed."""

import sys

import pytest

from onlinesvm.cli import main


def test_without_typer_it_names_the_extra(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("onlinesvm.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit, match=r"pip install 'onlinesvm\[cli\]'"):
        main()


def test_version_through_the_door(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["onlinesvm", "--version"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 0
    assert capsys.readouterr().out.startswith("onlinesvm ")
