"""The catalogue: every public estimator, read off the classes themselves."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text
from sklearn.base import is_classifier, is_outlier_detector

import onlinesvm

__all__ = ["abilities", "catalogue", "estimators", "find_estimator", "summary"]

_TASKS = {
    "classify": "For labels",
    "regress": "For numbers",
    "detect": "For what is unusual, without labels",
}


def estimators() -> dict[str, type[Any]]:
    """Public estimators by name, in the order the library lists them."""
    return {cls.__name__: cls for cls in onlinesvm.all_estimators()}


def find_estimator(name: str) -> type[Any]:
    """The estimator of that name, in letters of any case; a near miss gets a hint."""
    known = {cls.__name__.lower(): cls for cls in estimators().values()}
    if name.lower() in known:
        return known[name.lower()]
    near = get_close_matches(name.lower(), known, n=1)
    every = ", ".join(cls.__name__ for cls in known.values())
    hint = f"did you mean {known[near[0]].__name__}?" if near else f"choose from {every}"
    raise ValueError(f"--model {name}: no such method; {hint}")


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


def catalogue() -> Iterator[RenderableType]:
    """Every estimator in a few lines, those for one task together."""
    for word, heading in _TASKS.items():
        yield Text(heading, style="bold")
        for name, cls in estimators().items():
            if task(cls) != word:
                continue
            yield Text.assemble(
                "  ", (name, "bold cyan"), "  ", (", ".join(abilities(cls)), "green")
            )
            yield Padding(summary(cls), (0, 0, 0, 6))
        yield ""
