"""Sources around a source: one whose first block was seen already, one with the first rows only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

from onlinesvm.data.arguments import check_count
from onlinesvm.stream.sources.schema import Schema
from onlinesvm.stream.sources.source import Block, Examples, Place, Source

__all__ = ["Limited", "Peeked"]

_CUT = "rows_of_next_block"


class _Wrapper:
    """What a source around another has of it."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.name, self.replays, self.live = source.name, source.replays, source.live
        self.schema: Schema = source.schema
        self.notes = source.notes

    def identity(self) -> dict[str, Any]:
        """That of the source."""
        return self._source.identity()

    def close(self) -> None:
        """Let go of files and connections."""
        self._source.close()

    @property
    def lag(self) -> Any:
        """What waits in a live source, if it knows."""
        return getattr(self._source, "lag", None)


class Peeked(_Wrapper):
    """Looks at the first block of a source, and hands it out again: for pipes, too.

    Attributes
    ----------
    first : Block or None
        The first block with a row in it; None for a source without any.
    """

    def __init__(self, source: Source) -> None:
        super().__init__(source)
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

    def blocks(self, since: Place | None = None) -> Iterator[Block]:
        """The rows behind `since`; from the start with the block that was seen, once."""
        if since is not None or not self._seen:
            return self._source.blocks(since)
        seen, self._seen = self._seen, []
        return chain(seen, self._rest)


class Limited(_Wrapper):
    """At most so many examples of a source; bad rows do not count.

    A block that the limit cuts ends in a place of its own, which only this class understands: so
    the rest of it is learned when the limit is raised or lifted, and no row twice.

    Parameters
    ----------
    source : Source
    limit : int or None
        None: all of them.
    before : int, default=0
        Examples that were taken before the place from which reading goes on.
    """

    def __init__(self, source: Source, limit: int | None, before: int = 0) -> None:
        super().__init__(source)
        self._limit = None if limit is None else check_count("limit", limit, at_least=1)
        self._before = before

    def blocks(self, since: Place | None = None) -> Iterator[Block]:
        """The rows behind `since`, up to the limit."""
        skip = 0
        if since is not None and _CUT in since:
            skip, since = _understood(since)
        left = None if self._limit is None else self._limit - self._before
        if left is not None and left <= 0:
            return
        for block in self._source.blocks(since):
            rows = len(block.examples)
            if skip > rows:
                raise ValueError("the place is of another source: its next block is shorter")
            take = rows - skip if left is None else min(rows - skip, left)
            self._before += take
            if skip + take < rows:
                end = {"behind": None if since is None else dict(since), _CUT: skip + take}
                bad = block.bad if not skip else []
                yield replace(
                    block,
                    examples=_part(block.examples, skip, skip + take),
                    end=end,
                    bad=bad,
                    done=1.0,
                )
                return
            if skip:
                block = replace(block, examples=_part(block.examples, skip, rows), bad=[])
            yield block
            skip, since = 0, block.end
            left = None if left is None else left - take
            if left == 0:
                return


def _understood(place: Place) -> tuple[int, Place | None]:
    skip, behind = place[_CUT], place.get("behind")
    if not isinstance(skip, int) or isinstance(skip, bool) or skip < 0:
        raise ValueError(f"the place has {skip!r:.40} rows; it is of another source")
    if behind is not None and not isinstance(behind, dict):
        raise ValueError("the place does not say behind which block it is")
    return skip, behind


def _part(examples: Examples, start: int, stop: int) -> Examples:
    y = None if examples.y is None else examples.y[start:stop]
    keys = None if examples.keys is None else examples.keys[start:stop]
    return Examples(examples.X[start:stop], y, keys)
