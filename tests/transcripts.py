"""Programs and transcripts of pages: both are run, and what they print is compared."""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from typer.testing import CliRunner

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.]*\w\.\w)")
_RUN = re.compile(r"\b[0-9a-f]{16}\b")
_SHELL = re.compile(r"[|<>&;]|\$\(")


_TEXT = r"(?:\n\n^```text\n(.*?)^```$)?"
PROGRAM = re.compile(r"^```python\n(.*?)^```$" + _TEXT, re.DOTALL | re.MULTILINE)


def programs(page: str) -> list[tuple[str, str]]:
    """The blocks of Python of a page, each with the text block that follows it."""
    return PROGRAM.findall(page)


def commands(page: str) -> Iterator[tuple[str, str]]:
    """Every command of a page, with what it is said to print."""
    for block in BLOCK.findall(page):
        first, *parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
        assert not first, f"a console block begins with a command, not with {first!r}"
        for part in parts:
            command, _, output = part.partition("\n")
            while command.endswith("\\"):
                more, _, output = output.partition("\n")
                command = command[:-1] + more.strip()
            yield command, output


def run(command: str, folder: Path) -> str:
    """What a command prints, both streams; in this process unless it needs a shell."""
    words = command.split("  #")[0].strip()
    if words.startswith("onlinesvm ") and not _SHELL.search(words):
        return _here(words.split()[1:])
    env = {**os.environ, "COLUMNS": "80", "TERM": "dumb", "PYTHON": sys.executable}
    shell = f'onlinesvm() {{ "$PYTHON" -m onlinesvm "$@"; }}\n{words}'
    done = subprocess.run(
        ["sh", "-c", shell],
        cwd=folder,
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
    )
    return done.stdout


def _here(arguments: list[str]) -> str:
    from onlinesvm.cli.app import app

    result = CliRunner(env={"COLUMNS": "80", "TERM": "dumb"}).invoke(app, arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def alike(shown: str, came: str) -> str:
    """Nothing if a transcript still holds, else what does not; a line of `...` is any lines.

    Words must be equal. Numbers may move a little: other machines round otherwise.
    """
    wanted = [line.rstrip() for line in shown.rstrip().splitlines()]
    lines = [line.rstrip() for line in came.rstrip().splitlines()]
    at = 0
    for k, want in enumerate(wanted):
        if want.strip() == "...":
            rest = wanted[k + 1] if k + 1 < len(wanted) else None
            while at < len(lines) and (rest is None or not _same(rest, lines[at])):
                at += 1
            continue
        if at >= len(lines):
            return f"ended before {want!r}"
        if not _same(want, lines[at]):
            return f"shows {want!r}, and says {lines[at]!r}"
        at += 1
    return f"says also {lines[at]!r}" if at < len(lines) else ""


def _same(want: str, line: str) -> bool:
    want, line = _RUN.sub("RUN", want), _RUN.sub("RUN", line)
    if _NUMBER.sub("#", want).split() != _NUMBER.sub("#", line).split():
        return False
    pairs = zip(_NUMBER.findall(want), _NUMBER.findall(line), strict=True)
    return all(
        math.isclose(_value(a), _value(b), rel_tol=0.06, abs_tol=0.06 if "." in a else 0)
        for a, b in pairs
    )


def _value(text: str) -> float:
    return float(text.replace(",", ""))


def recorded(page: str, folder: Path) -> str:
    """The page with what its commands say now; where it had `...`, it is for you to shorten."""

    def record(block: re.Match[str]) -> str:
        lines = []
        for command, _ in commands(block[0]):
            said = [line.rstrip() for line in run(command, folder).rstrip().splitlines()]
            lines += [f"$ {command}", *said]
        return "```console\n" + "\n".join(lines) + "\n```"

    return BLOCK.sub(record, page)


def printed(page: str) -> str:
    """The page with what its programs print now."""
    names: dict[str, object] = {}

    def record(block: re.Match[str]) -> str:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block[1], "page", "exec"), names)
        shown = f"\n\n```text\n{out.getvalue().rstrip()}\n```" if out.getvalue() else ""
        return f"```python\n{block[1]}```{shown}"

    return PROGRAM.sub(record, page)


if __name__ == "__main__":  # python tests/transcripts.py PAGE...: write what it shows anew
    from tempfile import TemporaryDirectory

    from messy_files import write_all

    for where in map(Path.absolute, map(Path, sys.argv[1:])):
        with TemporaryDirectory() as folder, contextlib.chdir(folder):
            write_all(Path(folder))
            text = recorded(printed(where.read_text(encoding="utf-8")), Path(folder))
        where.write_text(text, encoding="utf-8")
