"""A part of a page: a heading, and what stands below it."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Literal

__all__ = ["Section"]


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a page.

    Attributes
    ----------
    heading : str
    body : str
        HTML; whoever makes it has escaped what came from a file.
    width : {"half", "full"}
        Whether it may stand beside another.
    """

    heading: str
    body: str
    width: Literal["half", "full"] = "half"

    def html(self) -> str:
        """The part as HTML."""
        place = ' class="full"' if self.width == "full" else ""
        return f"<section{place}>\n<h2>{escape(self.heading)}</h2>\n{self.body}</section>"
