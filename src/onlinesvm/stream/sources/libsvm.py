"""LIBSVM text: a label and the features that are not 0, in every line."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from onlinesvm.stream.sources.examples import Fault, labels_of
from onlinesvm.stream.sources.raw import Head, Raw
from onlinesvm.stream.sources.records import Lines, bad_rows, whole_lines
from onlinesvm.stream.sources.schema import Column, Schema
from onlinesvm.stream.sources.source import BadRow, Examples
from onlinesvm.stream.sources.wishes import Wishes

__all__ = ["Libsvm", "looks_like_it", "widest"]

WIDEST = 1 << 27  # as many features as a dense vector of weights takes a gigabyte for
_LINE = re.compile(rb"\s*[-+.\deE]+(\s+qid:\d+)?(\s+\d+:[-+.\deEinfa]+)*\s*(#.*)?")
_FEW = 1000  # lines of which one at least must be good
TARGET = "label"


@dataclass(frozen=True, slots=True)
class Libsvm:
    """Sparse rows; features count from 1, so that the first is column 0."""

    schema: Schema
    start: tuple[int, int]
    notes: tuple[str, ...] = ()
    records = Lines()
    word = "libsvm"

    @staticmethod
    def settle(where: str, head: Head, wishes: Wishes) -> Libsvm:
        """A schema as wide as the first rows."""
        mark, data = whole_lines(where, head)
        lines = _lines(data)
        if not lines:
            raise ValueError(f"{where}: is empty; every line needs a label and its features")
        if wishes.schema is not None:
            if not wishes.schema.sparse:
                raise ValueError(f"{where}: is sparse, and the schema has columns; give a table")
            return Libsvm(wishes.schema, (mark, 0))
        if wishes.types or wishes.keys or wishes.ignore or wishes.missing:
            raise ValueError(
                f"{where}: types, key and ignore are for columns, which it has none of"
            )
        if wishes.target not in (None, TARGET, "none", 0):
            raise ValueError(f"{where}: target must be {TARGET!r} or 'none', got {wishes.target!r}")
        parsed = [_parsed(line, WIDEST) for line in lines[:_FEW]]
        if all(isinstance(row, str) for row in parsed):
            raise ValueError(f"{where}: is no LIBSVM text: its first line {parsed[0]}")
        target = () if wishes.target == "none" else (Column(TARGET, "number", "target"),)
        return Libsvm(Schema(target, True, widest(lines)), (mark, 0))

    def as_wide_as(self, blocks: Iterable[Raw]) -> Libsvm:
        """The same for a whole file, which is read for that."""
        width = max((widest(_lines(raw.data)) for raw in blocks), default=0)
        return replace(self, schema=replace(self.schema, width=max(width, self.schema.width)))

    def parse(self, raw: Raw) -> tuple[Examples, list[BadRow]]:
        """The rows of a block, and those that are bad."""
        rows, table = self._read(raw.data), None
        faults: dict[int, Fault] = {}
        if rows is None:
            table = self._table(raw.data)
            rows, faults = self._carefully([raw.data[a:b] for a, b in table])
        X, y = rows
        wrong = _odd(X, y)
        if wrong:
            table = self._table(raw.data) if table is None else table
            even = [i for i in range(len(table)) if i not in faults]
            stay = np.array([i not in wrong for i in range(len(even))], dtype=bool)
            X, y = X[stay], y[stay]
            faults |= {even[i]: fault for i, fault in wrong.items()}
        target = labels_of(y) if self.schema.target else None
        return Examples(X, target), bad_rows(raw, table or [], faults)

    def _table(self, data: bytes) -> list[tuple[int, int]]:
        return [(a, b) for a, b in self.records.table(data) if not _is_comment(data[a:b])]

    def _carefully(self, lines: list[bytes]) -> tuple[tuple[Any, Any], dict[int, Fault]]:
        """The rows of the good lines, one by one, and the faults of the others."""
        parsed = [_parsed(line, self.schema.width) for line in lines]
        faults = {i: Fault(row) for i, row in enumerate(parsed) if isinstance(row, str)}
        rows = [row for row in parsed if not isinstance(row, str)]
        ends = np.cumsum([0, *(len(row.columns) for row in rows)])
        columns = np.array([j for row in rows for j in row.columns], dtype=np.int64)
        values = np.array([v for row in rows for v in row.values], dtype=np.float64)
        X = sp.csr_array((values, columns, ends), shape=(len(rows), self.schema.width))
        return (X, np.array([row.label for row in rows], dtype=np.float64)), faults

    def _read(self, data: bytes) -> tuple[Any, Any] | None:
        """Rows that scikit-learn reads, or None where it refuses one."""
        from sklearn.datasets import load_svmlight_file

        if not data.strip():
            return sp.csr_array((0, self.schema.width)), np.empty(0)
        try:
            X, y = load_svmlight_file(
                io.BytesIO(data), n_features=self.schema.width, zero_based=False
            )
        except (ValueError, OverflowError):
            return None
        return sp.csr_array(X), y


def looks_like_it(line: bytes) -> bool:
    """Whether a line is a label and features; one without features could be anything."""
    return bool(_LINE.fullmatch(line)) and b":" in line


def widest(lines: Iterable[bytes]) -> int:
    """The highest feature: the last of a line, since they ascend."""
    width = 0
    for line in lines:
        name = line.partition(b"#")[0].rpartition(b":")[0].rsplit(None, 1)[-1:]
        if name and name[0].isdigit() and len(name[0]) < 10 and int(name[0]) <= WIDEST:
            width = max(width, int(name[0]))
    return width


def _lines(data: bytes) -> list[bytes]:
    found = (data[a:b] for a, b in Lines().table(data))
    return [line for line in found if not _is_comment(line)]


def _is_comment(line: bytes) -> bool:
    return line.lstrip().startswith(b"#")


class _Row(NamedTuple):
    label: float
    columns: list[int]
    values: list[float]


def _parsed(line: bytes, width: int) -> _Row | str:
    """A line as a row, or why it is none."""
    word, *pairs = line.partition(b"#")[0].split()
    label = _float(word)
    if label is None:
        return f"has {word.decode(errors='backslashreplace')!r:.40} for a label"
    row, before = _Row(label, [], []), 0
    for pair in pairs:
        name, colon, text = pair.partition(b":")
        shown = pair.decode(errors="backslashreplace")
        if name == b"qid" and not before:
            continue
        if not colon or not name.isdigit() or len(name) > 18:
            return f"has {shown!r:.40}, which is no feature:value"
        if int(name) == 0:
            return "counts features from 0, not from 1"
        if int(name) <= before:
            return f"has feature {int(name)} behind feature {before}; they must ascend"
        if int(name) > width:
            return f"has feature {int(name)}, beyond the {width} that are known"
        value = _float(text)
        if value is None:
            return f"has {shown!r:.40}, whose value is no number"
        before = int(name)
        row.columns.append(before - 1)
        row.values.append(value)
    return row


def _float(text: bytes) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _odd(X: Any, y: Any) -> dict[int, Fault]:
    """Rows with values that no model takes."""
    wrong: dict[int, Fault] = {}
    bad = np.flatnonzero(~np.isfinite(X.data))
    for at in bad.tolist():
        row = int(np.searchsorted(X.indptr, at, side="right")) - 1
        what = "is infinite" if np.isinf(X.data[at]) else "is no number"
        wrong.setdefault(row, Fault(f"feature {int(X.indices[at]) + 1} {what}"))
    for row in np.flatnonzero(~np.isfinite(y)).tolist():
        wrong.setdefault(row, Fault("no target", TARGET))
    return wrong
