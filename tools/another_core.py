"""Run tests against another core than the one beside the sources."""

from __future__ import annotations

from pathlib import Path

# The editable install finds onlinesvm before any path does. Python imports sitecustomize after it,
# in every process that inherits PYTHONPATH.
FORGET_THE_EDITABLE_INSTALL = """\
import sys

sys.meta_path[:] = [f for f in sys.meta_path if "ScikitBuild" not in type(f).__name__]
"""

# What a process says of the core that it has.
WHICH = "import numpy, onlinesvm._core as core; print(core.__file__)"


def prefer(folder: Path) -> None:
    """Let processes with ``folder`` first in PYTHONPATH import the package in it."""
    (folder / "sitecustomize.py").write_text(FORGET_THE_EDITABLE_INSTALL)
