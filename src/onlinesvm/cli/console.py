"""Where words go: results to standard output, everything else to standard error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console

__all__ = ["one_line_errors", "stderr", "stdout"]


def stdout() -> Console:
    return Console(highlight=False)


def stderr() -> Console:
    return Console(stderr=True, highlight=False)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn what a user can get wrong into one line and exit code 2; a bug keeps its traceback."""
    try:
        yield
    except BrokenPipeError:  # `| head` has seen enough: not an error
        raise
    except (ValueError, OSError, ImportError, NotImplementedError) as error:
        console = stderr()
        console.print("[bold red]error:[/]", end=" ")
        console.print(" ".join(_sentence(error).split()), markup=False, soft_wrap=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        stderr().print("stopped")
        raise typer.Exit(130) from None


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__
