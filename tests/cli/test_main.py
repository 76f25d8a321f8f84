"""The door: by its script, as a module, and without its extras."""

import re
import subprocess
import sys

import pytest

from onlinesvm.cli import main


def test_version_through_the_door(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["onlinesvm", "--version"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 0
    assert capsys.readouterr().out.startswith("onlinesvm ")


def test_as_a_module():
    command = [sys.executable, "-m", "onlinesvm", "methods"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "RampSVC" in done.stdout


BLOCK = """
import sys
sys.modules |= dict.fromkeys("click matplotlib msgspec pandas pyarrow rich typer".split())
"""


def run_without_extras(code: str) -> subprocess.CompletedProcess[str]:
    """A program where only numpy, scipy, scikit-learn and narwhals can be imported."""
    command = [sys.executable, "-c", BLOCK + code]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_without_its_extra_the_command_line_says_so_in_one_line():
    done = run_without_extras("from onlinesvm.cli import main; main()")
    line = "error: the command line needs: pip install '.[cli]' in a checkout\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)


def test_the_library_needs_no_extra():
    done = run_without_extras(
        """
import onlinesvm, onlinesvm.datasets, onlinesvm.report, onlinesvm.stream.run
from onlinesvm.model import progress
progress._PATIENCE = 0
X, y = onlinesvm.datasets.make_checkerboard(300, random_state=0)
print(onlinesvm.RampSVC(C=10, gamma=4, verbose=True).fit(X, y).n_seen_)
"""
    )
    assert (done.returncode, done.stdout) == (0, "300\n"), done.stderr
    assert "(a bar needs rich)" in done.stderr


def test_the_package_declares_what_it_imports():
    from importlib.metadata import requires

    lines = requires("onlinesvm")
    always = {re.match(r"[\w-]+", line)[0] for line in lines if "extra ==" not in line}
    assert always == {"numpy", "scipy", "scikit-learn", "narwhals"}
    extra = {re.match(r"[\w-]+", line)[0] for line in lines if re.search("extra == .cli.", line)}
    assert extra == {"rich", "typer"}
