"""Results that outlive an interrupted run: each is written down the moment it is there.

    journal = Journal("ramp", jobs=2)
    cells = [{"task": "Adult", "order": k} for k in range(10)]
    found = journal.work(cells, one_pass)  # one_pass(task="Adult", order=0) gives facts, a dict

A cell is named by its settings, seeds among them; what was measured before is read from
``reproduce/results/<paper>.json`` instead. `--afresh` forgets. Each cell bears the date, the
processor's seconds it took and where it was measured: machine, versions, compiler, commit. One
process at a time measures for a paper; any number may read.
"""

from __future__ import annotations

import json
import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.machine import describe
from onlinesvm.datasets import DownloadError
from onlinesvm.stream.run.lock import Lock

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULTS = Path(__file__).parent / "results"
EVERY = 10.0  # seconds between two lines of progress

Facts = dict[str, Any]
Settings = Mapping[str, Any]
Run = Callable[..., Facts]


class InUse(RuntimeError):
    """Another process measures for this paper."""


class Journal:
    """The results of one paper, with the settings and the origin of each, in one JSON file.

    ``quick`` asks for tiny sizes (see `size`), kept in ``results/local`` and never among the
    results. ``measured`` runs nothing: what is not there yet is None.
    """

    def __init__(
        self,
        paper: str,
        *,
        afresh: bool = False,
        folder: Path = RESULTS,
        jobs: int = 1,
        quick: bool = False,
        measured: bool = False,
    ) -> None:
        self.paper, self.jobs, self.quick, self.measured = paper, jobs, quick, measured
        self.folder = folder / "local" if quick else folder
        self.path = self.folder / f"{paper}.json"
        self.folder.mkdir(parents=True, exist_ok=True)
        self._afresh = afresh
        self._about: dict[str, Any] = {}  # this machine and commit
        self._read()

    def size(self, full: int, quick: int) -> int:
        """One of the two, as this run was asked for."""
        return quick if self.quick else full

    def work(self, cells: Iterable[Settings], run: Run) -> list[Facts | None]:
        """The facts of each cell: as written down before, or by ``run(**cell)`` now.

        Cells are handed to ``jobs`` processes in the order given, so ``run`` must be a function of
        a module. Where the data of a cell cannot be had its facts are None, and a line says so. Any
        other failure is raised when the rest is done.
        """
        cells = list(cells)
        names = [_name(run, cell) for cell in cells]
        due = {n: c for n, c in zip(names, cells, strict=True) if n not in self._cells}
        if due and not self.measured:
            with self._alone():
                self._do({name: c for name, c in due.items() if name not in self._cells}, run)
        return self.known(cells, run)

    def known(self, cells: Iterable[Settings], run: Run) -> list[Facts | None]:
        """The facts of each cell as written down before; of the others None."""
        found = (self._cells.get(_name(run, cell)) for cell in cells)
        return [cell["facts"] if cell else None for cell in found]

    def measure(self, name: str, run: Callable[[], Facts]) -> Facts:
        """The facts under this name, in this process."""
        if name not in self._cells:
            with self._alone():
                self._keep(name, {}, *_timed(run, {}))
        facts = self._cells[name]["facts"]
        assert isinstance(facts, dict)
        return facts

    def __contains__(self, name: str) -> bool:
        return name in self._cells

    @property
    def origins(self) -> list[dict[str, Any]]:
        """Machines, versions and commits of all that was measured."""
        used = sorted({cell["origin"] for cell in self._cells.values()})
        return [self._origins[place] for place in used]

    def origin(self, run: Run, cell: Settings) -> dict[str, Any]:
        """Machine, versions and commit of a cell that was measured."""
        about = self._origins[self._cells[_name(run, cell)]["origin"]]
        assert isinstance(about, dict)
        return about

    def picture(self, name: str, figure: Figure) -> Path:
        """Saves a figure beside the results."""
        path = self.folder / f"{self.paper}_{name}.png"
        figure.savefig(path, dpi=120)
        return path

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Nobody else measures meanwhile, and what others have measured since is known."""
        try:
            lock = Lock(self.folder / f"{self.paper}.lock")
        except ValueError:
            message = f"another process measures {self.paper!r}; wait until it ends"
            raise InUse(message) from None
        try:
            self._read()
            yield
        finally:
            lock.release()

    def _read(self) -> None:
        there = self.path.exists() and not self._afresh
        kept = json.loads(self.path.read_text()) if there else {}
        self._origins: list[Any] = kept.get("origins", [])
        self._cells: dict[str, Any] = kept.get("cells", {})
        self._lines = {name: _line(name, cell) for name, cell in self._cells.items()}

    def _do(self, due: Mapping[str, Settings], run: Run) -> None:
        clock = _Progress(f"{self.paper}, {run.__name__}", len(due))
        failures: list[Exception] = []
        with _spread(due, run, self.jobs) as results:
            for name, result in results:
                try:
                    self._keep(name, due[name], *result())
                except DownloadError as missing:
                    print(f"left out: {name}: {missing}", flush=True)
                except Exception as error:
                    error.add_note(f"in the cell {name!r}")
                    failures.append(error)
                clock.tick()
        if failures:
            raise failures[0]

    def _keep(self, name: str, settings: Settings, facts: Facts, seconds: float) -> None:
        self._about = self._about or describe()
        if self._about not in self._origins:
            self._origins.append(self._about)
        origin = self._origins.index(self._about)
        date = datetime.now(UTC).isoformat(timespec="seconds")
        cell = {"facts": facts, "settings": dict(settings), "date": date}
        self._cells[name] = cell | {"cpu_seconds": round(seconds, 3), "origin": origin}
        self._lines[name] = _line(name, self._cells[name])
        # Written beside and moved: an interrupted write must not cost hours of results.
        draft = self.path.with_suffix(".json.part")
        origins = json.dumps(self._origins, indent=1)
        cells = ",\n".join(self._lines.values())
        draft.write_text(f'{{\n"origins": {origins},\n"cells": {{\n{cells}\n}}}}\n')
        draft.replace(self.path)
        self._afresh = False  # what is there is of this run


def _name(run: Run, settings: Settings) -> str:
    return ", ".join([run.__name__, *(f"{key} {value}" for key, value in settings.items())])


def _line(name: str, cell: Any) -> str:
    return f"{json.dumps(name)}: {json.dumps(cell)}"


def _timed(run: Run, settings: Settings) -> tuple[Facts, float]:
    began = time.process_time()
    facts = run(**settings)
    return facts, time.process_time() - began


Result = Callable[[], tuple[Facts, float]]


@contextmanager
def _spread(
    due: Mapping[str, Settings], run: Run, jobs: int
) -> Iterator[Iterator[tuple[str, Result]]]:
    """Names and what fetches their results, as they come."""
    if jobs == 1:
        yield ((name, partial(_timed, run, cell)) for name, cell in due.items())
        return
    # Fresh processes: one forked from here would inherit the thread pools of what was imported.
    pool = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"))
    try:
        futures: dict[Future[tuple[Facts, float]], str] = {
            pool.submit(_timed, run, cell): name for name, cell in due.items()
        }
        yield ((futures[done], done.result) for done in as_completed(futures))
    finally:
        pool.shutdown(cancel_futures=True)


class _Progress:
    """Says from time to time how many are done, and how long the rest will take at this pace."""

    def __init__(self, what: str, total: int) -> None:
        self.what, self.total, self.done = what, total, 0
        self.began = self.said = time.monotonic()

    def tick(self) -> None:
        self.done += 1
        now = time.monotonic()
        if now - self.said < EVERY and self.done < self.total:
            return
        self.said = now
        left = (now - self.began) / self.done * (self.total - self.done)
        print(f"{self.what}: {self.done} of {self.total}, {_words(left)} left", flush=True)


def _words(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
