"""Ctrl-C may come at any moment: what is in memory and what is on disk stay the same desk."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from ctrl_c import CtrlC

from onlinesvm import SGDSVC, LabelDesk, PassiveAggressiveClassifier
from onlinesvm.compose.labelling import desk as desks
from onlinesvm.compose.labelling import journal as journals
from onlinesvm.compose.labelling import ledger as ledgers
from onlinesvm.label_budgets import LabelShare
from onlinesvm.queries import All, Committee
from onlinesvm.stream.run import appended

X = np.random.default_rng(0).normal(size=(12, 2))


def one() -> LabelDesk:
    return LabelDesk(PassiveAggressiveClassifier(classes=[0, 1]), All())


def committee() -> LabelDesk:
    models = [PassiveAggressiveClassifier(classes=[0, 1]), SGDSVC(classes=[0, 1])]
    return LabelDesk(models, Committee(), LabelShare(1.0))


VERBS: dict[str, tuple[Callable[[], LabelDesk], Callable[[LabelDesk], object]]] = {
    "ask": (one, lambda desk: desk.ask(X[9])),
    "ask_best": (one, lambda desk: desk.ask_best(X[8:], 2)),
    "answer": (one, lambda desk: desk.answer(desk.tickets[0], 1)),
    "answer of a committee": (committee, lambda desk: desk.answer(desk.tickets[0], 1)),
    "withdraw": (one, lambda desk: desk.withdraw(desk.tickets[0])),
    "checkpoint": (one, lambda desk: desk.checkpoint()),
    "take_back": (one, lambda desk: desk.take_back()),
}


def state(desk: LabelDesk) -> tuple[object, ...]:
    scores = [model.decision_function(X).tolist() for model in desk.models]
    return desk.tickets, desk.answered, desk.spent, [m.n_seen_ for m in desk.models], scores


def twin_of(folder: Path) -> LabelDesk:
    twin = folder.with_name("twin")
    shutil.rmtree(twin, ignore_errors=True)
    shutil.copytree(folder, twin)
    return LabelDesk.resume(twin)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a file left open
@pytest.mark.parametrize("verb", VERBS)
def test_memory_and_disk_stay_the_same_desk(verb: str, tmp_path: Path) -> None:
    make, act = VERBS[verb]
    modules = (desks, journals, ledgers, appended)
    stride = {"ask_best": 5, "checkpoint": 5, "take_back": 11}.get(verb, 1)  # of many moments
    for n in count(1, stride):
        folder = tmp_path / str(n)
        desk = make().keep(folder)
        tickets = [desk.ask(x) for x in X[:5]]
        for ticket in tickets[:2]:
            desk.answer(str(ticket), 0)
        with CtrlC(n, modules) as signal:
            act(desk)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            again = twin_of(folder)
            assert state(again) == state(desk), f"moment {n}"
            again.close()
            desk.ask(X[10])
            for ticket in desk.tickets:
                desk.answer(ticket, 1)
            again = twin_of(folder)
            assert state(again) == state(desk), f"moment {n}, later"
            again.close()
        assert desk.answered == len(journals.read_labels(folder))
        desk.close()
        if not signal.struck:
            assert n > 20
            return
