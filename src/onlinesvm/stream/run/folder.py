"""What lies in a run folder, and under which names."""

from __future__ import annotations

import re
from pathlib import Path

from onlinesvm.stream.run.checkpoint import is_first_checkpoint
from onlinesvm.stream.run.log import is_head_of_log

__all__ = ["RunFolder"]

_SCRATCH = re.compile(
    r"\.(?:(?:checkpoint|log)-\d{8}\.bin|run\.json|unlearning\.json|model\.onlinesvm)"
    r"\.onlinesvm-tmp(?:-[0-9a-f]{8})?"
)
_NUMBERED = re.compile(r"(checkpoint|log)-(\d{8})\.bin")


class RunFolder:
    """The files of one run, by what they are for.

    ``run.json``            what is learned from what, and how; written last when a run begins
    ``checkpoint-N.bin``    everything learned, in one file; the two newest are kept
    ``log-N.bin``           what has happened since checkpoint N
    ``metrics.jsonl``       a row for each snapshot of the model and of each baseline
    ``timings.jsonl``       the same for what no second run would repeat: seconds and bytes
    ``drifts.jsonl``        where the errors of the model rose
    ``dead_letters.jsonl``  rows that could not be read or learned
    ``model.onlinesvm``     the model of the last checkpoint, for `onlinesvm.load`
    ``lock``                held by the process that learns
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.config = self.path / "run.json"
        self.metrics = self.path / "metrics.jsonl"
        self.timings = self.path / "timings.jsonl"
        self.drifts = self.path / "drifts.jsonl"
        self.dead_letters = self.path / "dead_letters.jsonl"
        self.model = self.path / "model.onlinesvm"
        self.lock = self.path / "lock"

    def checkpoint(self, number: int) -> Path:
        return self.path / f"checkpoint-{number:08}.bin"

    def log(self, number: int) -> Path:
        return self.path / f"log-{number:08}.bin"

    def checkpoints(self) -> list[int]:
        """The numbers of the checkpoints that are there, oldest first."""
        return self._numbers("checkpoint")

    def logs(self) -> list[int]:
        """The numbers of the logs that are there, oldest first."""
        return self._numbers("log")

    def _numbers(self, kind: str) -> list[int]:
        names = (_NUMBERED.fullmatch(path.name) for path in self.path.iterdir())
        return sorted(int(name[2]) for name in names if name and name[1] == kind)

    def forget_before(self, oldest: int) -> None:
        """Remove checkpoints and logs that nobody needs any more."""
        for number in self.checkpoints():
            if number < oldest:
                self.checkpoint(number).unlink()
        for number in self.logs():
            if number < oldest:
                self.log(number).unlink()

    def demand_new(self) -> None:
        """A ValueError unless a run can begin here: nothing of another one, nobody else's files."""
        if self.config.exists():
            raise ValueError(
                f"folder {str(self.path)!r} has a run already; resume it, or choose another folder"
            )
        for path in self.path.iterdir():
            if not self._is_ours(path):
                raise ValueError(
                    f"folder {str(self.path)!r} has other files, such as {path.name!r}; "
                    "choose an empty one"
                )

    def _is_ours(self, path: Path) -> bool:
        """Whether a beginning that was cut short has left it: by what is in it, not by its name."""
        if path == self.lock or path.is_symlink() or not path.is_file():
            return path == self.lock
        if _SCRATCH.fullmatch(path.name):
            return True
        if path in {self.metrics, self.timings, self.drifts, self.dead_letters}:
            return not path.stat().st_size
        if path == self.log(0):
            return is_head_of_log(path)
        return path == self.checkpoint(0) and is_first_checkpoint(path)

    def sweep_scratch(self) -> None:
        """Remove files that a kill left half-way; for whoever holds the lock."""
        for path in self.path.iterdir():
            if _SCRATCH.fullmatch(path.name):
                path.unlink(missing_ok=True)

    def sweep(self) -> None:
        """Remove what a beginning that was cut short has left."""
        for path in self.path.iterdir():
            if path != self.lock and self._is_ours(path):
                path.unlink()
