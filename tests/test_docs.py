"""The site: its links lead somewhere, its programs run, its reference knows every class."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import onlinesvm

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


FAMILIES = {f"onlinesvm.{name}" for name in ("ball", "dual", "exact", "gradient", "margin")}


def text(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def in_navigation() -> set[str]:
    return set(re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))


def test_every_class_is_in_the_reference():
    modules = re.findall(r"^::: ([\w.]+)$", "\n".join(map(text, in_navigation())), re.MULTILINE)
    families = [importlib.import_module(name) for name in modules if name in FAMILIES]
    documented = {name for family in families for name in family.__all__}
    assert {cls.__name__ for cls in onlinesvm.all_estimators()} <= documented


def test_links_lead_to_pages():
    for page in in_navigation():
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text(page)):
            assert (DOCS / page).parent.joinpath(target).exists(), f"{page} -> {target}"


@pytest.mark.parametrize(
    ("page", "last"), [("index.md", r"\[ 1 -1\]"), ("ten-lines.md", r"0\.9\d+ \d+")]
)
def test_first_programs_run(page, last, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", text(page), re.DOTALL)
    exec(compile(code, page, "exec"), {})
    assert re.fullmatch(last, capsys.readouterr().out.strip())
