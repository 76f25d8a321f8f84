"""What a run folder tells: for reports, and for whoever looks on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from onlinesvm.stream.drift import Drift
from onlinesvm.stream.evaluation import Evaluation
from onlinesvm.stream.run.checkpoint import Checkpoint
from onlinesvm.stream.run.config import RunConfig
from onlinesvm.stream.run.folder import RunFolder
from onlinesvm.stream.run.lines import read_lines
from onlinesvm.stream.run.options import RunOptions
from onlinesvm.stream.run.reader import Reader
from onlinesvm.stream.snapshot import Snapshot
from onlinesvm.stream.sources import Schema

__all__ = ["RunRecord", "read_run"]

_PLAIN = {field.name for field in fields(Snapshot)} - {"metrics", "window"}


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What a run folder tells; nothing in it is changed, and the run may be going on.

    Attributes
    ----------
    folder : Path
    config : RunConfig
        What is learned from what, and how.
    """

    folder: Path
    config: RunConfig

    @property
    def schema(self) -> Schema:
        """The columns of the source: open it again with them."""
        return self.config.schema

    @property
    def options(self) -> RunOptions:
        return self.config.options

    def metrics(self) -> list[dict[str, Any]]:
        """A row for each snapshot of the model or of a baseline; none depends on the clock."""
        return self._facts("metrics")

    def evaluation(self) -> Evaluation:
        """The same as `evaluate` would give it: to plot, to tabulate, to write as Parquet."""
        rows = self._facts("timings")
        timings = {(row.get("model"), row.get("seen")): row for row in rows}
        history: list[dict[str, Snapshot]] = []
        for row in self.metrics():
            try:
                name, shot = _snapshot(row, timings)
            except (TypeError, KeyError) as error:
                raise ValueError(f"the metrics of the run are damaged: {error!s:.80}") from None
            if not history or name in history[-1]:
                history.append({})
            history[-1][name] = shot
        return Evaluation(history)

    def drifts(self) -> list[Drift]:
        """Where the errors of a classifier rose by more than chance, in order."""
        try:
            return [Drift(**row) for row in self._facts("drifts")]
        except TypeError as error:
            raise ValueError(f"the drifts of the run are damaged: {error!s:.80}") from None

    def dead_letters(self) -> Iterator[dict[str, Any]]:
        """Rows that could not be read or learned: file, line, byte, column, reason, text."""
        path = RunFolder(self.folder).dead_letters
        return read_lines(path) if path.exists() else iter(())

    def checkpoint(self) -> Checkpoint:
        """The newest checkpoint that is whole; a damaged one is passed over."""
        with Reader(RunFolder(self.folder).database) as reader:
            why = "there is no checkpoint"
            for number in reader.numbers():
                try:
                    return reader.checkpoint(self.config.run, number)
                except ValueError as error:
                    why = str(error)
        raise ValueError(f"the run in {str(self.folder)!r} cannot be read: {why}")

    def _facts(self, kind: str) -> list[dict[str, Any]]:
        with Reader(RunFolder(self.folder).database) as reader:
            return list(reader.facts(kind))

    def model(self) -> Any:
        """The model as of that checkpoint."""
        return self.checkpoint().model


def read_run(folder: str | Path) -> RunRecord:
    """What the run in a folder is, and how it has fared so far."""
    home = RunFolder(folder)
    home.check_run()
    with Reader(home.database) as reader:
        return RunRecord(home.path, reader.config())


def _snapshot(row: dict[str, Any], timings: dict[Any, dict[str, Any]]) -> tuple[str, Snapshot]:
    missing = float("nan")
    values: dict[str, Any] = {
        name: missing if value is None else value for name, value in row.items()
    }
    name = values.pop("model")
    known = {key: values.pop(key) for key in [*values] if key in _PLAIN}
    window = {k.removeprefix("window_"): v for k, v in values.items() if k.startswith("window_")}
    metrics = {k: v for k, v in values.items() if not k.startswith("window_")}
    if "accuracy" in window:  # the same number, which a row has once
        metrics = {"accuracy": known["accuracy"]} | metrics
    for key in ("clean_accuracy", "support_vectors"):
        known[key] = row.get(key)
    timing = timings.get((name, known["seen"]), {})
    known |= {"seconds": float(timing.get("seconds", 0.0)), "nbytes": timing.get("nbytes")}
    return name, Snapshot(**known, metrics=metrics, window=window)
