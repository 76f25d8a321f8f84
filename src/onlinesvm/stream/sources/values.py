"""One column of text as the values of its kind, and the rows where that cannot be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlinesvm.stream.sources.arrow import compute, pyarrow
from onlinesvm.stream.sources.schema import Column

__all__ = [
    "FLAGS",
    "FORMS",
    "GAPS",
    "LONGEST_WORD",
    "NO_LABEL",
    "PAIRS",
    "Read",
    "ambiguous",
    "numbers",
    "read_column",
    "refused",
    "to_seconds",
    "without_gaps",
]

# Of a target these may be classes: severity none, mild, high.
_MAYBE = frozenset({"None", "none", "NONE", "nil", "NIL", "-", "--", "."})
# What stands for no label, and for no value; compared without the space around it.
NO_LABEL = frozenset(
    {"", "?", "NA", "N/A", "n/a", "na", "#N/A", "#NA", "<NA>", "NaN", "nan", "NAN", "-nan", "-NaN"}
    | {"null", "NULL", "Null", "\\N"}
)
GAPS = NO_LABEL | _MAYBE
PAIRS = (("false", "true"), ("no", "yes"), ("off", "on"), ("f", "t"), ("n", "y"))
FLAGS = {word: float(value) for pair in PAIRS for value, word in enumerate(pair)}


_DAYS = ("%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%m-%Y")
_TIMES = ("", " %H:%M", " %H:%M:%S")
# In the order in which they are tried; "iso" is 2026-11-30, 2026-11-30T08:15:00.25 and the like.
FORMS = ("iso", "iso zone", *(day + time for day in _DAYS for time in _TIMES))


def to_seconds(texts: Any, form: str) -> Any:
    """An array of text as float64; pyarrow's ArrowInvalid where one is no date of the form.

    A time without a zone is taken as UTC.
    """
    pa, pc = pyarrow(), compute()
    if form == "epoch":
        return pc.cast(texts, pa.float64())
    if form in ("iso", "iso zone"):
        short = pc.replace_substring_regex(texts, r"(\.\d{6})\d+", r"\1")  # nanoseconds
        zone = "UTC" if form == "iso zone" else None
        times = pc.cast(short, pa.timestamp("us", zone))
    else:
        times = pc.strptime(texts, format=form, unit="us")
    return pc.divide(pc.cast(pc.cast(times, pa.int64()), pa.float64()), 1e6)


def ambiguous(form: str) -> bool:
    """Whether day and month could change places."""
    return form.startswith(("%m/%d", "%d/%m"))


LONGEST_WORD = 1000  # letters of a label, a key or a category
LONGEST_TEXT = 1 << 20


@dataclass(frozen=True, slots=True)
class Read:
    """The values of a column, and why some rows have none that can be used."""

    values: NDArray[Any]
    bad: dict[int, str] = field(default_factory=dict)


def read_column(cells: Any, column: Column, missing: Sequence[str] = ()) -> Read:
    """Cells as values: numbers, flags and dates as float64 with gaps nan, words with gaps None.

    `cells` is an array of float64 where the format has numbers of its own, else pyarrow's, of text
    or of bytes that should be text. `missing` are spellings of a gap; of a number, however written.
    """
    if isinstance(cells, np.ndarray):
        return _finite(_holed(cells, missing) if column.kind == "number" else cells)
    cells, undecodable = _decoded(cells)
    read = _READERS[column.kind](cells, column, missing)
    return Read(read.values, {**read.bad, **dict.fromkeys(undecodable, "is not UTF-8")})


def refused(values: Any, cast: Callable[[Any], Any]) -> list[int]:
    """The rows that a cast refuses: a half that is refused is halved again."""
    bad, open_ = [], [(0, len(values))]
    while open_:
        start, stop = open_.pop()
        if start == stop:
            continue
        try:
            cast(values.slice(start, stop - start))
        except pyarrow().ArrowInvalid:
            if stop - start == 1:
                bad.append(start)
            else:
                middle = (start + stop) // 2
                open_ += [(middle, stop), (start, middle)]
    return bad


def without_gaps(texts: Any, missing: Sequence[str] = ()) -> Any:
    """Text without the space around it, null where it says that there is nothing."""
    pa, pc = pyarrow(), compute()
    plain = pc.utf8_trim_whitespace(texts)
    return pc.if_else(pc.is_in(plain, pa.array(sorted(GAPS.union(missing)))), None, plain)


def numbers(texts: Any, decimal: str = "") -> Any:
    """Text without gaps as float64; pyarrow's ArrowInvalid where one is no number."""
    pa, pc = pyarrow(), compute()
    if decimal == ",":  # a point is none then
        texts = pc.replace_substring(pc.replace_substring(texts, ".", "?"), ",", ".")
    return pc.cast(texts, pa.float64())


def _decoded(cells: Any) -> tuple[Any, list[int]]:
    pa, pc = pyarrow(), compute()
    if isinstance(cells, pa.ChunkedArray):
        cells = cells.combine_chunks()
    if pa.types.is_dictionary(cells.type) or not pa.types.is_binary(cells.type):
        return cells, []
    try:
        return pc.cast(cells, pa.string()), []
    except pa.ArrowInvalid:
        bad = refused(cells, lambda part: pc.cast(part, pa.string()))
        return pc.cast(_emptied(cells, bad), pa.string()), bad


def _emptied(values: Any, rows: list[int]) -> Any:
    """The same with null in some rows."""
    mask = np.zeros(len(values), dtype=bool)
    mask[rows] = True
    pa, pc = pyarrow(), compute()
    return pc.if_else(pa.array(mask), pa.scalar(None, values.type), values)


def _holed(values: NDArray[Any], missing: Sequence[str]) -> NDArray[Any]:
    """Numbers with nan for those that mean that there is none."""
    for word in missing:
        try:
            number = float(word)
        except ValueError:
            continue
        if (values == number).any():
            values = np.where(values == number, np.nan, values)
    return values


def _cast(cells: Any, cast: Callable[[Any], Any], what: str, missing: Sequence[str]) -> Read:
    texts = without_gaps(cells, missing)
    bad: dict[int, str] = {}
    try:
        made = cast(texts)
    except pyarrow().ArrowInvalid:
        rows = refused(texts, cast)
        bad = {row: f"{_shown(texts[row].as_py())} is no {what}" for row in rows}
        made = cast(_emptied(texts, rows))
    values = np.array(made.to_numpy(zero_copy_only=False), dtype=np.float64)
    return Read(values, {**_finite(values).bad, **bad})


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


def _finite(values: NDArray[Any]) -> Read:
    infinite = np.isinf(values)
    rows = np.flatnonzero(infinite).tolist() if infinite.any() else []
    return Read(values, dict.fromkeys(rows, "is infinite"))


def _number(cells: Any, column: Column, missing: Sequence[str]) -> Read:
    read = _cast(cells, lambda texts: numbers(texts, column.form), "number", missing)
    return Read(_holed(read.values, missing), read.bad)


def _date(cells: Any, column: Column, missing: Sequence[str]) -> Read:
    form = column.form or "iso"
    what = "date" if form == "iso" else f"date of the form {form!r}"
    return _cast(cells, lambda texts: to_seconds(texts, form), what, missing)


def _words(cells: Any, gaps: frozenset[str]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The different words of a column, None last, and which of them each row has."""
    pa, pc = pyarrow(), compute()
    coded = cells if pa.types.is_dictionary(cells.type) else pc.dictionary_encode(cells)
    found = [word.strip() for word in coded.dictionary.to_pylist()]
    words = np.array([None if word in gaps else word for word in found] + [None], dtype=object)
    return words, pc.fill_null(coded.indices, len(found)).to_numpy(zero_copy_only=False)


def _category(cells: Any, column: Column, missing: Sequence[str]) -> Read:
    gaps = NO_LABEL if column.part == "target" else GAPS
    words, codes = _words(cells, gaps.union(missing))
    bad: dict[int, str] = {}
    for k, word in enumerate(words):
        if word is not None and len(word) > LONGEST_WORD:
            bad |= dict.fromkeys(np.flatnonzero(codes == k).tolist(), _too_long(word, LONGEST_WORD))
            words[k] = word[:1]  # arrays of labels are as wide as the longest
    return Read(words[codes], bad)


def _too_long(text: str, most: int) -> str:
    lines = text.count("\n")
    told = f"is longer than {most:,} letters"
    return told if not lines else f"{told}, over {lines + 1:,} lines: is a quote closed too late?"


def _flag(cells: Any, column: Column, missing: Sequence[str]) -> Read:
    words, codes = _words(cells, GAPS.union(missing))
    known = [None if word is None else FLAGS.get(word.lower()) for word in words]
    wrong = [word is not None and value is None for word, value in zip(words, known, strict=True)]
    rows = np.flatnonzero(np.array(wrong)[codes]) if any(wrong) else ()
    bad = {int(row): f"{_shown(words[codes[row]])} is neither yes nor no" for row in rows}
    return Read(np.array(known, dtype=np.float64)[codes], bad)


def _text(cells: Any, column: Column, missing: Sequence[str]) -> Read:
    gaps = GAPS.union(missing)
    values = np.empty(len(cells), dtype=object)
    values[:] = [t if t is not None and t.strip() not in gaps else None for t in cells.to_pylist()]
    bad: dict[int, str] = {}
    for i, text in enumerate(values):
        if text is not None and len(text) > LONGEST_TEXT:
            bad[i], values[i] = _too_long(text, LONGEST_TEXT), None
    return Read(values, bad)


_READERS = {"number": _number, "flag": _flag, "category": _category, "text": _text, "date": _date}
