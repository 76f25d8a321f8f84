"""The site: links lead to pages, programs print what is shown, the reference is complete."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import messy_files
import pytest
import transcripts
from latex2mathml.converter import convert

import onlinesvm

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = {"README.md": ROOT / "README.md"} | {
    path.relative_to(DOCS).as_posix(): path for path in sorted(DOCS.rglob("*.md"))
}


def text(page: str) -> str:
    return PAGES[page].read_text(encoding="utf-8")


def test_every_public_name_is_in_the_reference(monkeypatch):
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(DOCS / "_ext")
    import reference

    shown = set(reference.names(reference.CLASSES))
    estimators = (*onlinesvm.all_estimators(), *onlinesvm.all_transformers())
    assert {cls.__name__ for cls in estimators} | set(onlinesvm.__all__) <= shown
    assert shown <= set(vars(onlinesvm))


def test_links_lead_to_pages():
    for page in PAGES:
        prose = re.sub(r"```.*?```|`[^`]*`", "", text(page), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
            assert PAGES[page].parent.joinpath(target).exists(), f"{page} -> {target}"


def formulas() -> list[tuple[str, str]]:
    """Every formula of every page, between dollars and outside code, with the page."""
    found = []
    for page in PAGES:
        prose = re.sub(r"```.*?```|`[^`]*`", "", text(page), flags=re.DOTALL)
        for display, inline in re.findall(r"\$\$(.+?)\$\$|\$([^$]+)\$", prose, re.DOTALL):
            found.append((page, display or inline))
    return found


def test_every_formula_can_be_drawn():
    assert len(formulas()) > 200
    for page, formula in formulas():
        assert "\\" not in convert(formula), (page, formula)


# --- programs -------------------------------------------------------------------------------------

# They need more than the other pages, and have tests of their own.
APART = {
    "how-to/spark.md": "tests/cluster/spark",
    "how-to/dask-and-ray.md": "below, one package at a time",
}
LONG = {"five-jobs.md", "how-to/leave-one-machine.md", "how-to/run-that-survives.md"}
PROGRAMS = [p for p in PAGES if transcripts.programs(text(p)) and p not in APART]


@pytest.mark.parametrize(
    "page", [pytest.param(p, marks=[pytest.mark.slow] * (p in LONG)) for p in PROGRAMS]
)
def test_programs_print_what_pages_show(page, tmp_path, monkeypatch, capsys):
    """The programs of a page run one after the other, in one namespace."""
    for package in ("matplotlib", "pandas", "pyarrow"):
        pytest.importorskip(package)
    for package in ("river", "onnxruntime", "skops"):
        if package in text(page):
            pytest.importorskip(package)
    import matplotlib as mpl

    mpl.use("agg")
    monkeypatch.chdir(tmp_path)
    messy_files.write_all(tmp_path)
    names: dict[str, object] = {}
    for code, shown in transcripts.programs(text(page)):
        exec(compile(code, page, "exec"), names)
        printed = capsys.readouterr().out
        assert not shown or transcripts.alike(shown, printed) == "", f"{page}\n{printed}"
        assert shown or not printed, f"{page} does not show what this prints: {code}"


@pytest.mark.parametrize("package", ["distributed", "ray"])
def test_recipes_of_clusters_run(package, monkeypatch, capsys):
    """Those of the package that is there, and those that need none."""
    pytest.importorskip(package, reason=f"the recipe needs {package}")
    page = "how-to/dask-and-ray.md"
    others = {"distributed": "# ray", "ray": "with Client"}[package]
    names: dict[str, object] = {}
    expected = ""
    for code, shown in transcripts.programs(text(page)):
        if others == "with Client":
            code = re.sub(r"(?ms)^import dask\n|^from distributed.*?\n|^with Client.*", "", code)
        if others not in code:
            exec(compile(code, page, "exec"), names)
            expected += shown if "print(" in code else ""
    assert "200 models" in expected
    assert capsys.readouterr().out == expected


# --- commands -------------------------------------------------------------------------------------

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


# --- search ---------------------------------------------------------------------------------------

SEARCHES = {
    "predict_proba": "how-to/probabilities",
    "class_weight": "how-to/imbalanced-classes",
    "missing values": "how-to/prepare-a-stream",
    "ROC AUC": "how-to/evaluate-on-a-stream",
    "save": "files",
}


@pytest.mark.slow
def test_search_finds_the_right_page(tmp_path):
    pytest.importorskip("sphinx_gallery")
    words = ["-q", "-D", "plot_gallery=0", "-d", str(tmp_path / "trees")]
    built = tmp_path / "site"
    done = [sys.executable, "-m", "sphinx", *words, str(DOCS), str(built)]
    subprocess.run(done, check=True, capture_output=True)
    index = json.loads((built / "searchindex.js").read_text()[len("Search.setIndex(") : -1])
    for query, page in SEARCHES.items():
        assert page in found(index, query)[:3], query
    fetched = re.compile(r"<(?:script|link|img)[^>]+(?:src|href)=[\"']https?://")
    for page in built.rglob("*.html"):
        assert not fetched.search(page.read_text(encoding="utf-8")), page


def found(index: dict, query: str) -> list[str]:
    """Pages by relevance: what Sphinx's own search weighs, titles before words of the text."""
    stem = pytest.importorskip("sphinx.search.en").SearchEnglish({}).stem
    scores = dict.fromkeys(range(len(index["docnames"])), 0.0)
    for title, places in index["alltitles"].items():
        if query.lower() in title.lower():
            for page, section in places:
                scores[page] += (15 if section is None else 8) * len(query) / len(title) + 7
    for word in query.lower().split():
        for weight, kind in ((15, "titleterms"), (5, "terms")):
            pages = index[kind].get(stem(word), [])
            for page in pages if isinstance(pages, list) else [pages]:
                scores[page] += weight
    return [index["docnames"][page] for page in sorted(scores, key=lambda p: -scores[p])]
