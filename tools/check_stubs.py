"""Check that `_core.pyi` says what the compiled core offers; with `--write`, make it so."""

import difflib
import re
import subprocess
import sys
from pathlib import Path

STUB = Path(__file__).parent.parent / "src" / "onlinesvm" / "_core.pyi"


def generate() -> str:
    """The stub of the core as it is compiled now."""
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "onlinesvm._core", "-O"]
    target = Path("build") / "stubs"
    target.mkdir(parents=True, exist_ok=True)
    subprocess.run([*command, str(target)], check=True)
    # Which processor and compiler were met here says nothing of what the core offers.
    return re.sub(
        r"^(\w+: str) = .*$", r"\1", next(target.rglob("_core.pyi")).read_text(), flags=re.M
    )


def main(*options: str) -> int:
    """Compare or write; the exit status."""
    now = generate()
    if "--write" in options:
        STUB.write_text(now)
        return 0
    kept = STUB.read_text() if STUB.exists() else ""
    sys.stdout.writelines(
        difflib.unified_diff(
            kept.splitlines(keepends=True), now.splitlines(keepends=True), "checked in", "compiled"
        )
    )
    if kept != now:
        print("Stubs: _core.pyi is out of date; run `make stubs`.")
        return 1
    print("Stubs: _core.pyi agrees with the compiled core.")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
