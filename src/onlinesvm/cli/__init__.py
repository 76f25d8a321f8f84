"""The command line: `onlinesvm demo`, `methods`, `fit`, `predict`, `info`."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    from onlinesvm.cli.app import app

    app(prog_name="onlinesvm")
