"""The package as installed: it imports, knows its version and carries its compiled core."""

import re
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import onlinesvm
from onlinesvm import _core


def test_version_is_the_installed_one():
    assert onlinesvm.__version__ == version("onlinesvm")


def test_the_citation_is_of_this_version():
    citation = (Path(__file__).parents[1] / "CITATION.cff").read_text()
    assert re.findall(r"^version: (.*)$", citation, re.M) == [onlinesvm.__version__]


def test_the_compiled_core_is_ours():
    assert _core.__name__ == "onlinesvm._core"


def test_types_travel_with_the_package():
    assert files("onlinesvm").joinpath("py.typed").is_file()
