"""A source whose first block somebody has seen already."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from onlinesvm.stream.sources.schema import Schema
from onlinesvm.stream.sources.source import Block, Place, Source

__all__ = ["Peeked"]


class Peeked:
    """Looks at the first block of a source, and hands it out again: for pipes, too.

    Attributes
    ----------
    first : Block or None
        The first block with a row in it; None for a source without any.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self.name, self.replays, self.live = source.name, source.replays, source.live
        self.schema: Schema = source.schema
        self.notes = source.notes
        self.first: Block | None = None
        self._seen: list[Block] = []
        self._rest = iter(source.blocks())
        for block in self._rest:
            self._seen.append(block)
            if len(block.examples):
                self.first = block
                break
            if source.live and not block.bad:  # silence
                break

    def identity(self) -> dict[str, Any]:
        """That of the source."""
        return self._source.identity()

    def blocks(self, since: Place | None = None) -> Iterator[Block]:
        """The rows behind `since`; from the start with the block that was seen, once."""
        if since is not None or not self._seen:
            return self._source.blocks(since)
        seen, self._seen = self._seen, []
        return chain(seen, self._rest)

    def close(self) -> None:
        """Let go of files and connections."""
        self._source.close()

    @property
    def lag(self) -> Any:
        """What waits in a live source, if it knows."""
        return getattr(self._source, "lag", None)
