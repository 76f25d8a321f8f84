"""Micro-batches that count exactly once: what was learned, and of which batches, in one file.

`foreachBatch` may hand out a batch again after a failure. So a batch's number lies in the very file
that holds what was learned from it, and so does what it has to say to others (its *outbox*), which
is published as files behind it: a crash between the two is mended by whoever opens the folder next.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ...files.atomic import replacing
from ...files.json_values import from_json, to_json
from ...files.persistence import pack_arrays, unpack_arrays
from ...stream import plain
from ...stream.run.lines import read_lines
from ...stream.run.lock import Lock

__all__ = ["BatchFolder", "BatchStream", "Kept", "Outbox", "collected"]

_PLACE = "__onlinesvm_place__"
_FACTS = ("batches", "facts", "outbox")

Outbox = dict[str, list[dict[str, Any]]]  # rows by the folder that they are published in


def collected(batch: DataFrame, names: Sequence[str], order: Sequence[str]) -> Any:
    """The rows of a batch in a defined order: by the columns given, then as they lie.

    "As they lie" is by partition, and in it by position.
    """
    for name in (*names, *order):
        if name not in batch.columns:
            raise ValueError(f"there is no column {name!r}; the batch has {batch.columns}")
    wanted = [F.col(f"`{name}`") for name in dict.fromkeys((*names, *order))]
    placed = batch.select(*wanted, F.monotonically_increasing_id().alias(_PLACE))
    table = placed.toArrow()
    keys = [(name, "ascending") for name in (*order, _PLACE)]
    return table.take(pc.sort_indices(table, sort_keys=keys)).drop_columns([_PLACE])


@dataclass(frozen=True)
class Kept:
    """All that a folder knows.

    Attributes
    ----------
    state : bytes
        What was learned, as its owner packs it.
    facts : dict
        What else the owner wants to know again, as JSON can hold it.
    batches : dict of str to int
        The last batch of each verb that is in it.
    outbox : dict
        What the last batch has to say, and the verb and number under which.
    """

    state: bytes
    facts: Mapping[str, Any]
    batches: Mapping[str, int] = field(default_factory=dict)
    outbox: Mapping[str, Any] = field(default_factory=dict)


class BatchFolder:
    """One checkpoint, which appears whole or not at all, and what was published behind it."""

    def __init__(self, path: Path, kind: str) -> None:
        self.path, self._kind = path, kind
        path.mkdir(parents=True, exist_ok=True)
        self._lock = Lock(path / "lock")
        self._unsaid: Mapping[str, Any] | None = None

    @property
    def checkpoint(self) -> Path:
        return self.path / "checkpoint.bin"

    def read(self) -> Kept | None:
        """What was kept, None in a new folder; what it had to say is said, if it was not."""
        if not self.checkpoint.exists():
            return None
        try:
            kept = self._understood(unpack_arrays(self.checkpoint.read_bytes(), self._kind))
        except (ValueError, TypeError, LookupError, RecursionError) as error:
            raise ValueError(f"{self.checkpoint} cannot be used: {error!s:.400}") from None
        self._unsaid = kept.outbox
        self.catch_up()
        return kept

    def write(self, kept: Kept) -> None:
        """Keep something, and then publish what it has to say."""
        facts = {name: getattr(kept, name) for name in _FACTS}
        text = json.dumps(to_json("checkpoint", facts), allow_nan=False)
        arrays = {
            "facts": np.frombuffer(text.encode(), dtype=np.uint8),
            "state": np.frombuffer(kept.state, dtype=np.uint8),
        }
        with replacing(self.checkpoint) as file:
            file.write(pack_arrays(self._kind, arrays))
        self._unsaid = kept.outbox
        self.catch_up()

    def catch_up(self) -> None:
        """Publish what is kept and was not said, because the disk or the process failed."""
        if self._unsaid is not None:
            self._publish(self._unsaid)
            self._unsaid = None

    @staticmethod
    def _understood(arrays: dict[str, Any]) -> Kept:
        facts = from_json(json.loads(arrays["facts"].tobytes()))
        batches, owners, outbox = plain.members(facts, _FACTS)
        plain.counts(*batches.values())
        return Kept(arrays["state"].tobytes(), owners, batches, outbox)

    def _publish(self, outbox: Mapping[str, Any]) -> None:
        """Put what a batch has to say into files of its own, unless they are there."""
        for folder, rows in outbox.get("rows", {}).items():
            target = self.path / folder / f"{outbox['verb']}-{outbox['batch']:010}.json"
            if not rows or target.exists():
                continue
            target.parent.mkdir(exist_ok=True)
            text = "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)
            with replacing(target) as file:
                file.write(text.encode())

    def rows(self, folder: str) -> list[dict[str, Any]]:
        """All rows that were published in a folder, in the order of their batches."""
        files = sorted((self.path / folder).glob("*.json"), key=lambda f: f.name.split("-")[1])
        return [row for file in files for row in read_lines(file)]

    def release(self) -> None:
        self._lock.release()


class BatchStream:
    """What learns by micro-batches: each counts once, and a batch that fails has changed nothing.

    Its verbs may run side by side, as several queries of one program do; they take turns.
    """

    _kind: str

    def __init__(self, folder: str | Path) -> None:
        self._folder = BatchFolder(Path(folder), self._kind)
        self._turn = threading.RLock()
        self._batches: dict[str, int] = {}

    def _open(self) -> None:
        """Go on from the folder, or begin in it."""
        try:
            kept = self._folder.read()
            if kept is None:
                self._folder.write(Kept(self._state(), self._facts()))
            else:
                self._take_up(kept)
        except BaseException:
            self._folder.release()
            raise

    def _take_up(self, kept: Kept) -> None:
        self._load(kept.state, kept.facts)
        self._batches = dict(kept.batches)

    def _once(self, verb: str, batch_id: int, work: Callable[[Outbox], None]) -> bool:
        """Do the work of a batch unless it was done; False if it was."""
        with self._turn:
            self._folder.catch_up()
            last = self._batches.get(verb, -1)
            if batch_id == last:
                return False
            if batch_id < last:
                raise ValueError(
                    f"batch {batch_id} comes after batch {last}: the query has begun anew, and "
                    f"{str(self._folder.path)!r} has not; give both new folders, or neither"
                )
            outbox: Outbox = {}
            try:
                work(outbox)
                self._batches[verb] = batch_id
                said = {"verb": verb, "batch": batch_id, "rows": _finite(outbox)}
                self._folder.write(Kept(self._state(), self._facts(), self._batches, said))
            except BaseException:
                kept = self._folder.read()
                assert kept is not None
                self._take_up(kept)  # of this batch nothing has happened, or all of it
                raise
            return True

    # What a kind of stream has to say of itself.

    def _state(self) -> bytes:
        raise NotImplementedError

    def _facts(self) -> dict[str, Any]:
        raise NotImplementedError

    def _load(self, state: bytes, facts: Mapping[str, Any]) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Let go of the folder; all that was learned is in it."""
        self._folder.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _finite(outbox: Outbox) -> Outbox:
    return {name: [_plain(row) for row in rows] for name, rows in outbox.items()}


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """As JSON can hold it: what is no finite number is null, what is no value is its text."""
    return {name: _plain_value(value) for name, value in row.items()}


def _plain_value(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, Mapping):
        return _plain(value)
    if isinstance(value, str) or value is None or isinstance(value, int):
        return value
    if isinstance(value, Iterable):
        return [_plain_value(v) for v in value]
    return str(value)
