"""How fast sources give examples: Covertype as files of several kinds, on one core.

581,012 rows of 54 features and a label, to C-ordered float64. The process is held on one core, so
that threads of a library do not count as speed; where others use that core, too, seconds of the CPU
are the steadier figure, and the one that is held to its bar. Memory is the peak of a fresh process
that reads the whole CSV file, beyond that of one that reads its first tenth.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from bench.common import Lap, Options, Report, benchmark, race
from onlinesvm.datasets import fetch

WIDTH = 55
THERE = 13  # values in a row of LIBSVM text, on average
FEW = 50_000  # rows of the formats that take longer
AT_LEAST = 10e6  # values a second of numeric CSV
AT_MOST = 64.0  # megabytes that a file ten times as long may take more
PEAK = """
import re, sys
from onlinesvm.stream import open_source
for block in open_source(sys.argv[1]).blocks():
    pass
# getrusage would give the peak of whoever started this process, if that was higher
print(int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024)
"""


def files(folder: Path, n: int) -> dict[str, Path]:
    """The same rows in all formats."""
    from sklearn.datasets import dump_svmlight_file

    data = fetch("covtype")
    X, y = data.X_train[:n], data.y_train[:n]
    few = min(n, FEW)
    names = [f"c{j}" for j in range(X.shape[1])]
    table = pa.table([*(pa.array(X[:, j]) for j in range(X.shape[1])), pa.array(y)], [*names, "y"])
    paths = {kind: folder / f"covtype.{kind}" for kind in ("csv", "parquet", "npz", "jsonl", "svm")}
    paths |= {"csv.gz": folder / "few.csv.gz", "bad.csv": folder / "bad.csv"}
    pa.csv.write_csv(table, paths["csv"])
    lines = paths["csv"].read_bytes().splitlines()[: few + 1]
    paths["csv.gz"].write_bytes(gzip.compress(b"\n".join(lines), 6))
    lines[1::1000] = [b"x" + line for line in lines[1::1000]]
    paths["bad.csv"].write_bytes(b"\n".join(lines))
    pa.parquet.write_table(table, paths["parquet"])
    np.savez_compressed(paths["npz"], X=X.astype(np.float64), y=y)
    with paths["jsonl"].open("w") as file:
        for row in table.slice(0, few).to_pylist():
            file.write(json.dumps(row) + "\n")
    dump_svmlight_file(X[:few], y[:few], str(paths["svm"]), zero_based=False)
    return paths


def on_cpu(run: Callable[[], int]) -> Callable[[], float]:
    """The seconds of the CPU that a run takes, of all its threads."""

    def timed() -> float:
        start = time.process_time()
        run()
        return time.process_time() - start

    return timed


def rate(lap: Lap, values: int) -> dict[str, float]:
    return {"per_cpu_second": values / lap.product}


def ours(path: Path) -> Callable[[], float]:
    from onlinesvm.stream import open_source

    return on_cpu(lambda: sum(len(block.examples) for block in open_source(path).blocks()))


def arrow(path: Path) -> Callable[[], float]:
    """pyarrow's own stream, with types told, to C-ordered arrays."""

    def batches() -> Iterator[Any]:
        names = [*(f"c{j}" for j in range(WIDTH - 1)), "y"]
        options = pa.csv.ConvertOptions(column_types=dict.fromkeys(names, pa.float64()))
        read = pa.csv.ReadOptions(use_threads=False)
        yield from pa.csv.open_csv(path, read_options=read, convert_options=options)

    def run() -> int:
        n = 0
        for batch in batches():
            rows = np.empty((batch.num_rows, WIDTH))
            for j in range(WIDTH):
                rows[:, j] = batch.column(j).to_numpy()
            n += len(rows)
        return n

    return on_cpu(run)


def pandas(path: Path) -> Callable[[], float]:
    import pandas as pd

    return on_cpu(
        lambda: sum(
            len(np.ascontiguousarray(chunk.to_numpy(np.float64)))
            for chunk in pd.read_csv(path, chunksize=10_000)
        )
    )


def peak(path: Path) -> float:
    """Megabytes of a process that reads a file."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(path)], check=True, capture_output=True, text=True
    )
    return float(done.stdout)


def measure(report: Report, options: Options, folder: Path) -> None:
    n = options.size(581_012, 2_000)
    paths = files(folder, n)
    few = min(n, FEW)
    laps = race(
        {
            "open_source": ours(paths["csv"]),
            "pyarrow": arrow(paths["csv"]),
            "pandas": pandas(paths["csv"]),
        },
        repeats=options.repeats,
    )
    facts = {name: rate(lap, n * WIDTH) for name, lap in laps.items()}
    report.add("csv", laps, units=n * WIDTH, facts=facts)
    per_second = report.cases["csv"]["open_source"]["per_cpu_second"]
    report.bar("numeric CSV: values a CPU second", per_second, at_least=AT_LEAST)
    rows = {"parquet": n, "npz": n, "csv.gz": few, "bad.csv": few, "jsonl": few, "svm": few}
    for kind, count in rows.items():
        laps = race({"open_source": ours(paths[kind])}, repeats=options.repeats)
        values = count * (WIDTH if kind != "svm" else THERE)
        facts = {"open_source": rate(laps["open_source"], values)}
        report.add(kind, laps, units=values, facts=facts)
    tenth = folder / "tenth.csv"
    tenth.write_bytes(b"\n".join(paths["csv"].read_bytes().splitlines()[: n // 10]))
    if not Path("/proc/self/status").exists():
        report.note("memory left out: the system does not tell its peak")
        return
    grown = peak(paths["csv"]) - peak(tenth)
    report.bar("MB that a CSV file ten times as long takes more", grown, at_most=AT_MOST)


@benchmark("reading Covertype", "open_source")
def main(report: Report, options: Options) -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        measure(report, options, Path(folder))
    report.note(f"svm counts values that are there, {THERE} a row; bad.csv has a bad row in 1,000")
