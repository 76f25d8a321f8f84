"""The partitions of a DataFrame as the parts of `onlinesvm.cluster`."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark import Broadcast, SparkContext, StorageLevel, TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ...data.arguments import check_word
from .. import Part, Parts
from .rows import Columns

__all__ = ["SparkParts"]

S = TypeVar("S")
T = TypeVar("T")

_PIECE = 1 << 26  # bytes of one row of what is kept: the JVM wants no larger ones
_PACKED = "number int, piece int, digest string, count long, data binary"
_RESULT = "number int, result binary"


class SparkParts(Parts):
    """A DataFrame cut once and for all: the same rows in the same order at every call.

    Each partition becomes one part, packed as arrays. A part that is lost with its executor is
    packed again from the DataFrame, which must give the same rows then; that it did is checked, and
    if not the call fails rather than learn from two sets of data. Where the DataFrame cannot
    promise it (a sample without a seed, a table that others write to), use ``keep="checkpoint"``.

    A part has to fit twice into the memory of a Python worker; take more partitions if it does not.

    Parameters
    ----------
    df : DataFrame
    columns : Columns
        Features, label, and perhaps weight and key.
    ids : str, optional
        A column of whole numbers, distinct over all rows: what `support_` will call them.
    order : str or list of str
        By which columns the rows of a part are sorted, for methods that make one pass. By default
        by a hash of the row, since the order in which Spark delivers rows is that of their arrival.
    keep : {"persist", "checkpoint"}
        Where the parts lie: on the disks of the executors, or in the checkpoint folder of the
        SparkContext (`setCheckpointDir`), where the loss of an executor costs nothing.

    Examples
    --------
    ::

        with SparkParts(df.repartition(8), Columns("features", "label")) as parts:
            learned = cascade(parts, SmoSVC(C=10))
    """

    def __init__(
        self,
        df: DataFrame,
        columns: Columns,
        *,
        ids: str | None = None,
        order: str | Sequence[str] = (),
        keep: Literal["persist", "checkpoint"] = "persist",
    ) -> None:
        check_word("keep", keep, ("persist", "checkpoint"))
        columns.demand_in(df.columns)
        packing = Packing(columns, ids, (order,) if isinstance(order, str) else tuple(order))
        for name in packing.more:
            if name not in df.columns:
                raise ValueError(f"there is no column {name!r}; the DataFrame has {df.columns}")
        self._spark = df.sparkSession
        names = dict.fromkeys((*columns.names, *packing.more))
        wanted = df.select(*(F.col(f"`{name}`") for name in names))
        packed = wanted.mapInArrow(packing.pack, _PACKED)
        if keep == "checkpoint":
            self._demand_folder()
            self._packed = packed.checkpoint(eager=True)
        else:
            self._packed = packed.persist(StorageLevel.DISK_ONLY)
        heads = self._packed.select("number", "piece", "digest", "count").toArrow().to_pylist()
        first = sorted((h["number"], h["digest"], h["count"]) for h in heads if h["piece"] == 0)
        self.counts = [count for _, _, count in first]
        self._known = {number: (place, digest) for place, (number, digest, _) in enumerate(first)}

    def _demand_folder(self) -> None:
        if self._context.getCheckpointDir() is None:
            raise ValueError(
                "keep='checkpoint' needs a folder; call spark.sparkContext.setCheckpointDir first"
            )

    @property
    def _context(self) -> SparkContext:
        return self._spark.sparkContext

    def __len__(self) -> int:
        return len(self._known)

    def map(self, function: Callable[[Part, S], T], shared: S) -> list[T]:
        """``function(part, shared)`` of every part, where it lies; ``shared`` travels once."""
        sent = self._context.broadcast(shared)
        try:
            call = Call(function, sent, self._known)
            table = self._packed.mapInArrow(call.apply, _RESULT).toArrow()
        finally:
            sent.unpersist()
        numbers, results = (table.column(name).to_pylist() for name in ("number", "result"))
        came = dict(zip(numbers, results, strict=True))
        return [pickle.loads(came[place]) for place in range(len(self))]

    def run(self, function: Callable[[S], T], items: Sequence[S]) -> list[T]:
        """``function(item)`` of every item, each as a task of its own."""
        if len(items) < 2:
            return [function(item) for item in items]
        return self._context.parallelize(items, len(items)).map(function).collect()

    def close(self) -> None:
        """Let go of what the executors keep."""
        self._packed.unpersist()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


# --- on the executors -------------------------------------------------------------------------


@dataclass(frozen=True)
class Packing:
    """Makes one part of a partition."""

    columns: Columns
    ids: str | None
    order: tuple[str, ...]

    @property
    def more(self) -> tuple[str, ...]:
        """The columns besides those of the rows."""
        return (*self.order, *([] if self.ids is None else [self.ids]))

    def pack(self, batches: Iterator[Any]) -> Iterator[Any]:
        context = TaskContext.get()
        assert context is not None
        part = self.part(list(batches))
        data = pickle.dumps(part, protocol=5)
        digest = hashlib.blake2b(data, digest_size=16).hexdigest()
        for piece, start in enumerate(range(0, len(data), _PIECE)):
            yield pa.record_batch(
                {
                    "number": pa.array([context.partitionId()], pa.int32()),
                    "piece": pa.array([piece], pa.int32()),
                    "digest": [digest],
                    "count": pa.array([len(part)], pa.int64()),
                    "data": pa.array([data[start : start + _PIECE]], pa.binary()),
                }
            )

    def part(self, batches: list[Any]) -> Part:
        """Rows in an order that does not depend on the order in which they came."""
        table = pa.Table.from_batches(batches) if batches else None
        if table is None or not table.num_rows:
            return Part(np.empty((0, 0)), np.empty(0))
        if self.order:
            by = [(name, "ascending") for name in self.order]
            table = table.take(pc.sort_indices(table, sort_keys=by))
        rows = self.columns.read(table)
        assert rows.y is not None
        ids = None if self.ids is None else _ids(table.column(self.ids), self.ids)
        keys = None if rows.keys is None else _plain(rows.keys)
        part = Part(rows.X, rows.y, rows.weight, ids, keys)
        return part if self.order else sorted_by_hash(part)


@dataclass(frozen=True)
class Call:
    """One round: a function, what all parts share, and which rows each part has to have."""

    function: Callable[[Part, Any], Any]
    shared: Broadcast[Any]
    known: dict[int, tuple[int, str]]

    def apply(self, batches: Iterator[Any]) -> Iterator[Any]:
        pieces: list[tuple[int, bytes]] = []
        number = digest = None
        for batch in batches:
            for row in batch.to_pylist():
                number, digest = row["number"], row["digest"]
                pieces.append((row["piece"], row["data"]))
        if number is None:
            return
        place, expected = self.known[number]
        if digest != expected:
            raise ValueError(
                f"part {place} has other rows than at first: the DataFrame gave others when it was "
                "read again; use keep='checkpoint'"
            )
        part: Part = pickle.loads(b"".join(data for _, data in sorted(pieces)))
        result = self.function(_numbered(part, place), self.shared.value)
        yield pa.record_batch(
            {
                "number": pa.array([place], pa.int32()),
                "result": pa.array([pickle.dumps(result, protocol=5)], pa.binary()),
            }
        )


def _numbered(part: Part, place: int) -> Part:
    return Part(part.X, part.y, part.sample_weight, part.ids, part.keys, place)


def _ids(column: Any, name: str) -> NDArray[np.int64]:
    if not pa.types.is_integer(column.type) or column.null_count:
        raise ValueError(f"column {name!r} must hold whole numbers without nulls: ids")
    return np.asarray(column.combine_chunks().to_numpy(zero_copy_only=False), dtype=np.int64)


def _plain(keys: NDArray[Any]) -> NDArray[Any]:
    """Words side by side in one block, so that equal parts are equal bytes."""
    return np.array(keys.tolist()) if keys.dtype.kind == "O" else keys


def sorted_by_hash(part: Part) -> Part:
    """The rows in an order that depends on nothing but themselves; only equal ones may tie.

    >>> import numpy as np
    >>> from onlinesvm.cluster import Part
    >>> X = np.arange(6.0).reshape(3, 2)
    >>> one = sorted_by_hash(Part(X, np.array([0, 1, 2])))
    >>> other = sorted_by_hash(Part(X[::-1].copy(), np.array([2, 1, 0])))
    >>> bool((one.X == other.X).all() and (one.y == other.y).all())
    True
    """
    ties = [column for column in (part.keys, part.ids, part.sample_weight) if column is not None]
    order = np.lexsort((*ties, part.y, _hashes(part.X)))

    def pick(column: Any) -> Any:
        return None if column is None else column[order]

    return Part(
        part.X[order], part.y[order], pick(part.sample_weight), pick(part.ids), pick(part.keys)
    )


def _hashes(X: Any) -> NDArray[np.uint64]:
    """Of each row: the sum of its bits times odd numbers, whose overflow is exact."""
    draw = np.random.Generator(np.random.PCG64(0)).integers(0, 1 << 63, X.shape[1], np.uint64)
    odd = draw * np.uint64(2) + np.uint64(1)
    if hasattr(X, "indptr"):
        X.sort_indices()
        terms = X.data.astype(np.float64).view(np.uint64) * odd[X.indices]
        sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)))
        return np.asarray(sums[X.indptr[1:]] - sums[X.indptr[:-1]])
    hashes = np.empty(len(X), dtype=np.uint64)
    for start in range(0, len(X), 1024):
        block = np.ascontiguousarray(X[start : start + 1024], dtype=np.float64)
        hashes[start : start + 1024] = (block.view(np.uint64) * odd).sum(axis=1, dtype=np.uint64)
    return hashes
