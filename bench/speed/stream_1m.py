"""A million rows through RampSVC(keep_non_support=1000): are memory and time per row flat?

The stream is NCheckerboard (15 % flipped labels), generated block by block so that it is never held
in memory. After each block the resident memory and the time per row of that block are noted; after
a warm-up of a tenth of the stream neither may grow: the last fifth is held against the first.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from bench.common import Lap, Report, parse
from bench.machine import resident_mib
from onlinesvm import RampSVC
from onlinesvm.datasets import make_checkerboard

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


def stream(n: int) -> Trace:
    rng = np.random.default_rng(0)
    block = n // BLOCKS
    model = RampSVC(C=50.0, gamma=4.0, keep_non_support=1000)
    seconds, memory, support = [], [], []
    for _ in range(BLOCKS):
        X, y = make_checkerboard(block, noise=0.15, random_state=rng)
        start = time.perf_counter()
        model.partial_fit(scaled(X), y, classes=[-1, 1])
        seconds.append((time.perf_counter() - start) / block)
        memory.append(resident_mib())
        support.append(len(model.support_))
    X, y = make_checkerboard(10_000, random_state=rng)
    rows = block * np.arange(1, BLOCKS + 1)
    accuracy = float(model.score(scaled(X), y))
    return Trace(rows, np.array(seconds), np.array(memory), np.array(support), accuracy)


def scaled(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean 0, deviation 1, from the known distribution: a stream has no training statistics."""
    return (X - 2.0) / (4.0 / np.sqrt(12.0))


def draw(trace: Trace, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(3, 1, sharex=True, figsize=(7, 7), layout="constrained")
    axes[0].plot(trace.rows, 1e6 * trace.seconds)
    axes[0].set_ylabel("microseconds per row")
    axes[1].plot(trace.rows, trace.memory_mib)
    axes[1].set_ylabel("resident memory, MiB")
    axes[2].plot(trace.rows, trace.support)
    axes[2].set(ylabel="support vectors", xlabel="rows seen")
    for axis in axes:
        axis.set_ylim(bottom=0)
        axis.axvline(trace.rows[WARM_UP], linestyle=":", color="grey")
        axis.grid(alpha=0.3)
    figure.suptitle("RampSVC(keep_non_support=1000) on an endless noisy checkerboard")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main() -> None:
    options = parse(__doc__, repeats=1)
    n = options.size(1_000_000, 5_000)
    report = Report("stream_1m", f"{n:,} rows, keep_non_support=1000", "RampSVC", options)
    with threadpool_limits(limits=1):
        trace = stream(n)
    total = Lap([float(trace.seconds.sum()) * n / BLOCKS], None)
    facts = {"accuracy": round(100 * trace.accuracy, 2), "SVs": int(trace.support[-1])}
    report.add("stream", {"RampSVC": total}, facts={"RampSVC": facts}, units=n)
    report.details = {
        "rows": trace.rows.tolist(),
        "microseconds_per_row": (1e6 * trace.seconds).round(2).tolist(),
        "memory_mib": trace.memory_mib.round(1).tolist(),
        "support_vectors": trace.support.tolist(),
    }
    report.bar("flat memory: growth", trace.growth(trace.memory_mib), at_most=0.02)
    report.bar("flat time per row: growth", trace.growth(trace.seconds), at_most=0.1)
    draw(trace, report.path.with_suffix(".png"))
    report.finish()


if __name__ == "__main__":
    main()
