"""Print which share of the lines ran, folder by folder, from the report of coverage.py or gcovr.

python tools/coverage_table.py build/coverage/python.json src/onlinesvm
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path, PurePath
from typing import Any, NamedTuple

WORST = 5  # files to name


class Lines(NamedTuple):
    """How many lines there are, and how many of them ran."""

    there: int = 0
    ran: int = 0

    def __add__(self, other: Any) -> Lines:
        return Lines(self.there + other.there, self.ran + other.ran)

    @property
    def share(self) -> float:
        return 100 * self.ran / self.there if self.there else 100.0


def files(report: dict[str, Any]) -> dict[PurePath, Lines]:
    """The files of a report, of coverage.py (a dict) or of gcovr's summary (a list)."""
    if isinstance(report["files"], list):
        return {
            PurePath(file["filename"]): Lines(file["line_total"], file["line_covered"])
            for file in report["files"]
        }
    facts = {PurePath(name): file["summary"] for name, file in report["files"].items()}
    return {path: Lines(f["num_statements"], f["covered_lines"]) for path, f in facts.items()}


def main(report: str, root: str) -> None:
    measured = files(json.loads(Path(report).read_text()))
    folders: defaultdict[str, Lines] = defaultdict(Lines)
    for path, lines in measured.items():
        folders[str(path.parent)] += lines
    folders[root + ", all"] = sum(measured.values(), Lines())
    print(f"\n{'folder':<36}{'lines':>8}{'ran':>8}{'%':>8}")
    for folder, lines in folders.items():
        print(f"{folder:<36}{lines.there:>8,}{lines.ran:>8,}{lines.share:>8.1f}")
    least = sorted(measured.items(), key=lambda item: item[1].share)[:WORST]
    print(
        "least: "
        + ", ".join(f"{path.relative_to(root)} {lines.share:.0f} %" for path, lines in least)
    )
    print(f"every line: {Path(report).parent / ('html-' + Path(report).stem) / 'index.html'}")


if __name__ == "__main__":
    main(*sys.argv[1:])
