"""What every source of examples is: rows in blocks, each with the place where it ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from onlinesvm.stream.sources.schema import Schema

__all__ = ["BadRow", "Block", "Examples", "Place", "Source"]

# Where a source goes on: JSON that only the source itself reads, such as {"byte": 1048576,
# "line": 9120} or {"id": "1700000000000-3"}.
Place = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that could not be read, and all that is needed to find and mend it."""

    text: str
    reason: str
    column: str | None = None
    line: int | None = None
    byte: int | None = None
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Examples:
    """Rows as a model takes them.

    Attributes
    ----------
    X : array of float64, CSR matrix, or table of named columns
    y : array or None
    keys : list or None
        The user's own names of the examples, where the schema has a key column.
    """

    X: Any
    y: Any = None
    keys: list[Any] | None = None

    def __len__(self) -> int:
        return int(self.X.shape[0])


@dataclass(frozen=True, slots=True)
class Block:
    """Rows that were read together, in order.

    Attributes
    ----------
    examples : Examples
        May be empty, when all rows were bad.
    end : Place
        Where the source goes on behind this block.
    bad : list of BadRow
    done : float or None
        Share of the source that lies behind, where it has an end.
    raw : Raw or None
        What it was read from, where that is text: for whoever hands rows on as they were.
    """

    examples: Examples
    end: Place
    bad: list[BadRow] = field(default_factory=list)
    done: float | None = None
    raw: Any = None


class Source(Protocol):
    """A stream of rows with names and types, read in blocks of bounded size.

    Blocks are the same however often and from whichever end of a block they are read, as long as
    the rows are there: so a run that was killed and goes on learns the same lessons.

    Attributes
    ----------
    name : str
        For people: ``"flows.csv.gz"``, ``"redis://localhost/flows"``.
    replays : bool
        Whether `blocks(since)` can go back; not for pipes and standard input.
    live : bool
        Whether more may come at any time: an end is only silence.
    schema : Schema
        Columns, types, and which one is the target; inferred from the first rows, which are not
        lost by that.
    notes : tuple of str
        What was decided and a user may want to decide otherwise, one sentence each.
    """

    name: str
    replays: bool
    live: bool
    schema: Schema
    notes: tuple[str, ...]

    def identity(self) -> dict[str, Any]:
        """JSON by which a resumed run knows that this is the same source."""
        ...

    def blocks(self, since: Place | None = None) -> Iterator[Block]:
        """The rows behind `since`, or all."""
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...
