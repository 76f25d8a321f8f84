"""Every learner on every task of the ramp paper: the loop that speed and quality share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from bench.common import Report, race
from bench.peers import Learner, present
from onlinesvm.datasets import PAPER_TASKS, DownloadError, Task, paper_task


def run(
    report: Report,
    learners: Sequence[Learner],
    clock: Callable[[], float] = time.perf_counter,
) -> list[str]:
    """Race the learners on all tasks that can be had, and return the names of those tasks."""
    rivals = present(learners, report.note)
    for task in here(report):
        calls = {learner.name: learner.enter(task) for learner in rivals}
        laps = race(calls, repeats=report.options.repeats, clock=clock)
        facts = {name: lap.product.facts(task) for name, lap in laps.items()}
        report.add(task.name, laps, facts=facts)
        report.details[task.name] = {"C": task.C, "gamma": task.gamma, "published": task.published}
    return list(report.cases)


def here(report: Report) -> Iterator[Task]:
    """The tasks that can be had, one after the other; a note says which cannot."""
    for name in filter(report.options.wants, PAPER_TASKS):
        try:
            yield paper_task(name, train_rows=300 if report.options.quick else None)
        except DownloadError as error:
            report.note(f"{name} left out: {error}; ONLINESVM_DATA can name a folder that has it")
