"""`inspect`: what a saved model or a run is, and what it has seen."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from rich.filesize import decimal
from rich.table import Table

from onlinesvm.cli.console import plain
from onlinesvm.cli.findings import verdict
from onlinesvm.cli.opening import columns_in_words
from onlinesvm.cli.saved import Saved
from onlinesvm.stream.run import read_run

__all__ = ["describe"]


def describe(path: Path) -> Table:
    """A model, and where it belongs to a run that, too."""
    saved = Saved.find(path)
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    if path.is_dir():
        _describe_run(table, path)
    _describe_model(table, saved)
    return table


def _describe_run(table: Table, folder: Path) -> None:
    record = read_run(folder)
    history = record.evaluation().history
    table.add_row("run", f"{record.config.run} in {plain(folder)}")
    table.add_row("source", plain(record.config.source["name"]))
    table.add_row("columns", plain(columns_in_words(record.schema)))
    letters = sum(1 for _ in record.dead_letters())
    if letters:
        table.add_row("bad rows", f"{letters:,}")
    if history:
        for k, line in enumerate(verdict(history[-1], record.options.window)):
            table.add_row("" if k else "marks", plain(line))


def _describe_model(table: Table, saved: Saved) -> None:
    model, last = saved.model, saved.last
    table.add_row("method", type(last).__name__)
    table.add_row("parameters", plain(_changed(last)) or "all at their defaults")
    steps = [type(step).__name__ for _, step in getattr(model, "steps", ())[:-1]]
    if steps:
        table.add_row("behind", ", ".join(steps))
    table.add_row("file", f"{plain(saved.path)} ({decimal(saved.path.stat().st_size)})")
    for label, attribute in (
        ("classes", "classes_"),
        ("features", "n_features_in_"),
        ("columns", "feature_names_in_"),
        ("examples seen", "n_seen_"),
        ("labels used", "labels_used_"),
    ):
        value = getattr(model, attribute, None)
        if value is not None:
            table.add_row(label, plain(_worded(value)))
    support = getattr(last, "support_", None)
    if support is not None:
        table.add_row("support vectors", f"{len(support):,}")
    if hasattr(model, "nbytes_"):
        table.add_row("memory", decimal(model.nbytes_))
    able = [verb for verb in ("unlearn", "merge") if _can(last, verb)]
    if able:
        table.add_row("can", ", ".join(able))


def _changed(model: Any) -> str:
    takes = signature(type(model)).parameters
    given = model.get_params(deep=False)
    changed = (n for n, value in given.items() if repr(value) != repr(takes[n].default))
    return ", ".join(f"{n}={' '.join(repr(given[n]).split())}" for n in changed)


def _can(model: Any, verb: str) -> bool:
    return bool(model.can(verb)) if verb == "unlearn" else hasattr(model, verb)


def _worded(value: Any) -> str:
    if isinstance(value, np.ndarray):
        shown = ", ".join(map(str, value[:10].tolist()))
        return f"{len(value)} ({shown}{', ...' if len(value) > 10 else ''})"
    return f"{value:,}"
