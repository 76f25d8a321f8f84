"""The runner: lessons from any source, marked and learned, and nothing that was learned is lost."""

from __future__ import annotations

import inspect
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import numpy as np

from onlinesvm.files.atomic import replacing, sync_folder
from onlinesvm.files.persistence import save_with_about
from onlinesvm.stream.course import Course
from onlinesvm.stream.drift import Drift
from onlinesvm.stream.enrolment import enrolled
from onlinesvm.stream.lesson import Lesson
from onlinesvm.stream.run.appended import trouble
from onlinesvm.stream.run.checkpoint import Checkpoint
from onlinesvm.stream.run.config import RunConfig
from onlinesvm.stream.run.cutter import Cutter
from onlinesvm.stream.run.folder import RunFolder
from onlinesvm.stream.run.lines import Lines, read_lines
from onlinesvm.stream.run.lock import Lock
from onlinesvm.stream.run.moment import Moment
from onlinesvm.stream.run.options import RunOptions
from onlinesvm.stream.run.progress import Progress
from onlinesvm.stream.run.reader import Reader
from onlinesvm.stream.run.rows import joined, part, row_text
from onlinesvm.stream.run.signals import Interrupted, Signals
from onlinesvm.stream.run.store import Store, count_rows, new_database
from onlinesvm.stream.sources import BadRow, Block, Examples, Place, Source

__all__ = ["Run"]

_SHARE_OF_CHECKPOINTS = 20  # they take at most a twentieth of the time
_FEW_BAD = 10  # rows, which a small table may have
_PAUSE = 0.1  # seconds before a live source that has said nothing is asked again
_MACHINE = ("seconds", "examples_per_second", "nbytes")  # what no second run would repeat


class Run:
    """Learns from a source for as long as it lasts, and survives whatever ends the process.

    Every lesson is first an exam, as in `prequential`. A database in the folder has what is learned
    in checkpoints, of which the last two are kept, and what has happened since in a log. After a
    crash `resume` goes on from there, and model, metrics and dead letters are, to the bit, those of
    a run that nothing has stopped; of a source with places every example counts exactly once. Use
    it in a ``with`` statement: then Ctrl-C and SIGTERM end `steps` with a checkpoint, and so does
    the end of the block.

    A row that cannot be read is written to ``dead_letters.jsonl`` and passed over, and so is one
    that the model refuses once it has learned anything; before, the error is raised.

    Make one by `begin` or `resume`. It costs a few microseconds a lesson beyond reading, predicting
    and learning, and what checkpoints take: the size of the model, written twice.

    Attributes
    ----------
    model : estimator
        Learns in place.
    seen : int
        Examples that were tested and learned, since the run began.
    bad : int
        Rows in ``dead_letters.jsonl``.
    ended : {"source", "signal"} or None
        Why `steps` came to its end.
    """

    def __init__(
        self,
        home: RunFolder,
        config: RunConfig,
        source: Source,
        lock: Lock,
        store: Store,
        start: Checkpoint,
    ) -> None:
        self._home, self._config, self._source, self._lock = home, config, source, lock
        self._store = store
        self.model = start.model
        keys = [c.name for c in config.schema.columns if c.part == "key"]
        self._about = {"keys": keys} if keys else {}
        self._course = course_for(start.model, config)
        self._course.load(start.course)
        self._snapped, self.bad, self._arrived = start.snapped, start.bad, start.arrived
        self._place: Place | None = start.place
        self._progress = Progress(0.0 if start.place is None else None)
        self._untold: list[Drift] = []
        self.ended: Literal["source", "signal"] | None = None
        self._signals = Signals()
        self._broken = False
        self._changed = False
        self._told = self.seen, self.bad
        self._replaying = False  # until the log is there
        self._last_checkpoint, self._cost = time.monotonic(), 0.0
        self._dead = Lines(home.dead_letters, start.letters)
        try:
            cuts = store.back_to(start.number)
        except BaseException:
            self._dead.close()
            raise
        self._replaying = not source.replays and store.kept > 0
        self._begun = False
        self._cutter = Cutter(config.options.next_lesson, start.taken, cuts)
        if start.held is not None:
            self._cutter.add(start.held)

    # --- making one -------------------------------------------------------------------------------

    @classmethod
    def begin(
        cls,
        folder: str | Path,
        source: Source,
        model: Any,
        options: RunOptions | None = None,
    ) -> Self:
        """A new run in an empty folder.

        Parameters
        ----------
        folder : path
            Is made if it is not there.
        source : Source
            From `open_source`; stays yours to close.
        model : estimator or OnlinePipeline of this library, fresh or already trained
        options : RunOptions, optional

        Raises
        ------
        ValueError
            When the folder has a run already, or the model cannot be saved or go on learning. What
            is wrong is found before anything is written.
        """
        config = RunConfig.new(source, model, options or RunOptions())
        course = course_for(model, config)
        _demand_keys(model, source)
        empty = Checkpoint.first(config.run, model, course.state())
        data = empty.to_bytes()
        Checkpoint.from_bytes(data, "the first checkpoint")  # what cannot be read back is none
        home = RunFolder(folder)
        home.path.mkdir(parents=True, exist_ok=True)
        with ExitStack() as undo:
            lock = Lock(home.lock)
            undo.callback(lock.release)
            home.check_new()
            home.sweep()
            _put(home.database, new_database(config, data))
            store = Store(home.database, config.options.fsync)
            undo.callback(store.close)
            run = cls(home, config, source, lock, store, empty)
            undo.pop_all()
        return run

    @classmethod
    def resume(
        cls,
        folder: str | Path,
        source: Source,
        silence: Literal["wait", "end"] | None = None,
        max_bad: float | None = None,
    ) -> Self:
        """Go on with the run in a folder, from the same source.

        Parameters
        ----------
        folder : path
            May have been moved or copied.
        source : Source
            The one that the run was begun with; a pipe goes on behind the rows that have `arrived`.
        silence : {"wait", "end"}, optional
            What to do this time when a live source has nothing more to say; by default as begun.
        max_bad : float, optional
            The share of rows that may be bad this time; by default as begun.

        Raises
        ------
        ValueError
            When there is no run, another process has it, the source is another one, or both
            checkpoints are damaged. If only the newest is, a warning says so.
        """
        home = RunFolder(folder)
        home.check_run()
        with Reader(home.database) as reader:
            config = reader.config()
        config.demand(source)
        if silence is not None:
            config = replace(config, options=replace(config.options, silence=silence))
        if max_bad is not None:
            config = replace(config, options=replace(config.options, max_bad=max_bad))
        with ExitStack() as undo:
            lock = Lock(home.lock)
            undo.callback(lock.release)
            home.sweep()
            store = Store(home.database, config.options.fsync)
            undo.callback(store.close)
            run = store.newest_good(
                config.run, lambda start: cls(home, config, source, lock, store, start)
            )
            undo.pop_all()
        return run

    # --- learning ---------------------------------------------------------------------------------

    @property
    def seen(self) -> int:
        return self._course.seen

    @property
    def arrived(self) -> int:
        """Rows that have come from the source, good and bad: where a pipe has to go on."""
        return self._arrived + self._store.kept

    def steps(self) -> Iterator[Moment]:
        """Learn to the end of the source, and tell now and then how it stands.

        Every moment is an acknowledgement: what it tells of is not learned twice nor lost. Between
        two of them the run can be asked for anything; it goes on when the next one is asked for.
        """
        try:
            yield from self._steps()
        except OSError:
            self._broken = True
            raise

    def catch_up(self) -> None:
        """Learn what has come and is not learned yet: rows in the log, rows that wait for others.

        Afterwards a checkpoint holds all that the run knows. To be called on a source that is
        silent, before something is changed in the model.

        Raises
        ------
        KeyboardInterrupt
            When a signal came: all is as it was, on disk.
        """
        self._config = replace(self._config, options=replace(self._config.options, max_bad=1.0))
        for _ in self.steps():
            pass
        if self.ended == "signal":
            raise KeyboardInterrupt

    def _steps(self) -> Iterator[Moment]:
        self.ended, self._begun = None, True
        self._demand_good()
        yield from self._lessons()  # a checkpoint may hold the rest of a block
        for block in self._arrivals():
            if block is None:
                self._cut_short()
                if (self.seen, self.bad) != self._told:
                    yield self._moment(self._course.glance())
                continue
            self._take(block)
            self._demand_good()
            yield from self._lessons()
            self._demand_good()
            if self._signals.heard is not None:
                break
            if self._is_checkpoint_due():
                self.checkpoint()
        if self._signals.heard is None:
            self._cut_short()
            if self.seen != self._snapped:
                self._snapshots()
        self.ended = "source" if self._signals.heard is None else "signal"
        self.checkpoint()
        yield self._moment(self._course.glance())

    def _lessons(self) -> Iterator[Moment]:
        """Learn all lessons whose rows are there."""
        while self._signals.heard is None and (rows := self._cutter.lesson()) is not None:
            self._learn(rows)
            if self.seen >= self._config.options.next_snapshot(self._snapped):
                yield self._moment(self._snapshots())
            elif self._untold:
                yield self._moment(self._course.glance())
            if self._config.options.checkpoint_seconds and self._is_checkpoint_due():
                self.checkpoint()

    def _arrivals(self) -> Iterator[Block | None]:
        """What the log has kept, then what the source gives; None for silence of a live one."""
        if self._replaying:
            yield from self._store.blocks()
            self._replaying = False
        try:
            for block in self._from_source():
                if block is not None and not self._source.replays:
                    self._store.keep(block)
                yield block
        except Interrupted:
            return

    def _from_source(self) -> Iterator[Block | None]:
        place = self._place if self._source.replays else None  # a pipe knows no place but its own
        while True:
            blocks = iter(self._source.blocks(place))
            came = False
            while True:
                with self._signals.waiting():
                    block = next(blocks, None)
                if block is None:
                    break
                place = block.end
                is_silent = self._source.live and not len(block.examples) and not block.bad
                came = came or not is_silent
                yield block
                if is_silent:
                    yield None
                    if self._config.options.silence == "end":
                        return
            if not self._source.live:
                return
            yield None
            if self._config.options.silence == "end":
                return
            if not came:
                with self._signals.waiting():
                    time.sleep(_PAUSE)

    def _take(self, block: Block) -> None:
        self._changed = True
        self._bury(block.bad)
        self._arrived += count_rows(block)
        self._place = block.end
        self._progress.arrive(block.done, self._cutter.waiting, len(block.examples))
        self._cutter.add(block.examples)

    def _demand_good(self) -> None:
        """A ValueError where so many rows are bad that something else must be wrong."""
        if self.bad < _FEW_BAD or self.bad <= self._config.options.max_bad * self.arrived:
            return
        path, reasons = self._home.dead_letters, Counter[str]()
        for letter in read_lines(path):
            column = letter.get("column")
            reasons[f"{column}: {letter['reason']}" if column else str(letter["reason"])] += 1
        (why, _), *_ = reasons.most_common(1)
        raise ValueError(
            f"{self.bad:,} of {self.arrived:,} rows could not be used, mostly {why:.80} "
            f"(see {path}); is the target the right column? mend the rows, name target= and "
            "types=, or go on with max_bad=1"
        )

    def _cut_short(self) -> None:
        """Learn what is there, though it is less than a lesson; the log remembers where."""
        if not self._cutter.waiting:
            return
        self._store.cut(self._cutter.taken + self._cutter.waiting)
        rows = self._cutter.rest()
        if rows is not None:
            self._learn(rows)

    def _learn(self, rows: Examples) -> None:
        self._changed = True
        self._broken = True  # until the lesson is over: no half of one is saved
        try:
            self._write_drifts(self._course.attend(_lesson(rows), rows.keys))
        except ValueError:
            if not self._course.started:
                raise
            self._learn_one_by_one(rows)
        self._broken = False

    def _learn_one_by_one(self, rows: Examples) -> None:
        """The model refuses something in a lesson, which has changed nothing: find it."""
        for i in range(len(rows)):
            one = part(rows, i, i + 1)
            try:
                self._write_drifts(self._course.attend(_lesson(one), one.keys))
            except ValueError as error:
                reason = " ".join(str(error).split())
                self._bury([BadRow(row_text(one, self._config.schema), reason)])

    def _write_drifts(self, drifts: list[Drift]) -> None:
        self._store.add("drifts", [drift.row() for drift in drifts])
        self._untold += drifts

    def _bury(self, bad: list[BadRow]) -> None:
        self._dead.add(
            {
                "file": b.file,
                "line": b.line,
                "byte": b.byte,
                "column": b.column,
                "reason": b.reason,
                "text": b.text,
            }
            for b in bad
        )
        self.bad += len(bad)

    # --- looking ----------------------------------------------------------------------------------

    def _snapshots(self) -> Any:
        shots = self._course.snapshots()
        self._snapped = self.seen
        rows = [{"model": name} | shot.row() for name, shot in shots.items()]
        timings = [row for row in rows if row["role"] == "model"]
        names = ("model", "seen", "seconds", "nbytes")
        self._store.add("timings", [{k: row[k] for k in names} for row in timings])
        self._store.add(
            "metrics", [{k: v for k, v in row.items() if k not in _MACHINE} for row in rows]
        )
        return shots

    def _moment(self, snapshots: Any) -> Moment:
        self._store.settle()
        self._told = self.seen, self.bad
        drifts, self._untold = tuple(self._untold), []
        return Moment(
            self.seen,
            self.bad,
            snapshots,
            self._progress.share(self._cutter.waiting),
            getattr(self._source, "lag", None),
            getattr(self.model, "nbytes_", None),
            drifts,
        )

    # --- keeping ----------------------------------------------------------------------------------

    def checkpoint(self) -> None:
        """Write down everything now; the two newest checkpoints are kept.

        Raises
        ------
        OSError
            When the disk is full or broken: in one line. The checkpoints before are as they were.
        ValueError
            When rows of a pipe wait in the log: `catch_up`, or go on with `steps`, first.
        """
        if self._broken:
            raise ValueError("the run has failed within a lesson; resume it from its folder")
        if self._replaying:  # the log has it all, and must not be forgotten half-way
            if not self._begun:
                raise ValueError("rows in the log are not learned yet: call catch_up() first")
            return
        begun = time.monotonic()
        self._dead.sync()
        held = self._cutter.held()
        number = self._store.number + 1
        now = Checkpoint(
            run=self._config.run,
            number=number,
            model=self.model,
            course=self._course.state(),
            arrived=self._arrived,
            taken=self._cutter.taken,
            bad=self.bad,
            letters=self._dead.length,
            snapped=self._snapped,
            place=self._place,
            held=joined(held) if held else None,
        )
        self._store.write_checkpoint(number, now.to_bytes(), self._cutter.cuts())
        try:
            save_with_about(self._home.model, self.model, self._about, follow=False)
        except OSError as error:
            raise trouble(error, self._home.model) from None
        self._changed = False
        self._last_checkpoint = time.monotonic()
        self._cost = self._last_checkpoint - begun

    def rewrite(self) -> None:
        """Write both checkpoints anew: what the model has forgotten is in no file of it then.

        It is on disk when this returns. Dead letters stay.
        """
        if self._replaying:
            raise ValueError("rows in the log are not learned yet: call catch_up() first")
        for _ in range(2):  # two are kept
            self.checkpoint()
        self._store.purge()
        sync_folder(self._home.path)

    def _is_checkpoint_due(self) -> bool:
        seconds = self._config.options.checkpoint_seconds
        wait = max(seconds, (_SHARE_OF_CHECKPOINTS - 1) * self._cost) if seconds else 0.0
        return (
            self._changed
            and not self._replaying
            and time.monotonic() - self._last_checkpoint >= wait
        )

    def close(self) -> None:
        """Write a last checkpoint, if anything has happened since, and let go of the folder."""
        try:
            if self._changed and not self._broken:
                self.checkpoint()
        finally:
            self._store.close()
            self._dead.close()
            self._lock.release()

    def __enter__(self) -> Self:
        self._signals.install()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.close()
        finally:
            self._signals.remove()


def course_for(model: Any, config: RunConfig) -> Course:
    """A course for the one model of a run."""
    options = config.options
    return enrolled(
        {config.model["name"]: model},
        classes=options.classes,
        metrics=options.metrics,
        window=options.window,
        baselines=options.baselines,
    )


def _demand_keys(model: Any, source: Source) -> None:
    """A ValueError if examples have keys and the model does not take them."""
    key = next((c.name for c in source.schema.columns if c.part == "key"), None)
    if key is not None and "keys" not in inspect.signature(model.partial_fit).parameters:
        raise ValueError(
            f"source has keys, {key!r}, which {type(model).__name__} does not take; "
            "open it without a key"
        )


def _lesson(rows: Examples) -> Lesson:
    y = rows.y
    if y is not None and y.dtype.kind == "U":  # as wide as these rows need, not as their block
        y = np.array(y.tolist())
    return Lesson(rows.X, y)


def _put(path: Path, data: bytes) -> None:
    try:
        with replacing(path, follow=False) as file:
            file.write(data)
    except OSError as error:
        raise trouble(error, path) from None
