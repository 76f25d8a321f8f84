"""Measure the tiers of tests and write their table into CONTRIBUTING.md.

    python tools/tiers.py                        # every row but the night's: an hour on two cores
    python tools/tiers.py test-python test-cpp   # these rows; the others stay as they are

Minutes are CPU seconds divided by two and by sixty: what two quiet cores take, whatever else runs
here. What a target builds first is not counted: build it before, by `make TARGET` or by ninja.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- tiers -->\n", "<!-- end of tiers -->\n"
HEAD = "| part | of | cases | minutes on two cores |\n| --- | --- | --- | --- |\n"

PARTS = {  # target: the tier it belongs to
    "test-cpp": "`make test`",
    "test-python": "`make test`",
    "test-rest": "`make test-all`",
    "test-address": "`make test-all`",
    "test-thread": "`make test-all`",
}
TIERS = {"test-python": "quick", "test-rest": "rest"}


def cpu_seconds(target: str) -> float:
    """What a target takes of all processors, its children included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(["make", target], cwd=ROOT, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode != 0:
        raise SystemExit(f"make {target} failed: nothing was written")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cases(target: str) -> str:
    """How many tests a target runs, where pytest or ctest can say it without running them."""
    if tier := TIERS.get(target):
        command = [sys.executable, "-m", "pytest", "--collect-only", "-q", f"--tier={tier}"]
    elif target == "test-cpp":
        beside = Path(sys.executable).with_name("ctest")
        command = [str(beside), "--test-dir", "build/native", "-N"]
    else:
        return ""
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^(\d+)(?:/\d+)? tests collected|^Total Tests: (\d+)", said, re.MULTILINE)
    return f"{int(''.join(found[-1])):,}"


def rows(text: str) -> dict[str, str]:
    """The rows that the page has, by target."""
    found = re.findall(r"^(\| `make ([\w-]+)` \|.*\n)", text, re.MULTILINE)
    return {target: row for row, target in found}


def main(*targets: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, table, after = re.split(f"({BEGIN}.*?{END})", page, flags=re.DOTALL)
    known = rows(table)
    for target in targets or PARTS:
        minutes = cpu_seconds(target) / 120
        known[target] = f"| `make {target}` | {PARTS[target]} | {cases(target)} | {minutes:.1f} |\n"
    body = "".join(known[target] for target in PARTS if target in known)
    PAGE.write_text(f"{before}{BEGIN}{HEAD}{body}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
