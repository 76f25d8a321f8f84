"""How a delimited file is written: its separator, and whether a line names the columns."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from io import StringIO
from typing import Any

from onlinesvm.stream.sources.arrow import pyarrow
from onlinesvm.stream.sources.kinds import judge
from onlinesvm.stream.sources.values import GAPS

__all__ = ["BOM", "RUNS", "demand_text", "has_names", "sniffed_separator", "split", "squeezed"]

# In the order in which they are preferred where several cut all lines evenly: 1,5;2,5 has two.
SEPARATORS = ("\t", ";", "|", ",", " ")
RUNS = "spaces"  # in any number, as one
_LOOKED_AT = 100  # lines, and columns
NUMERIC = ("number", "date", "flag")
_SEP = re.compile(rb"sep=([^\r\n])\r?\n")
BOM = b"\xef\xbb\xbf"


def demand_text(where: str, head: bytes) -> int:
    """The length of a byte order mark; a ValueError for what is no UTF-8 text."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError(
            f"{where}: is UTF-16; convert it first: iconv -f UTF-16 -t UTF-8 {where} > new.csv"
        )
    if b"\0" in head:
        raise ValueError(f"{where}: is no text; say what it is: format=")
    lines = head.split(b"\n")
    if len(lines) > 1:
        lines.pop()  # may end within a character
    odd = sum(not _decodes(line) for line in lines)
    if odd and (not _decodes(lines[0]) or odd > len(lines) // 20):
        raise ValueError(
            f"{where}: is not UTF-8, perhaps Latin-1; "
            f"convert it first: iconv -f LATIN1 -t UTF-8 {where} > new.csv"
        )
    if b"\r" in head and b"\n" not in head and head.count(b"\r") > 1:
        raise ValueError(
            f"{where}: its lines end in bare carriage returns; "
            f"convert it first: tr '\\r' '\\n' < {where} > new.csv"
        )
    return len(BOM) if head.startswith(BOM) else 0


def preamble(data: bytes) -> tuple[int, str | None]:
    """The length of lines before the table, and the separator if one of them names it.

    Excel writes ``sep=;``; programs write comments, which count as such if the line behind them has
    another number of words: ``#id,name`` may name the columns.
    """
    if match := _SEP.match(data):
        return match.end(), match[1].decode()
    lines = data.split(b"\n", _LOOKED_AT)[:_LOOKED_AT]
    count = next((i for i, line in enumerate(lines) if not line.startswith(b"#")), 0)
    if not count or _cuts(lines[count - 1]) == _cuts(lines[count]):
        count = max(count - 1, 0)
    return sum(len(line) + 1 for line in lines[:count]), None


def _cuts(line: bytes) -> int:
    return max(line.count(separator.encode()) for separator in SEPARATORS[:-1])


def squeezed(data: bytes, quote: bytes = b'"') -> bytes:
    """Lines whose fields runs of spaces part, with one space each; what is quoted stays.

    >>> squeezed(b'  1   2.5  yes\\n 10   3    no \\n')
    b'1 2.5 yes\\n10 3 no\\n'
    """
    pattern = rb"^ +| +(?=\r?$)|(?<= ) +"
    if quote not in data:
        return re.sub(pattern, b"", data, flags=re.MULTILINE)
    quoted = (
        rb"(?<![^ \r\n])(" + quote + rb"(?:[^" + quote + rb"]++|" + quote + quote + rb")*+" + quote
    )
    return re.sub(
        quoted + rb")|" + pattern, lambda found: found[1] or b"", data, flags=re.MULTILINE
    )


def split(record: str, separator: str, quote: str = '"') -> list[str]:
    """The fields of a record."""
    if separator == RUNS:
        record, separator = squeezed(record.encode(), quote.encode()).decode(), " "
    try:
        lines = StringIO(record, newline="")
        return next(csv.reader(lines, delimiter=separator, quotechar=quote), [])
    except csv.Error:  # a field beyond the reader's limit
        return record.split(separator)


def sniffed_separator(text: str) -> str:
    """The separator that cuts most lines into equally many fields."""
    best: tuple[float, str] = (0.0, ",")
    runs = (RUNS,) if re.search(r"^ |  ", text, re.MULTILINE) else ()
    for separator in (*SEPARATORS[:-1], *runs, SEPARATORS[-1]):
        rows = _rows(text, separator)
        widths = Counter(map(len, rows))
        if not widths:
            break
        width, count = widths.most_common(1)[0]
        if width > 1 and count / len(rows) > best[0]:
            best = (count / len(rows), separator)
    return best[1] if best[0] > 0.5 else ","


def _rows(text: str, separator: str) -> list[list[str]]:
    """The first lines; the very last one may be cut."""
    rows: list[list[str]] = []
    if separator == RUNS:
        text, separator = squeezed(text.encode(errors="replace")).decode(), " "
    try:
        for row in csv.reader(StringIO(text, newline=""), delimiter=separator):
            if row:
                rows.append(row)
            if len(rows) > _LOOKED_AT:
                break
    except csv.Error:  # a field beyond the reader's limit
        pass
    return rows[:-1] if len(rows) > _LOOKED_AT else rows


def has_names(first: Sequence[str], below: Sequence[Any], missing: Sequence[str] = ()) -> bool:
    """Whether the first record names the columns; `below` are the cells under each, as text."""
    numeric = False
    for cell, cells in zip(first[:_LOOKED_AT], below, strict=False):
        if judge("", cells, missing=missing).kind in NUMERIC:
            numeric = True
            if cell.strip() not in GAPS and not _fits(cell.strip()):
                return True  # a word above numbers
    if numeric:
        return _counts(first)
    cells = [cell.strip() for cell in first]
    if len(set(cells)) < len(cells) or not all(cells):
        return False
    met = (set(column.to_pylist()) for column in below)
    return not any(cell in column for cell, column in zip(cells, met, strict=True))


def _fits(cell: str) -> bool:
    """Whether a cell would do as a number, a date or a flag."""
    return judge("", pyarrow().array([cell])).kind in NUMERIC or _is_code(cell)


def _is_code(cell: str) -> bool:
    return cell.replace(",", "", 1).lstrip("+-").replace(".", "", 1).isdigit()


def _counts(cells: Sequence[str]) -> bool:
    """0, 1, 2, ... or 1, 2, 3, ..., as a program names columns."""
    run = [str(j) for j in range(len(cells) + 1)]
    return len(cells) > 3 and list(cells) in (run[:-1], run[1:])


def _decodes(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
