"""`tune`: which method and which parameters do best on the first rows of a source."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from onlinesvm.cli.console import plain
from onlinesvm.cli.methods import estimators, find_estimator
from onlinesvm.cli.opening import columns_in_words, open_for, say_notes
from onlinesvm.cli.options import ReadOptions, TuneOptions, folder_for
from onlinesvm.cli.recipe import build
from onlinesvm.stream.automatic import prepared, task_of, with_open_classes
from onlinesvm.stream.halving import Ranking, Trial, candidates, halving, rungs
from onlinesvm.stream.run.rows import joined
from onlinesvm.stream.sources import Examples, Schema

__all__ = ["Search", "tune"]

# Methods that are tried when none is named: kernels and linear ones, all of bounded cost a row.
USUAL = {
    "classify": (
        "RampSVC",
        "LASVC",
        "BudgetedRampSVC",
        "PassiveAggressiveClassifier",
        "PegasosSVC",
    ),
    "regress": ("NormaSVR", "BudgetedSVR", "PassiveAggressiveRegressor"),
}
_BOUNDED = {"RampSVC": {"max_support": 1000, "keep_non_support": 500, "forget": "oldest"}}
_BLOCK = 100  # rows that are predicted before they are learned


@dataclass(frozen=True, slots=True)
class Search:
    """What to search: everything that a process needs to try a candidate."""

    spec: str
    reading: ReadOptions
    schema: Schema
    rows: int


def tune(console: Console, given: TuneOptions) -> str:
    """Search, show the best, and give the command that uses the winner."""
    spec, reading, params = str(given.source), given.reading(), given.params
    if spec == "-":
        raise ValueError("tune reads its rows many times: name a file, not a pipe")
    named = [find_estimator(name).__name__ for name in given.model]
    for name in named:
        build(name, params)
    source = open_for(spec, reading)
    say_notes(console, source)
    console.print(f"[bold]columns[/] {plain(columns_in_words(source.schema))}", soft_wrap=True)
    search = Search(spec, reading, source.schema, given.rows)
    source.close()
    examples = _first_rows(search)
    task = task_of(search.schema, examples)
    if task == "detect":
        raise ValueError(f"{spec}: no target, and so nothing to tell good from bad; --target NAME")
    known = {name: cls().get_params() for name, cls in estimators().items()}
    chosen = {name: known[name] for name in (named or USUAL[task])}
    field = [
        replace(c, params={**_BOUNDED.get(c.method, {}), **c.params})
        for c in candidates(chosen, dict(params), given.candidates, given.seed)
    ]
    steps = rungs(len(field), len(examples))
    trials = sum(n for n, _ in steps)
    folder = given.folder or folder_for(spec, ".tune")
    with _results(folder, search) as results, _progress(console, trials) as bar:
        ranking = halving(field, steps, _scorer(search, results, given.jobs or processors(), bar))
    _show(console, ranking, task)
    winner = ranking[0][0]
    words = ["onlinesvm", "learn", spec, *_reading_words(reading), "--model", winner.method]
    for name, value in winner.params.items():
        words += ["-p", f"{name}={value}"]
    return shlex.join(words)


# --- trials ---------------------------------------------------------------------------------------


def _scorer(search: Search, results: Results, jobs: int, bar: Any) -> Any:
    def score(trials: Sequence[Trial]) -> list[float]:
        left = [trial for trial in trials if trial.key not in results.known]
        bar(len(trials) - len(left))
        with _workers(min(jobs, len(left))) as pool:
            ask = [search] * len(left)
            for trial, mark in zip(left, pool.map(try_out, ask, left), strict=True):
                results.add(trial, mark)
                bar(1)
        return [results.known[trial.key] for trial in trials]

    return score


@contextmanager
def _workers(jobs: int) -> Iterator[Any]:
    """Processes of their own; one job needs none."""
    if jobs <= 1:
        yield _Here()
        return
    pool: Executor = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


class _Here:
    map = staticmethod(map)


def try_out(search: Search, trial: Trial) -> float:
    """The mark of a candidate on the second half of the rows, each predicted before it is learned.

    Accuracy, or minus the mean absolute error; the worst there is where a candidate fails.
    """
    examples = _first_rows(search)
    model = with_open_classes(build(trial.candidate.method, trial.candidate.params))
    whole = prepared(search.schema, examples, model)
    half, marks = trial.rows // 2, []
    for start in range(0, trial.rows, _BLOCK):
        stop = min(start + _BLOCK, trial.rows)
        X, y = examples.X[start:stop], np.asarray(examples.y)[start:stop]
        try:
            if start >= half and start:
                marks.append(_marks(whole.predict(X), y, task_of(search.schema, examples)))
            whole.partial_fit(X, y)
        except (ValueError, FloatingPointError):
            return float("-inf")
    return float(np.concatenate(marks).mean()) if marks else float("-inf")


def _marks(guess: Any, y: Any, task: str) -> Any:
    if task == "classify":
        return np.array([a == b for a, b in zip(guess.tolist(), y.tolist(), strict=True)], float)
    return -np.abs(np.asarray(guess, dtype=np.float64) - y)


@lru_cache(maxsize=1)
def _rows_of(spec: str, schema: str, reading: str, rows: int) -> Examples:
    """The first rows, read once in each process."""
    given = ReadOptions(**json.loads(reading))
    source = open_for(spec, given, Schema.from_json(json.loads(schema)))
    parts, left = [], rows
    try:
        for block in source.blocks():
            part = block.examples
            part = Examples(part.X[:left], None if part.y is None else part.y[:left])
            parts.append(part)
            left -= len(part)
            if left <= 0:
                break
    finally:
        source.close()
    if left == rows:
        raise ValueError(f"{spec}: no row that can be read")
    return joined([part for part in parts if len(part)])


def _first_rows(search: Search) -> Examples:
    reading = {name: getattr(search.reading, name) for name in ("header", "separator", "format")}
    schema = json.dumps(search.schema.to_json())
    return _rows_of(search.spec, schema, json.dumps(reading), search.rows)


# --- what was found -------------------------------------------------------------------------------


class Results:
    """Marks of trials, each written down as soon as it is known."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.known: dict[tuple[str, int], float] = {}
        whole = path.read_bytes().rpartition(b"\n")[0]
        os.truncate(path, len(whole) + 1)  # a line cut short when it was stopped
        for line in whole.splitlines()[1:]:
            key, rows, mark = json.loads(line)
            self.known[key, rows] = float("-inf") if mark is None else mark

    def add(self, trial: Trial, mark: float) -> None:
        self.known[trial.key] = mark
        shown = mark if np.isfinite(mark) else None
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([trial.candidate.key, trial.rows, shown]) + "\n")


@contextmanager
def _results(folder: Path, search: Search) -> Iterator[Results]:
    """The results in a folder, which must be of the same search."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "trials.jsonl"
    about = json.dumps(
        {"source": Path(search.spec).name, "schema": search.schema.to_json(), "rows": search.rows}
    )
    if path.exists():
        with path.open(encoding="utf-8") as file:
            first = file.readline().rstrip("\n")
        if first != about:
            raise ValueError(f"{path}: has trials of another search; give another --folder")
    else:
        path.write_text(about + "\n", encoding="utf-8")
    yield Results(path)


@contextmanager
def _progress(console: Console, trials: int) -> Iterator[Any]:
    if not console.is_terminal or console.is_dumb_terminal:
        yield lambda n: None
        return
    columns = TextColumn("trials"), BarColumn(24), MofNCompleteColumn()
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("trials", total=trials)
        yield lambda n: progress.advance(task, n)


def _show(console: Console, ranking: Ranking, task: str) -> None:
    for candidate, rows, mark in ranking[:5]:
        shown = f"{mark:.1%}" if task == "classify" else f"MAE {-mark:.4g}"
        words = ", ".join(f"{n}={v}" for n, v in candidate.params.items())
        line = f"  {shown:>8}  of {rows:,} rows  {candidate.method}({words})"
        console.print(plain(line), soft_wrap=True)


def _reading_words(reading: ReadOptions) -> list[str]:
    words: list[str] = []
    for name in ("target", "separator", "format"):
        if getattr(reading, name) is not None:
            words += [f"--{name}", getattr(reading, name)]
    words += [word for name in reading.key for word in ("--key", name)]
    words += [word for name in reading.ignore for word in ("--ignore", name)]
    words += ["--missing", ",".join(reading.missing)] if reading.missing else []
    words += [word for n, kind in reading.types.items() for word in ("--types", f"{n}={kind}")]
    if reading.header is not None:
        words.append("--header" if reading.header else "--no-header")
    return words


def processors() -> int:
    """How many processes may work at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
