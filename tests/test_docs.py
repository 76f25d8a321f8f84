"""The site: its links lead somewhere, its programs run, its reference knows every class."""

from __future__ import annotations

import importlib.util
import re
from functools import cache
from html import escape
from pathlib import Path
from types import SimpleNamespace

import messy_files
import pytest
import transcripts

import onlinesvm

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def hooks():
    """tools/site.py, which is a script of mkdocs and no package."""
    spec = importlib.util.spec_from_file_location("site_hooks", ROOT / "tools" / "site.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


site = hooks()


def text(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def in_navigation() -> set[str]:
    return set(re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))


def test_every_class_is_in_the_reference():
    shown = re.findall(r"^::: ([\w.]+)$", "\n".join(map(text, in_navigation())), re.MULTILINE)
    every = (*onlinesvm.all_estimators(), *onlinesvm.all_transformers())
    assert {f"onlinesvm.{cls.__name__}" for cls in every} <= set(shown)


def test_links_lead_to_pages():
    for page in in_navigation():
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text(page)):
            assert (DOCS / page).parent.joinpath(target).exists(), f"{page} -> {target}"


def formulas() -> list[tuple[str, str]]:
    """Every formula of every page, between dollars and outside code, with the page."""
    found = []
    for page in sorted(in_navigation()):
        prose = re.sub(r"```.*?```|`[^`]*`", "", text(page), flags=re.DOTALL)
        for display, inline in re.findall(r"\$\$(.+?)\$\$|\$([^$]+)\$", prose, re.DOTALL):
            found.append((page, display or inline))
    return found


def test_every_formula_can_be_drawn():
    assert len(formulas()) > 300
    for page, formula in formulas():
        marked = rf'<p><span class="arithmatex">\({escape(formula)}\)</span></p>'
        drawn = site.on_page_content(marked)
        assert drawn.startswith("<p><math"), (page, formula)
        assert "\\" not in drawn, (page, formula)


def test_docstrings_lose_their_roles_and_pages_fetch_nothing():
    assert site.on_page_content(":meth:<code>~a.learn</code>") == "<code>a.learn</code>"
    page = SimpleNamespace(url="papers/ramp.html")
    shim = f'<script src="{site.FETCHED}"></script>'
    assert site.on_post_page(shim, page=page) == '<script src="../search.js"></script>'
    assert site.on_post_template(shim, "404.html") == '<script src="search.js"></script>'


@pytest.mark.parametrize(
    "page",
    [
        "how-to/prepare-a-stream.md",
        "how-to/forget-a-customer.md",
        "how-to/a-model-for-each-key.md",
        "how-to/read-a-stream.md",
        "how-to/ask-for-labels.md",
        "how-to/precomputed-kernels.md",
        "how-to/leave-one-machine.md",
    ],
)
def test_pages_that_show_what_they_print_run(page, tmp_path, monkeypatch, capsys):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code in re.findall(r"```python\n(.*?)```", text(page), re.DOTALL):
        exec(compile(code, page, "exec"), names)
    shown = re.findall(r"```text\n(.*?)```", text(page), re.DOTALL)
    assert capsys.readouterr().out == "".join(shown)


@pytest.mark.parametrize("package", ["distributed", "ray"])
def test_recipes_of_clusters_run(package, monkeypatch, capsys):
    """Those of the package that is there, and those that need none."""
    pytest.importorskip(package, reason=f"the recipe needs {package}")
    page = "how-to/dask-and-ray.md"
    others = {"distributed": "# ray", "ray": "with Client"}[package]
    names: dict[str, object] = {}
    expected = ""
    blocks = r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?"
    for code, shown in re.findall(blocks, text(page), re.DOTALL):
        if others == "with Client":
            code = re.sub(r"(?ms)^import dask\n|^from distributed.*?\n|^with Client.*", "", code)
        if others not in code:
            exec(compile(code, page, "exec"), names)
            expected += shown if "print(" in code else ""
    assert "200 models" in expected
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize(
    ("page", "last"), [("index.md", r"\[ 1 -1\]"), ("ten-lines.md", r"0\.9\d+ \d+")]
)
def test_first_programs_run(page, last, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", text(page), re.DOTALL)
    exec(compile(code, page, "exec"), {})
    assert re.fullmatch(last, capsys.readouterr().out.strip())


def test_how_to_survive_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    page = "how-to/run-that-survives.md"
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", text(page), re.DOTALL):
        exec(compile(block, page, "exec"), names)
    shown = "".join(re.findall(r"```text\n(.*?)```", text(page), re.DOTALL))
    assert capsys.readouterr().out == shown


def test_how_to_evaluate_runs(tmp_path, monkeypatch, capsys):
    import matplotlib as mpl

    mpl.use("agg")
    monkeypatch.chdir(tmp_path)
    page = "how-to/evaluate-on-a-stream.md"
    blocks = re.findall(r"```python\n(.*?)```", text(page), re.DOTALL)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "run.html",
        "run.jsonl",
        "run.parquet",
        "run.png",
    ]
    shown = capsys.readouterr().out
    assert "window_kappa" in shown or "majority" in shown
    assert shown.splitlines()[-1] == "0.4"  # kappa of two right in three


# --- commands -------------------------------------------------------------------------------------

PAGES = {"README.md": ROOT / "README.md", **{page: DOCS / page for page in in_navigation()}}
# Lines of pages that no test runs, and why: they build, install or take long. That `make` knows its
# targets is asked of make.
NOT_RUN = ("pip install .", "pip install '.", "make ")


def fenced(page: str) -> list[tuple[str, str]]:
    """The fenced blocks of a page with their languages."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", PAGES[page].read_text("utf-8"), re.DOTALL | re.M)
    return [(language, body) for language, body in found]


SLOW = {"first-run.md", "command-line.md"}
CONSOLES = sorted(p for p in PAGES if any(lang == "console" for lang, _ in fenced(p)))


@pytest.mark.parametrize(
    "page", [pytest.param(p, marks=[pytest.mark.slow] * (p in SLOW)) for p in CONSOLES]
)
def test_transcripts_hold(page, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    messy_files.write_all(tmp_path)
    for command, shown in transcripts.commands(PAGES[page].read_text(encoding="utf-8")):
        came = transcripts.run(command, tmp_path)
        assert transcripts.alike(shown, came) == "", f"{page}: {command}\n{came}"


def test_every_command_of_a_page_is_in_a_transcript_or_listed():
    for page in PAGES:
        for language, body in fenced(page):
            if language not in ("", "sh", "bash", "shell"):
                continue
            for line in body.splitlines():
                words = line.split("#")[0].strip()
                assert not re.match(r"(\$ |onlinesvm |python |pip |apt |sh )", words) or (
                    words.startswith(NOT_RUN)
                ), f"{page}: {words!r} is run by no test; make it a console block"
                if words.startswith("make "):
                    assert make_knows(words), f"{page}: {words}"


@cache
def make_knows(command: str) -> bool:
    """Whether the target is there; nothing is built."""
    target = command.split()[1]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return (
        re.search(rf"^(?:\.PHONY:.*\s)?{target}\b[^\n]*:|\b{target}:", makefile, re.M) is not None
    )


def test_a_transcript_that_lies_is_caught():
    shown = "12 rows  A: accuracy 90.1%\nmodel a.run\n"
    assert transcripts.alike(shown, shown) == ""
    assert transcripts.alike(shown, shown.replace("90.1", "90.9")) == ""
    assert "says" in transcripts.alike(shown, shown.replace("90.1", "70.1"))
    assert "says" in transcripts.alike(shown, shown.replace("model", "modem"))
    assert "says also" in transcripts.alike(shown, shown + "more\n")
    assert "ended" in transcripts.alike(shown + "more\n", shown)
    assert transcripts.alike("...\nmodel a.run\n", shown) == ""
