"""What lies in a run folder, and under which names."""

from __future__ import annotations

import os
import re
from pathlib import Path

__all__ = ["RunFolder"]

_SCRATCH = re.compile(
    r"\.(?:run\.sqlite|unlearning\.json|model\.onlinesvm)\.onlinesvm-tmp(?:-[0-9a-f]{8})?"
)


class RunFolder:
    """The files of one run, by what they are for.

    ``run.sqlite``          what is learned from what, checkpoints, log, metrics and drifts; with
                            ``-wal`` and ``-shm`` beside it while the run goes on
    ``dead_letters.jsonl``  rows that could not be read or learned
    ``model.onlinesvm``     the model of the last checkpoint, for `onlinesvm.load`
    ``lock``                held by the process that learns
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.database = self.path / "run.sqlite"
        self.dead_letters = self.path / "dead_letters.jsonl"
        self.model = self.path / "model.onlinesvm"
        self.lock = self.path / "lock"

    def has_run(self) -> bool:
        """Whether a run was begun here; its database appears whole or not at all."""
        return os.path.lexists(self.database)

    def check_run(self) -> None:
        """A ValueError unless a run was begun here."""
        if not self.has_run():
            self._check_older()
            raise ValueError(f"folder {str(self.path)!r} has no run: run.sqlite is missing")

    def _check_older(self) -> None:
        if (self.path / "run.json").is_file():
            raise ValueError(
                f"folder {str(self.path)!r} has a run of an earlier version of onlinesvm; go on "
                "with that version, or begin anew in another folder"
            )

    def check_new(self) -> None:
        """A ValueError unless a run can begin here: nothing of another one, nobody else's files."""
        if self.has_run():
            raise ValueError(
                f"folder {str(self.path)!r} has a run already; resume it, or choose another folder"
            )
        self._check_older()
        for path in self.path.iterdir():
            if path != self.lock and not _SCRATCH.fullmatch(path.name):
                raise ValueError(
                    f"folder {str(self.path)!r} has other files, such as {path.name!r}; "
                    "choose an empty one"
                )

    def sweep(self) -> None:
        """Remove files that a kill left half-way; for the process that holds the lock."""
        for path in self.path.iterdir():
            if _SCRATCH.fullmatch(path.name):
                path.unlink(missing_ok=True)
