"""The first bytes of a source, from which its form is settled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from onlinesvm.stream.sources.raw import BLOCK, LONGEST, Stream

__all__ = ["Head", "TooShort", "settled"]

T = TypeVar("T")


class TooShort(Exception):
    """More of the source is needed to settle how it is written."""


@dataclass(frozen=True, slots=True)
class Head:
    """The first bytes of a source, and whether they are all."""

    data: bytes
    is_all: bool


def settled(stream: Stream, judge: Callable[[Head], T], enough: int = BLOCK) -> tuple[T, bytes]:
    """What a judge says of the first bytes, read until it has seen enough; and these bytes."""
    data = b""
    while True:
        piece = b"?"
        while piece and len(data) < enough:
            piece = stream.read(enough - len(data))
            data += piece
        try:
            return judge(Head(data, not piece)), data
        except TooShort:
            if enough >= LONGEST:
                raise ValueError("a first record of more than 64 MB; is it text?") from None
            enough *= 4
