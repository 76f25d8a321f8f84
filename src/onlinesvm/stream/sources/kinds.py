"""What a column holds, judged by its first values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from onlinesvm.stream.sources.arrow import compute, pyarrow
from onlinesvm.stream.sources.schema import Kind
from onlinesvm.stream.sources.values import (
    FLAGS,
    FORMS,
    PAIRS,
    ambiguous,
    numbers,
    refused,
    to_seconds,
    without_gaps,
)

__all__ = ["Verdict", "are_slips", "count_numbers", "date_form", "judge"]

WORDS_OF_TEXT = 4  # on average, from which on words are a text and not the name of a category
_GLANCE = 50  # cells that tell whether a column is worth a closer look
ROW_NAMES = ("id", "index", "row", "key", "no", "nr", "number")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The kind of a column; an id is one that no model learns from."""

    kind: Kind
    form: str = ""
    is_id: bool = False
    is_empty: bool = False
    note: str = ""


def judge(name: str, cells: Any, decimal: str = "", missing: Sequence[str] = ()) -> Verdict:
    """The kind of a column by its first cells, an array of text with nulls."""
    pc = compute()
    texts = pc.drop_null(without_gaps(cells, missing))
    if not len(texts):
        note = f"column {name!r} has no value yet: taken as a category"
        return Verdict("category", is_empty=True, note=note)
    if _are_flags(texts):
        return Verdict("flag")
    offenders = _offenders(texts, lambda part: numbers(part, decimal))
    if offenders is not None and _any(pc.match_substring_regex(texts, r"^[+-]?0\d+$")):
        return Verdict("category")  # 007 is not 7
    if offenders is not None:
        return _number(name, texts, offenders, decimal)
    form = date_form(texts)
    if form:
        shown = f"; day and month may be the other way round: types={{{name!r}: 'date:...'}}"
        note = f"column {name!r} is read as {form}{shown}" if ambiguous(form) else ""
        return Verdict("date", form, note=note)
    kind = _words(texts)
    different = pc.count_distinct(texts).as_py()
    if kind == "category" and different == len(texts) >= 50:
        return Verdict(kind, note=_looks_like_a_name(name, "no value comes twice"))
    return Verdict(kind, note=_almost_numbers(name, texts, decimal))


def count_numbers(cells: Any, decimal: str) -> int:
    """How many cells are numbers with that decimal sign."""
    texts = compute().drop_null(without_gaps(cells))
    return len(texts) - len(refused(texts, lambda part: numbers(part, decimal)))


def date_form(texts: Any) -> str:
    """The form of dates, or "" for what is none."""
    tried = FORMS if _any(compute().match_substring_regex(texts, r"^\d{1,4}[-/.]\d")) else ()
    return next(
        (f for f in tried if _offenders(texts, lambda part, f=f: to_seconds(part, f)) is not None),
        "",
    )


def _number(name: str, texts: Any, offenders: list[int], decimal: str) -> Verdict:
    pc = compute()
    long = pc.sum(pc.match_substring_regex(texts, r"^[+-]?\d{16,}$")).as_py()
    if not are_slips(long, len(texts)):
        note = (
            f"column {name!r} has whole numbers too long for a number: taken as an id and ignored; "
            f"types={{{name!r}: 'category'}} learns from it"
        )
        return Verdict("category", is_id=True, note=note)
    note = ""
    if offenders:
        odd = [texts[i].as_py() for i in offenders]
        word = max(odd, key=odd.count)
        way = f"types={{{name!r}: 'category'}} takes them"
        if odd.count(word) > 1:
            way = f"missing=[{word!r}] takes it for a gap"
        note = f"column {name!r} is of numbers, but for {word!r:.40}: such rows are bad; {way}"
    else:
        values = numbers(texts, decimal).to_numpy(zero_copy_only=False)
        if len(values) >= 10 and values[0].is_integer() and (np.diff(values) == 1).all():
            note = _looks_like_a_name(name, "it counts the rows")
        elif _is_named_so(name) and len(np.unique(values)) == len(values) >= 10:
            note = _looks_like_a_name(name, "no value comes twice")
    return Verdict("number", decimal, note=note)


def _almost_numbers(name: str, texts: Any, decimal: str) -> str:
    """What to say of a column that one word keeps from being one of numbers."""
    pc = compute()
    found = pc.value_counts(texts)
    often = np.argsort(-found.field("counts").to_numpy(), kind="stable")[:_GLANCE]
    odd = refused(found.field("values").take(often), lambda some: numbers(some, decimal))
    if not odd:
        return ""
    most = found[int(often[min(odd)])].as_py()
    word, count = most["values"], most["counts"]
    rest = texts.filter(pc.not_equal(texts, word))
    for part in (rest.slice(0, _GLANCE), rest):  # most columns of words are known by the first
        if not len(part) or _offenders(part, lambda some: numbers(some, decimal)) is None:
            return ""
    return (
        f"column {name!r} is taken for words, for {word!r:.40} comes {count:,} times among numbers"
        f"; missing=[{word!r}] takes it for a gap"
    )


def _looks_like_a_name(name: str, why: str) -> str:
    return f"column {name!r} looks like a name of rows ({why}): ignore=[{name!r}] or key={name!r}"


def _is_named_so(name: str) -> bool:
    low = name.strip().lower()
    return low in ROW_NAMES or low.endswith(("_id", " id", "_index", ".id"))


def _are_flags(texts: Any) -> bool:
    pc = compute()
    if texts[0].as_py().lower() not in FLAGS:
        return False
    found = set(pc.unique(pc.utf8_lower(texts)).to_pylist())
    return any(found == set(pair) or (found <= set(pair) and len(min(found)) > 1) for pair in PAIRS)


def _offenders(texts: Any, cast: Any) -> list[int] | None:
    """The few cells that do not fit a kind; None where there are too many to call it that."""
    try:
        cast(texts)
        return []
    except pyarrow().ArrowInvalid:
        pass
    bad = refused(texts, cast)
    return bad if are_slips(len(bad), len(texts)) else None


def are_slips(few: int, n: int) -> bool:
    """Whether so few of n cells are mistakes of rows, and do not make the column another one."""
    return few <= max(n // 20, int(n >= 10))


def _words(texts: Any) -> Kind:
    pc = compute()
    words = pc.mean(pc.add(pc.count_substring_regex(texts, r"\s+"), 1)).as_py()
    varied = pc.count_distinct(texts).as_py() > len(texts) / 2
    return "text" if words >= WORDS_OF_TEXT and varied else "category"


def _any(mask: Any) -> bool:
    return bool(compute().any(mask).as_py())
