"""Where words go: results to standard output, everything else to standard error."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

from onlinesvm.data.visible import visible

__all__ = ["one_line_errors", "plain", "stderr", "stdout", "visible"]


def stdout() -> Console:
    return Console(highlight=False)


def stderr() -> Console:
    return Console(stderr=True, highlight=False)


def plain(text: object) -> str:
    """The same where rich prints it: brackets are no markup either."""
    return escape(visible(text))


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn what a user can get wrong into one line and exit code 2; a bug keeps its traceback."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _one_line_warning
            yield
    except BrokenPipeError:  # `| head` has seen enough: not an error
        raise
    except (ValueError, OSError, ImportError, NotImplementedError, MemoryError) as error:
        _say("[bold red]error:[/]", _sentence(error))
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        stderr().print("stopped")
        raise typer.Exit(130) from None


def _one_line_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    _say("[yellow]warning:[/]", str(message))


def _say(label: str, text: str) -> None:
    console = stderr()
    console.print(label, end=" ")
    console.print(visible(" ".join(text.split())), markup=False, soft_wrap=True)


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"not enough memory: {error}".rstrip(": ")
    return str(error) or type(error).__name__
