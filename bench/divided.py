"""Cases of a benchmark divided over processes, each on a core of its own.

The two sides of a ratio still run in one process, in turns. What the cores share, the outer cache
and the memory, all cases share alike; the file says how many ran at a time.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from queue import SimpleQueue

from bench.common import RESULTS, Report


def gather(report: Report, names: Iterable[str]) -> None:
    """Run the named cases of a benchmark, ``--jobs`` at a time, and take in what each has measured.

    A case whose process fails is a note; those stopped in the middle have kept what they had.
    """
    cores: SimpleQueue[int | None] = SimpleQueue()
    for core in _cores(report.options.jobs):
        cores.put(core)
    told = ["--repeats", str(report.options.repeats)]
    told += ["--quick"] * report.options.quick

    def run(name: str) -> int:
        core = cores.get()
        pinned = ["taskset", "--cpu-list", str(core)] if core is not None else []
        command = [*pinned, sys.executable, "-m", "bench", report.name, "--only", name, *told]
        alone = {**os.environ, "OMP_NUM_THREADS": "1"}
        try:
            return subprocess.run(
                command, check=False, env=alone, stdout=subprocess.DEVNULL
            ).returncode
        finally:
            cores.put(core)

    with ThreadPoolExecutor(report.options.jobs) as pool:
        running = {pool.submit(run, name): name for name in names}
        for done in as_completed(running):
            name = running[done]
            if done.result():
                report.note(f"{name} ended with exit status {done.result()}")
                continue
            part = json.loads(
                (RESULTS / "local" / f"{report.name}-{name.lower()}.json").read_text()
            )
            report.cases |= part["cases"]
            report.details |= part["details"]
            for note in part["notes"]:
                report.note(note)
            for case in part["cases"]:
                report.keep(case)


def _cores(jobs: int) -> list[int | None]:
    """A core for each job, where the system lets a process be pinned."""
    if not hasattr(os, "sched_getaffinity") or not shutil.which("taskset"):
        return [None] * jobs
    mine = sorted(os.sched_getaffinity(0))
    if jobs > len(mine):
        raise SystemExit(f"--jobs must be at most {len(mine)}, the cores there are")
    return list(mine[:jobs])
