"""A million rows through RampSVC(keep_non_support=1000): are memory and time per row flat?

The removal step bounds the examples that support nothing; what supports, stays. Hence two streams.
On a checkerboard whose squares keep a distance, the number of support vectors has a limit and
everything must be flat: the last fifth is held against the first fifth after a warm-up of a tenth.
Where 15 % of the labels are wrong and the squares touch, every wrong label inside the margin stays
a support vector, and memory and time grow with them: that stream is shorter, has no bar, and shows
the growth. Rows are generated block by block, so that none is held by the benchmark.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from bench.common import Lap, Options, Report, benchmark
from bench.machine import resident_mib
from onlinesvm import RampSVC
from onlinesvm.datasets import make_checkerboard

Rows = Callable[[int, np.random.Generator], tuple[NDArray[np.float64], NDArray[np.int64]]]

BLOCKS = 100
WARM_UP = BLOCKS // 10


@dataclass(frozen=True)
class Trace:
    """What was seen after each block of the stream."""

    rows: NDArray[np.int64]
    seconds: NDArray[np.float64]
    memory_mib: NDArray[np.float64]
    support: NDArray[np.int64]
    accuracy: float

    def growth(self, values: NDArray[np.float64]) -> float:
        """Growth from the first fifth after the warm-up to the last fifth, by their medians."""
        flat = values[WARM_UP:]
        fifth = len(flat) // 5
        return float(np.median(flat[-fifth:]) / np.median(flat[:fifth]) - 1.0)


def squares_apart(
    n: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A clean checkerboard without the rows nearer than 0.1 to a border between squares."""
    X, y = make_checkerboard(2 * n, random_state=rng)
    clear = (np.abs(X - np.round(X)) >= 0.1).all(axis=1)
    return X[clear][:n], y[clear][:n]


def wrong_labels(n: int, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """NCheckerboard: 15 % of the labels are wrong."""
    return make_checkerboard(n, noise=0.15, random_state=rng)


def stream(n: int, draw_rows: Rows) -> Trace:
    rng = np.random.default_rng(0)
    block = n // BLOCKS
    model = RampSVC(C=50.0, gamma=4.0, keep_non_support=1000)
    seconds, memory, support = [], [], []
    for _ in range(BLOCKS):
        X, y = draw_rows(block, rng)
        start = time.perf_counter()
        model.partial_fit(scaled(X), y, classes=[-1, 1])
        seconds.append((time.perf_counter() - start) / block)
        memory.append(resident_mib())
        support.append(len(model.support_))
    X, y = make_checkerboard(10_000, random_state=rng)  # clean
    rows = block * np.arange(1, BLOCKS + 1)
    accuracy = float(model.score(scaled(X), y))
    return Trace(rows, np.array(seconds), np.array(memory), np.array(support), accuracy)


def scaled(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean 0, deviation 1, from the known distribution: a stream has no training statistics."""
    return (X - 2.0) / (4.0 / np.sqrt(12.0))


def draw(traces: dict[str, Trace], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(
        3,
        len(traces),
        sharex="col",
        figsize=(6 * len(traces), 7),
        layout="constrained",
        squeeze=False,
    )
    for column, (name, trace) in zip(axes.T, traces.items(), strict=True):
        column[0].set_title(name)
        column[0].plot(trace.rows, 1e6 * trace.seconds)
        column[0].set_ylabel("microseconds per row")
        column[1].plot(trace.rows, trace.memory_mib)
        column[1].set_ylabel("resident memory, MiB")
        column[2].plot(trace.rows, trace.support)
        column[2].set(ylabel="support vectors", xlabel="rows seen")
        for axis in column:
            axis.set_ylim(bottom=0)
            axis.axvline(trace.rows[WARM_UP], linestyle=":", color="grey")
            axis.grid(alpha=0.3)
    figure.suptitle("RampSVC(keep_non_support=1000)")
    figure.savefig(path, dpi=120)
    plt.close(figure)


@benchmark("stream_1m", "RampSVC", repeats=1)
def main(report: Report, options: Options) -> None:
    n = options.size(1_000_000, 5_000)
    report.title = f"{n:,} rows, keep_non_support=1000"
    streams = {"squares apart": (n, squares_apart), "15 % wrong labels": (n // 10, wrong_labels)}
    traces = {}
    for name, (rows, draw_rows) in streams.items():
        with threadpool_limits(limits=1):
            trace = traces[name] = stream(rows, draw_rows)
        total = Lap([float(trace.seconds.sum()) * rows / BLOCKS], None)
        facts = {"accuracy": round(100 * trace.accuracy, 2), "SVs": int(trace.support[-1])}
        report.add(name, {"RampSVC": total}, facts={"RampSVC": facts}, units=rows)
        report.details[name] = {
            "rows": trace.rows.tolist(),
            "microseconds_per_row": (1e6 * trace.seconds).round(2).tolist(),
            "memory_mib": trace.memory_mib.round(1).tolist(),
            "support_vectors": trace.support.tolist(),
        }
    flat = traces["squares apart"]
    report.bar("flat memory: growth", flat.growth(flat.memory_mib), at_most=0.02)
    report.bar("flat time per row: growth", flat.growth(flat.seconds), at_most=0.1)
    draw(traces, report.path.with_suffix(".png"))
