"""A model in words: a method's name and its parameters, checked before any data is read."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from onlinesvm.cli.methods import find_estimator

__all__ = ["build", "parse_pairs", "parse_params", "parse_words"]


def build(method: str, params: Mapping[str, Any]) -> Any:
    """An estimator; a parameter that it does not have, or cannot be, is a ValueError."""
    cls = find_estimator(method)
    known = cls().get_params()
    for name in params.keys() - known.keys():
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(known)}"
        raise ValueError(f"-p {name}: {cls.__name__} has no such parameter; {hint}")
    model = cls(**params)
    try:
        model._core_params(1)
    except ValueError as error:
        raise ValueError(f"--model {cls.__name__}: {error}") from None
    return model


def parse_params(words: Iterable[str]) -> dict[str, Any]:
    """Python values where they read as such, infinities, else text.

    >>> parse_params(["C=10", "s=-inf", "kernel=rbf", "class_weight={0: 2.5}"])
    {'C': 10, 's': -inf, 'kernel': 'rbf', 'class_weight': {0: 2.5}}
    """
    pairs = parse_pairs("-p", words, "C=10")
    return {name: _value(text) for name, text in pairs.items()}


def parse_pairs(option: str, words: Iterable[str], example: str) -> dict[str, str]:
    """NAME=VALUE words as a dict; a name twice is refused.

    >>> parse_pairs("--types", ["zip=category"], "zip=category")
    {'zip': 'category'}
    """
    pairs: dict[str, str] = {}
    for word in words:
        name, equals, text = (part.strip() for part in word.partition("="))
        if not (name and equals and text):
            raise ValueError(f"{option} {word}: write NAME=VALUE, for example {option} {example}")
        if name in pairs:
            raise ValueError(f"{option} {word}: {name} is given twice; leave one out")
        pairs[name] = text
    return pairs


def parse_words(words: Iterable[str]) -> tuple[str, ...]:
    """Words, several of them apart by commas.

    >>> parse_words(["k.A., ?", "9999"])
    ('k.A.', '?', '9999')
    """
    return tuple(part.strip() for word in words for part in word.split(",") if part.strip())


def _value(text: str) -> Any:
    if text.lstrip("+-") in {"inf", "infinity"}:
        return float(text)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):  # of its parser
        return text
