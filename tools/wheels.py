"""Build what a release consists of, and try it where nothing else is installed.

    python tools/wheels.py build    the sdist, then from it a wheel for 3.11 and one for all later
                                    Pythons, as far as this machine has them; repaired and checked
    python tools/wheels.py test     every wheel in an empty environment of every Python found here;
                                    what follows goes to pytest
    python tools/wheels.py page     what that has measured, into docs/release.md
    python tools/wheels.py pythons  which Pythons those are

Everything lands in dist/; what it takes on the way, in build/wheels. Run by `make wheel` and
`make test-wheel`, which install what this needs.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
WORK = ROOT / "build" / "wheels"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
INIT = (ROOT / "src" / "onlinesvm" / "__init__.py").read_text(encoding="utf-8")
VERSION: str = re.findall(r'^__version__ = "(.*)"$', INIT, re.MULTILINE)[0]
OLDEST = (3, 11)
STABLE = (3, 12)  # from here on one wheel serves all: wheel.py-api in pyproject.toml
ASK = """
import sys, sysconfig
print(*sys.version_info[:2], sysconfig.get_config_var("Py_GIL_DISABLED") or 0)
"""


def run(*command: object, cwd: Path = ROOT) -> None:
    """A program that has to succeed; it finds those that are installed beside this Python."""
    print("+", *command, flush=True)
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    words = [str(word) for word in command]
    subprocess.run(words, cwd=cwd, env=os.environ | {"PATH": beside}, check=True)


# ---- the Pythons of this machine -----------------------------------------------------------------


@dataclass(frozen=True, order=True)
class Python:
    """One that is installed here."""

    version: tuple[int, int]
    free_threaded: bool
    program: Path

    def __str__(self) -> str:
        return f"{self.version[0]}.{self.version[1]}{'t' if self.free_threaded else ''}"

    def environment(self, folder: Path) -> Path:
        """An empty environment in ``folder``; its Python."""
        run(self.program, "-m", "venv", "--clear", folder)
        return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def pythons() -> list[Python]:
    """The first of every version that runs: on the path, then those of pyenv."""
    found: dict[str, Python] = {}
    for program in _candidates():
        asked = subprocess.run([program, "-c", ASK], capture_output=True, text=True, check=False)
        if asked.returncode != 0:  # a shim of pyenv for a version that is not active
            continue
        major, minor, free_threaded = map(int, asked.stdout.split())
        python = Python((major, minor), bool(free_threaded), program)
        if python.version >= OLDEST:
            found.setdefault(str(python), python)
    return sorted(found.values())


def _candidates() -> Iterator[Path]:
    names = ["python3", *(f"python3.{minor}{t}" for minor in range(11, 20) for t in ("", "t"))]
    for name in names:
        if program := shutil.which(name):
            yield Path(program)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(pyenv.glob("versions/*/bin/python"))


# ---- building ------------------------------------------------------------------------------------


def build() -> None:
    """The sdist and from it the wheels; what a check refuses is not left in dist/."""
    DIST.mkdir(exist_ok=True)
    for old in DIST.glob(f"onlinesvm-{VERSION}*"):
        old.unlink()
    raw = WORK / "raw"
    shutil.rmtree(raw, ignore_errors=True)
    run(sys.executable, "-m", "build", "--sdist", "--outdir", raw)
    (sdist,) = raw.glob("*.tar.gz")
    source = unpack(sdist)
    for python in builders():
        run(*build_command(python, source, raw))
    for wheel in raw.glob("*.whl"):
        repair(wheel)
    shutil.copy(sdist, DIST)
    check()


def unpack(sdist: Path) -> Path:
    """The sources as a stranger gets them, at the same place each time, for the sake of ccache."""
    source = WORK / f"onlinesvm-{VERSION}"
    shutil.rmtree(source, ignore_errors=True)
    with tarfile.open(sdist) as archive:
        archive.extractall(WORK, filter="data")
    return source


def builders() -> list[Python]:
    """Who builds: 3.11 for itself, one later Python for all later ones, the free-threaded alone."""
    here = pythons()
    alone = [python for python in here if python.version < STABLE or python.free_threaded]
    return alone + [python for python in here if python not in alone][:1]


def build_command(python: Python, source: Path, to: Path) -> list[object]:
    """How ``python`` makes its wheel, in an environment that has the build requirements alone."""
    environment = python.environment(WORK / f"builder-{python}")
    run(environment, "-m", "pip", "install", "-qq", "build", "ninja", "cmake>=3.26",
        *PROJECT["build-system"]["requires"])  # fmt: skip
    return [environment, "-m", "build", "--wheel", "--no-isolation", "--outdir", to, source]


def repair(wheel: Path) -> None:
    """Under its true name, with the libraries it needs, in dist/."""
    if sys.platform == "linux":
        run(sys.executable, "-m", "auditwheel", "repair", "--strip", "--wheel-dir", DIST, wheel)
    elif sys.platform == "darwin":
        run("delocate-wheel", "--wheel-dir", DIST, wheel)
    else:
        shutil.copy(wheel, DIST)


def check() -> None:
    """What the tools of the trade find wrong with dist/."""
    files = sorted(DIST.glob(f"onlinesvm-{VERSION}*"))
    wheels = [file for file in files if file.suffix == ".whl"]
    run(sys.executable, "-m", "twine", "check", "--strict", *files)
    run(sys.executable, "-m", "check_wheel_contents", *wheels)
    for wheel in wheels:
        if "-abi3-" in wheel.name:
            run(sys.executable, "-m", "abi3audit", "--strict", wheel)


# ---- trying --------------------------------------------------------------------------------------

# What the binding hands to and fro, what threads share, what goes through files: no other test
# depends on which Python runs it, and none of these looks through the probes.
TESTS = [
    "tests/model/test_overflow.py",
    "tests/model/test_sharing.py",
    "tests/model/test_sparse_input.py",
    "tests/bind/test_core.py",
    "tests/bind/test_interrupt.py",
    "tests/test_persistence.py",
]
IMPORT = """
import time
begin = time.process_time()
import numpy, scipy.sparse, sklearn.base, sklearn.utils.validation
others = time.process_time()
import onlinesvm
print(others - begin, time.process_time() - others)
"""


def test(*arguments: str) -> None:
    """Every Python with its wheel and what that declares, and nothing else; then some tests."""
    models = WORK / "models"
    shutil.rmtree(models, ignore_errors=True)
    models.mkdir(parents=True)
    here = [python for python in pythons() if wheel_for(python)]
    if not here:
        sys.exit("wheels: dist/ has no wheel for a Python of this machine; run make wheel first")
    installed = {python: install(python) for python in here}
    for _ in range(2):  # the second time, each meets the models of those after it, too
        for environment in installed.values():
            run(environment, ROOT / "tools" / "smoke.py", models, cwd=models)
    rows = [row(python, environment) for python, environment in installed.items()]
    for environment in installed.values():
        run_tests(environment, arguments)
    (WORK / "tested.md").write_text(table(rows), encoding="utf-8")
    print(table(rows))


def wheel_for(python: Python) -> Path | None:
    """The one in dist/ that pip would take there."""
    tag = f"cp{python.version[0]}{python.version[1]}"
    own = f"{tag}-{tag}t" if python.free_threaded else f"{tag}-{tag}"
    names = [own] if python.free_threaded or python.version < STABLE else [own, "cp312-abi3"]
    wheels = (DIST.glob(f"onlinesvm-{VERSION}-{name}-*.whl") for name in names)
    return next((wheel for some in wheels for wheel in some), None)


def install(python: Python) -> Path:
    """The wheel in an empty environment, from dist/ and nowhere else; its Python."""
    environment = python.environment(WORK / f"empty-{python}")
    pip = [environment, "-m", "pip", "--disable-pip-version-check", "install", "-qq"]
    run(*pip, "--no-index", "--no-deps", wheel_for(python))
    run(*pip, "--only-binary=:all:", f"onlinesvm=={VERSION}")  # there already: what it declares
    run(environment, "-m", "pip", "check")
    return environment


def run_tests(environment: Path, arguments: tuple[str, ...]) -> None:
    """From a copy that has the tests and no sources."""
    needs = ("pytest>=8.2", "hypothesis>=6.100", "safetensors>=0.4")
    run(environment, "-m", "pip", "install", "-qq", *needs)
    copy = WORK / "tests-only"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(ROOT / "tests", copy / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", copy)  # how pytest is set up
    run(
        environment, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(arguments or TESTS), cwd=copy
    )


# ---- telling -------------------------------------------------------------------------------------


def row(python: Python, environment: Path) -> list[str]:
    """What it takes to have the package there: on disk, and to import."""
    wheel = wheel_for(python)
    assert wheel
    with zipfile.ZipFile(wheel) as archive:
        on_disk = sum(member.file_size for member in archive.infolist())
    asked = [
        subprocess.run([environment, "-c", IMPORT], capture_output=True, text=True, check=True)
        for _ in range(7)
    ]
    times = [[float(word) for word in one.stdout.split()] for one in asked]
    others, ours = (min(column) * 1e3 for column in zip(*times, strict=True))
    return [
        str(python),
        wheel.name.removeprefix(f"onlinesvm-{VERSION}-").removesuffix(".whl"),
        f"{wheel.stat().st_size / 1e6:.2f}",
        f"{on_disk / 1e6:.2f}",
        f"{ours:.0f}",
        f"{others:.0f}",
    ]


def table(rows: list[list[str]]) -> str:
    """For a page."""
    head = ["Python", "wheel", "MB", "MB on disk", "import, ms", "what it imports, ms"]
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def page() -> None:
    """Put the table of the last `test` into docs/release.md."""
    path = ROOT / "docs" / "release.md"
    place = re.compile(r"(<!-- wheels -->\n).*?(<!-- end -->)", re.DOTALL)
    found = (WORK / "tested.md").read_text(encoding="utf-8")
    text, n = place.subn(lambda m: f"{m[1]}\n{found}\n{m[2]}", path.read_text(encoding="utf-8"))
    if n != 1:
        sys.exit(f"wheels: {path} has {n} places for the table")
    path.write_text(text, encoding="utf-8")


def show_pythons() -> None:
    """Which there are, and which wheel each would get."""
    for python in pythons():
        wheel = wheel_for(python)
        print(f"{python}: {python.program}, {wheel.name if wheel else 'no wheel in dist/'}")


VERBS = {"build": build, "test": test, "page": page, "pythons": show_pythons}

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in VERBS:
        sys.exit(__doc__)
    VERBS[sys.argv[1]](*sys.argv[2:])
