"""`evaluate`: how a saved model does on rows with labels, without learning from them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from onlinesvm.cli.console import visible
from onlinesvm.cli.display import name_of, number
from onlinesvm.cli.opening import say_notes
from onlinesvm.cli.options import EvaluateOptions
from onlinesvm.cli.saved import Saved
from onlinesvm.cli.words import rows_in_words
from onlinesvm.stream import Lesson, Snapshot
from onlinesvm.stream.enrolment import enrolled
from onlinesvm.stream.sources import Source

__all__ = ["evaluate"]

_MOST = 1_000_000  # of the last rows, over which the AUC is taken


def evaluate(console: Console, out: Console, given: EvaluateOptions) -> None:
    """Test on every row, and print the marks beside those of the baselines."""
    saved = Saved.find(Path(str(given.model)))
    saved.demand("predict", "makes features and predicts nothing; name the model behind it")
    source = saved.open(str(given.source), given.reading())
    course, bad = _tested(console, saved, source)
    shots = course.snapshots()
    if given.as_json:
        out.print(json.dumps(_facts(shots, course.seen, bad)), markup=False, soft_wrap=True)
        return
    out.print(_table(shots))
    words = rows_in_words(course.seen) + (f", {bad:,} could not be read" if bad else "")
    out.print(words)


def _tested(console: Console, saved: Saved, source: Source) -> tuple[Any, int]:
    """The marks of the model on all rows of a source, and how many could not be read."""
    name = type(saved.last).__name__
    course, bad = None, 0
    try:
        say_notes(console, source)
        if source.schema.target is None:
            raise ValueError(f"{source.name}: no column to judge by; name it by --target")
        for block in source.blocks():
            bad += len(block.bad)
            if not len(block.examples):
                continue
            if block.examples.y is None:
                raise ValueError(
                    f"{source.name}: no column {source.schema.target!r}, which is the target; "
                    "name another by --target"
                )
            if course is None:
                metrics = _metrics(saved.model)
                course = enrolled(
                    {name: saved.model}, classes=None, metrics=metrics, window=_MOST, baselines=None
                )
                course.started = True  # it has learned elsewhere
            course.test(Lesson(block.examples.X, block.examples.y))
    finally:
        source.close()
    if course is None:
        raise ValueError(f"{source.name}: no row that can be read")
    return course, bad


def _metrics(model: Any) -> list[str] | None:
    classes = getattr(model, "classes_", None)
    if classes is None:
        return None
    usual = ["accuracy", "balanced_accuracy", "kappa", "f1_macro"]
    return [*usual, "auc"] if len(classes) == 2 else usual


def _table(shots: dict[str, Snapshot]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("", no_wrap=True)
    metrics = list(next(iter(shots.values())).window)
    for metric in metrics:
        table.add_column(name_of(metric), justify="right")
    for name, shot in shots.items():
        cells = [number(metric, shot.window.get(metric)) for metric in metrics]
        table.add_row(Text(visible(name)), *cells, style="" if shot.role == "model" else "dim")
    return table


def _facts(shots: dict[str, Snapshot], seen: int, bad: int) -> dict[str, Any]:
    marks = {
        name: {m: None if math.isnan(v) else v for m, v in shot.window.items()}
        for name, shot in shots.items()
    }
    return {"rows": seen, "bad": bad, "models": marks}
