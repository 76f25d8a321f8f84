"""The command line: `onlinesvm learn`, `predict`, `unlearn` and others."""

from __future__ import annotations

import os
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    _open_what_is_closed()
    try:
        from onlinesvm.cli.app import app
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        print("error: the command line needs: pip install '.[cli]' in a checkout", file=sys.stderr)
        sys.exit(2)
    app(prog_name="onlinesvm")


def _open_what_is_closed() -> None:
    """A shell may close standard streams, ``>&-``: nothing is read there, and words are lost."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
