"""The command line: `onlinesvm demo`, `methods`, `fit`, `predict`, `info`."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line, or say how to install what it needs."""
    try:
        from onlinesvm.cli.app import app
    except ModuleNotFoundError as missing:
        if missing.name not in {"typer", "rich"}:
            raise
        sys.exit("the command line needs typer: install it with `pip install 'onlinesvm[cli]'`")
    app()
