"""The command line from outside: what it lists and how it fails."""

import re

import pytest
from command import refused, run

import onlinesvm
from onlinesvm.cli.options import method_names


def test_version_and_help():
    assert run("--version") == f"onlinesvm {onlinesvm.__version__}\n"
    text = run("--help")
    assert all(command in text for command in ("learn", "report", "predict", "tune", "doctor"))


def test_methods_lists_every_estimator():
    text = run("methods")
    for cls in onlinesvm.all_estimators():
        assert cls.__name__ in text
    ramp = next(line for line in text.splitlines() if line.startswith("  RampSVC"))
    assert "unlearns" in ramp
    assert text.index("For labels") < text.index(ramp) < text.index("For numbers")


def test_doctor_names_versions_and_tests_itself(monkeypatch):
    text = run("doctor")
    assert re.search(rf"onlinesvm +{onlinesvm.__version__}", text)
    assert re.search(r"core +(baseline|avx2|avx512), built by \S+", text)
    assert text.count("\nok ") == 4
    monkeypatch.setattr(onlinesvm.RampSVC, "kkt_residual", lambda self: 1.0)
    assert run("doctor", code=1).count("FAILED") == 2


def test_doctor_says_how_to_get_an_extra(monkeypatch):
    from onlinesvm.cli import doctor

    def absent(package):
        raise doctor.PackageNotFoundError(package)

    monkeypatch.setattr(doctor, "version", absent)
    assert "no jinja2, matplotlib: pip install '.[report]'" in run("doctor")


def test_names_are_completed_in_any_case():
    assert method_names("poker") == ["PokerOneClassSVM", "PokerSVC", "PokerSVR"]
    assert method_names("nothing") == []


@pytest.mark.parametrize(
    ("trouble", "line"),
    [
        (
            MemoryError("Unable to allocate 7 TiB"),
            "error: not enough memory: Unable to allocate 7 TiB",
        ),
        (MemoryError(), "error: not enough memory"),
        (ValueError("two\nlines\x1b[2J"), "error: two lines\\x1b[2J"),
        (OSError(28, "No space left on device", "run/log"), "error: run/log: No space left on dev"),
    ],
)
def test_every_failure_is_one_line(tmp_path, monkeypatch, trouble, line):
    def fail(*_, **__):
        raise trouble

    monkeypatch.setattr("onlinesvm.cli.learn.learn", fail)
    assert refused("learn", tmp_path / "rows.csv").startswith(line)
