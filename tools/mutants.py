"""Break the solvers on purpose, one mistake at a time, and see a test go red for each.

    make mutants                                 # every mutant of tools/mutants.toml
    make mutants ARGS="--only stream --jobs 8"   # those with the word, eight at once

A test that no mistake can turn red is a defect. Each mutant is one replacement in one file: a
sign, a bound, a missing term. It is compiled in a copy of the sources under build/mutants, and only
the tests named for it are run, as far as `make test` has them, up to the first failure.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from another_core import prefer

ROOT = Path(__file__).resolve().parent.parent
COPIES = ROOT / "build" / "mutants"


@dataclass(frozen=True)
class Mutant:
    """One replacement in one file, and the tests that should notice."""

    name: str
    file: str
    before: str
    after: str
    tests: list[str]

    def text(self, source: str) -> str:
        places = source.count(self.before)
        if places != 1:
            raise SystemExit(
                f"{self.name}: {self.file} has {places} places like {self.before!r}, wanted 1; "
                "mend tools/mutants.toml"
            )
        return source.replace(self.before, self.after)


class Copy:
    """Sources to break, and what is built from them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("cmake", "cpp", "src"):
            for file in (ROOT / name).rglob("*"):
                if not file.is_dir() and file.suffix not in (".so", ".pyc"):
                    self._bring(file.relative_to(ROOT))
        self._bring(Path("CMakeLists.txt"))
        prefer(folder / "src")

    def _bring(self, file: Path) -> None:
        """Unchanged files keep their times, so that little is compiled anew."""
        source, target = ROOT / file, self.folder / file
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_bytes() != source.read_bytes():
            shutil.copyfile(source, target)

    def compile(self) -> None:
        build = self.folder / "build"
        if not (build / "build.ninja").exists():
            ninja = Path(sys.executable).with_name("ninja")
            settings = [
                *([f"-DCMAKE_MAKE_PROGRAM={ninja}"] if ninja.exists() else []),
                "-DONLINESVM_INPLACE=ON",
                "-DONLINESVM_PROBES=ON",
                f"-DPython_EXECUTABLE={sys.executable}",
                "-DCMAKE_BUILD_TYPE=None",
                "-DCMAKE_CXX_FLAGS=-O1",
            ]
            self._cmake("-S", str(self.folder), "-B", str(build), "-G", "Ninja", *settings)
        self._cmake("--build", str(build), "-j", "2", "--", "--quiet")

    @staticmethod
    def _cmake(*arguments: str) -> None:
        beside = Path(sys.executable).with_name("cmake")
        program = str(beside) if beside.exists() else "cmake"
        run = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
        if run.returncode != 0:
            raise SystemExit(run.stdout[-3000:] + run.stderr[-3000:])

    def first_failure(self, tests: list[str]) -> str | None:
        """The test that what was compiled here fails, or None."""
        plain = ["-p", "no:randomly", "-p", "no:cacheprovider"]
        path = [str(self.folder / "src"), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
        run = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "--tier=quick", *plain, *tests],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, path))},
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode == 0:
            return None
        if run.returncode < 0:
            return f"crash, signal {-run.returncode}"
        failed = [line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        if run.returncode != 1 or not failed:
            raise SystemExit(
                f"pytest ended with {run.returncode}:\n{run.stdout[-2000:]}{run.stderr}"
            )
        return failed[0].split(" ", 1)[1].split(" - ")[0]

    def try_out(self, mutant: Mutant) -> str | None:
        """What notices the mutant, or None; the copy is whole again afterwards."""
        target = self.folder / mutant.file
        original = target.read_text()
        target.write_text(mutant.text(original))
        try:
            self.compile()
            return self.first_failure(mutant.tests)
        finally:
            target.write_text(original)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", metavar="WORD", help="only mutants with this word")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="so many copies at once")
    options = parser.parse_args()
    table = tomllib.loads((ROOT / "tools" / "mutants.toml").read_text())["mutant"]
    chosen = [m for m in (Mutant(**row) for row in table) if options.only in m.name + m.file]
    for mutant in chosen:  # a stale one is found before anything is compiled
        mutant.text((ROOT / mutant.file).read_text())

    idle: SimpleQueue[Copy] = SimpleQueue()
    for i in range(min(options.jobs, len(chosen))):
        idle.put(Copy(COPIES / str(i)))

    def caught(mutant: Mutant) -> bool:
        copy = idle.get()
        try:
            failure = copy.try_out(mutant)
        finally:
            idle.put(copy)
        print(f"{mutant.name}: {failure or 'NOT CAUGHT'}", flush=True)
        return failure is not None

    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(caught, chosen))
    print(f"make mutants: {sum(results)} of {len(results)} caught")
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
