"""The page on Spark: its programs run and print what it shows."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "spark.md"


@pytest.mark.executors
def test_the_page_shows_what_its_programs_print(spark, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    for name in (
        '"sales"',
        '"offsets"',
        '"learned"',
        '"desk"',
        '"asked"',
        '"answered"',
    ):  # Spark knows the folder it was started in
        text = text.replace(name, f'"{tmp_path}/{name[1:]}')
    names: dict[str, object] = {}
    for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(code, str(PAGE), "exec"), names)
    assert capsys.readouterr().out == "".join(re.findall(r"```text\n(.*?)```", text, re.DOTALL))
