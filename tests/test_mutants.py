"""The mutants of tools/mutants.toml still find what they break: code moves, patterns do not."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
MUTANTS = tomllib.loads((ROOT / "tools" / "mutants.toml").read_text(encoding="utf-8"))["mutant"]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant["name"])
def test_a_mutant_stands_in_one_place(mutant: dict[str, Any]) -> None:
    source = (ROOT / mutant["file"]).read_text(encoding="utf-8")
    assert source.count(mutant["before"]) == 1
    assert mutant["before"] != mutant["after"]
    for name in mutant["tests"]:
        assert (ROOT / name.split("::")[0]).exists()
