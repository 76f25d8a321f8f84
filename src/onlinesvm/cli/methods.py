"""The catalogue: every public estimator, read off the classes themselves."""

from __future__ import annotations

import inspect
from difflib import get_close_matches
from typing import Any

from rich.table import Table
from sklearn.base import is_classifier, is_outlier_detector

import onlinesvm

__all__ = ["abilities", "estimators", "find_estimator", "methods_table", "summary"]


def estimators() -> dict[str, type[Any]]:
    """Public estimators by name, in the order the library lists them."""
    return {cls.__name__: cls for cls in onlinesvm.all_estimators()}


def find_estimator(name: str) -> type[Any]:
    """The estimator of that name; a near miss gets a hint."""
    known = estimators()
    if name in known:
        return known[name]
    by_lower = {candidate.lower(): candidate for candidate in known}
    near = get_close_matches(name.lower(), by_lower, n=1)
    hint = f"did you mean {by_lower[near[0]]}?" if near else f"choose from {', '.join(known)}"
    raise ValueError(f"--method {name}: no such estimator; {hint}")


def summary(cls: type[Any]) -> str:
    """The first sentence of the docstring."""
    return (inspect.getdoc(cls) or "").partition("\n\n")[0].replace("\n", " ")


def task(cls: type[Any]) -> str:
    """What it is for, in a word."""
    if is_outlier_detector(cls()):
        return "detect"
    return "classify" if is_classifier(cls()) else "regress"


def abilities(cls: type[Any]) -> list[str]:
    """What it can do beyond learning and predicting, in words."""
    parameters = inspect.signature(cls).parameters
    found = {
        "streams": hasattr(cls, "partial_fit"),
        "kernels": "kernel" in parameters,
        "unlearns": _offers(cls, "unlearn"),
        "asks for labels": "query" in parameters,
        "proves optimality": _offers(cls, "kkt_residual"),
        "bounded memory": bool({"budget", "keep_non_support", "truncation"} & parameters.keys()),
    }
    return [ability for ability, there in found.items() if there]


def _offers(cls: type[Any], verb: str) -> bool:
    return bool(cls.can(verb)) if hasattr(cls, "can") else hasattr(cls, verb)


def methods_table() -> Table:
    """One row for each estimator."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 1, 0), header_style="bold")
    table.add_column("method", no_wrap=True, style="bold cyan")
    table.add_column("task", no_wrap=True)
    table.add_column("what for", ratio=3)
    table.add_column("can", ratio=2, style="green")
    for name, cls in estimators().items():
        table.add_row(name, task(cls), summary(cls), ", ".join(abilities(cls)))
    return table
