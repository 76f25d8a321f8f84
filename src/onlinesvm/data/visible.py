"""Text of others, for one line of a terminal or a page: nothing in it is obeyed."""

from __future__ import annotations

import re

__all__ = ["visible"]

# Control characters, surrogates, and the marks that turn the direction of writing.
_UNSEEN = "\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_IN_A_LINE = re.compile(f"[\n{_UNSEEN}]")
_IN_A_PAGE = re.compile(f"[{_UNSEEN}]")


def visible(text: object, *, lines: bool = False) -> str:
    """Text of a file or model in which what a terminal or browser would obey is spelt out.

    ``lines=True`` leaves newlines as they are.

    >>> print(visible("red\\x1b[2J"))
    red\\x1b[2J
    """
    unseen = _IN_A_PAGE if lines else _IN_A_LINE
    return unseen.sub(lambda found: ascii(found[0])[1:-1], str(text))
