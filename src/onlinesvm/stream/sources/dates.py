"""Dates and times as seconds since 1970, by a form that is settled once."""

from __future__ import annotations

from typing import Any

from onlinesvm.stream.sources.arrow import compute, pyarrow

__all__ = ["FORMS", "ambiguous", "to_seconds"]

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
