"""CSV and TSV tables: which line names the columns, which column is the label, what goes where."""

from __future__ import annotations

import csv
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinesvm.cli.lines import bounded

__all__ = ["Layout", "Wanted", "read_table", "tidy_labels"]

WHOLE = 2.0**53  # beyond it, neighbouring integers are one float


@dataclass(frozen=True, slots=True)
class Wanted:
    """The columns that a trained model expects: how many, and by which names if it knows them."""

    width: int
    names: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table is laid out."""

    features: list[int]
    label: int | None
    header: list[str] | None
    notes: tuple[str, ...] = ()

    def names(self) -> list[str] | None:
        return None if self.header is None else [self.header[j] for j in self.features]


def read_table(
    path: Path,
    delimiter: str,
    *,
    target: str | None,
    header: bool | None,
    wanted: Wanted | None,
) -> tuple[NDArray[Any], NDArray[Any] | None, Layout]:
    """Features, labels where there are any, and the layout that was found."""
    table = _Table(path, delimiter)
    label = _label(table, target, wanted)
    named = _is_header(table, label, target, wanted) if header is None else header
    layout = _laid_out(table, label, target, named, wanted)
    X = table.read(layout.features, float, skip=named)
    if layout.label is None:
        return X, None, layout
    return X, tidy_labels(table.read([layout.label], str, skip=named)[:, 0]), layout


class _Table:
    """A text file of rows of equal length."""

    def __init__(self, path: Path, delimiter: str) -> None:
        self.path, self.delimiter = path, delimiter
        try:
            self.first = [cell.strip() for cell in next(self._rows(), [])]
        except (UnicodeDecodeError, csv.Error) as error:
            raise ValueError(f"{path}: not a text table: {error}") from None
        if not self.first:
            raise ValueError(f"{path}: no rows")

    def _lines(self) -> Iterator[str]:
        with self.path.open(newline="", encoding="utf-8-sig") as file:
            yield from bounded(file, self.path)

    def _rows(self) -> Iterator[list[str]]:
        return csv.reader(self._lines(), delimiter=self.delimiter)

    def _even_lines(self) -> Iterator[str]:
        """The lines; ``loadtxt`` would pass over cells beyond the columns it was asked for."""
        for number, line in enumerate(self._lines(), 1):
            found = line.count(self.delimiter) + 1
            if '"' in line:
                found = len(next(csv.reader([line], delimiter=self.delimiter)))
            if line.strip() and found != len(self.first):
                raise ValueError(f"line {number} has {found} columns, the first {len(self.first)}")
            yield line

    def read(self, columns: list[int], dtype: type, *, skip: bool) -> NDArray[Any]:
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="loadtxt: input contained no data")
                return np.loadtxt(
                    self._even_lines(),
                    delimiter=self.delimiter,
                    skiprows=int(skip),
                    usecols=columns,
                    dtype=dtype,
                    ndmin=2,
                    quotechar='"',
                    comments=None,
                )
        except ValueError as error:
            raise ValueError(
                f"{self.path}: {error}; every row needs the same columns of numbers"
            ) from None


def _label(table: _Table, target: str | None, wanted: Wanted | None) -> int | None:
    """The column of the label if the table is read by position."""
    count = len(table.first)
    if target is None:
        return None if wanted and count == wanted.width else count - 1
    if target in table.first:
        return table.first.index(target)
    try:
        return range(count)[int(target)]
    except (ValueError, IndexError):
        known = ", ".join(table.first)
        raise ValueError(f"{table.path}: no column {target!r}; the first line is {known}") from None


def _is_header(table: _Table, label: int | None, target: str | None, wanted: Wanted | None) -> bool:
    """Whether the first line names the columns; where it could be either, the user is asked."""
    cells = table.first
    if target in cells and not is_number(str(target)):
        return True
    if wanted and wanted.names and set(wanted.names) <= set(cells):
        return True
    features = [cell for j, cell in enumerate(cells) if j != label]
    words = [not is_number(cell) for cell in features]
    verdict = all(words) or (None if any(words) else _numbers_are_names(table, features, label))
    if verdict is None:
        shown = ", ".join(cells[:6]) + (", ..." if len(cells) > 6 else "")
        raise ValueError(
            f"{table.path}: the first line ({shown}) may be column names or an example; "
            "say which: --header or --no-header"
        )
    return verdict


def _numbers_are_names(table: _Table, features: list[str], label: int | None) -> bool | None:
    """Whether features that read as numbers name columns all the same; None: nobody can tell."""
    mark = "0" if label is None else table.first[label]
    if is_number(mark):
        return None if _counting(table.first) else False
    below = [cell.strip() for cell in table.read([label or 0], str, skip=True)[:, 0].tolist()]
    if below and all(map(is_number, below)):
        return True  # a word above numbers
    if mark in below:
        return False
    return None if below or _counting(features) else False


def _counting(cells: Sequence[str]) -> bool:
    """0, 1, 2, ... or 1, 2, 3, ... as a program numbers columns; a longer run from anywhere."""
    if not all(cell.isascii() and cell.isdigit() for cell in cells):
        return False
    start = int(cells[0])
    run = [str(start + j) for j in range(len(cells))]
    return list(cells) == run and (start in (0, 1) or len(cells) > 2)


def _laid_out(
    table: _Table, label: int | None, target: str | None, named: bool, wanted: Wanted | None
) -> Layout:
    header = table.first if named else None
    if header is not None and wanted and wanted.names:
        return _by_name(table.path, header, label if target is not None else None, wanted.names)
    features = [j for j in range(len(table.first)) if j != label]
    if not features:
        raise ValueError(f"{table.path}: only one column; give features and a label")
    if wanted and len(features) != wanted.width:
        raise ValueError(
            f"{table.path}: {len(features)} features, the model learnt from {wanted.width}"
        )
    notes = []
    if wanted and wanted.names:
        notes.append("no column names in the file: columns are taken in the order of training")
    elif wanted and header:
        notes.append("the model knows no column names: columns are taken in order")
    elif header:
        _check_names(table.path, [header[j] for j in features])
    return Layout(features, label, header, (*notes, *_label_note(header, label)))


def _by_name(path: Path, header: list[str], label: int | None, names: tuple[str, ...]) -> Layout:
    place, learnt = {name: j for j, name in enumerate(header)}, set(names)
    missing = [name for name in names if name not in place]
    if missing:
        raise ValueError(f"{path}: no column {_listed(missing)}, which the model learnt from")
    _check_names(path, [name for name in header if name in learnt])
    if label is None and header[-1] not in learnt:
        label = len(header) - 1
    features = [place[name] for name in names]
    spare = [name for j, name in enumerate(header) if name not in learnt and j != label]
    notes = [f"columns the model did not learn from are ignored: {_listed(spare)}"] if spare else []
    return Layout(features, label, header, (*notes, *_label_note(header, label)))


def _label_note(header: list[str] | None, label: int | None) -> Iterator[str]:
    if label is not None and header is not None:
        yield f"labels are taken from column {header[label]!r}"
    elif label is not None:
        yield f"the first line is an example; labels are taken from column {label}, counted from 0"


def _check_names(path: Path, names: list[str]) -> None:
    if "" in names:
        raise ValueError(
            f"{path}: a column has no name; if it holds row numbers, leave it out, else name it"
        )
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"{path}: two columns are called {_listed(twice)}; rename one")


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")


def tidy_labels(labels: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers where all are whole, else numbers, else text."""
    try:
        numbers = labels.astype(np.float64)
    except ValueError:
        return np.char.strip(labels)
    whole = np.isfinite(numbers).all() and (numbers == np.round(numbers)).all()
    if whole and (np.abs(numbers) >= WHOLE).any():  # as numbers, two labels could become one
        return np.char.strip(labels) if labels.dtype.kind == "U" else labels
    return numbers.astype(np.int64) if whole else numbers


def is_number(text: str) -> bool:
    """Whether ``text`` reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
