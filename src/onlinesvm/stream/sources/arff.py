"""ARFF, as Weka, MOA and OpenML write it: a head that names columns and kinds, and rows of CSV."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from onlinesvm.stream.sources.delimited import Delimited
from onlinesvm.stream.sources.dialect import demand_text
from onlinesvm.stream.sources.raw import Head, TooShort
from onlinesvm.stream.sources.wishes import Wishes, distinct_names

__all__ = ["looks_like_it", "settle_arff"]

_DATA = re.compile(rb"^[ \t]*@data[ \t]*\r?\n", re.IGNORECASE | re.MULTILINE)
_ATTRIBUTE = re.compile(
    r"""^[ \t]*@attribute[ \t]+(?:'((?:[^'\\]|\\.)*)'|"([^"]*)"|(\S+))[ \t]+(\{|\w+)""",
    re.IGNORECASE | re.MULTILINE,
)
_KINDS = {"numeric": "number", "real": "number", "integer": "number", "{": "category"}
_FIRST = re.compile(rb"(?:[ \t]*(?:%[^\n]*)?\r?\n)*")  # blank lines and comments


@dataclass(frozen=True, slots=True)
class _Header:
    names: list[str]
    kinds: dict[str, str]  # of those columns for which it tells
    notes: tuple[str, ...]


def looks_like_it(data: bytes) -> bool:
    """Whether text begins as ARFF does: comments, then a relation."""
    return data[_comments(data) :].lstrip()[:9].lower() == b"@relation"


def settle_arff(where: str, head: Head, wishes: Wishes) -> Delimited:
    """A table whose columns are named and told in its head; `types` may tell them otherwise."""
    mark = demand_text(where, head.data)
    begin = _DATA.search(head.data, mark)
    if begin is None:
        if not head.is_all:
            raise TooShort
        raise ValueError(f"{where}: has no line @data; is it ARFF?")
    header = _header(where, head.data[mark : begin.start()].decode(errors="replace"))
    start = begin.end() + _comments(head.data[begin.end() :])
    if head.data[start : start + 1] == b"{":
        raise ValueError(f"{where}: its rows are sparse, {{0 1, 3 2}}; write them as LIBSVM text")
    told = {} if wishes.schema is not None else {**header.kinds, **wishes.types}
    quote = "'" if re.search(rb"(?:^|,)[ \t]*'", head.data[start:], re.MULTILINE) else '"'
    form = Delimited.under(
        where, head, start, ",", quote, header.names, replace(wishes, types=told, header=False)
    )
    return replace(form, notes=(*header.notes, *form.notes))


def _header(where: str, text: str) -> _Header:
    found = [match.groups() for match in _ATTRIBUTE.finditer(text)]
    if not found:
        raise ValueError(f"{where}: has no @attribute before @data; is it ARFF?")
    written = [re.sub(r"\\(.)", r"\1", one or two or three) for one, two, three, _ in found]
    names, notes = distinct_names(written)
    words = (kind.lower() for *_, kind in found)
    kinds = {n: _KINDS[word] for n, word in zip(names, words, strict=True) if word in _KINDS}
    return _Header(names, kinds, notes)


def _comments(data: bytes) -> int:
    match = _FIRST.match(data)
    return match.end() if match else 0
