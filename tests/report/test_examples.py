"""The example scripts run and write what they promise."""

import runpy
import sys
from pathlib import Path

import pytest
from matplotlib.image import imread

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.py")))
def test_example(name, tmp_path, monkeypatch):
    picture = tmp_path / "picture.png"
    monkeypatch.setattr(sys, "argv", [f"{name}.py", str(picture)])
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert imread(picture).std() > 0.05
