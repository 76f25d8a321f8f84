"""Everything a run has learned: model, marks, and the place where it goes on.

The container is that of saved models: arrays and JSON under a SHA-256, no pickle.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from onlinesvm.files.json_values import from_json, to_json
from onlinesvm.files.persistence import pack_among, unpack_among
from onlinesvm.stream import plain
from onlinesvm.stream.run.rows import block_from_bytes, block_to_bytes
from onlinesvm.stream.sources import Block, Examples, Place

__all__ = ["Checkpoint"]

_DAMAGED = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
_KIND = "RunCheckpoint"
_NUMBERS = ("number", "arrived", "taken", "bad", "letters", "snapped")
_FACTS = ("run", *_NUMBERS, "course", "place")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A run between two lessons.

    Attributes
    ----------
    run : str
        Whose checkpoint it is.
    number : int
    model : estimator
    course : dict
        The state of a `Course`.
    arrived : int
        Rows that came from the source, good and bad.
    taken : int
        Rows that have become lessons.
    bad : int
        Rows that have become dead letters.
    letters : int
        The length of ``dead_letters.jsonl`` in bytes.
    snapped : int
        Examples seen at the last snapshot.
    place : Place or None
        Where the source goes on.
    held : Examples or None
        Rows before that place that are no lesson yet.
    """

    run: str
    number: int
    model: Any
    course: Mapping[str, Any]
    arrived: int
    taken: int
    bad: int
    letters: int
    snapped: int
    place: Place | None
    held: Examples | None

    @staticmethod
    def first(run: str, model: Any, course: Mapping[str, Any]) -> Checkpoint:
        """Before anything has happened."""
        return Checkpoint(run, 0, model, course, 0, 0, 0, 0, 0, None, None)

    def to_bytes(self) -> bytes:
        """As bytes; a ValueError if the model has something that no file can hold."""
        facts = {name: getattr(self, name) for name in _FACTS}
        text = json.dumps(to_json("checkpoint", facts), allow_nan=False)
        arrays = {"facts": np.frombuffer(text.encode(), dtype=np.uint8)}
        if self.held is not None:
            rows = block_to_bytes(Block(self.held, {}))
            arrays["held"] = np.frombuffer(rows, dtype=np.uint8)
        return pack_among(_KIND, self.model, arrays)

    @staticmethod
    def from_bytes(data: bytes, name: str) -> Checkpoint:
        """The same again; one line says what is wrong with it."""
        try:
            return _understood(*unpack_among(data, _KIND))
        except _DAMAGED as error:
            raise ValueError(f"{name} cannot be used: {error!s:.400}") from None


def _understood(model: Any, arrays: dict[str, Any]) -> Checkpoint:
    facts = from_json(json.loads(arrays.pop("facts").tobytes()))
    known = dict(zip(_FACTS, plain.members(facts, _FACTS), strict=True))
    plain.counts(*(known[name] for name in _NUMBERS))
    if not isinstance(known["run"], str) or not isinstance(known["place"], dict | None):
        raise ValueError("it does not say whose it is, or where the source goes on")
    held = arrays.pop("held", None)
    if arrays:
        raise ValueError("it has arrays that are of no use")
    rows = None if held is None else block_from_bytes(held.tobytes()).examples
    return Checkpoint(model=model, held=rows, **known)
