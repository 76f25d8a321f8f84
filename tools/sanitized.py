"""Run the tests that belong to a sanitizer, against the Python module that was built with it.

    python tools/sanitized.py address | thread  [arguments for pytest, such as --tier=all]

The module lies in build/address or build/thread; a package of links to the sources is
put around it. The sanitizer's library has to be there before Python, hence GCC on Linux only.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from another_core import WHICH, prefer

ROOT = Path(__file__).resolve().parent.parent
NOTHING_CHOSEN = 5  # what pytest returns when its arguments leave no test
LIBRARIES = {"address": "libasan.so", "thread": "libtsan.so"}
TESTS = {
    "address": [
        "tests/model/test_kernels.py",
        "tests/model/test_overflow.py",
        "tests/model/test_sharing.py",
        "tests/model/test_sparse_input.py",
        "tests/bind",
        "tests/test_persistence.py",
    ],
    "thread": ["tests/model/test_sharing.py"],
}
ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_leaks=0:detect_odr_violation=0",  # Python leaks on purpose at its end
    "TSAN_OPTIONS": f"suppressions={ROOT}/tools/tsan.supp:die_after_fork=0:log_path={{reports}}",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "PYTHONMALLOC": "malloc",  # else blocks of Python hide in its arenas
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}


def library(name: str) -> str:
    """Where the compiler keeps a library; nothing if it has none of that name."""
    asked = [os.environ.get("CXX", "c++"), f"-print-file-name={name}"]
    path = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    return path if Path(path).is_absolute() else ""


def package(build: Path) -> Path:
    """The sources and the sanitized core as one package; returns the folder to import it from."""
    folder = build / "package" / "onlinesvm"
    folder.mkdir(parents=True, exist_ok=True)
    for link in folder.iterdir():
        link.unlink()
    for source in (ROOT / "src" / "onlinesvm").iterdir():
        if source.suffix != ".so" and source.name != "__pycache__":
            (folder / source.name).symlink_to(source)
    for module in build.glob("_*.so"):
        (folder / module.name).symlink_to(module)
    prefer(folder.parent)
    return folder.parent


def races(reports: Path) -> list[str]:
    """What ThreadSanitizer reported of our core; what Python does by itself is not ours."""
    texts = [path.read_text(errors="replace") for path in reports.parent.glob(reports.name + "*")]
    return [race for text in texts for race in text.split("=" * 18) if "/_core." in race]


def main(sanitizer: str, *arguments: str) -> int:
    preloaded = library(LIBRARIES[sanitizer])
    build = ROOT / "build" / sanitizer
    importable, reports = package(build), build / "report"
    for old in build.glob("report*"):
        old.unlink()
    told = {name: value.format(reports=reports) for name, value in ENVIRONMENT.items()}
    environment = os.environ | told
    environment["LD_PRELOAD"] = f"{preloaded} {library('libstdc++.so.6')}"
    path = [str(importable), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, path))
    which = [sys.executable, "-c", WHICH]  # some kernels leave a sanitizer no room
    asked = subprocess.run(which, env=environment, capture_output=True, text=True, check=False)
    if not preloaded or asked.returncode != 0:
        print(f"tools/sanitized.py: left out, no working {LIBRARIES[sanitizer]} here")
        return 0
    if not asked.stdout.startswith(str(importable)):
        raise SystemExit(f"tools/sanitized.py: the core under test is {asked.stdout.strip()}")
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "2"]
    pytest.append("--tier=quick")
    tests = [*TESTS[sanitizer], *arguments]
    failed = subprocess.run([*pytest, *tests], env=environment, cwd=ROOT, check=False).returncode
    tests_passed = failed in (0, NOTHING_CHOSEN)
    if sanitizer != "thread":  # the others end a process at its first mistake: pytest has said it
        return not tests_passed
    found = races(reports)
    for race in found[:3]:
        print(race)
    print(f"tools/sanitized.py: {len(found)} races in the core")
    return bool(found) or not tests_passed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
