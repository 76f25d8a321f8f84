"""What came out of a run, on one screen."""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

from rich.console import Console

from onlinesvm.cli.console import plain
from onlinesvm.cli.display import drift_in_words, name_of, number, shown_metrics
from onlinesvm.cli.words import rows_in_words
from onlinesvm.report.letters import where
from onlinesvm.stream.run import RunRecord, read_run

__all__ = ["say_findings", "verdict"]

_ODD = re.compile(r"'(.{1,40})' is (?:no|neither) ")  # a cell that is not of its column's kind
_DIFFERENT = 10_000  # of which are counted
_MANY = 3  # from which on a word is no slip
_SMALLER_IS_BETTER = ("mae", "rmse", "false_alarms")


def say_findings(console: Console, folder: Path) -> None:
    """How well it went beside what looks at no feature, what could not be read, what lies where."""
    record = read_run(folder)
    history = record.evaluation().history
    seen = record.checkpoint().course["seen"]  # the last snapshot may be of a moment before
    console.print(f"\n[bold]{rows_in_words(seen)}[/] learned, test-then-train")
    if history:
        for line in verdict(history[-1], record.options.window):
            console.print(f"  {plain(line)}", soft_wrap=True)
    say_drifts(console, record)
    _say_letters(console, record)
    for label, name in (("model", "model.onlinesvm"), ("report", "report.html")):
        if (folder / name).exists():
            console.print(f"{label:<7} {plain(folder / name)}", soft_wrap=True)


def say_drifts(console: Console, record: RunRecord) -> None:
    """The last alarm, and how many there were."""
    drifts = record.drifts()
    if drifts:
        times = "once:" if len(drifts) == 1 else f"{len(drifts):,} times, the last:"
        console.print(f"[red]drift[/] {times} {drift_in_words(drifts[-1])}", soft_wrap=True)


def verdict(last: Any, window: int) -> list[str]:
    """A line for each of the main metrics, and whether the baselines are beaten."""
    (_, model), *others = last.items()
    metrics = shown_metrics(last)
    lines = []
    for metric in metrics:
        words = f"{name_of(metric):<9} {number(metric, model.window.get(metric))}"
        if model.seen > window:
            words += f" of the last {window:,}" if metric == metrics[0] else ""
            overall = model.metrics.get(metric)
            words += "" if overall is None else f", {number(metric, overall)} of all"
        marks = [(name, shot.window.get(metric, math.nan)) for name, shot in others]
        beside = [f"{name} {number(metric, mark)}" for name, mark in marks if mark == mark]
        lines.append(f"{words}{'; ' if beside else ''}{', '.join(beside)}")
    if others and metrics:
        lines.append(_beaten(metrics[0], model, others))
    return lines


def _beaten(metric: str, model: Any, others: list[tuple[str, Any]]) -> str:
    sign = -1 if metric in _SMALLER_IS_BETTER else 1
    mine = sign * model.window[metric]
    better = [name for name, shot in others if not mine > sign * shot.window[metric]]
    if not better:
        return "better than both baselines"
    looks = "looks" if len(better) == 1 else "look"
    return f"NO better than {' and '.join(better)}, which {looks} at no column"


def _say_letters(console: Console, record: RunRecord) -> None:
    first = list(islice(record.dead_letters(), 3))
    if not first:
        return
    odd: Counter[str] = Counter()
    total = 0
    for total, letter in enumerate(record.dead_letters(), 1):  # noqa: B007 (it counts them)
        found = _ODD.match(str(letter.get("reason")))
        if found and (found[1] in odd or len(odd) < _DIFFERENT):
            odd[found[1]] += 1
    path = record.folder / "dead_letters.jsonl"
    console.print(
        f"[yellow]{rows_in_words(total)} could not be used[/], see {plain(path)}", soft_wrap=True
    )
    for letter in first:
        column = f", column {letter['column']}" if letter.get("column") else ""
        console.print(
            f"  {plain(where(letter))}{plain(column)}: {plain(letter.get('reason', ''))}",
            soft_wrap=True,
        )
    for word, count in odd.most_common(1):
        if count >= _MANY and 4 * count >= total:
            way = f"--missing {shlex.quote(word)}, in another --run, takes it for a gap"
            console.print(
                f"  {plain(repr(word))} comes {count:,} times: {plain(way)}", soft_wrap=True
            )
