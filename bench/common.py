"""The harness: contestants race in one process, in turns; the minimum counts; the ratio is said.

A benchmark is a file with three lines per case::

    @benchmark("decision_function, 5,000 rows", "SVC")
    def main(report, options):
        ours, theirs = (lambda: ramp.decision_function(X)), (lambda: svc.decision_function(X))
        laps = race({"RampSVC": ours, "SVC": theirs}, repeats=options.repeats)
        report.add("d = 54", laps)
        report.bar("speed-up at d = 54", report.speed_up("d = 54", "RampSVC"), at_least=10)

Turns matter because a shared machine changes speed by the minute: both sides of a ratio meet the
same minutes. The minimum matters because noise only ever adds time.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from threadpoolctl import threadpool_limits

from bench.machine import describe

RESULTS = Path(__file__).parent / "results"
console = Console(width=None if sys.stdout.isatty() else 110)


@dataclass(frozen=True)
class Lap:
    """All timings of one contestant on one case, and what its last run returned."""

    seconds: list[float]
    product: Any

    @property
    def best(self) -> float:
        return min(self.seconds)


def race(
    contestants: Mapping[str, Callable[[], Any]],
    *,
    repeats: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Lap]:
    """Run all contestants in turns, ``repeats`` rounds, single-threaded, and keep every timing.

    Every other round runs in reverse order, so that nobody always follows the same neighbour. Where
    nobody waits or uses threads, ``time.process_time`` is the clock that a busy machine disturbs
    least.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    products: dict[str, Any] = {}
    with threadpool_limits(limits=1):
        for turn in range(repeats):
            order = list(contestants.items())
            for name, run in order if turn % 2 == 0 else reversed(order):
                products.pop(name, None)
                elapsed, products[name] = _timed(run, clock)
                seconds[name].append(elapsed)
    return {name: Lap(seconds[name], products[name]) for name in contestants}


def _timed(run: Callable[[], Any], clock: Callable[[], float]) -> tuple[float, Any]:
    gc.collect()
    gc.disable()
    try:
        start = clock()
        product = run()
        return clock() - start, product
    finally:
        gc.enable()


def geometric_mean(values: Sequence[float]) -> float:
    """The mean of ratios that does not depend on which side is the denominator."""
    return float(np.exp(np.mean(np.log(values))))


@dataclass(frozen=True)
class Options:
    """What every benchmark file can be told on its command line."""

    repeats: int
    quick: bool
    only: tuple[str, ...]
    jobs: int = 1

    def wants(self, case: str) -> bool:
        return not self.only or case.lower() in self.only

    def size(self, full: int, quick: int) -> int:
        return quick if self.quick else full


def parse(
    description: str | None,
    words: Sequence[str],
    *,
    repeats: int = 3,
    divisible: bool = False,
) -> Options:
    """Read the command line of a benchmark file; its cases may be divisible over processes."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=repeats, help="rounds (default %(default)s)")
    parser.add_argument("--only", nargs="+", default=[], metavar="CASE", help="run these cases")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="tiny sizes, one round: shows that it runs, measures nothing; kept in results/local",
    )
    if divisible:
        parser.add_argument(
            "--jobs", type=int, default=1, help="cases at a time, each in a process of its own"
        )
    told = parser.parse_args(words)
    only = tuple(case.lower() for case in told.only)
    jobs = told.jobs if divisible else 1
    return Options(1 if told.quick else told.repeats, told.quick, only, jobs)


@dataclass
class Report:
    """Cases, bars and notes of one benchmark: printed as a table, kept as JSON.

    Parameters
    ----------
    name : str
        File name in ``bench/results``.
    title : str
        Heading of the table.
    baseline : str
        The contestant in the denominator of every ratio.
    options : Options
        A run that is quick or partial is kept in ``results/local``, never among the results.

    Attributes
    ----------
    details : dict
        Anything else to keep in the JSON file, such as a trace over time.
    """

    name: str
    title: str
    baseline: str
    options: Options
    cases: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    bars: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._about = describe()

    def add(
        self,
        case: str,
        laps: Mapping[str, Lap],
        *,
        facts: Mapping[str, Mapping[str, Any]] | None = None,
        units: int | None = None,
    ) -> None:
        """Record a race; ``facts`` are further columns by contestant, ``units`` adds a rate."""
        base = laps[self.baseline].best
        self.cases[case] = {}
        for name, lap in laps.items():
            row: dict[str, Any] = {
                "best_s": lap.best,
                "median_s": median(lap.seconds),
                "seconds": lap.seconds,
                "ratio": lap.best / base,
            }
            if units is not None:
                row["per_second"] = units / lap.best
            self.cases[case][name] = row | dict((facts or {}).get(name, {}))
        self.keep(case)

    def keep(self, case: str) -> None:
        """Say how a case went, and keep all so far in results/local, should the run be stopped."""
        ratios = ", ".join(
            f"{name} {figure(row['ratio'])}" for name, row in self.cases[case].items()
        )
        console.print(f"[dim]{self.name}: {case} done: {escape(ratios)}[/]", highlight=False)
        self._in(RESULTS / "local").write_text(json.dumps(self._json(), indent=1) + "\n")

    def ratio(self, case: str, name: str) -> float:
        """Time of a contestant over time of the baseline."""
        return float(self.cases[case][name]["ratio"])

    def speed_up(self, case: str, name: str) -> float:
        """Time of the baseline over time of a contestant."""
        return 1.0 / self.ratio(case, name)

    def bar(
        self,
        claim: str,
        value: float,
        *,
        at_most: float | None = None,
        at_least: float | None = None,
    ) -> None:
        """Hold a measured value against the figure it has to reach."""
        low = -np.inf if at_least is None else at_least
        high = np.inf if at_most is None else at_most
        bound = f"<= {at_most:g}" if at_most is not None else f">= {at_least:g}"
        self.bars.append(
            {"claim": claim, "value": value, "bound": bound, "holds": bool(low <= value <= high)}
        )

    def matrix(self, title: str, head: list[str], rows: list[list[str]]) -> None:
        """A table of one's own, in place of that of the cases; there may be several."""
        self.details.setdefault("tables", []).append({"title": title, "rows": [head, *rows]})

    def note(self, text: str) -> None:
        """Keep a remark with the figures, such as a missing peer."""
        self.notes.append(text)

    def finish(self) -> None:
        """Print the tables and write the JSON file."""
        for table in self._tables():
            console.print(table)
        if self.bars:
            console.print(self._bar_table())
        for note in self.notes:
            console.print(f"[yellow]note:[/] {escape(note)}", highlight=False)
        self.path.write_text(json.dumps(self._json(), indent=1) + "\n")
        console.print(f"written: {os.path.relpath(self.path)}\n")

    @property
    def path(self) -> Path:
        """Where the JSON file goes; its folder exists."""
        partial = self.options.quick or self.options.only
        return self._in(RESULTS / "local" if partial else RESULTS)

    def _in(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{'-'.join((self.name, *self.options.only))}.json"

    def _json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "baseline": self.baseline,
            "threads": 1,
            "repeats": self.options.repeats,
            "jobs": self.options.jobs,
            **self._about,
            "cases": self.cases,
            "bars": self.bars,
            "notes": self.notes,
            "details": self.details,
        }

    def _tables(self) -> list[Table]:
        own = self.details.get("tables", [])
        return [_own_table(f"{self.title}: {one['title']}", *one["rows"]) for one in own] or [
            self._case_table()
        ]

    def _case_table(self) -> Table:
        rows = [row for case in self.cases.values() for row in case.values()]
        hidden = {"seconds", "median_s", "ratio", "best_s"}
        columns = dict.fromkeys(key for row in rows for key in row)
        extra = [key for key in columns if key not in hidden]
        table = Table(title=self.title, caption="minimum of interleaved runs, one thread")
        table.add_column("case")
        table.add_column("contestant")
        for heading in ("seconds", f"x {self.baseline}", *(key.replace("_", " ") for key in extra)):
            table.add_column(heading, justify="right")
        for case, contestants in self.cases.items():
            for number, (name, row) in enumerate(contestants.items()):
                cells = [figure(row["best_s"]), figure(row["ratio"])]
                cells += [figure(row.get(key)) for key in extra]
                last = number == len(contestants) - 1
                table.add_row("" if number else case, name, *cells, end_section=last)
        return table

    def _bar_table(self) -> Table:
        table = Table(title=f"{self.name}: what must hold")
        for heading in ("claim", "measured", "bar", "verdict"):
            table.add_column(heading)
        for bar in self.bars:
            verdict = "[green]holds[/]" if bar["holds"] else "[red]does not hold[/]"
            verdict = "[dim]quick run, says nothing[/]" if self.options.quick else verdict
            table.add_row(bar["claim"], figure(bar["value"]), bar["bound"], verdict)
        return table


Main = Callable[[Sequence[str]], None]


def benchmark(
    title: str, baseline: str, *, repeats: int = 3, divisible: bool = False
) -> Callable[[Callable[[Report, Options], None]], Main]:
    """Make a main that reads the command line, and reports what the function adds to a report.

    The report has the name of the file, and the help its docstring.
    """

    def made(measure: Callable[[Report, Options], None]) -> Main:
        if measure.__module__ == "__main__":
            raise SystemExit("run it by its name: python -m bench NAME")

        def main(words: Sequence[str]) -> None:
            about = sys.modules[measure.__module__].__doc__
            options = parse(about, words, repeats=repeats, divisible=divisible)
            name = measure.__module__.rpartition(".")[2]
            report = Report(name, title, baseline, options)
            measure(report, options)
            report.finish()

        return main

    return made


def _own_table(title: str, head: list[str], *rows: list[str]) -> Table:
    table = Table(title=title)
    for number, heading in enumerate(head):
        table.add_column(heading, justify="right" if number else "left")
    for row in rows:
        table.add_row(*(cell.replace("**", "") for cell in row))
    return table


def figure(value: Any) -> str:
    """A value as people read it: three or four digits, thousands apart."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return (
            f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{4 if abs(value) >= 10 else 3}g}"
        )
    return f"{value:,}" if isinstance(value, int) else str(value)
