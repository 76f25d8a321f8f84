"""Run the speed list, one process per file so that none inherits another's memory.

    python -m bench                  all of bench/speed
    python -m bench predict --quick  only this one; options go to it

Others take minutes to hours and run only by name:
"""

from __future__ import annotations

import itertools
import subprocess
import sys
from importlib import import_module
from pathlib import Path


def benchmarks(folder: str) -> dict[str, Path]:
    """The benchmarks of a folder: files with a main."""
    paths = sorted((Path(__file__).parent / folder).glob("*.py"))
    return {path.stem: path for path in paths if "def main(" in path.read_text(encoding="utf-8")}


SPEED, QUALITY = benchmarks("speed"), benchmarks("quality")
BENCHMARKS = SPEED | QUALITY


def main(words: list[str]) -> int:
    # What follows an option is its own: a case may have the name of a benchmark.
    chosen = list(itertools.takewhile(BENCHMARKS.__contains__, words))
    rest = words[len(chosen) :]
    if rest[:1] in (["-h"], ["--help"]) and not chosen:
        print(__doc__)
        for name, path in QUALITY.items():
            about = path.read_text(encoding="utf-8").removeprefix('"""').partition("\n")[0]
            print(f"{name:<16} {about}")
        return 0
    if rest and not rest[0].startswith("-"):
        print(f"unknown benchmark {rest[0]!r}; known: {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    if len(chosen) == 1:
        path = BENCHMARKS[chosen[0]]
        import_module(f"bench.{path.parent.name}.{path.stem}").main(rest)
        return 0
    return max(_run(name, rest) for name in chosen or SPEED)


def _run(name: str, arguments: list[str]) -> int:
    command = [sys.executable, "-m", "bench", name, *arguments]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
