"""Structured streaming: a model that learns from `foreachBatch`, and each row counts once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType

from ...compose.labelling import LabelDesk
from ...compose.labelling.looks import last_step
from ...stream.course import Course
from ...stream.enrolment import enrolled
from ...stream.lesson import Lesson
from ...stream.run.options import RunOptions
from ...stream.sources.frame import Frame
from .batches import BatchFolder, BatchStream, Outbox, collected
from .rows import Columns, Rows, read_labels
from .shipping import model_from_bytes, model_to_bytes

__all__ = ["StreamDesk", "StreamLearner", "read_stream"]

_MACHINE = ("seconds", "examples_per_second", "nbytes")  # what no second run would repeat
_WORDS = ("model", "role", "verb")
_WHOLE = ("batch", "seen", "support_vectors", "labels_used")


class StreamLearner(BatchStream):
    """Learns every micro-batch of a stream exactly once, and is scored before it learns.

    Give `learn` to ``foreachBatch``. Model, preparation, metrics and the number of the batch lie in
    one file, which appears whole or not at all; a batch that Spark hands out again after a failure
    is passed over, and one that fails half-way has changed nothing. Started again with the same
    folder, it goes on, bit for bit as if nothing had happened.

    The rows of a batch come to the driver, where the one model learns; the cluster does what comes
    before (reading, joining, preparing columns). Each batch costs its lessons and one checkpoint:
    the size of the model, written and synced. Thousands of rows per batch make that small.

    Parameters
    ----------
    model : estimator or OnlinePipeline of this library
        What a new folder begins with, fresh or trained; a folder that has learned goes on with its
        own, which must be of the same class.
    folder : path
        Of the driver's machine, on a disk that outlives it. One process at a time.
    features : str or list of str
        As for `Columns`.
    label : str, optional
        None for detectors.
    weight : str, optional
        How much a row counts when it is learned, a number >= 0. Exams count each row once.
    key : str, optional
        Whom a row belongs to, for a model that can unlearn by keys.
    order : str or list of str
        By which column the rows of a batch are learned, such as a time or an offset. By default as
        they lie: by partition, then position. That is the same after a failure only if the source
        cuts its partitions the same way again; files and brokers do.
    options : RunOptions, optional
        `lesson`, `window`, `metrics`, `baselines` and `classes` count; a snapshot is taken after
        each batch.
    nulls : {"refuse", "keep"}
        As for `Columns`.

    Attributes
    ----------
    model : the model, which learns in place
    batch : int, the last batch that is in it; -1: none
    seen : int, rows that were tested and learned
    bad : int, rows that could not be: they lie in ``dead_letters``

    Notes
    -----
    In the folder: ``checkpoint.bin``, and behind it the folders ``metrics``, ``drifts`` and
    ``dead_letters``, one file of JSON lines per batch that has any. `read_stream` reads them as a
    stream, exactly once as well.

    Examples
    --------
    ::

        learner = StreamLearner(model, "learned", ["price", "stock"], "sold", order="time")
        query = sales.writeStream.foreachBatch(learner.learn).option(
            "checkpointLocation", "offsets").start()
    """

    _kind = "SparkStreamLearner"

    def __init__(
        self,
        model: Any,
        folder: str | Path,
        features: str | Sequence[str],
        label: str | None = None,
        *,
        weight: str | None = None,
        key: str | None = None,
        order: str | Sequence[str] = (),
        options: RunOptions | None = None,
        nulls: Literal["refuse", "keep"] = "refuse",
    ) -> None:
        self._columns = Columns(features, label, weight, key, nulls=nulls)
        self._order = (order,) if isinstance(order, str) else tuple(order)
        self._options = options or RunOptions()
        self._begin_with(model)
        super().__init__(folder)
        self._open()

    def _begin_with(self, model: Any) -> None:
        self.model = model
        self._course = course_for(model, self._options)
        self.bad = 0

    @property
    def batch(self) -> int:
        return self._batches.get("learn", -1)

    @property
    def seen(self) -> int:
        return self._course.seen

    def learn(self, batch: DataFrame, batch_id: int) -> None:
        """Learn a micro-batch, unless it was learned before: for ``foreachBatch``."""
        self._once("learn", batch_id, lambda out: self._learn(batch, batch_id, out))

    def metrics(self) -> list[dict[str, Any]]:
        """How the model and each baseline stood after each batch."""
        return self._folder.rows("metrics")

    def dead_letters(self) -> list[dict[str, Any]]:
        """Rows that could not be learned: batch, reason, row."""
        return self._folder.rows("dead_letters")

    def _learn(self, batch: DataFrame, batch_id: int, out: Outbox) -> None:
        table = collected(batch, self._columns.names, self._order)
        table, letters = _without_faults(table, self._columns)
        drifts: list[dict[str, Any]] = []
        if table.num_rows:
            rows = self._columns.read(table)
            for start, stop in self._cuts(table.num_rows):
                drifts += self._attend(rows, start, stop, table, letters)
        self.bad += len(letters)
        before = {"batch": batch_id}
        out["dead_letters"] = [before | letter for letter in letters]
        out["drifts"] = [before | drift for drift in drifts]
        if table.num_rows:
            shots = self._course.snapshots()
            out["metrics"] = [
                before | {"model": name} | _repeatable(shot.row()) for name, shot in shots.items()
            ]

    def _cuts(self, n: int) -> Iterator[tuple[int, int]]:
        """Lessons of a batch: short ones at the beginning, so that short streams are tested."""
        start = 0
        while start < n:
            stop = min(n, start + self._options.next_lesson(self._course.seen))
            yield start, stop
            start = stop

    def _attend(
        self, rows: Rows, start: int, stop: int, table: Any, letters: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        lesson, keys = _lesson(rows, start, stop)
        weights = None if rows.weight is None else rows.weight[start:stop]
        try:
            return [drift.row() for drift in self._course.attend(lesson, keys, weights)]
        except ValueError as error:
            if not self._course.started:
                raise
            if stop - start == 1:
                letters.append(_letter(table, start, " ".join(str(error).split())))
                return []
        return [  # the model refuses something, which has changed nothing: find it
            drift
            for i in range(start, stop)
            for drift in self._attend(rows, i, i + 1, table, letters)
        ]

    def _state(self) -> bytes:
        return model_to_bytes(self.model)

    def _facts(self) -> dict[str, Any]:
        return {
            "class": _described(self.model),
            "columns": list(self._columns.names),
            "course": self._course.state(),
            "bad": self.bad,
        }

    def _load(self, state: bytes, facts: Mapping[str, Any]) -> None:
        demand_same(self._folder, "model", facts["class"], _described(self.model))
        demand_same(self._folder, "columns", facts["columns"], list(self._columns.names))
        self._begin_with(model_from_bytes(state))
        self._course.load(facts["course"])
        self.bad = int(facts["bad"])


class StreamDesk(BatchStream):
    """Asks for labels on one stream and learns the answers of another, each exactly once.

    `ask` looks at rows without labels: for those worth their price it publishes a query with a
    ticket. `answer` takes tickets with labels, whenever and in whatever order they come. Two
    queries of one program may call the two at once; they take turns. The desk, its model, open
    tickets and the numbers of both batches lie in one file, as with `StreamLearner`.

    Parameters
    ----------
    desk : LabelDesk
        What a new folder begins with.
    folder : path
        Of the driver's machine. One process at a time.
    features : str or list of str
        As for `Columns`.
    key : str, optional
        Whom a row belongs to.
    show : list of str
        Further columns that a query shows, for whoever answers.
    ticket, label : str
        The columns of an answer.
    order : str or list of str
        By which column rows are looked at; as for `StreamLearner`.
    window : int, default=1000
        Answers over which the metrics are taken besides over all.
    nulls : {"refuse", "keep"}

    Attributes
    ----------
    desk : LabelDesk
    model : the model of the desk

    Notes
    -----
    In the folder: ``queries`` (batch, ticket, the features and what is to be shown), ``metrics``
    (each answer is an exam before it is learned) and ``dead_letters`` (tickets that are not open,
    labels that the model refuses: their tickets stay open).

    Examples
    --------
    ::

        desk = StreamDesk(LabelDesk(model, Margin(), LabelShare(0.1)), "desk", "features")
        rows.writeStream.foreachBatch(desk.ask).start()
        answers.writeStream.foreachBatch(desk.answer).start()
        queries = read_stream(spark, "desk", "queries", schema)
    """

    _kind = "SparkStreamDesk"

    def __init__(
        self,
        desk: LabelDesk,
        folder: str | Path,
        features: str | Sequence[str],
        *,
        key: str | None = None,
        show: Sequence[str] = (),
        ticket: str = "ticket",
        label: str = "label",
        order: str | Sequence[str] = (),
        window: int = 1000,
        nulls: Literal["refuse", "keep"] = "refuse",
    ) -> None:
        self._columns = Columns(features, key=key, nulls=nulls)
        self._show, self._ticket, self._label = tuple(show), ticket, label
        self._order = (order,) if isinstance(order, str) else tuple(order)
        self._options = RunOptions(window=window, baselines=())
        self._begin_with(desk)
        super().__init__(folder)
        self._open()

    def _begin_with(self, desk: LabelDesk) -> None:
        self.desk = desk
        self._course = course_for(desk.model, self._options)

    @property
    def model(self) -> Any:
        return self.desk.model

    def ask(self, batch: DataFrame, batch_id: int) -> None:
        """Look at a micro-batch without labels, and publish a query for each that is wanted."""
        self._once("ask", batch_id, lambda out: self._ask(batch, batch_id, out))

    def answer(self, batch: DataFrame, batch_id: int) -> None:
        """Learn a micro-batch of answers: tickets with labels."""
        self._once("answer", batch_id, lambda out: self._answer(batch, batch_id, out))

    def queries(self) -> list[dict[str, Any]]:
        """Every query that was published."""
        return self._folder.rows("queries")

    def metrics(self) -> list[dict[str, Any]]:
        """How the model stood after each batch of answers."""
        return self._folder.rows("metrics")

    def dead_letters(self) -> list[dict[str, Any]]:
        """Rows and answers that were of no use: batch, reason, row."""
        return self._folder.rows("dead_letters")

    def _ask(self, batch: DataFrame, batch_id: int, out: Outbox) -> None:
        names = list(dict.fromkeys((*self._columns.names, *self._show)))
        table, letters = _without_faults(collected(batch, names, self._order), self._columns)
        before = {"batch": batch_id}
        out["queries"] = []
        if table.num_rows:
            rows = self._columns.read(table)
            keys = None if rows.keys is None else rows.keys.tolist()
            for i in range(table.num_rows):
                try:
                    ticket = self.desk.ask(_row(rows.X, i), None if keys is None else keys[i])
                except ValueError as error:
                    letters.append(_letter(table, i, " ".join(str(error).split())))
                    continue
                if ticket is not None:
                    shown = table.slice(i, 1).select(names).to_pylist()[0]
                    out["queries"].append(before | {"ticket": ticket} | shown)
        out["dead_letters"] = [before | letter for letter in letters]

    def _answer(self, batch: DataFrame, batch_id: int, out: Outbox) -> None:
        names = [self._ticket, self._label]
        order = tuple(name for name in self._order if name in batch.columns)
        table = collected(batch, names, order)
        before = {"batch": batch_id}
        known = Columns(self._ticket, label=self._label)
        table, letters = _without_faults(table, known)
        tickets = table.column(self._ticket).to_pylist()
        labels = read_labels(table.column(self._label).combine_chunks(), self._label).tolist()
        for i, (ticket, label) in enumerate(zip(tickets, labels, strict=True)):
            try:
                self._learn_answer(ticket, label)
            except ValueError as error:
                letters.append(_letter(table, i, " ".join(str(error).split())))
        out["dead_letters"] = [before | letter for letter in letters]
        if table.num_rows:
            shots = self._course.snapshots()
            out["metrics"] = [
                before | {"model": name} | _repeatable(shot.row()) for name, shot in shots.items()
            ]

    def _learn_answer(self, ticket: str, label: Any) -> None:
        """First the exam; the desk learns, and what it refuses was no exam."""
        row = self.desk.row(ticket)
        lesson = Lesson([row] if isinstance(row, dict) else row[None, :], np.array([label]))
        self._course.attend_by(lesson, lambda: self.desk.answer(ticket, label))

    def _state(self) -> bytes:
        return self.desk._pack()

    def _facts(self) -> dict[str, Any]:
        return {
            "class": _described(self.model),
            "columns": list(self._columns.names),
            "course": self._course.state(),
        }

    def _load(self, state: bytes, facts: Mapping[str, Any]) -> None:
        demand_same(self._folder, "model", facts["class"], _described(self.model))
        demand_same(self._folder, "columns", facts["columns"], list(self._columns.names))
        self._begin_with(LabelDesk._unpack(state)[0])
        self._course.load(facts["course"])


def read_stream(
    spark: SparkSession,
    folder: str | Path,
    what: Literal["metrics", "queries", "drifts", "dead_letters"],
    schema: StructType | str | None = None,
) -> DataFrame:
    """What a stream has published, as a stream: each row once.

    Parameters
    ----------
    spark : SparkSession
    folder : path
        That of a `StreamLearner` or `StreamDesk`.
    what : {"metrics", "queries", "drifts", "dead_letters"}
    schema : StructType or str, optional
        Of the columns, which a stream has to know before the first row. By default those of the
        first file, if there is one.
    """
    where = Path(folder) / what
    where.mkdir(parents=True, exist_ok=True)
    if schema is None:
        files = sorted(where.glob("*.json"))
        if not files:
            raise ValueError(f"{what} has nothing yet to read its columns from; give a schema")
        schema = spark.read.json(str(files[0])).schema
    return spark.readStream.schema(schema).json(str(where))


def metrics_schema(learner: StreamLearner | StreamDesk) -> StructType:
    """The columns of the metrics of a stream, before it has any."""
    shot = next(iter(learner._course.glance().values()))
    names = ["batch", "model", *_repeatable(shot.row())]
    return StructType([StructField(name, _kind_of(name)) for name in names])


def _kind_of(name: str) -> Any:
    return StringType() if name in _WORDS else LongType() if name in _WHOLE else DoubleType()


# --- small things -----------------------------------------------------------------------------


def course_for(model: Any, options: RunOptions) -> Course:
    """The exams of one model."""
    return enrolled(
        {_described(model): model},
        classes=options.classes,
        metrics=options.metrics,
        window=options.window,
        baselines=options.baselines,
    )


def demand_same(folder: BatchFolder, what: str, known: Any, given: Any) -> None:
    """A ValueError if a folder was begun with something else."""
    if known != given:
        raise ValueError(
            f"{str(folder.path)!r} was begun with {what} {known!r}, not {given!r}; "
            "give the same, or another folder"
        )


def _described(model: Any) -> str:
    return type(last_step(model)).__name__


def _repeatable(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in _MACHINE}


def _without_faults(table: Any, columns: Columns) -> tuple[Any, list[dict[str, Any]]]:
    """The rows that can be read, and the others as dead letters."""
    faults = columns.faults(table)
    bad = np.flatnonzero(faults != None)  # noqa: E711
    if not len(bad):
        return table, []
    letters = [_letter(table, int(i), faults[i]) for i in bad]
    return table.take(np.flatnonzero(faults == None)), letters  # noqa: E711


def _letter(table: Any, i: int, reason: str) -> dict[str, Any]:
    row = table.slice(i, 1).to_pylist()[0]
    return {"reason": reason[:400], "row": {name: _short(value) for name, value in row.items()}}


def _short(value: Any) -> Any:
    return value if isinstance(value, bool | int | float) or value is None else str(value)[:400]


def _lesson(rows: Rows, start: int, stop: int) -> tuple[Lesson, list[Any] | None]:
    y: NDArray[Any] | None = None if rows.y is None else rows.y[start:stop]
    if y is not None and y.dtype.kind == "U":  # as wide as these rows need, not as their batch
        y = np.array(y.tolist())
    keys = None if rows.keys is None else rows.keys[start:stop].tolist()
    return Lesson(rows.X[start:stop], y), keys


def _row(X: Any, i: int) -> Any:
    """One row as a desk takes it."""
    if isinstance(X, Frame):
        return X[i : i + 1].to_dicts()[0]
    return X[i : i + 1].toarray().ravel() if hasattr(X, "toarray") else X[i]
