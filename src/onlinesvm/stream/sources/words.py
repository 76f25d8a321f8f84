"""Spellings that mean no value, and those that mean yes or no."""

from __future__ import annotations

__all__ = ["FLAGS", "GAPS", "NO_LABEL", "PAIRS"]

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
