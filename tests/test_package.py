"""The package as installed: it imports, knows its version and carries its compiled core."""

import builtins
import inspect
import re
import sys
import tomllib
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import pytest

import onlinesvm
from onlinesvm import _core

ROOT = Path(__file__).parents[1]


def test_version_is_the_installed_one():
    assert onlinesvm.__version__ == version("onlinesvm")


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("CITATION.cff", r"^version: (.*)$"),
        ("CHANGELOG.md", r"^## (\S+) - "),
        ("src/onlinesvm/__init__.py", r'^__version__ = "(.*)"$'),
    ],
)
def test_who_speaks_of_the_version_agrees(file, says):
    assert onlinesvm.__version__ in re.findall(says, (ROOT / file).read_text(), re.MULTILINE)


def test_the_version_is_written_once_where_it_is_built():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "version" in project["dynamic"]
    assert (
        "VERSION" not in re.findall(r"project\((.*?)\)", (ROOT / "CMakeLists.txt").read_text())[0]
    )


def test_the_compiled_core_is_ours():
    assert _core.__name__ == "onlinesvm._core"


def test_types_travel_with_the_package():
    assert files("onlinesvm").joinpath("py.typed").is_file()


def test_few_names_are_on_top_and_none_of_python_is_shadowed():
    names = dir(onlinesvm)
    assert len(names) <= 45
    assert {cls.__name__ for cls in onlinesvm.all_estimators()} <= set(names)
    starred: dict[str, object] = {}
    exec("from onlinesvm import *", starred)
    assert set(names) <= set(starred)
    assert not set(names) & set(dir(builtins))
    assert not set(names) & set(sys.stdlib_module_names)


@pytest.mark.parametrize("cls", onlinesvm.all_estimators())
def test_signatures_begin_with_what_people_set(cls):
    parameters = inspect.signature(cls).parameters.values()
    names = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    first = [n for n in ("C", "alpha", "nu", "kernel", "gamma", "degree", "coef0") if n in names]
    assert names[: len(first)] == first
