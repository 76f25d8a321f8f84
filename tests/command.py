"""The command line as tests call it: in this process, without styles."""

from __future__ import annotations

import re
from typing import Any

from typer.testing import CliRunner

from onlinesvm.cli.app import app


def run(*arguments: Any, code: int = 0, words: str = "output", stdin: Any = None) -> str:
    """Output and error text of a command, styles removed, lines unwrapped; or one of them."""
    runner = CliRunner(env={"COLUMNS": "200", "TERM": "dumb"})
    result = runner.invoke(app, [*map(str, arguments)], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return re.sub(r"\x1b\[[0-9;]*m", "", getattr(result, words))


def refused(*arguments: Any) -> str:
    """The one line with which a command declines."""
    text = run(*arguments, code=2)
    assert "Traceback" not in text
    lines = [line for line in text.strip().splitlines() if not line.startswith("note: ")]
    (line,) = lines
    assert line.startswith("error: ")
    return line
