"""A model for each key over 10, 100 and 1,000 executors: a simulation from measured figures.

No benchmark runs here. What `bench spark` and `bench bank` measured, 100,000 keys of 20 rows and
ten features, is read from their results:

    one core, s            of one bank alone, the rows in memory       (spark.json)
    path with 1 and 2, s   CPU seconds of driver and busiest executor  (spark.json)
    bytes of a model       `ModelBank.nbytes_` over the keys           (bank.json)

With 1 and 2 executors the path is ``once + work / n``, which gives both: what is done once, and the
work that executors divide. The work grows with the rows, as every row is a step; rows of a key
count as those measured, 20 for each. To that come, as assumptions and nowhere measured: a driver
that gives out a task in 5 ms, one task per executor in each of two stages, and a network that
brings 100 MB/s into each executor, which gets its rows from all others. Nobody dies or is late.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.common import figure
from bench.quality.cluster import BANDWIDTH, EXECUTORS, span
from bench.speed.bank import FEATURES, KEYS, ROWS

CASE = f"a model for each of {KEYS:,} keys"
MANY_KEYS = (100_000, 1_000_000, 10_000_000, 100_000_000)
TASK = 0.005  # seconds of the driver
STAGES = 2  # dealing rows to the buckets of their keys, and learning them
ROW_BYTES = 8 * (FEATURES + 3)  # the features, and the key, the order and the label


@dataclass(frozen=True)
class KeyCosts:
    """Seconds and bytes of a model for each key."""

    alone: float  # of a key, by one bank on one core
    once: float  # of Spark, whatever the number of keys
    work: float  # of a key through Spark
    model_bytes: float

    @classmethod
    def of(cls, spark: Mapping[str, Any], bank: Mapping[str, Any]) -> KeyCosts:
        """From the results of both benchmarks."""
        rows = spark["cases"][CASE]
        one, two = (rows[name]["path_cpu_s"] for name in ("1 executor", "2 executors"))
        work = 2 * (one - two)
        return cls(
            alone=rows["the library alone"]["best_s"] / KEYS,
            once=max(one - work, 0.0),
            work=work / KEYS,
            model_bytes=bank["cases"]["learn"]["bank"]["MB"] * 1e6 / KEYS,
        )

    def simulated(self, keys: int, executors: int) -> tuple[float, float]:
        """Seconds, and bytes of models that each executor holds."""
        each = keys / executors
        arriving = each * ROWS * ROW_BYTES * (1 - 1 / executors)
        seconds = self.once + STAGES * executors * TASK + each * self.work + arriving / BANDWIDTH
        return seconds, each * self.model_bytes


def sizing(spark: Mapping[str, Any], bank: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """The simulated table: its head and its rows."""
    costs = KeyCosts.of(spark, bank)
    head = ["keys", "rows", "models", "the library alone, one core"]
    head += [f"{n:,} executors" for n in EXECUTORS[1:]]
    rows = []
    for keys in MANY_KEYS:
        cells = [costs.simulated(keys, executors) for executors in EXECUTORS[1:]]
        rows.append(
            [f"{keys:,}", f"{keys * ROWS:,}", size(keys * costs.model_bytes)]
            + [span(keys * costs.alone)]
            + [f"{span(seconds)}, {size(held)} each" for seconds, held in cells]
        )
    return head, rows


def assumptions(spark: Mapping[str, Any], bank: Mapping[str, Any]) -> list[str]:
    """What the table was made from, and what was taken for granted."""
    costs = KeyCosts.of(spark, bank)
    return [
        f"Measured with 1 and 2 executors: {figure(costs.once)} s once and "
        f"{figure(costs.work * 1e6)} microseconds a key of {ROWS} rows and {FEATURES} features, "
        f"so {figure(costs.work * 1e6 / ROWS)} a row; one bank alone "
        f"{figure(costs.alone * 1e6 / ROWS)} a row; {figure(costs.model_bytes)} bytes a model.",
        f"Assumed: {TASK * 1e3:.0f} ms of the driver for a task, {STAGES} tasks for each executor "
        f"of one core, {ROW_BYTES} bytes a row at {BANDWIDTH / 1e6:.0f} MB/s into each executor, "
        "keys of equally many rows, nobody late. The library alone has its rows in memory. Nothing "
        "was run on more than 2 executors.",
    ]


def size(count: float) -> str:
    """Bytes as people say them."""
    unit, scale = ("GB", 1e9) if count >= 1e9 else ("MB", 1e6)
    return f"{figure(count / scale)} {unit}"
