"""The command line from outside: what it lists, how it fails, and the demo."""

import re

import pytest
from command import refused, run
from matplotlib.image import imread

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
    assert "no matplotlib: pip install 'onlinesvm[report]'" in run("doctor")


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


def test_demo_writes_a_picture(tmp_path):
    picture = tmp_path / "demo.png"
    said = run("demo", "--rows", 300, "--out", picture)
    assert "15% of them mislabelled" in said
    assert len(re.findall(r"^ +[\d,]+ rows \|", said, flags=re.M)) == 10
    assert re.search(r"[\d.]+%  RampSVC, \d+ support vectors", said)
    assert str(picture) in said
    pixels = imread(picture)
    assert pixels.shape[1] > 1000
    assert pixels.std() > 0.05


def test_demo_can_animate_and_repeat_itself(tmp_path):
    first = run("demo", "--rows", 150, "--seed", 7, "--live", "--out", tmp_path / "a.png")
    assert "150 of 150 examples" in first
    again = run("demo", "--rows", 150, "--seed", 7, "--no-live", "--out", tmp_path / "b.png")
    tail = "On fresh squares"
    assert first.partition(tail)[2].splitlines()[:6] == again.partition(tail)[2].splitlines()[:6]


def test_demo_refuses_before_it_works(tmp_path):
    assert "must end in one of" in refused("demo", "--out", tmp_path / "a.doc")
    assert "does not exist" in refused("demo", "--out", tmp_path / "no" / "a.png")
    assert "is a folder" in refused("demo", "--out", tmp_path)
    assert "100" in run("demo", "--rows", 3, code=2)
