"""Every example runs, draws its picture, and hangs in the gallery."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest
from matplotlib.image import imread

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("script", EXAMPLES, ids=[script.stem for script in EXAMPLES])
def test_example_draws_its_picture(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = tmp_path / "picture.png"
    monkeypatch.setattr(sys, "argv", [str(script), str(picture)])
    runpy.run_path(str(script), run_name="__main__")
    assert imread(picture).std() > 0.05  # a PNG with something on it


@pytest.mark.parametrize("script", EXAMPLES, ids=[script.stem for script in EXAMPLES])
def test_example_hangs_in_the_gallery(script: Path) -> None:
    gallery = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    image = f"images/{script.stem.replace('_', '-')}.png"
    assert f"examples/{script.name}" in gallery
    assert image in gallery
    assert (ROOT / "docs" / image).exists()
