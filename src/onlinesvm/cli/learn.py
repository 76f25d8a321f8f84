"""`learn` from flags to exit code: a display by taste, a report and findings at the end."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Literal

from rich.console import Console

from onlinesvm.cli.console import plain, stderr
from onlinesvm.cli.display import Display, JsonDisplay, LineDisplay, LiveDisplay, NoDisplay
from onlinesvm.cli.findings import say_findings
from onlinesvm.cli.learning import Outcome, learn
from onlinesvm.cli.opening import open_for
from onlinesvm.cli.options import LearnOptions
from onlinesvm.cli.reporting import write_report
from onlinesvm.cli.toml_file import from_toml
from onlinesvm.stream.run import read_run

__all__ = ["learn_command"]

Mode = Literal["screen", "json", "quiet"]
STOPPED = 130  # what shells make of Ctrl-C


def learn_command(given: LearnOptions, mode: Mode) -> int:
    """Learn, show, report; gives the exit code."""
    if str(given.source).endswith(".toml"):
        path = Path(str(given.source))
        given = replace(given, source=None).over(from_toml(path))
    console = stderr() if mode == "screen" else Console(stderr=True, quiet=True)

    def display(source: str, live: bool) -> Display:
        if mode == "json":
            return JsonDisplay(_write)
        if mode == "quiet":
            return NoDisplay()
        if console.is_terminal and not console.is_dumb_terminal:
            return LiveDisplay(console, source)
        return LineDisplay(console)

    outcome = learn(console, given, display)
    _report(console, given, outcome)
    say_findings(console, outcome.folder)
    if outcome.stopped:
        again = shlex.join(["onlinesvm", *sys.argv[1:]])
        console.print(f"stopped, nothing is lost; to go on: {plain(again)}", soft_wrap=True)
    if mode == "json":
        _write(json.dumps(_end(outcome)) + "\n")
    return STOPPED if outcome.stopped else 0


def _write(line: str) -> None:
    sys.stdout.write(line)
    sys.stdout.flush()


def _report(console: Console, given: LearnOptions, outcome: Outcome) -> None:
    """A page, where there is something to tell and something to draw it with."""
    record = read_run(outcome.folder)
    if not record.metrics():
        return
    source = None
    try:
        if record.config.source["replays"]:
            source = open_for(str(given.source), given, record.schema)
        write_report(outcome.folder, source=source)
    except BrokenPipeError:
        raise
    except Exception as error:  # the model is learned and safe, whatever a picture does
        why = " ".join(str(error).split())[:200] or type(error).__name__
        told = (
            why
            if isinstance(error, ImportError | ValueError | OSError)
            else (f"{type(error).__name__}: {why}")
        )
        console.print(f"[yellow]note:[/] no report: {plain(told)}", soft_wrap=True)
    finally:
        if source is not None:
            source.close()


def _end(outcome: Outcome) -> dict[str, object]:
    return {
        "event": "stopped" if outcome.stopped else "end",
        "run": str(outcome.folder),
        "model": str(outcome.folder / "model.onlinesvm"),
    }
