"""`audit`: the labels of a file that are likely wrong, as a table and as a page."""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from rich.console import Console

from onlinesvm import PassiveAggressiveClassifier
from onlinesvm.cli.console import plain
from onlinesvm.cli.opening import columns_in_words, open_for, say_notes
from onlinesvm.cli.options import AuditOptions, folder_for
from onlinesvm.cli.targets import check_target
from onlinesvm.cli.words import rows_in_words
from onlinesvm.data.visible import visible
from onlinesvm.files.atomic import replacing
from onlinesvm.label_issues import LabelIssues, find_label_issues
from onlinesvm.report import Section
from onlinesvm.report.confusion import confusion_section
from onlinesvm.report.section import render
from onlinesvm.stream.automatic import prepared, task_of
from onlinesvm.stream.run.rows import joined
from onlinesvm.stream.sources import Examples, Schema

__all__ = ["audit"]

_SHOWN = 100  # rows on the page
_COLUMNS = 8  # of a row on the page
_WIDE = 500  # columns up to which sparse features are made dense
_LONG = 60  # letters of a cell on the page


def audit(console: Console, given: AuditOptions) -> None:
    """Rank the rows of a file by how likely their labels are wrong."""
    spec = str(given.source)
    if spec == "-":
        raise ValueError("SOURCE: audit looks at all rows together; name a file")
    out = given.out or folder_for(spec, ".audit.csv")
    page = given.page or out.with_suffix(".html")
    for flag, path in (("--out", out), ("--page", page), ("--pool", given.pool)):
        if path is not None:
            check_target(flag, path)
    files = [os.path.realpath(path) for path in (spec, out, page, given.pool) if path is not None]
    if len(set(files)) < len(files):
        raise ValueError("SOURCE, --out, --page and --pool must be different files")
    schema, rows, more = _read(console, spec, given)
    y = np.asarray(rows.y)
    issues = find_label_issues(_features(schema, rows), y)
    cells = _Cells(schema, rows)
    _write(out, cells.table(issues, schema))
    suspected = issues.suspected
    if given.pool is not None:
        _write(given.pool, cells.pool(suspected, y, str(schema.target)))
    share = len(suspected) / len(y)
    console.print(f"[bold]columns[/]    {plain(columns_in_words(schema))}", soft_wrap=True)
    console.print(f"[bold]rows[/]       {len(y):,}{more}")
    console.print(f"[bold]suspected[/]  {len(suspected):,} labels, {share:.1%} of all")
    for row, _, label, other, _ in list(issues)[: min(3, len(suspected))]:
        console.print(f"           row {row + 1}: {plain(label)}, suggested {plain(other)}")
    facts = {"columns": columns_in_words(schema), "rows": f"{len(y):,}{more}"}
    with replacing(page) as file:
        file.write(_page(spec, facts, issues, cells))
    written = [out, page, *([] if given.pool is None else [given.pool])]
    console.print(f"[bold]written[/]    {plain(', '.join(map(str, written)))}", soft_wrap=True)


def _read(console: Console, spec: str, given: AuditOptions) -> tuple[Schema, Examples, str]:
    """The first rows of a file, and a word on those left out."""
    source = open_for(spec, given)
    try:
        say_notes(console, source)
        if source.schema.target is None:
            raise ValueError(f"{spec}: has no column with labels; name it by --target")
        parts, bad, left = [], 0, given.rows
        for block in source.blocks():
            found = block.examples
            bad += len(block.bad)
            parts.append(Examples(found.X[:left], None if found.y is None else found.y[:left]))
            left -= len(parts[-1])
            if left <= 0:
                break
    finally:
        source.close()
    parts = [part for part in parts if len(part)]
    if not parts:
        raise ValueError(f"{spec}: no row that can be read; see what is in it")
    rows = joined(parts)
    if task_of(source.schema, rows) != "classify":
        raise ValueError(
            f"{spec}: the target {source.schema.target!r} is a number, and audit judges labels; "
            f"if its numbers are names, say --types {source.schema.target}=category"
        )
    more = f"; {rows_in_words(bad)} could not be read" if bad else ""
    return source.schema, rows, more + ("; the first ones, see --rows" if left <= 0 else "")


def _features(schema: Schema, rows: Examples) -> Any:
    """The rows as numbers, prepared as `learn` prepares them."""
    if schema.sparse:
        return rows.X
    whole = prepared(schema, rows, PassiveAggressiveClassifier(classes="open"))
    features, _ = whole.fit(rows.X, rows.y)._prepared(rows.X)
    if sp.issparse(features) and features.shape[1] <= _WIDE:
        return features.toarray()
    return features


class _Cells:
    """The rows as they came, by column."""

    def __init__(self, schema: Schema, rows: Examples) -> None:
        self._rows, self._names = rows.X, [c.name for c in schema.features]
        if schema.sparse:
            self._names = []

    @property
    def names(self) -> list[str]:
        return self._names

    def of(self, row: int) -> list[str]:
        if not self._names:
            return []
        if hasattr(self._rows, "columns"):
            values = [self._rows[name][row] for name in self._names]
        else:
            values = self._rows[row].tolist()
        return [_cell(value) for value in values]

    def table(self, issues: LabelIssues, schema: Schema) -> list[list[Any]]:
        """All rows, from the label most likely wrong to the least."""
        head = ["row", "score", str(schema.target), "suggested", "reason", *self._names]
        body = [
            [row + 1, f"{score:.4f}", label, other, why, *self.of(row)]
            for row, score, label, other, why in issues
        ]
        return [head, *body]

    def pool(self, rows: NDArray[np.intp], y: NDArray[Any], target: str) -> list[list[Any]]:
        """Rows to be labelled again, as they came."""
        return [[*self._names, target], *([*self.of(row), y[row]] for row in rows.tolist())]


def _cell(value: Any) -> str:
    """As it stood in the file: a gap as nothing, a whole number as such."""
    if value is None or value != value:
        return ""
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if whole else str(value)


def _write(path: Path, table: Sequence[Sequence[Any]]) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(table)
    with replacing(path) as file:
        file.write(text.getvalue().encode())


def _page(spec: str, facts: dict[str, str], issues: LabelIssues, cells: _Cells) -> bytes:
    """One page that needs nothing else: who was taken for what, and the rows themselves."""
    suspected = len(issues.suspected)
    top = list(issues)[:suspected]
    pairs = Counter((label, other) for _, _, label, other, _ in top)
    sections = []
    if pairs:
        sections.append(
            replace(confusion_section(pairs), heading="label in rows, suggested in columns")
        )
    if top:
        heading = f"the {_SHOWN} most doubtful labels" if suspected > _SHOWN else "doubtful labels"
        sections.append(Section(heading, _table(top[:_SHOWN], cells), "full"))
    share = suspected / len(issues)
    lead = (
        f"{suspected:,} of {len(issues):,} labels ({share:.1%}) are contradicted by models that "
        "learned the other rows and not the row itself. Some of these rows are rare and right: "
        "look before you change a label."
    )
    text = render(
        "audit.html", title=f"Labels of {spec}", facts=facts, lead=lead, sections=sections
    )
    return visible(text, lines=True).encode()


def _table(top: Sequence[tuple[int, float, Any, Any, str]], cells: _Cells) -> str:
    rows = [
        {
            "number": f"{row + 1:,}",
            "label": label,
            "suggested": other,
            "score": f"{-score:.2f}",
            "width": f"{-3 * score:.2f}",
            "cells": [_short(cell) for cell in cells.of(row)[:_COLUMNS]],
        }
        for row, score, label, other, _ in top
    ]
    return render("issues.html", rows=rows, names=cells.names[:_COLUMNS])


def _short(text: str) -> str:
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"
