"""Run a paper's tables and figures again; what was measured before is not measured twice.

python -m reproduce              the papers there are
python -m reproduce stream       this one; options go to it
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

PAPERS = sorted(
    path.stem
    for path in Path(__file__).parent.glob("[a-z]*.py")
    if path.stem not in {"journal", "__init__", "__main__"}
)


def main(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help"):
        print(f"{__doc__}\npapers: {', '.join(PAPERS) or 'none yet'}")
        return 0
    name, *rest = words
    if name not in PAPERS:
        print(f"unknown paper {name!r}; known: {', '.join(PAPERS)}", file=sys.stderr)
        return 2
    sys.argv = [f"reproduce {name}", *rest]
    runpy.run_module(f"reproduce.{name}", run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
