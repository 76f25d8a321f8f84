"""What the README shows, works as shown; and it stays short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import transcripts

README = Path(__file__).parents[1] / "README.md"
TEXT = README.read_text(encoding="utf-8")


def test_readme_code_prints_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    programs = transcripts.programs(TEXT)
    assert programs
    for code, shown in programs:
        exec(compile(code, str(README), "exec"), {})
        assert transcripts.alike(shown, capsys.readouterr().out) == ""


def test_readme_is_short() -> None:
    assert len(TEXT.splitlines()) <= 120
    assert len(TEXT.split()) <= 900


def test_readme_links_exist() -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", TEXT)
    assert targets
    assert [t for t in targets if not (README.parent / t).exists()] == []
