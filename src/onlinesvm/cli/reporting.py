"""`report`: a run folder as one page."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from onlinesvm.cli.console import visible
from onlinesvm.cli.display import drift_in_words
from onlinesvm.cli.opening import columns_in_words, open_for
from onlinesvm.cli.options import ReadOptions
from onlinesvm.files.atomic import replacing
from onlinesvm.report import Section
from onlinesvm.report.calibration import calibration_section
from onlinesvm.report.confusion import confusion_section
from onlinesvm.report.letters import letters_section
from onlinesvm.report.page import page_text
from onlinesvm.report.plane import plane_section
from onlinesvm.stream.drift import Drift
from onlinesvm.stream.run import RunRecord, read_run
from onlinesvm.stream.run.checkpoint import Checkpoint
from onlinesvm.stream.sources import Source

__all__ = ["report_command", "write_report"]

_LETTERS = 1000
_CLASSES = 20  # beyond which a plane is a patchwork
_FAR = 20  # times the middle half of a column
_DRIFTS = 5  # that are told in words


def write_report(folder: Path, out: Path | None = None, source: Source | None = None) -> Path:
    """Write the page of a run; gives where it is.

    With the source, a classifier of two numbers gets a picture of the plane.
    """
    record = read_run(folder)
    history = record.evaluation()
    if not len(history):
        raise ValueError(f"{folder}: nothing was learned yet; there is nothing to report")
    drifts, checkpoint = record.drifts(), record.checkpoint()
    path = folder / "report.html" if out is None else out
    page = page_text(
        history,
        title=record.config.source["name"],
        drifts=[drift.since for drift in drifts],
        sections=list(_sections(record, checkpoint, source)),
        facts=_facts(record, checkpoint.model, drifts),
    )
    with replacing(path, follow=out is not None) as file:
        file.write(page)
    return path


def report_command(folder: Path, out: Path | None, spec: str | None) -> Path:
    """The same with the source by its name."""
    if spec is None:
        return write_report(folder, out)
    source = open_for(spec, ReadOptions(), read_run(folder).schema)
    try:
        return write_report(folder, out, source)
    finally:
        source.close()


def _facts(record: RunRecord, model: Any, drifts: list[Drift]) -> dict[str, str]:
    *steps, last = [step for _, step in getattr(model, "steps", [("", model)])]
    behind = ", ".join(type(step).__name__ for step in steps)
    facts = {
        "model": " ".join(repr(last).split()) + (f" behind {behind}" if behind else ""),
        "columns": columns_in_words(record.schema),
        "run": f"{record.config.run}, begun by onlinesvm {record.config.versions['onlinesvm']}",
    }
    if drifts:
        shown = "; ".join(map(drift_in_words, drifts[-_DRIFTS:]))
        more = len(drifts) - _DRIFTS
        facts["drift"] = shown + (f"; and {more:,} times before" if more > 0 else "")
    return facts


def _sections(
    record: RunRecord, checkpoint: Checkpoint, source: Source | None
) -> Iterator[Section]:
    runner = checkpoint.course["runners"].get(record.config.model["name"])
    if runner is None:
        raise ValueError(f"{record.folder}: run.sqlite names another model than the checkpoint")
    marks = runner["card"]
    pairs = {(t, g): n for t, g, n in marks["totals"].get("Confusion", ())}
    if pairs:
        yield confusion_section(pairs)
    window = marks["window"]
    if "score" in window and (section := calibration_section(window["truth"], window["score"])):
        yield section
    if source is not None and (section := _plane(checkpoint.model, source)) is not None:
        yield section
    letters = list(islice(record.dead_letters(), _LETTERS))
    if letters:
        yield letters_section(letters, sum(1 for _ in record.dead_letters()))


def _plane(model: Any, source: Source) -> Section | None:
    """The picture of a classifier of two numbers."""
    two = [c for c in source.schema.features if c.kind in ("number", "flag")]
    if len(two) != 2 or len(source.schema.features) != 2 or not source.replays:
        return None
    if not is_classifier(model) or not hasattr(model, "decision_function"):
        return None
    block = next((b for b in source.blocks() if len(b.examples)), None)
    if block is None or block.examples.y is None:
        return None
    X, y = np.asarray(block.examples.X, dtype=np.float64), np.asarray(block.examples.y)
    known = set(model.classes_.tolist())
    if not 2 <= len(known) <= _CLASSES:
        return None
    shown = np.isfinite(X).all(axis=1) & np.array([label in known for label in y.tolist()])
    shown &= _near(X)
    if not shown.any():
        return None
    return plane_section(model, X[shown], y[shown], [visible(c.name) for c in two])


def _near(X: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The rows that a picture has room for: an outlier would leave the others one dot."""
    low, middle, high = np.nanpercentile(X, [25, 50, 75], axis=0)
    room = _FAR * np.where(high > low, high - low, np.inf)
    with np.errstate(invalid="ignore", over="ignore"):
        near: NDArray[np.bool_] = (np.abs(X - middle) <= room).all(axis=1)
    return near
