"""pyarrow, imported when the first source is opened and not before."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

__all__ = ["compute", "csv", "demand", "pyarrow"]


def demand(module: str, what: str, extra: str = "stream") -> Any:
    """A module that only some sources need; its absence is one line that says how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError(
            f"{what} needs {module.partition('.')[0]}: in a checkout, pip install '.[{extra}]'"
        ) from None


@cache
def pyarrow() -> Any:
    """The module itself."""
    return demand("pyarrow", "reading streams")


@cache
def compute() -> Any:
    """Functions of arrays."""
    return demand("pyarrow.compute", "reading streams")


@cache
def csv() -> Any:
    """The reader of delimited text."""
    return demand("pyarrow.csv", "reading streams")
