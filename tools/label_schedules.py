"""Ask, answer late, save, load and crash in random order: no label that was paid for may be lost.

    python tools/label_schedules.py --count 10000

A schedule draws a model, a query, a budget, delays of up to 500 rows, and what happens when. A
crash is drawn among the moments at which a process could die: before or after a line reaches the
file, in the middle of it, before or after a model learns, before or after a checkpoint is in place.
What is checked at the end: each answer that was acknowledged is in the model exactly once, in the
model's own bits, which an independent model gets from the labels alone; each ticket that was
handed out is answered or open; labels never exceed the budget. Each schedule is lived a second time
while Ctrl-C comes at any moment and another thread teaches the model: the desk in memory and the
one on disk stay the same.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from onlinesvm import (
    SGDSVC,
    LabelDesk,
    OnlineScaler,
    PassiveAggressiveClassifier,
    make_online_pipeline,
)
from onlinesvm.compose.labelling import desk as desks
from onlinesvm.compose.labelling import journal as journals
from onlinesvm.compose.labelling import ledger as ledgers
from onlinesvm.label_budgets import LabelShare, LabelsPerWindow
from onlinesvm.queries import All, ClosestToPlane, Greedy, Margin, MostViolating, RandomRate
from onlinesvm.stream.run import appended
from onlinesvm.stream.run.appended import Appended

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from ctrl_c import CtrlC

MODELS: tuple[Callable[[], Any], ...] = (
    lambda: PassiveAggressiveClassifier(classes=[0, 1]),
    lambda: SGDSVC(classes=[0, 1]),
    lambda: make_online_pipeline(OnlineScaler(warm_up=4), SGDSVC(classes=[0, 1])),
)
ASKING: tuple[tuple[Any, Any], ...] = (
    (All(), None),
    (Margin(), None),
    (Margin(), LabelShare(0.3)),
    (Greedy(3), None),
    (ClosestToPlane(), LabelShare(0.5)),
    (MostViolating(), LabelsPerWindow(5, 20)),
    (RandomRate(0.4), LabelsPerWindow(30, 60)),
)
LONGEST_DELAY = 500  # rows


class Crash(BaseException):
    """The process is gone; what is in memory does not count any more."""


class Fate:
    """Counts the moments at which a process could die, and dies at the one that was drawn."""

    def __init__(self) -> None:
        self.left = 0  # moments to live; 0: for ever

    def moment(self) -> None:
        if self.left:
            self.left -= 1
            if not self.left:
                raise Crash

    @contextmanager
    def governs(self) -> Iterator[None]:
        """Appending, learning and replacing files may each be the last thing that is done."""
        append, write = Appended.append, journals._write

        def appends(file: Appended, data: bytes) -> None:
            self.moment()
            try:
                self.moment()
            except Crash:  # half a line is on the disk
                with file.path.open("ab") as torn:
                    torn.write(data[: len(data) // 2])
                raise
            append(file, data)
            self.moment()

        def syncs(file: Appended) -> None:
            self.moment()

        def writes(path: Path, data: bytes) -> None:
            self.moment()
            write(path, data)
            self.moment()

        with (
            mock.patch.object(Appended, "append", appends),
            mock.patch.object(Appended, "sync", syncs),
            mock.patch.object(journals, "_write", writes),
            # A process that is gone cuts nothing back.
            mock.patch.object(journals.FolderJournal, "back_to", self._back_to()),
        ):
            yield

    def _back_to(self) -> Callable[..., None]:
        cut = journals.FolderJournal.back_to

        def back_to(journal: Any, length: int) -> None:
            if not isinstance(sys.exc_info()[1], Crash):
                cut(journal, length)

        return back_to


def live(seed: int, folder: Path) -> dict[str, int]:
    """One schedule; what happened, in numbers. An AssertionError says what was lost."""
    rng = np.random.default_rng(seed)
    make = MODELS[rng.integers(len(MODELS))]
    query, budget = ASKING[rng.integers(len(ASKING))]
    longest = int(rng.choice([0, 5, 50, LONGEST_DELAY]))
    rows = int(rng.integers(5, 60)) + int(rng.random() < 0.2) * longest
    X = rng.normal(size=(rows, 2))
    desk = LabelDesk(make(), query, budget, max_open=int(rng.choice([3, 1000]))).keep(folder)
    fate, told, handed = Fate(), {"crashes": 0, "answers": 0, "asked": 0}, set()
    learned: list[tuple[Any, int]] = []  # as acknowledged, in order
    waiting: deque[tuple[int, str]] = deque()

    def answer(desk: LabelDesk, ticket: str) -> None:
        row = desk.row(ticket)
        label = int(row[0] > 0)
        desk.answer(ticket, label)
        learned.append((row, label))
        told["answers"] += 1

    def back() -> LabelDesk:
        """Restart; tickets that were about to be handed out or answered are sorted out."""
        told["crashes"] += 1
        fate.left = 0
        again = LabelDesk.resume(folder)
        labels = [(one.row, one.y) for one in journals.read_labels(folder)]
        assert _same(labels[: len(learned)], learned), "an answer that was acknowledged is lost"
        assert len(labels) - len(learned) in (0, 1), "more was learned than ever answered"
        learned[:] = labels
        known = [(due, ticket) for due, ticket in waiting if ticket in again.tickets]
        # Those that the crash kept from being handed out are in the list of the desk.
        known += [(0, t) for t in again.tickets if t not in {ticket for _, ticket in known}]
        waiting.clear()
        waiting.extend(known)
        return again

    with fate.governs():
        for i, x in enumerate(X):
            if not fate.left and rng.random() < 0.1:
                fate.left = int(rng.integers(1, 12))
            try:
                ticket = desk.ask(x)
                if ticket is not None:
                    handed.add(ticket)
                    told["asked"] += 1
                    waiting.append((i + int(rng.integers(0, longest + 1)), ticket))
                for due, ticket in list(waiting):
                    if due <= i:
                        waiting.remove((due, ticket))
                        try:
                            answer(desk, ticket)
                        except Crash:
                            waiting.append((due, ticket))
                            raise
                deed = rng.random()
                if deed < 0.05:
                    desk.checkpoint()
                elif deed < 0.1:  # and to another file, from which it goes on in memory
                    path = folder / "copy.onlinesvm"
                    desk.save(path)
                    twin = LabelDesk.load(path)
                    assert twin.tickets == desk.tickets
                    assert (twin.seen, twin.spent) == (desk.seen, desk.spent)
            except Crash:
                desk._journal.close()  # type: ignore[union-attr] # as the system does
                desk = back()
            assert budget is None or _within(desk, budget)
        fate.left = 0
        for ticket in desk.tickets:
            answer(desk, ticket)
    assert not desk.tickets
    assert desk.answered == desk.spent == len(learned), "a label that was paid for is lost"
    assert handed <= _asked(folder), "a ticket that was handed out is lost"
    oracle = make()
    for row, label in learned:
        oracle.learn_one(row, label)
    if learned:
        f, g = (m.decision_function(X) for m in (desk.model, oracle))
        assert np.array_equal(f, g), "the model is not what the labels make it"
    desk.close()
    return told


def live_together(seed: int, folder: Path) -> dict[str, int]:
    """One schedule under Ctrl-C, with another thread that teaches the model from elsewhere."""
    rng = np.random.default_rng(seed)
    make = MODELS[rng.integers(len(MODELS))]
    query, budget = ASKING[rng.integers(len(ASKING))]
    X = rng.normal(size=(int(rng.integers(5, 40)), 2))
    desk = LabelDesk(make(), query, budget).keep(folder)
    told = {"interrupts": 0, "taught": 0, "together": 0}
    stop, turns = threading.Event(), threading.Semaphore(0)

    def elsewhere() -> None:
        while turns.acquire() and not stop.is_set():
            for x in X[:20]:
                desk.model.learn_one(x, 1)
                told["taught"] += 1

    def interrupted(act: Callable[[], object]) -> None:
        turns.release()
        with CtrlC(int(rng.integers(1, 120)), (desks, journals, ledgers, appended)) as signal:
            act()
        told["interrupts"] += signal.struck
        twin = folder.with_name("twin")
        shutil.rmtree(twin, ignore_errors=True)
        shutil.copytree(folder, twin)
        again = LabelDesk.resume(twin)
        assert (again.tickets, again.answered, again.spent) == (
            desk.tickets,
            desk.answered,
            desk.spent,
        ), "the desk on disk is another"
        again.close()

    other, interval = threading.Thread(target=elsewhere), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        other.start()
        desk.model.learn_one(X[0], 1)
        told["taught"] += 1
        for x in X:
            interrupted(lambda x=x: desk.ask(x))
            for ticket in desk.tickets:
                if rng.random() < 0.5:
                    interrupted(lambda ticket=ticket: desk.answer(ticket, int(rng.integers(2))))
            if rng.random() < 0.1:
                interrupted(desk.checkpoint)
    finally:
        stop.set()
        turns.release()
        other.join()
        sys.setswitchinterval(interval)
    for ticket in desk.tickets:
        desk.answer(ticket, 1)
    assert desk.answered == desk.spent == len(journals.read_labels(folder)), "a label is lost"
    assert desk.model.n_seen_ == desk.answered + told["taught"], "not each row is learned once"
    told["together"] = desk.answered
    desk.close()
    return told


def _same(one: list[tuple[Any, Any]], other: list[tuple[Any, Any]]) -> bool:
    pairs = zip(one, other, strict=True)
    return all(np.array_equal(a, b) and y == z for (a, y), (b, z) in pairs)


def _asked(folder: Path) -> set[str]:
    return {event["ask"] for event in journals.read_asked(folder)}


def _within(desk: LabelDesk, budget: Any) -> bool:
    return isinstance(budget, LabelsPerWindow) or desk.spent <= budget.share * desk.seen + 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    told = parser.parse_args()
    total: dict[str, int] = {}
    for seed in range(told.first, told.first + told.count):
        with tempfile.TemporaryDirectory() as folder:
            try:
                lived = live(seed, Path(folder) / "desk")
                lived |= live_together(seed, Path(folder) / "together")
            except BaseException:
                print(f"schedule {seed} failed", flush=True)
                raise
        for name, n in lived.items():
            total[name] = total.get(name, 0) + n
    print(f"{told.count} schedules: {total}; nothing was lost")


if __name__ == "__main__":
    main()
