"""What the library says, in the words of the command line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

__all__ = ["in_flags", "rows_in_words"]

_FLAGS: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"types=\{'([^']*)': '([^']*)'\}", r"--types \1=\2"),
    (r"ignore=\['([^']*)'\]", r"--ignore \1"),
    (r"missing=\['([^']*)'\]", lambda found: f"--missing {shlex.quote(found[1])}"),
    (r"key='([^']*)'", r"--key \1"),
    (r"max_bad=", "--max-bad "),
    (r"make the pipeline with keep_rows=True, or fit a new one", "learn with --keep-rows, or anew"),
    (r"unlearn\(\.\.\., scope='all'\)|scope='all'", "--scope all"),
    (r"header=True", "--header"),
    (r"header=False", "--no-header"),
    (r"schema=read_run\(folder\)\.schema", "the same options"),
    (r"\b(target|key|ignore|types) (?=names |says |has )", r"--\1 "),
    (r"\b(target|separator|format|key|ignore|types)=(?=[\s,;:.)]|$)", r"--\1"),
)


def in_flags(text: str) -> str:
    """Arguments of Python as options.

    >>> in_flags("the target is the last column, 'y': target= names another")
    "the target is the last column, 'y': --target names another"
    >>> in_flags("looks like a name of rows: ignore=['id'] or key='id'")
    'looks like a name of rows: --ignore id or --key id'
    """
    for python, flag in _FLAGS:
        text = re.sub(python, flag, text)
    return text


def rows_in_words(count: int) -> str:
    """A number of rows.

    >>> rows_in_words(1), rows_in_words(1200)
    ('1 row', '1,200 rows')
    """
    return "1 row" if count == 1 else f"{count:,} rows"
