"""`learn`: from any source to a model that survives, with a report at the end."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from rich.console import Console
from sklearn.base import is_classifier, is_regressor

from onlinesvm.cli.console import plain
from onlinesvm.cli.display import Display
from onlinesvm.cli.opening import columns_in_words, open_for, say_notes
from onlinesvm.cli.options import LearnOptions, folder_for
from onlinesvm.cli.recipe import build
from onlinesvm.cli.words import in_flags, rows_in_words
from onlinesvm.data.arguments import check_word
from onlinesvm.stream.automatic import (
    as_they_are,
    choose,
    prepared,
    task_of,
    with_open_classes,
)
from onlinesvm.stream.run import Run, RunOptions, RunRecord, read_run
from onlinesvm.stream.sources import Examples, Schema, Source
from onlinesvm.stream.sources.wrapped import Limited, Peeked

__all__ = ["Outcome", "learn", "run_folder"]

Silence = Literal["wait", "end"]
PREPARE = ("automatic", "as-is")
_MAX_BAD = 0.1  # of the rows: beyond it, `learn` stops and asks


@dataclass(frozen=True, slots=True)
class Outcome:
    """How `learn` ended."""

    folder: Path
    stopped: bool  # by Ctrl-C or SIGTERM


def learn(console: Console, given: LearnOptions, display_for: Any) -> Outcome:
    """Begin a run, or go on with it, until the source ends or somebody stops it.

    `display_for` makes a display from the name of a source and whether more may come at any time.
    """
    if given.source is None:
        raise ValueError("SOURCE is missing: name a file, a folder, an address or - for a pipe")
    check_word("--prepare", given.prepare or PREPARE[0], PREPARE)
    wanted = build(given.model, given.params) if given.model else None
    if wanted is None and given.params:
        raise ValueError("-p gives parameters of a model; name it by --model")
    _options(given, "end")
    folder = run_folder(given)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--run {folder}: is a file; name a folder")
    resumes = (folder / "run.sqlite").is_file()
    run, source = _resumed(console, given, folder) if resumes else _begun(console, given, wanted)
    display: Display = display_for(source.name, source.live)
    try:
        with run:
            with display.open():
                _go_on(run, display)
            stopped = run.ended == "signal"
    finally:
        source.close()
    return Outcome(folder, stopped)


def _go_on(run: Run, display: Display) -> None:
    try:
        for moment in run.steps():
            display.show(moment)
    except ValueError as error:
        raise ValueError(in_flags(str(error))) from None


def run_folder(given: LearnOptions) -> Path:
    """Where the run lies: as told, or under the name of the source."""
    return folder_for(str(given.source), ".run") if given.run is None else Path(given.run)


def _begun(console: Console, given: LearnOptions, wanted: Any) -> tuple[Run, Source]:
    source = Peeked(open_for(str(given.source), given))
    if source.first is None:
        raise ValueError(f"{source.name}: no row that can be read; see what is in it")
    first = source.first.examples
    if wanted is None:
        chosen = choose(source.schema, first)
        model, why = chosen.model, f" ({chosen.why}; --model takes another)"
    else:
        _demand_fit(wanted, source.schema, first)
        model, why = with_open_classes(wanted), ""
    if (given.prepare or PREPARE[0]) == "automatic":
        whole = prepared(source.schema, first, model)
    else:
        whole = as_they_are(source.schema, model)
    if given.keep_rows and hasattr(whole, "steps"):  # a model alone keeps its rows itself
        whole.keep_rows = True
    silence = _silence(given, source)
    if silence is None:
        silence = "wait" if source.live and "://" in str(given.source) else "end"
    limited = Limited(source, given.limit)
    options = _options(given, silence, metrics=_metrics(given, model, first))
    run = Run.begin(run_folder(given), limited, whole, options)
    say_notes(console, source)
    if is_classifier(model) and task_of(source.schema, first) == "regress":
        note = f"{source.schema.target!r} looks like a number; a regressor would take it as one"
        console.print(f"[yellow]note:[/] {plain(note)}", soft_wrap=True)
    _say(console, "columns", columns_in_words(source.schema))
    _say(console, "model", f"{' '.join(repr(model).split())}{why}")
    return run, limited


def _resumed(console: Console, given: LearnOptions, folder: Path) -> tuple[Run, Source]:
    record = read_run(folder)
    checkpoint = record.checkpoint()
    try:
        source = open_for(str(given.source), given, record.schema)
        held = 0 if checkpoint.held is None else len(checkpoint.held)
        limited = Limited(source, given.limit, checkpoint.taken + held)
        run = Run.resume(folder, limited, _silence(given, source), given.max_bad)
    except ValueError as error:
        hint = f"{folder} has a run of {record.config.source['name']}: give another --run"
        raise ValueError(f"{error} ({hint})") from None
    last = run.model.steps[-1][1] if hasattr(run.model, "steps") else run.model
    try:
        _demand_same(given, folder, last, record)
        if given.keep_rows and not getattr(run.model, "keep_rows", True):
            raise ValueError(
                f"--keep-rows: the run in {folder} was begun without; leave it out to go on, or "
                "give another --run"
            )
    except ValueError:
        run.close()
        raise
    _say(
        console,
        "going on",
        f"{folder} has {rows_in_words(run.seen)} of {record.config.source['name']}",
    )
    return run, limited


def _demand_same(given: LearnOptions, folder: Path, model: Any, record: RunRecord) -> None:
    """A ValueError where the flags contradict what the run was begun with."""
    options, asked = record.options, _other_columns(given, record.schema)
    if given.model is not None:
        asked["--model"] = type(build(given.model, {})).__name__, type(model).__name__
        known = model.get_params()
        asked |= {f"-p {n}": (value, known.get(n)) for n, value in given.params.items()}
    for name in ("lesson", "window", "fsync"):
        if getattr(given, name) is not None:
            asked[f"--{name}"] = getattr(given, name), getattr(options, name)
    for flag, (now, then) in asked.items():
        if repr(now) != repr(then):
            raise ValueError(
                f"{flag} {now}: the run in {folder} was begun with {then}; leave it out to go on, "
                "or give another --run"
            )


def _other_columns(given: LearnOptions, schema: Schema) -> dict[str, tuple[Any, Any]]:
    """What is said of columns, and what the run has; numbers of columns were names to it."""
    known = {c.name: c for c in schema.columns}
    asked: dict[str, tuple[Any, Any]] = {}
    if given.target in known or given.target == "none":
        asked["--target"] = given.target, schema.target or "none"
    for name in (*given.key, *given.ignore):
        part = "key" if name in given.key else "ignored"
        if name in known:
            asked[f"--{part.removesuffix('d')} {name}, as"] = part, known[name].part
    for name, word in given.types.items():
        if name in known:
            asked[f"--types {name}"] = word.partition(":")[0], known[name].kind
    if given.missing:
        asked["--missing"] = ",".join(sorted(given.missing)), ",".join(sorted(schema.missing))
    return asked


def _silence(given: LearnOptions, source: Source) -> Silence | None:
    """What to do when a live source falls silent, where that was said."""
    if given.follow is None:
        return None
    if given.follow and not source.live:
        raise ValueError(f"--follow: {source.name} has an end; follow a folder or a broker")
    return "wait" if given.follow else "end"


def _options(given: LearnOptions, silence: Silence, metrics: Any = None) -> RunOptions:
    chosen = {name: getattr(given, name) for name in ("lesson", "window", "fsync")}
    chosen["max_bad"] = _MAX_BAD if given.max_bad is None else given.max_bad
    return RunOptions(
        **{name: value for name, value in chosen.items() if value is not None},
        metrics=metrics or given.metrics or None,
        silence=silence,
    )


def _metrics(given: LearnOptions, model: Any, first: Examples) -> tuple[str, ...] | None:
    """Those asked for; of two classes also the AUC, for which a stream need not name them."""
    if given.metrics or not is_classifier(model):
        return given.metrics or None
    usual = ("accuracy", "balanced_accuracy", "kappa", "kappa_temporal", "f1_macro")
    return (*usual, "auc") if len(set(np.asarray(first.y).tolist())) == 2 else usual


def _demand_fit(model: Any, schema: Schema, first: Examples) -> None:
    """A ValueError where the method named cannot learn such a target."""
    name, task = type(model).__name__, task_of(schema, first)
    if not hasattr(model, "partial_fit"):
        raise ValueError(f"--model {name}: learns in one batch, no stream; see onlinesvm methods")
    if task == "detect" and (is_classifier(model) or is_regressor(model)):
        raise ValueError(f"--model {name}: needs a target; name its column by --target")
    y = np.asarray(first.y)
    if is_regressor(model) and y.dtype.kind not in "fiu":
        raise ValueError(
            f"--model {name}: predicts numbers, and {schema.target!r} has words such as "
            f"{y[0]!r:.40}; take a classifier"
        )
    if is_classifier(model) and y.dtype.kind == "f" and not np.all(y == np.round(y)):
        raise ValueError(
            f"--model {name}: predicts labels, and {schema.target!r} has numbers such as {y[0]}; "
            f"take a regressor, or --types {schema.target}=category"
        )


def _say(console: Console, label: str, text: str) -> None:
    console.print(f"[bold]{label:<9}[/] {plain(text)}", soft_wrap=True)
