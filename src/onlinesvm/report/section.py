"""A part of a page: a heading, and what stands below it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

__all__ = ["Section", "render"]


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a page.

    Attributes
    ----------
    heading : str
    body : str
        HTML; text of a file in it must be escaped.
    width : {"half", "full"}
        Whether it may stand beside another.
    """

    heading: str
    body: str
    width: Literal["half", "full"] = "half"


def render(template: str, **values: Any) -> str:
    """A template of this package with its values, which are escaped."""
    return str(_environment().get_template(template).render(**values))


@cache
def _environment() -> Any:
    try:
        import jinja2
    except ImportError as missing:
        raise ImportError("pages need jinja2: in a checkout, pip install '.[report]'") from missing
    return jinja2.Environment(
        loader=jinja2.PackageLoader("onlinesvm.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
