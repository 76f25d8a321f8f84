"""Every example of the gallery runs and draws a picture."""

from __future__ import annotations

import ast
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "examples"
DEMO = FOLDER / "demo.py"  # a program, and no part of the gallery
EXAMPLES = sorted(set(FOLDER.glob("*.py")) - {DEMO})


@pytest.fixture(autouse=True)
def _no_windows() -> Iterator[None]:
    mpl.use("agg")
    yield
    plt.close("all")


@pytest.mark.parametrize("script", EXAMPLES, ids=[script.stem for script in EXAMPLES])
def test_example_draws_its_picture(script: Path) -> None:
    runpy.run_path(str(script), run_name="__main__")
    assert plt.get_fignums()
    figure = plt.gcf()
    figure.canvas.draw()
    assert np.asarray(figure.canvas.buffer_rgba()).std() > 0.05 * 255  # something is on it


def test_demo_draws_its_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = tmp_path / "demo.png"
    monkeypatch.setattr(sys, "argv", [str(DEMO), str(picture), "--rows", "500"])
    runpy.run_path(str(DEMO), run_name="__main__")
    assert plt.imread(picture).std() > 0.05


@pytest.mark.parametrize("script", EXAMPLES, ids=[script.stem for script in EXAMPLES])
def test_example_begins_with_a_title(script: Path) -> None:
    title, rule = (ast.get_docstring(ast.parse(script.read_text("utf-8"))) or "").split("\n")[:2]
    assert title
    assert rule == "=" * len(title)
