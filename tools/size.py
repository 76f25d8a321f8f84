"""Count the lines of the tree beside their bars, and name long files and functions.

    python tools/size.py          # the counts
    python tools/size.py --all    # and each long file and function

A file may have 350 lines and a function 40; its docstring is not counted. A reason for more stands
in the first line of the file or function: `long: one table`.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BARS = {  # folders: most lines
    ("src",): 33_000,
    ("cpp",): 24_000,
    ("tests",): 28_000,
    ("bench", "reproduce", "tools"): 11_000,
}
CODE = {".py", ".cpp", ".hpp", ".h", ".inl", ".html", ".sh", ".toml"}
JUDGED = ("src/", "cpp/include/")
FILE_LINES, FUNCTION_LINES = 350, 40
NO_FUNCTIONS = {"if", "for", "while", "switch", "catch", "requires", "decltype"}
REASON = re.compile(r"\blong: \w")


def files() -> dict[str, list[str]]:
    """The lines of each source file that git tracks or could track."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = (ROOT / name for name in sorted(set(names.splitlines())))
    return {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8").splitlines()
        for path in paths
        if path.suffix in CODE and path.is_file()
    }


def functions(name: str, lines: list[str]) -> Iterator[tuple[str, int, int]]:
    """The functions of a file: name, first line, number of lines."""
    if name.endswith(".py"):
        for node in ast.walk(ast.parse("\n".join(lines))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = node.body[0]
                documented = ast.get_docstring(node, clean=False) is not None
                docstring = (first.end_lineno or 0) - first.lineno + 1 if documented else 0
                length = (node.end_lineno or 0) - node.lineno + 1 - docstring
                yield node.name, node.lineno, length
        return
    # clang-format puts the end of a function below its first word.
    head = re.compile(r"^( *)(?=[\w:<~\[]).*?([\w~]+)\(")
    start: tuple[str, str, int] | None = None
    is_open = False
    for number, whole in enumerate(lines, 1):
        line = whole.partition("//")[0].rstrip()
        if start and is_open:
            if line == start[0] + "}":
                yield start[1], start[2], number - start[2] + 1
                start = None
            continue
        if not start and (found := head.match(line)) and found[2] not in NO_FUNCTIONS:
            start = found[1], found[2], number
        is_open = line.endswith("{")
        if line.endswith((";", "}", ":")):  # a declaration, or all in one line
            start = None


def long_ones(tree: dict[str, list[str]]) -> Iterator[str]:
    """Files and functions above their limit, without a reason."""
    for name, lines in tree.items():
        if not name.startswith(JUDGED):
            continue
        if len(lines) > FILE_LINES and not REASON.search(lines[0]):
            yield f"{name}: {len(lines)} lines"
        for function, at, length in functions(name, lines):
            if length > FUNCTION_LINES and not REASON.search(lines[at - 1]):
                yield f"{name}:{at}: {function}, {length} lines"


def main(*words: str) -> None:
    tree = files()
    for folders, bar in BARS.items():
        count = sum(len(lines) for name, lines in tree.items() if name.split("/")[0] in folders)
        print(f"Size: {' + '.join(folders)}: {count:,} lines (bar {bar:,})")
    found = list(long_ones(tree))
    many = sum(line.endswith("lines") and "," not in line for line in found)
    print(
        f"Size: {many} files above {FILE_LINES} lines and {len(found) - many} functions above "
        f"{FUNCTION_LINES} in {' and '.join(JUDGED)} without a reason (bar 0)"
    )
    if "--all" in words:
        print(*found, sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
