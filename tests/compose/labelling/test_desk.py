"""The desk: what it asks, what it spends, and that an answer is learned whenever it comes."""

from __future__ import annotations

import copy
import json
import pickle
import sys
import threading
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier

import onlinesvm
from onlinesvm import (
    LASVC,
    SGDSVC,
    IncrementalSVC,
    IndependentSVC,
    KernelPerceptron,
    LabelDesk,
    OfflineRampSVC,
    OnlineScaler,
    PassiveAggressiveClassifier,
    RampSVC,
    StreamSVC,
    make_online_pipeline,
)
from onlinesvm.label_budgets import LabelShare, LabelsPerWindow
from onlinesvm.queries import (
    All,
    ClosestToPlane,
    Committee,
    Greedy,
    Margin,
    MostViolating,
    ObjectiveGain,
    RandomRate,
)

CLASSES = [0, 1]
RULES = [(All(), None), (Margin(), None), (Margin(0.5), LabelShare(0.2)), (RandomRate(0.3), None)]
RANKS = [
    (Greedy(5), None),
    (ClosestToPlane(), LabelShare(0.1)),
    (MostViolating(), LabelsPerWindow(5, 40)),
    (ObjectiveGain(), LabelShare(0.1)),
]
LEARNERS = [
    cls for cls in onlinesvm.all_estimators() if is_classifier(cls()) and hasattr(cls, "learn_one")
]


def stream(n: int, seed: int = 0) -> tuple[Any, Any]:
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def ramp() -> RampSVC:
    return RampSVC(C=10.0, gamma=1.0, classes=CLASSES, settle="example")


def pass_by(desk: LabelDesk, X: Any, y: Any, late: int = 0) -> list[int]:
    """Let a stream pass; the rows that were asked about."""
    asked, waiting = [], deque()
    for i, x in enumerate(X):
        ticket = desk.ask(x)
        if ticket is not None:
            asked.append(i)
            waiting.append((i, ticket))
        while waiting and i - waiting[0][0] >= late:
            row, ticket = waiting.popleft()
            desk.answer(ticket, y[row])
    for row, ticket in waiting:
        desk.answer(ticket, y[row])
    return asked


# --- no label is lost -----------------------------------------------------------------------------


@pytest.mark.parametrize(("query", "budget"), [*RULES, *RANKS], ids=repr)
@pytest.mark.parametrize("late", [0, 200])
def test_the_model_is_what_all_answers_make_it(query: Any, budget: Any, late: int) -> None:
    X, y = stream(600)
    desk = LabelDesk(ramp(), query, budget)
    asked = pass_by(desk, X, y, late)
    assert len(asked) == desk.spent == desk.answered == desk.model.labels_used_ > 0
    alone = ramp().partial_fit(X[asked], y[asked])
    assert np.array_equal(desk.model.decision_function(X), alone.decision_function(X))


@pytest.mark.parametrize("cls", LEARNERS, ids=lambda cls: cls.__name__)
def test_every_classifier_can_be_asked_for(cls: Any) -> None:
    X, y = stream(60)
    desk = LabelDesk(cls(classes=CLASSES), Greedy(3))
    asked = pass_by(desk, np.abs(X), y, late=7)
    assert desk.model.n_seen_ == desk.answered == len(asked)
    assert 15 <= len(asked) <= 21


def test_asking_changes_no_model(tmp_path: Path) -> None:
    X, y = stream(300)
    model = ramp().partial_fit(X[:100], y[:100])
    before, names = pickle.dumps(model), set(vars(model))
    for query, budget in (*RULES, *RANKS):
        desk = LabelDesk(model, query, budget)
        for x in X[100:]:
            desk.ask(x)
        desk.ask_best(X, 5)
    assert pickle.dumps(model) == before
    assert set(vars(model)) == names


def test_a_refused_answer_leaves_its_ticket_open() -> None:
    X, y = stream(20)
    desk = LabelDesk(ramp(), All())
    pass_by(desk, X, y)
    before = pickle.dumps(desk.model)
    ticket = desk.ask(X[0])
    assert ticket is not None
    with pytest.raises(ValueError, match="unknown label 'cat'"):
        desk.answer(ticket, "cat")
    assert desk.tickets == [ticket]
    assert pickle.dumps(desk.model) == before
    desk.answer(ticket, 1)
    assert desk.answered == 21


def test_an_interrupt_never_makes_a_row_count_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = stream(10)
    models = [ramp(), SGDSVC(classes=CLASSES)]
    desk = LabelDesk(models, Committee(), LabelShare(1.0))
    pass_by(desk, X, y)
    learn, moments = type(models[1]).learn_one, iter(["before", "after", "never", "never"])

    def interrupted(model: Any, *args: Any, **kwargs: Any) -> Any:
        moment = next(moments)
        if moment != "before":
            learn(model, *args, **kwargs)
        if moment != "never":
            raise KeyboardInterrupt
        return model

    monkeypatch.setattr(type(models[1]), "learn_one", interrupted)
    ticket = desk.ask(X[0])
    assert ticket is not None
    with pytest.raises(KeyboardInterrupt):
        desk.answer(ticket, 1)
    assert desk.tickets == [ticket]  # the first member has learned it, the second has not
    with pytest.raises(KeyboardInterrupt):
        desk.answer(ticket, 1)
    assert desk.tickets == []
    assert [model.n_seen_ for model in models] == [11, 11]


@pytest.mark.parametrize("odd", ["1-0000", "", None, 3, ["x"]])
def test_unknown_tickets(odd: Any) -> None:
    desk = LabelDesk(ramp(), All())
    for verb in (lambda: desk.answer(odd, 1), lambda: desk.withdraw(odd), lambda: desk.row(odd)):
        with pytest.raises(ValueError, match="is not open") as told:
            verb()
        assert "\n" not in str(told.value)


def test_a_ticket_is_answered_or_withdrawn_once() -> None:
    desk = LabelDesk(ramp(), All())
    one, other = desk.ask([0.0, 1.0]), desk.ask([1.0, 1.0])
    assert isinstance(one, str)
    assert isinstance(other, str)
    assert json.loads(json.dumps(one)) == one
    desk.answer(one, 0)
    desk.withdraw(other)
    for ticket in (one, other):
        with pytest.raises(ValueError, match="answered or withdrawn before"):
            desk.answer(ticket, 1)
    assert (desk.spent, desk.answered, desk.tickets) == (2, 1, [])


def test_tickets_of_a_desk_that_went_on_twice_are_not_mixed_up(tmp_path: Path) -> None:
    """A ticket of after the save is of no desk that was loaded: never of another row of it."""
    desk = LabelDesk(ramp(), All())
    desk.save(tmp_path / "desk")
    lost = desk.ask([0.0, 1.0])
    again = LabelDesk.load(tmp_path / "desk")
    again.ask([5.0, 5.0])
    with pytest.raises(ValueError, match="is not open"):
        again.answer(lost, 1)  # type: ignore[arg-type]


def test_rows_are_the_desks_own() -> None:
    x, record = np.array([1.0, 2.0]), {"a": 1.0}
    desk = LabelDesk(ramp(), All())
    ticket = desk.ask(x)
    x[:] = 9
    desk.row(ticket)[:] = 8  # type: ignore[arg-type]
    assert desk.row(ticket).tolist() == [1.0, 2.0]  # type: ignore[arg-type]
    desk = LabelDesk(PassiveAggressiveClassifier(classes="open"), All())
    ticket = desk.ask(record)
    record["a"] = 9.0
    assert desk.row(ticket) == {"a": 1.0}  # type: ignore[arg-type]


def test_keys_go_with_the_rows() -> None:
    X, y = stream(30)
    desk = LabelDesk(ramp(), All())
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        ticket = desk.ask(x, key="anna" if i % 3 else "bob")
        desk.answer(ticket, label)  # type: ignore[arg-type]
    assert len(desk.model.ids_of("bob")) == 10


# --- what it spends -------------------------------------------------------------------------------


@pytest.mark.parametrize("h", [1, 2, 5, 20])
@pytest.mark.parametrize("order", ["as drawn", "hardest first", "hardest last"])
def test_greedy_row_by_row_keeps_its_rate(h: int, order: str) -> None:
    X, y = stream(4000)
    if order != "as drawn":
        rows = np.argsort(np.abs(X[:, 0] * X[:, 1]))
        rows = rows if order == "hardest first" else rows[::-1]
        X, y = X[rows], y[rows]
    desk = LabelDesk(SGDSVC(classes=CLASSES), Greedy(h))
    due = []
    for x, label in zip(X, y, strict=True):
        ticket = desk.ask(x)
        if ticket is not None:
            desk.answer(ticket, label)
        due.append(desk.seen / h - desk.spent)
    assert min(due) >= -1 - 1e-9  # never more than one label ahead
    assert desk.spent >= 0.9 * len(X) / h


def test_what_is_asked_is_better_than_what_is_not() -> None:
    X, y = stream(3000)
    desk = LabelDesk(ramp(), ClosestToPlane(), LabelShare(0.1))
    near: dict[bool, list[float]] = {True: [], False: []}
    for i, x in enumerate(X):
        f = abs(desk.model.decide_one(x))
        ticket = desk.ask(x)
        if ticket is not None:
            desk.answer(ticket, y[i])
        if i > 1000:
            near[ticket is not None].append(f)
    assert np.mean(near[True]) < 0.4 * np.mean(near[False])


@pytest.mark.parametrize("query", [All(), Margin(), ClosestToPlane(), RandomRate(0.9)], ids=repr)
def test_no_window_has_more_labels_than_allowed(query: Any) -> None:
    X, y = stream(1500)
    asked = pass_by(LabelDesk(ramp(), query, LabelsPerWindow(7, 100)), X, y)
    hits = np.zeros(len(X))
    hits[asked] = 1
    assert np.convolve(hits, np.ones(100)).max() <= 7
    assert len(asked) > 60


@pytest.mark.parametrize("share", [0.01, 0.3, 1.0])
@pytest.mark.parametrize("query", [All(), Margin(), MostViolating()], ids=repr)
def test_a_share_is_never_exceeded(query: Any, share: float) -> None:
    X, y = stream(500)
    desk = LabelDesk(ramp(), query, LabelShare(share))
    for x, label in zip(X, y, strict=True):
        ticket = desk.ask(x)
        if ticket is not None:
            desk.answer(ticket, label)
        assert desk.spent <= share * desk.seen + 1


@pytest.mark.parametrize(
    "model",
    [IncrementalSVC(gamma=1.0, tol=1e-3), LASVC(gamma=1.0), StreamSVC(), IndependentSVC(gamma=1.0)],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("classes", ["open", list(range(10))], ids=["open", "named"])
def test_a_narrow_margin_asks_until_two_classes_are_known(
    model: Any, classes: Any, tmp_path: Path
) -> None:
    desk = LabelDesk(clone(model).set_params(classes=classes), Margin(0.5))
    rows = np.random.default_rng(0).normal(size=(60, 2))
    for i, x in enumerate(rows[:30]):
        ticket = desk.ask(x)
        assert ticket is not None, f"{i} rows of one class were answered"
        desk.answer(ticket, 3)
        if i == 7:
            desk.save(tmp_path / "desk")
            desk = LabelDesk.load(tmp_path / "desk")
    assert len(LabelDesk(desk.model, Margin(0.5)).choose(rows, 60)) in (0, 60)
    assert len(desk.choose(rows[30:35], 5)) == 5
    desk.answer(desk.ask(rows[30] + 5), 4)
    asked = [desk.ask(x) is not None for x in rows]
    assert not all(asked), "there is a margin now"


def test_nothing_is_asked_while_too_many_wait() -> None:
    X, _ = stream(50)
    desk = LabelDesk(ramp(), All(), max_open=3)
    tickets = [desk.ask(x) for x in X[:10]]
    assert sum(t is not None for t in tickets) == desk.spent == 3
    assert desk.ask_best(X, 5) == []
    desk.withdraw(desk.tickets[0])
    assert desk.ask(X[0]) is not None


def test_random_rate_is_random_and_the_same_again() -> None:
    X, y = stream(2000)
    one, two, other = (
        pass_by(LabelDesk(SGDSVC(classes=CLASSES), RandomRate(0.25, seed)), X, y)
        for seed in (0, 0, 1)
    )
    assert one == two != other
    assert 420 < len(one) < 580


# --- pools ----------------------------------------------------------------------------------------


def test_a_pool_gives_its_best() -> None:
    X, y = stream(300)
    desk = LabelDesk(ramp().partial_fit(X[:100], y[:100]), ClosestToPlane(), LabelShare(1.0))
    f = np.abs(desk.model.decision_function(X[100:]))
    assert [i for i, _ in desk.choose(X[100:], 5)] == np.argsort(f)[:5].tolist()
    assert desk.seen == 200
    inside = LabelDesk(desk.model, Margin(0.1)).ask_best(X[100:], 200)
    assert len(inside) == (f <= 0.1).sum()


def test_pools_of_all_kinds() -> None:
    X, _ = stream(10)
    numbers = [X, sparse.csr_array(X), X.tolist()]
    for pool in numbers:
        desk = LabelDesk(ramp(), Greedy(1))
        (ticket,) = desk.ask_best(np.asarray(pool) if isinstance(pool, list) else pool)
        assert desk.row(ticket).tolist() == X[0].tolist()
    frame = pd.DataFrame(X, columns=["a", "b"])
    for pool in (frame, frame.to_dict(orient="records")):
        desk = LabelDesk(PassiveAggressiveClassifier(classes="open"), Greedy(1))
        (ticket,) = desk.ask_best(pool)
        assert desk.row(ticket) == {"a": X[0, 0], "b": X[0, 1]}


# --- committees, pipelines ------------------------------------------------------------------------


def test_a_committee_is_asked_where_it_disagrees() -> None:
    X, y = stream(400)
    members = [ramp(), RampSVC(C=1.0, gamma=0.1, classes=CLASSES), SGDSVC(classes=CLASSES)]
    desk = LabelDesk(members, Committee(), LabelShare(0.2))
    pass_by(desk, X, y)
    assert {model.n_seen_ for model in members} == {desk.answered}
    votes = np.array([model.predict(X) for model in members])
    i = desk.choose(X, 1)[0][0]
    assert len(set(votes[:, i])) == 2


def test_a_pipeline_keeps_raw_rows() -> None:
    X, y = stream(400)
    X = X * [1.0, 1e4]
    whole = make_online_pipeline(OnlineScaler(warm_up=32), ramp())
    desk = LabelDesk(whole, Greedy(2))
    asked = pass_by(desk, X, y, late=100)
    alone = make_online_pipeline(OnlineScaler(warm_up=32), ramp()).partial_fit(X[asked], y[asked])
    assert np.array_equal(desk.model.decision_function(X), alone.decision_function(X))
    ticket = LabelDesk(desk.model, All()).ask(X[0])
    assert ticket is not None


# --- saving ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("query", "budget"), [*RULES, *RANKS], ids=repr)
@pytest.mark.parametrize("how", ["save", "pickle", "copy"])
def test_it_goes_on_as_if_it_had_never_stopped(
    query: Any, budget: Any, how: str, tmp_path: Path
) -> None:
    X, y = stream(400)
    desk = LabelDesk(make_online_pipeline(OnlineScaler(warm_up=32), ramp()), query, budget)
    open_rows: dict[str, int] = {}
    for i in range(200):
        ticket = desk.ask(X[i])
        if ticket is not None:
            open_rows[ticket] = i
        if len(open_rows) > 10:
            first = next(iter(open_rows))
            desk.answer(first, y[open_rows.pop(first)])
    desk.save(tmp_path / "desk")
    again = {
        "save": lambda: LabelDesk.load(tmp_path / "desk"),
        "pickle": lambda: pickle.loads(pickle.dumps(desk)),
        "copy": lambda: copy.deepcopy(desk),
    }[how]()
    assert again.tickets == desk.tickets == list(open_rows)
    results = []
    for one in (desk, again):
        for ticket, i in open_rows.items():
            one.answer(ticket, y[i])
        asked = pass_by(one, X[200:], y[200:])
        results.append((asked, one.seen, one.spent, one.model.decision_function(X).tolist()))
    assert results[0] == results[1]


def test_a_committee_is_saved_with_all_its_members(tmp_path: Path) -> None:
    X, y = stream(50)
    desk = LabelDesk([ramp(), SGDSVC(classes=CLASSES)], Committee(), LabelShare(0.5))
    pass_by(desk, X, y)
    desk.save(tmp_path / "desk")
    again = LabelDesk.load(tmp_path / "desk")
    for one, other in zip(desk.models, again.models, strict=True):
        assert np.array_equal(one.decision_function(X), other.decision_function(X))


def test_damaged_files_are_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "desk"
    desk = LabelDesk(ramp(), All())
    desk.ask([0.0, 1.0])
    desk.save(path)
    data = path.read_bytes()
    for i in range(0, len(data), 41):
        path.write_bytes(data[:i] + bytes([data[i] ^ 1]) + data[i + 1 :])
        with pytest.raises(ValueError, match="is not a desk") as told:
            LabelDesk.load(path)
        assert "\n" not in str(told.value)
    ramp().save(path)
    with pytest.raises(ValueError, match="holds a 'RampSVC', not a 'LabelDesk'"):
        LabelDesk.load(path)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LabelDesk(RampSVC(query="margin", classes=CLASSES)), "would drop answers"),
        (lambda: LabelDesk(LASVC(query="greedy", classes=CLASSES)), "would drop answers"),
        (lambda: LabelDesk(RampSVC()), "does not know its classes"),
        (lambda: LabelDesk(OfflineRampSVC(classes=CLASSES)), "that goes on learning"),
        (lambda: LabelDesk(onlinesvm.NormaSVR()), "must be a classifier"),
        (lambda: LabelDesk(onlinesvm.CalibratedOnline(ramp())), "that goes on learning"),
        (lambda: LabelDesk(RampSVC(classes=CLASSES, class_weight="balanced")), "balanced"),
        (lambda: LabelDesk(ramp(), ClosestToPlane()), "give a budget such as LabelShare"),
        (lambda: LabelDesk(ramp(), "margin"), "query must be one such as Margin"),
        (lambda: LabelDesk(ramp(), budget=0.1), "budget must be one such as LabelShare"),
        (lambda: LabelDesk(ramp(), Committee(), LabelShare(0.1)), "list of several"),
        (lambda: LabelDesk([ramp(), ramp()], Margin()), "list of several"),
        (
            lambda: LabelDesk(KernelPerceptron(classes=CLASSES), ObjectiveGain(), LabelShare(0.1)),
            "needs a model with a C",
        ),
        (lambda: LabelDesk(ramp(), max_open=0), "max_open must be an integer >= 1"),
        (lambda: LabelShare(0.0), "share must be"),
        (lambda: LabelShare(1.5), "share must be at most 1"),
        (lambda: LabelsPerWindow(5, 4), "window must be an integer >= 5"),
        (lambda: Margin(0), "width must be"),
        (lambda: RandomRate(2.0), "rate must be at most 1"),
    ],
)
def test_what_cannot_work_is_refused_at_once(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as told:
        make()
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("bad", [[np.nan, 0.0], [[1.0, 2.0]], ["a", "b"], 3.0])
def test_a_row_that_could_not_be_learned_costs_nothing(fitted: bool, bad: Any) -> None:
    X, y = stream(20)
    desk = LabelDesk(ramp(), All())
    if fitted:
        pass_by(desk, X, y)
    before = desk.seen, desk.spent
    with pytest.raises(ValueError):
        desk.ask(bad)
    assert (desk.seen, desk.spent) == before


def test_wants_label_before_the_first_row() -> None:
    X, _ = stream(10)
    assert RampSVC(query="margin").wants_label(X).all()
    assert RampSVC(query=Greedy(5)).wants_label(X).sum() == 2
    assert make_online_pipeline(OnlineScaler(), RampSVC()).wants_label(X).all()
    with pytest.raises(ValueError, match="NaN"):
        RampSVC().wants_label(X * np.nan)


def test_a_clone_of_the_model_is_free() -> None:
    X, y = stream(50)
    desk = LabelDesk(ramp(), All())
    pass_by(desk, X, y)
    assert not clone(desk.model).__sklearn_is_fitted__()


@pytest.mark.parametrize("members", [1, 2])
def test_answers_count_while_the_models_learn_elsewhere(members: int) -> None:
    X, y = stream(200)
    models = [PassiveAggressiveClassifier(classes=CLASSES) for _ in range(members)]
    if members == 1:
        desk = LabelDesk(models[0], All())
    else:
        desk = LabelDesk(models, Committee(), LabelShare(1.0))
    started, stopped, taught = threading.Event(), threading.Event(), 0

    def elsewhere() -> None:
        nonlocal taught
        while not stopped.is_set():
            models[-1].partial_fit(X[:20], y[:20])
            taught += 20
            started.set()

    other, interval = threading.Thread(target=elsewhere), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        other.start()
        started.wait()
        for x, label in zip(X, y, strict=True):
            ticket = desk.ask(x)
            assert ticket is not None
            desk.answer(ticket, label)
    finally:
        stopped.set()
        other.join()
        sys.setswitchinterval(interval)
    assert desk.tickets == []
    assert desk.answered == desk.spent == len(X)
    assert [model.n_seen_ for model in models] == [len(X)] * (members - 1) + [len(X) + taught]
