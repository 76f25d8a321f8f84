"""What the README shows, works as shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("code", BLOCKS, ids=[block.splitlines()[1] for block in BLOCKS])
def test_readme_code_runs(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(code, str(README), "exec"), {})
    shown = float(re.findall(r"\d+\.\d+", capsys.readouterr().out)[0])
    assert shown > 0.85  # an accuracy, as 0.96 or as 88.00 %


def test_readme_links_exist() -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", README.read_text(encoding="utf-8"))
    assert targets
    assert [t for t in targets if not (README.parent / t).exists()] == []
