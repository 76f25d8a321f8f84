"""Redis Streams."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from onlinesvm.stream.sources.arrow import demand
from onlinesvm.stream.sources.broker import COUNT, Broker, Message, Messages, address
from onlinesvm.stream.sources.source import Place
from onlinesvm.stream.sources.wishes import Wishes

_FIRST = 16  # messages that are asked for before their size is known
_ENOUGH = 16 << 20  # bytes of a block

__all__ = ["RedisStream"]


class RedisStream(Broker):
    """Entries of a stream, ``redis://host:6379/stream``, by their ids.

    An entry is a JSON object in its only field, or has the columns as its fields.
    """

    def __init__(self, spec: str, wishes: Wishes) -> None:
        self._redis = demand("redis", "reading Redis", "redis")
        parts, self._stream = address(spec, 6379, "stream")
        self._client = self._redis.Redis(
            host=parts.hostname, port=parts.port, username=parts.username, password=parts.password
        )
        super().__init__(f"redis://{parts.hostname}:{parts.port}/{self._stream}", wishes)

    def _batches(self, since: Place | None) -> Iterator[tuple[Messages, Place]]:
        last = "0-0" if since is None else _checked(since)
        try:
            if since is not None:
                self._demand_kept(last)
            while entries := self._block(last):
                last = entries[-1].where
                yield entries, {"id": last}
        except self._redis.RedisError as error:
            raise ValueError(f"{self.name}: {error}") from None

    def _block(self, last: str) -> Messages:
        """The next COUNT messages, or as many as have so many bytes, fetched a few at a time."""
        messages: Messages = []
        size, asked = 0, _FIRST
        while len(messages) < COUNT and size < _ENOUGH:
            asked = min(asked, COUNT - len(messages))
            found = self._client.xread({self._stream: last}, count=asked)
            if not found:
                break
            entries = found[self._stream.encode()][0] if isinstance(found, dict) else found[0][1]
            messages += [Message(_json(fields), key.decode()) for key, fields in entries]
            last = messages[-1].where
            size = sum(len(message.data) for message in messages)
            if len(entries) < asked:
                break
            asked = max(1, _ENOUGH * len(messages) // max(size, 1))
        return messages

    def _demand_kept(self, last: str) -> None:
        """Refuse to go on where unread entries may be gone: the oldest go first."""
        if not self._client.xrange(self._stream, last, last):
            raise ValueError(
                f"{self.name}: entry {last}, the last that was read, is gone, and others behind it "
                "may be; begin anew, and trim less"
            )

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()


def _json(fields: dict[bytes, bytes]) -> bytes:
    if len(fields) == 1:
        return next(iter(fields.values()))
    try:
        texts: dict[str, Any] = {name.decode(): value.decode() for name, value in fields.items()}
    except UnicodeDecodeError:
        return b"\xff"  # which is told as what it is
    return json.dumps(texts).encode()


def _checked(since: Place) -> str:
    last = since.get("id")
    if not isinstance(last, str) or not re.fullmatch(r"\d{1,20}-\d{1,20}", last):
        raise ValueError(f"the place has {last!r:.40} as its id; it is of another source")
    return last
