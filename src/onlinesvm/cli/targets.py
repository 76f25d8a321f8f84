"""Files that a command will write: what would fail at the end fails at the start."""

from __future__ import annotations

from pathlib import Path

__all__ = ["check_target"]


def check_target(option: str, path: Path) -> None:
    """A ValueError when a file could not be written there."""
    folder = path.absolute().parent
    if path.is_dir():
        raise ValueError(f"{option} {path}: is a folder; give the name of a file")
    if not folder.is_dir():
        raise ValueError(f"{option} {path}: the folder {folder} does not exist")
