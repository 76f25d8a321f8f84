"""`label`: rows in, keys pressed, labels and a model out; it can stop and go on at any time."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.console import Console
from sklearn.base import is_classifier

from onlinesvm import LabelDesk, PassiveAggressiveClassifier, RampSVC
from onlinesvm.cli.console import plain
from onlinesvm.cli.opening import columns_in_words, open_for, say_notes
from onlinesvm.cli.options import LabelOptions, ReadOptions, folder_for
from onlinesvm.cli.recipe import build
from onlinesvm.cli.words import rows_in_words
from onlinesvm.compose.labelling.journal import BEGIN, read_asked, read_labels
from onlinesvm.compose.labelling.loop import keys_for, label_loop, row_of
from onlinesvm.files.atomic import replacing
from onlinesvm.label_budgets import LabelShare
from onlinesvm.queries import ClosestToPlane
from onlinesvm.stream.automatic import prepared
from onlinesvm.stream.sources import Examples, Frame, Schema

__all__ = ["label"]

MODEL, ROWS = "model.onlinesvm", "labelled.csv"
_MOST = 40  # columns that are shown


@dataclass(frozen=True, slots=True)
class _Pool:
    name: str
    schema: Schema
    X: Any  # an array, or a frame where there are words

    def __len__(self) -> int:
        return len(self.X)

    def cells(self, i: int) -> dict[str, Any]:
        """One row by the names of its columns."""
        row = row_of(self.X, i)
        if isinstance(row, dict):
            return row
        return dict(zip((c.name for c in self.schema.features), row.tolist(), strict=True))


def label(console: Console, given: LabelOptions) -> None:
    """Let somebody label the rows of a file, and keep each label as soon as it is given."""
    spec = str(given.pool)
    folder = given.run or folder_for(spec, ".labels")
    if spec == "-":
        raise ValueError("POOL: standard input is where answers come from; name a file")
    goes_on = (folder / BEGIN).is_file()
    named = _classes(given.classes)
    if named is None and not goes_on:
        raise ValueError("--classes is missing: name the labels to choose from, as in a,b")
    wanted = build(given.model, given.params) if given.model else None
    if wanted is None and given.params:
        raise ValueError("-p gives parameters of a model; name it by --model")
    pool = _read_pool(console, spec, given.reading())
    if goes_on:
        desk = LabelDesk.resume(folder)
    else:
        desk = LabelDesk(_model(pool, wanted, named), ClosestToPlane(), LabelShare(1.0))
        desk.keep(folder)
    try:
        labels = _labels(desk, named, folder)
        done = _demand_same_pool(pool, folder)
        console.print(f"[bold]pool[/]    {plain(columns_in_words(pool.schema))}", soft_wrap=True)
        console.print(
            f"[bold]labels[/]  {desk.answered:,} of {len(pool):,} rows, in {plain(folder)}"
        )
        label_loop(
            desk,
            pool.X,
            labels,
            read=_reader(keys_for(labels)),
            show=lambda i, _: _show(console, pool, i),
            done=done,
        )
    finally:
        desk.close()
    _write_out(console, desk, pool, given.target or "label", folder)


def _classes(text: str | None) -> list[Any] | None:
    """The labels: whole numbers where all are, as a file with such labels would be read."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    if len(names) < 2 or len(set(names)) < len(names) or not all(names):
        raise ValueError(f"--classes {text}: name two labels or more, each once, as in a,b")
    try:
        return [int(name) for name in names]
    except ValueError:
        return names


def _labels(desk: LabelDesk, named: list[Any] | None, folder: Path) -> list[Any]:
    last = desk.model.steps[-1][1]
    known = list(last.classes)
    if named is not None and named != known:
        shown = ",".join(map(str, known))
        raise ValueError(
            f"--classes: the labels in {folder} are {shown}; leave it out, or give another --run"
        )
    return known


def _read_pool(console: Console, spec: str, reading: ReadOptions) -> _Pool:
    """All rows of a file; the column of the target, if there is one, is left out."""
    source = open_for(spec, replace(reading, target="none"))
    if reading.target in [column.name for column in source.schema.columns]:
        source.close()
        ignore = (*reading.ignore, str(reading.target))
        source = open_for(spec, replace(reading, target="none", ignore=ignore))
    if source.schema.sparse:
        raise ValueError(f"{source.name}: has no columns to show; label takes tables")
    try:
        say_notes(console, source)
        blocks = list(source.blocks())
    finally:
        source.close()
    parts = [block.examples.X for block in blocks if len(block.examples)]
    bad = sum(len(block.bad) for block in blocks)
    if bad:
        they = "it is" if bad == 1 else "they are"
        console.print(f"[yellow]{rows_in_words(bad)}[/] could not be read: {they} left out")
    if not parts:
        raise ValueError(f"{source.name}: no row that can be read; see what is in it")
    return _Pool(source.name, source.schema, _joined(parts))


def _joined(parts: Sequence[Any]) -> Any:
    if isinstance(parts[0], Frame):
        names = parts[0].columns
        return Frame({name: np.concatenate([part[name] for part in parts]) for name in names})
    return np.concatenate(parts)


def _model(pool: _Pool, wanted: Any, classes: list[Any] | None) -> Any:
    if wanted is not None:
        if not is_classifier(wanted) or not hasattr(wanted, "learn_one"):
            raise ValueError(
                f"--model {type(wanted).__name__}: no classifier that goes on learning; "
                "see onlinesvm methods"
            )
        wanted.set_params(classes=classes)
    elif any(column.kind == "text" for column in pool.schema.features):
        wanted = PassiveAggressiveClassifier(classes=classes)
    else:
        wanted = RampSVC(classes=classes)
    return prepared(pool.schema, Examples(pool.X, None), wanted)


def _demand_same_pool(pool: _Pool, folder: Path) -> list[int]:
    """The rows that were shown before; a ValueError if they are not those of the pool."""
    rows: dict[int, None] = {}
    for event in read_asked(folder):
        i, row = event["key"], event["row"]
        if not isinstance(i, int) or i >= len(pool) or not _same(row, row_of(pool.X, i)):
            raise ValueError(
                f"{pool.name}: row {i} is not what it was when it was shown; "
                f"give another --run than {folder}"
            )
        rows[i] = None
    return list(rows)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() != other.keys():
            return False
        one, other = list(one.values()), list(other.values())
        pairs = zip(one, other, strict=True)
        return all(a == b or (a != a and b != b) for a, b in pairs)
    return type(one) is type(other) and np.array_equal(one, other, equal_nan=True)


def _show(console: Console, pool: _Pool, i: int) -> None:
    """A row, its columns one below the other; what the model thinks would only sway people."""
    cells = pool.cells(i)
    width = max(map(len, cells), default=0)
    console.print(f"\n[bold]row {i + 1}[/]")
    for name, value in list(cells.items())[:_MOST]:
        console.print(f"  {plain(name):<{width}}  {plain(_cell(value))}", soft_wrap=True)
    if len(cells) > _MOST:
        console.print(f"  and {len(cells) - _MOST:,} columns more")


def _cell(value: Any) -> Any:
    """As it stood in the file: a gap as nothing, a whole number as such."""
    if value is None or value != value:
        return ""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _reader(keys: Mapping[str, Any]) -> Callable[[str], str]:
    """One key where somebody sits at a terminal and keys are enough, else a line."""
    single = sys.stdin.isatty() and all(len(key) == 1 for key in keys)

    def read(prompt: str) -> str:
        typer.echo(prompt, nl=False)
        try:
            typed = typer.getchar() if single else sys.stdin.readline()
        except KeyboardInterrupt:  # no answer: it ends as with q
            raise EOFError from None
        if not typed:
            raise EOFError
        if single:
            typer.echo(typed if typed.isprintable() else "")
        return typed.rstrip("\n")

    return read


def _write_out(console: Console, desk: LabelDesk, pool: _Pool, target: str, folder: Path) -> None:
    """The labelled rows as a table, and the model they made."""
    labels = read_labels(folder)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow([*(column.name for column in pool.schema.features), target])
    for one in labels:
        table.writerow([*map(_cell, pool.cells(one.key).values()), one.y])
    with replacing(folder / ROWS) as file:
        file.write(text.getvalue().encode())
    console.print(f"\n[bold]{len(labels):,} labels[/]  {plain(folder / ROWS)}", soft_wrap=True)
    if labels:
        desk.model.save(folder / MODEL)
        console.print(f"model     {plain(folder / MODEL)}", soft_wrap=True)
