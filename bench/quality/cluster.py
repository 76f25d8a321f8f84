"""When to leave one machine: the cascade measured, and what 10, 100 and 1,000 executors would do.

Measured: covtype (class 2 against the rest, standardised, C = 8, gamma = 0.03) and MNIST (8 against
the rest, C = 10, gamma = 0.02), the cascade over 2, 4 and 8 parts, every call to a part timed by
itself in processor seconds, and `SmoSVC` on one core over the same rows. "2 executors" is then the
longest way: calls to parts two at a time, what the caller does by himself at full length.

Simulated, and said to be: from the figures measured,

    support vectors of m rows          a m^b
    solving m rows, s support vectors  c m s seconds
    judging m rows by s of them        j m s seconds
    the caller's own work, s at last   r s^2 seconds

and the assumptions that a round costs 1.5 s (an empty job of Spark as measured), that a network
carries 100 MB/s out of the caller and into it, and that there are as many rounds as were measured
over 8 parts. Nothing of this was run on 10 executors or more.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.common import Lap, Options, Report, benchmark, figure
from onlinesvm import SmoSVC
from onlinesvm.cluster import LocalParts, cascade
from onlinesvm.datasets import fetch

PARTS = (2, 4, 8)
EXECUTORS = (1, 10, 100, 1_000)
ROWS = (100_000, 1_000_000, 10_000_000)
LATENCY = 1.5  # seconds of a round
BANDWIDTH = 1e8  # bytes per second out of the caller, or into it
SETS = {
    "covtype": (2, 20_000, {"C": 8.0, "gamma": 0.03}),
    "mnist": (8, 20_000, {"C": 10.0, "gamma": 0.02}),
}


class Timed(LocalParts):
    """Parts here, one after the other, and what every call took."""

    def __init__(self, parts: Any) -> None:
        super().__init__(parts)
        self.calls: list[tuple[str, list[float], list[Any]]] = []

    def map(self, function: Callable[..., Any], shared: Any) -> list[Any]:
        return self._timed(function, [(part, shared) for part in self._parts])

    def run(self, function: Callable[..., Any], items: Sequence[Any]) -> list[Any]:
        return self._timed(function, [(item,) for item in items])

    def _timed(self, function: Callable[..., Any], calls: Sequence[Any]) -> list[Any]:
        seconds, results = [], []
        for call in calls:
            start = time.process_time()
            results.append(function(*call))
            seconds.append(time.process_time() - start)
        self.calls.append((function.__name__, seconds, results))
        return results

    def seconds(self, name: str | None = None) -> float:
        return sum(sum(took) for who, took, _ in self.calls if name in (None, who))


def data(name: str, rows: int) -> tuple[Any, Any]:
    X, y, *_ = fetch(name)
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    X = X / 255 if name == "mnist" else (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)
    order = np.random.default_rng(0).permutation(len(y))[:rows]
    return X[order].astype(np.float32), np.where(y == SETS[name][0], 1, -1)[order]


@dataclass(frozen=True)
class Measured:
    """One cascade: where its seconds went."""

    parts: int
    one: float  # SmoSVC on one core
    total: float
    leaves: float
    forks: float
    judging: float
    rounds: int
    support: int
    held: int
    up: int
    down: int
    leaf_rows: list[int]
    leaf_support: list[int]

    @property
    def alone(self) -> float:
        """What the caller did by himself."""
        return self.total - self.leaves - self.forks - self.judging

    def with_executors(self, n: int) -> float:
        return self.alone + (self.total - self.alone) / n

    @classmethod
    def of(cls, X: Any, y: Any, parts: int, params: dict[str, Any], one: float) -> Measured:
        timed = Timed.cut(X, y, parts)
        start = time.process_time()
        learned = cascade(timed, SmoSVC(**params))
        total = time.process_time() - start
        leaves = next(results for who, _, results in timed.calls if who == "_solve_leaf")
        return cls(
            parts=parts,
            one=one,
            total=total,
            leaves=timed.seconds("_answer") + timed.seconds("_solve_leaf"),
            forks=timed.seconds("_solve_fork"),
            judging=timed.seconds("judge"),
            rounds=learned.rounds,
            support=learned.certificate.n_support,
            held=len(learned.model._core.labels()[0]),
            up=learned.bytes_up,
            down=learned.bytes_down,
            leaf_rows=[len(timed[i]) for i in range(parts)],
            leaf_support=[len(leaf) for leaf in leaves],
        )


@dataclass(frozen=True)
class Costs:
    """What a cascade over any number of rows and executors would take, from what was measured."""

    a: float
    b: float
    solve: float
    judge: float
    root: float
    row_bytes: float
    rounds: int

    @classmethod
    def of(cls, measured: Sequence[Measured], rows: int, row_bytes: float) -> Costs:
        m = np.array([n for one in measured for n in one.leaf_rows] + [rows], dtype=float)
        s = np.array([n for one in measured for n in one.leaf_support] + [measured[0].support])
        b, log_a = np.polyfit(np.log(m), np.log(s), 1)
        pairs = [
            (one.leaves, sum(r * v for r, v in zip(one.leaf_rows, one.leaf_support, strict=True)))
            for one in measured
        ]
        solve = sum(took for took, _ in pairs) / sum(size for _, size in pairs)
        judged = sum(one.judging for one in measured)
        judge = judged / sum(one.rounds * rows * one.support for one in measured)
        root = sum(one.alone for one in measured) / sum(one.support**2 for one in measured)
        a = float(math.exp(log_a))
        return cls(a, float(b), solve, judge, root, row_bytes, measured[-1].rounds)

    def support(self, rows: float) -> float:
        return min(rows, self.a * rows**self.b)

    def one_machine(self, rows: float) -> float:
        return self.solve * rows * self.support(rows)

    def simulated(self, rows: float, executors: int) -> tuple[float, float]:
        """Seconds, and bytes through the caller's network."""
        each = rows / executors
        seconds = LATENCY + self.solve * each * self.support(each)
        travelling = self.support(each)
        traffic = executors * travelling * self.row_bytes
        branches = executors
        while branches > 2:  # a level of the tree
            together = 2 * travelling
            traffic += branches * travelling * self.row_bytes
            travelling = min(together, self.support(rows * 2 / branches))
            seconds += LATENCY + self.solve * together * travelling
            branches = -(-branches // 2)
        final = self.support(rows)
        seconds += self.root * final * final
        traffic += self.rounds * executors * final * self.row_bytes + final * self.row_bytes
        seconds += self.rounds * (LATENCY + self.judge * each * final)
        return seconds + traffic / BANDWIDTH, traffic


def measured_table(report: Report, name: str, measured: Sequence[Measured]) -> None:
    head = ["parts", "one core, s", "cascade in all, s", "the caller alone, s"]
    head += ["2 executors, s", "2 against 1", "2 against one core", "rounds", "MB up", "MB down"]
    rows = [
        [
            str(one.parts),
            figure(one.one),
            figure(one.total),
            figure(one.alone),
            figure(one.with_executors(2)),
            figure(one.total / one.with_executors(2)),
            figure(one.one / one.with_executors(2)),
            str(one.rounds),
            figure(one.up / 1e6),
            figure(one.down / 1e6),
        ]
        for one in measured
    ]
    title = f"{name}, {sum(measured[0].leaf_rows):,} rows, {measured[0].support:,} support vectors"
    report.matrix(f"{title}: measured", head, rows)


def simulated_table(report: Report, name: str, costs: Costs) -> None:
    head = ["rows", "support vectors", "one core", *(f"{n:,} executors" for n in EXECUTORS[1:])]
    rows = []
    for n in ROWS:
        cells = [costs.simulated(n, executors) for executors in EXECUTORS[1:]]
        rows.append(
            [f"{n:,}", figure(costs.support(n) // 1), span(costs.one_machine(n))]
            + [f"{span(seconds)}, {figure(traffic / 1e9)} GB" for seconds, traffic in cells]
        )
    report.matrix(f"{name}: simulated", head, rows)


def span(seconds: float) -> str:
    """Seconds as people say them."""
    for unit, size in (("days", 86_400.0), ("h", 3_600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{figure(seconds / size)} {unit}"
    return f"{figure(seconds)} s"


@benchmark("The cascade over many machines", "SmoSVC", repeats=1)
def main(report: Report, options: Options) -> None:
    for name, (_, full, params) in SETS.items():
        if not options.wants(name):
            continue
        rows = options.size(full, 2_000)
        X, y = data(name, rows)
        start = time.process_time()
        SmoSVC(**params).fit(X, y)
        one = time.process_time() - start
        measured = [Measured.of(X, y, parts, params, one) for parts in PARTS]
        laps = {"SmoSVC": Lap([one], None)}
        laps |= {f"cascade, {m.parts} parts, 2 executors": Lap([m.with_executors(2)], None)
                 for m in measured}  # fmt: skip
        report.add(name, laps)
        measured_table(report, name, measured)
        costs = Costs.of(measured, rows, 4.0 * X.shape[1] + 24)
        simulated_table(report, name, costs)
        report.details.setdefault("costs", {})[name] = vars(costs)
        best = max(m.total / m.with_executors(2) for m in measured)
        report.bar(f"2 executors against 1 by counted CPU time, {name}", best, at_least=1.4)
    report.note(
        "Simulated figures assume 1.5 s a round and 100 MB/s at the caller; nothing was run on "
        "more than 8 parts."
    )
