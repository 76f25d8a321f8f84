"""Columns become examples; a row with a fault in any of them is left out, and told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from onlinesvm.stream.sources.frame import Frame
from onlinesvm.stream.sources.schema import Column, Schema
from onlinesvm.stream.sources.source import Examples
from onlinesvm.stream.sources.values import read_column

__all__ = ["Fault", "assemble", "labels_of", "no_examples"]

WHOLE = 2.0**53  # beyond it, neighbouring integers are one float
NUMERIC = ("number", "flag")


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a row cannot be learned from."""

    reason: str
    column: str | None = None


def assemble(
    schema: Schema, cells: Mapping[str, Any], n: int, faults: Mapping[int, Fault] | None = None
) -> tuple[Examples, dict[int, Fault]]:
    """The good rows of a block as examples, and the faults of the others by row.

    `cells` has the columns that the format found, by name; `faults` what it knows already. A column
    that is not there and not a feature was not asked for.
    """
    found = dict(faults or {})
    reads: dict[str, NDArray[Any]] = {}
    for column in schema.columns:
        if column.part == "ignored" or column.name not in cells:
            continue
        read = read_column(cells[column.name], column, schema.missing)
        reads[column.name] = read.values
        for row, reason in (_unfit(read.values, column) | read.bad).items():
            found.setdefault(row, Fault(reason, column.name))
    good: Any = slice(None)
    if found:
        good = np.ones(n, dtype=bool)
        good[list(found)] = False
    y = next((reads[c.name][good] for c in _there(schema, "target", reads)), None)
    keys = [labels_of(reads[c.name][good]).tolist() for c in _there(schema, "key", reads)]
    return (
        Examples(
            _rows(schema.features, reads, n, good),
            None if y is None else labels_of(y),
            list(zip(*keys, strict=True)) if len(keys) > 1 else keys[0] if keys else None,
        ),
        dict(sorted(found.items())),
    )


def _there(schema: Schema, part: str, reads: Mapping[str, Any]) -> list[Column]:
    return [c for c in schema.columns if c.part == part and c.name in reads]


def no_examples(schema: Schema) -> Examples:
    """None at all, in the form of a source."""
    if schema.sparse:
        return Examples(sp.csr_array((0, schema.width)), np.empty(0) if schema.target else None)
    empty = {c.name: np.empty(0) for c in schema.columns if c.part != "ignored"}
    return assemble(schema, empty, 0)[0]


def _unfit(values: NDArray[Any], column: Column) -> dict[int, str]:
    """The rows that lack what every example must have."""
    if column.part not in ("target", "key"):
        return {}
    gaps = np.isnan(values) if values.dtype.kind == "f" else values == None  # noqa: E711
    bad = dict.fromkeys(np.flatnonzero(gaps).tolist(), f"no {column.part}")
    if column.part == "key" and values.dtype.kind == "f":
        broken = np.flatnonzero(~gaps & ((values != np.floor(values)) | (abs(values) >= WHOLE)))
        bad |= dict.fromkeys(broken.tolist(), "is no whole number, as keys before were")
    return bad


def _rows(
    features: tuple[Column, ...], reads: Mapping[str, NDArray[Any]], n: int, good: Any
) -> Any:
    if any(c.kind not in NUMERIC for c in features):
        return Frame({c.name: reads[c.name][good] for c in features})
    X = np.empty((n, len(features)))
    for j, column in enumerate(features):
        X[:, j] = reads[column.name]
    return X[good]


def labels_of(values: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers as such: a class is 1, not 1.0."""
    if values.dtype.kind != "f":
        return values
    if (values == np.floor(values)).all() and (abs(values) < WHOLE).all():
        return values.astype(np.int64)
    return values
