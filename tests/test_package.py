"""The package as installed: it imports, knows its version and carries its compiled core."""

import re
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
