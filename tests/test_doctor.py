"""tools/doctor.sh: each thing a build starts from, missed in turn, is one line of advice."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DOCTOR = Path(__file__).parents[1] / "tools" / "doctor.sh"
NO_HEADERS = (
    "import sysconfig; paths = sysconfig.get_paths() | {'include': '/nowhere'};"
    "sysconfig.get_paths = lambda *_, **__: paths"
)
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


class Machine:
    """A folder that is the whole PATH, with Python and compiler as a test wants them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python("pass")
        self.program("c++", 'exec c++ "$@"')
        self.program("mktemp", 'exec mktemp "$@"')
        self.program("rm", 'exec rm "$@"')

    def program(self, name: str, script: str) -> None:
        path = self.folder / name
        path.write_text(f"#!/bin/sh\nPATH={os.environ['PATH']}\n{script}\n")
        path.chmod(0o755)

    def python(self, sabotage: str) -> None:
        self.program("python3", f'exec {sys.executable} -c "{sabotage}\n$2"')

    def remove(self, name: str) -> None:
        (self.folder / name).unlink()

    def complaints(self, *arguments: str, **environment: str) -> list[str]:
        done = subprocess.run(
            [shutil.which("sh"), DOCTOR, *arguments],
            env={"PATH": str(self.folder)} | environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout == ""
        lines = done.stderr.splitlines()
        assert done.returncode == bool(lines)
        for line in lines:
            assert all(system in line for system in ("Debian", "Fedora", "macOS"))
        return lines


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_a_healthy_machine_hears_nothing(machine):
    assert machine.complaints() == []
    assert machine.complaints("python3", "sanitizers") == []
    machine.program("mine", 'exec c++ "$@"')
    machine.remove("c++")
    assert machine.complaints(CXX="mine -O1") == []


def test_no_python(machine):
    machine.remove("python3")
    (line,) = machine.complaints()
    assert 'missing: Python >= 3.11 ("python3" does not run)' in line
    assert "apt install python3 python3-dev python3-venv" in line
    (line,) = machine.complaints("/no/such/python")
    assert "/no/such/python" in line


def test_an_old_python(machine):
    machine.python("import sys; sys.version_info = (3, 9, 2)")
    (line,) = machine.complaints()
    assert '"python3" is 3.9; another is taken by make PYTHON=/path/to/it' in line


def test_no_headers(machine):
    machine.python(NO_HEADERS)
    (line,) = machine.complaints()
    assert "Python.h" in line
    assert f"apt install python{HERE}-dev" in line
    assert "dnf install python3-devel" in line


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_no_venv(machine, module):
    machine.python(f"import sys; sys.modules['{module}'] = None")
    (line,) = machine.complaints()
    assert f"apt install python{HERE}-venv" in line


def test_no_compiler(machine):
    machine.remove("c++")
    (line,) = machine.complaints()
    assert "a C++20 compiler (none was found)" in line
    assert "apt install g++" in line
    assert "dnf install gcc-c++" in line


def test_an_old_compiler(machine):
    machine.program("c++", 'case "$*" in *c++20*) exit 1;; esac; exec c++ "$@"')
    (line,) = machine.complaints()
    assert "(c++ is not one)" in line


def test_no_sanitizers(machine):
    machine.program("c++", 'case "$*" in *sanitize*) exit 1;; esac; exec c++ "$@"')
    assert machine.complaints() == []
    (line,) = machine.complaints("python3", "sanitizers")
    assert "dnf install libasan libubsan" in line


def test_everything_at_once_is_a_line_each(machine):
    machine.python(f"{NO_HEADERS}; import sys; sys.modules['venv'] = None")
    machine.remove("c++")
    assert len(machine.complaints()) == 3
