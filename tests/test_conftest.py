"""The line that closes a run: what a green run has left out."""

from types import SimpleNamespace

import tiers
from conftest import left_out


def skip(why):
    return SimpleNamespace(nodeid="tests/a.py::test", longrepr=("tests/a.py", 3, f"Skipped: {why}"))


def test_reasons_are_counted_and_waived_failures_point_to_their_file():
    waived = [SimpleNamespace(nodeid=f"tests/test_contract.py::test[{i}]") for i in range(39)]
    stats = {"xfailed": waived, "skipped": [skip("no data"), skip("no avx512"), skip("no data")]}
    assert left_out(stats) == (
        "39 expected failures (tests/test_contract.py says why); "
        "2 skipped (no data); 1 skipped (no avx512)"
    )


def test_another_tier_is_counted(monkeypatch):
    monkeypatch.setattr(tiers, "chosen", "quick")
    assert left_out({}, 17518) == "17,518 cases of another tier (make test-all runs them)"


def test_a_full_run_has_nothing_to_confess():
    assert left_out({"passed": [object()]}) == ""
