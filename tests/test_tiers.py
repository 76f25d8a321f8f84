"""The tiers of tests/tiers.py: what `make test` runs covers what it leaves out."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from itertools import combinations, product
from pathlib import Path

import pytest
import tiers

import onlinesvm

ROOT = Path(__file__).parents[1]


def test_a_cover_has_every_fact_and_few_cases() -> None:
    cases = {case: set(case) for case in product("ab", "cde", "fgh")}
    pairs = {case: set(combinations(case, 2)) for case in cases}
    assert len(tiers.cover(cases)) == 3
    found = tiers.cover(pairs)
    assert set().union(*(pairs[case] for case in found)) == set().union(*pairs.values())
    assert len(found) < 12 < len(pairs)
    assert tiers.cover(pairs) == found


def test_an_estimator_stands_for_its_family_its_numbers_and_its_multiclass() -> None:
    svc = onlinesvm.RampSVC(dtype="float32", multiclass="one-vs-one")
    assert tiers.kinds(svc) == [
        ("family", "exact"),
        ("dtype", "float32"),
        ("multiclass", "one-vs-one"),
    ]
    assert tiers.kinds(onlinesvm.PegasosSVC) == [("family", "gradient")]
    assert tiers.traits(("cls", "value"), {"cls": type(svc), "value": 3}) == [
        ("cls", "value", "3", "family", "exact")
    ]


def test_the_core_names_checks() -> None:
    from onlinesvm.checks import checks_for

    known = {check.__name__ for cls in onlinesvm.all_estimators() for check in checks_for(cls())}
    assert known >= tiers.CORE


def functions(tier: str, *arguments: str) -> set[str]:
    """The test functions that a tier takes, and how pytest names them."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", f"--tier={tier}", *arguments]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return set(re.findall(r"^(tests/\S+?)(?:\[.*)?$", run.stdout, re.MULTILINE))


@pytest.mark.slow
def test_what_a_mutant_may_need_is_in_the_quick_tier() -> None:
    """`make mutants` breaks the solvers and asks this tier; here only that nothing is missing."""
    mutants = tomllib.loads((ROOT / "tools" / "mutants.toml").read_text(encoding="utf-8"))["mutant"]
    named = sorted({name for mutant in mutants for name in mutant["tests"]})
    quick = functions("quick", *named)
    assert quick == functions("all", "-m", "not slow", *named)
    assert {name.partition("::")[0] for name in quick} == set(named)
