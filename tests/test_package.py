"""The package as installed: it imports, knows its version and carries its compiled core."""

from importlib.metadata import version
from importlib.resources import files

import onlinesvm
from onlinesvm import _core


def test_version_is_the_installed_one():
    assert onlinesvm.__version__ == version("onlinesvm")


def test_the_compiled_core_is_ours():
    assert _core.__name__ == "onlinesvm._core"


def test_types_travel_with_the_package():
    assert files("onlinesvm").joinpath("py.typed").is_file()
