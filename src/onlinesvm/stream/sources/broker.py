"""What all brokers share: JSON messages in blocks by count, from an offset that is ours to keep."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit

from onlinesvm.stream.sources.examples import Fault
from onlinesvm.stream.sources.json_text import Objects
from onlinesvm.stream.sources.raw import shown
from onlinesvm.stream.sources.source import BadRow, Block, Place
from onlinesvm.stream.sources.wishes import Wishes

__all__ = ["COUNT", "Broker", "Message", "Messages", "address", "unsigned"]

COUNT = 1000  # messages a block, fewer where there are no more for now
LONGEST = 4 << 20  # bytes of a message; what is read of it takes many times that


@dataclass(frozen=True, slots=True)
class Message:
    """What a message says, and where it is found again."""

    data: bytes
    where: str


Messages = list[Message]


class Broker(ABC):
    """Rows of a topic or stream of JSON objects.

    The place is the broker's own offset, kept in the run's checkpoint; nothing is acknowledged, so
    nothing is lost when a run dies between learning and saying so. Silence ends `blocks`; call it
    again with the last place.
    """

    replays = True
    live = True

    def __init__(self, name: str, wishes: Wishes) -> None:
        self.name = name
        first, _ = next(self._batches(None), ([], {}))
        if not first and wishes.schema is None:
            raise ValueError(f"{name}: has no message yet; types are settled by the first ones")
        items = [bounded(message.data) for message in first]
        self._objects = (
            Objects.settle(name, items, wishes)
            if wishes.schema is None or items
            else Objects(wishes.schema)
        )
        self.schema, self.notes = self._objects.schema, self._objects.notes

    def identity(self) -> dict[str, Any]:
        """The address."""
        return {"format": "messages", "name": self.name}

    def blocks(self, since: Place | None = None) -> Iterator[Block]:
        """The messages behind a place, up to the last that is there now."""
        for messages, end in self._batches(since):
            examples, faults = self._objects.read([bounded(m.data) for m in messages])
            faults |= {
                i: Fault(f"is longer than {LONGEST >> 20} MB")
                for i in faults
                if len(messages[i].data) > LONGEST
            }
            bad = [
                BadRow(shown(messages[i].data), f.reason, f.column, file=messages[i].where)
                for i, f in faults.items()
            ]
            yield Block(examples, end, bad)

    def close(self) -> None:  # noqa: B027 (most have nothing to let go)
        """Let go of connections, where any are held between calls."""

    @abstractmethod
    def _batches(self, since: Place | None) -> Iterator[tuple[Messages, Place]]:
        """Messages behind a place, at most COUNT at once, and the place behind them."""


def bounded(data: bytes) -> bytes:
    """The same, or nothing, which is no JSON either, where it is too long."""
    return data if len(data) <= LONGEST else b""


def address(spec: str, port: int, what: str) -> tuple[SplitResult, str]:
    """The parts of ``scheme://host:port/name`` with its port, and the name."""
    parts = urlsplit(spec)
    name = parts.path.strip("/")
    if not parts.hostname or not name or "/" in name:
        raise ValueError(f"{unsigned(spec)!r:.80} must be {parts.scheme}://host:{port}/{what}")
    try:
        known = parts.port or port
    except ValueError:
        raise ValueError(f"{unsigned(spec)!r:.80} has no port between 1 and 65535") from None
    host, at = parts.hostname, f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    return parts._replace(netloc=f"{at}{host}:{known}"), name


def unsigned(spec: str) -> str:
    """An address without the name and password in it."""
    return re.sub(r"//.*@", "//...@", spec, flags=re.DOTALL)
