"""LIBSVM text: a label and the features that are not 0, in every line."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from onlinesvm.stream.sources.examples import Fault, labels_of
from onlinesvm.stream.sources.head import Head
from onlinesvm.stream.sources.lines import Lines, bad_rows, whole_lines
from onlinesvm.stream.sources.raw import Raw
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
        reasons = [_reason(line, WIDEST) for line in lines[:_FEW]]
        if all(reasons):
            raise ValueError(f"{where}: is no LIBSVM text: its first line {reasons[0]}")
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
        """The rows of the good lines, and the faults of the others."""
        reasons = [_reason(line, self.schema.width) for line in lines]
        faults = {i: Fault(reason) for i, reason in enumerate(reasons) if reason}
        rows, refused = self._by_halves([i for i in range(len(lines)) if i not in faults], lines)
        return rows, faults | {i: Fault("is no LIBSVM text") for i in refused}

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

    def _by_halves(self, which: list[int], lines: list[bytes]) -> tuple[tuple[Any, Any], list[int]]:
        """The rows of some lines, and those that are refused after all."""
        refused: list[int] = []

        def read(part: list[int]) -> Iterator[tuple[Any, Any]]:
            rows = self._read(b"\n".join(lines[i] for i in part))
            if rows is not None:
                yield rows
            elif len(part) == 1:
                refused.extend(part)
            else:
                yield from read(part[: len(part) // 2])
                yield from read(part[len(part) // 2 :])

        parts = list(read(which))
        if not parts:
            return (sp.csr_array((0, self.schema.width)), np.empty(0)), refused
        X = sp.csr_array(sp.vstack([X for X, _ in parts]))
        return (X, np.concatenate([y for _, y in parts])), refused


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


def _reason(line: bytes, width: int) -> str:
    """Why a line is no row; "" where nothing is seen."""
    label, *pairs = line.partition(b"#")[0].split()
    try:
        float(label)
    except ValueError:
        return f"has {label.decode(errors='backslashreplace')!r:.40} for a label"
    before = 0
    for pair in pairs:
        name, colon, value = pair.partition(b":")
        text = pair.decode(errors="backslashreplace")
        if name == b"qid" and not before:
            continue
        if not colon or not name.isdigit() or len(name) > 18:
            return f"has {text!r:.40}, which is no feature:value"
        if int(name) <= before:
            return (
                "counts features from 0, not from 1"
                if int(name) == 0
                else (f"has feature {int(name)} behind feature {before}; they must ascend")
            )
        if int(name) > width:
            return f"has feature {int(name)}, beyond the {width} that are known"
        try:
            float(value)
        except ValueError:
            return f"has {text!r:.40}, whose value is no number"
        before = int(name)
    return ""


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
