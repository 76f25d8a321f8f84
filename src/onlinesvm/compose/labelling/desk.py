"""The desk where labels are asked for and answered, whenever the answers come."""

from __future__ import annotations

import copy
import json
import os
import secrets
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from ... import queries
from ...data.arguments import check_count
from ...data.keys import read_key
from ...data.validation import frame_records
from ...files.atomic import replacing
from ...files.json_values import from_json, to_json
from ...files.persistence import pack_among, read_plain, unpack_among
from ...label_budgets import LabelBudget
from ...model.estimator import OnlineEstimator
from ...queries import AnyQuery, Committee, Greedy, Look, ObjectiveGain, Rank, Rule
from .ledger import Ledger
from .looks import error_price, last_step, look_at_many, look_at_one

_KIND, _MEMBER = "LabelDesk", "member"


@dataclass
class Asked:
    """A row whose label was asked for and has not come."""

    row: Any
    key: Any = None
    learned: int = 0  # models of the committee that have learned it: an interrupt may fall between

    def to_facts(self) -> dict[str, Any]:
        return {"row": self.row, "key": self.key, "learned": self.learned}

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any], members: int) -> Asked:
        row, key = facts["row"], facts["key"]
        if not isinstance(row, dict) and not (isinstance(row, np.ndarray) and row.ndim == 1):
            raise ValueError("its ticket has no row")
        learned = check_count("learned", facts["learned"])
        if learned >= members:
            raise ValueError("its ticket was answered")
        return cls(row, None if key is None else read_key(key), learned)


class Journal(Protocol):
    """Where tickets and answers are written before they count."""

    @property
    def length(self) -> int: ...
    def note(self, event: Mapping[str, Any]) -> None: ...
    def back_to(self, length: int) -> None: ...
    def checkpoint(self, desk: LabelDesk) -> None: ...
    def close(self) -> None: ...


class LabelDesk:
    """Asks for the labels worth paying for, and learns each answer whenever it comes.

    :meth:`ask` decides about a row at once: a ticket, or None. It changes no model, and nothing
    else spends. :meth:`answer` learns the row of a ticket, whatever the model thinks of it by then:
    a label that was paid for is never thrown away. In between, the desk keeps the row as it came,
    before any preparation of a pipeline. Tickets are strings that a file or another program can
    keep; their rows, and what was spent, go with :meth:`save`, and with :meth:`keep` outlive a
    crash.

    **How it decides.** A rule (:class:`All`, :class:`Margin`, :class:`RandomRate`) is asked about
    each row, and the budget can only say no. A rank (:class:`Greedy`, :class:`ClosestToPlane`,
    :class:`MostViolating`, :class:`ObjectiveGain`, :class:`Committee`) is held against the latest
    rows, ten labels' worth of them: at a rate of one in five a row is asked about when it is among
    the best fifth, or the best two fifths when a label has been saved, and so on. The rate is
    ``1 / h`` of :class:`Greedy`, else that of the budget. No more than one label is ever spent
    ahead of it.

    The price: a decision value per row, and the memory of at most ``max_open`` rows. The model is
    yours to predict with, :attr:`model`; it may learn from elsewhere, too.

    Parameters
    ----------
    model : classifier of this library, or a pipeline of it; for :class:`Committee` a list
        One that goes on learning, and knows its classes or takes them as they come
        (``classes="open"``). Each answer is learned by every member of a committee. A model that
        has a ``query`` of its own would drop answers, and is refused.
    query : query, default=Greedy(5)
        Which rows are worth a label.
    budget : LabelShare, LabelsPerWindow or None, default=None
        How many labels there may be.
    max_open : int, default=1000
        Tickets that wait for an answer at most. While there are so many, nothing is asked.

    Attributes
    ----------
    model : the model, or the first of a committee
    models : tuple of all models
    seen : int, rows looked at
    spent : int, labels asked for
    answered : int, labels learned
    tickets : list of tickets that wait for an answer, oldest first

    Examples
    --------
    >>> import numpy as np
    >>> from onlinesvm import LabelDesk, RampSVC
    >>> from onlinesvm.label_budgets import LabelShare
    >>> from onlinesvm.queries import Margin
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (2000, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> desk = LabelDesk(RampSVC(C=10, gamma=4, classes=[False, True]), Margin(), LabelShare(0.1))
    >>> waiting = []
    >>> for x, label in zip(X[:1000], y[:1000]):
    ...     ticket = desk.ask(x)
    ...     if ticket is not None:
    ...         waiting.append((ticket, label))
    ...     if len(waiting) > 20:  # answers are late
    ...         desk.answer(*waiting.pop(0))
    >>> desk.spent, len(desk.tickets)
    (100, 20)
    >>> print(f"{desk.model.score(X[1000:], y[1000:]):.2f}")
    0.93
    """

    _journal: Journal | None = None

    def __init__(
        self,
        model: Any,
        query: AnyQuery = Greedy(5),  # noqa: B008 - a value that nobody can change
        budget: LabelBudget | None = None,
        *,
        max_open: int = 1000,
    ) -> None:
        self.models: tuple[Any, ...] = tuple(model) if isinstance(model, list | tuple) else (model,)
        self.query, self.budget = query, budget
        self.max_open = check_count("max_open", max_open, at_least=1)
        self._demand_query()
        for one in self.models:
            _demand_model(one)
        self._ledger = Ledger(budget, self._rate())
        self._open: dict[str, Asked] = {}
        self.answered = 0
        self._met: list[Any] = []  # the first two labels that differ, of those answered
        self._turn = threading.RLock()

    # --- asking -------------------------------------------------------------------------------

    def ask(self, x: Any, key: Any = None) -> str | None:
        """A ticket if the label of a row is worth its price now, else None.

        Parameters
        ----------
        x : 1-D array or dict
            A row as the model takes it; one that it could not learn is refused here.
        key : int, str or tuple of these, optional
            Whom the row belongs to, as ``learn_one`` takes it: a model that can will unlearn it.

        Returns
        -------
        str or None
            The desk keeps a copy of the row under the ticket until it is answered or withdrawn.
        """
        key = None if key is None else read_key(key)
        with self._turn:
            row = _kept(x)
            look = look_at_one(self.models, row, self._ledger.seen + 1)
            look = replace(look, blank=self._is_blank())
            worth = float(self.query.worth(look)[0])
            self._ledger.see(worth)
            return self._ticket(row, key) if self._is_wanted(row, look, worth) else None

    def ask_best(self, X: Any, n: int = 1) -> list[str]:
        """Tickets for the best rows of a pool, the best one first.

        There are fewer than ``n`` where the query wants fewer, the budget has fewer, or so many
        tickets are open. All rows of the pool count as looked at, so that a
        :class:`~onlinesvm.label_budgets.LabelShare` grows by them.

        Parameters
        ----------
        X : array, list of dicts or data frame
        n : int, default=1
        """
        return [ticket for _, ticket in self.choose(X, n)]

    def choose(
        self, X: Any, n: int = 1, keys: Sequence[Any] | None = None
    ) -> list[tuple[int, str]]:
        """:meth:`ask_best`, with the number of each row in ``X``; ``keys``: whose they are."""
        check_count("n", n, at_least=1)
        with self._turn:
            look = look_at_many(self.models, X, self._ledger.seen + 1)
            look = replace(look, blank=self._is_blank())
            worths = self.query.worth(look)
            for worth in worths.tolist():
                self._ledger.see(worth)
            chosen: list[tuple[int, str]] = []
            for i in _best_first(self.query, look, worths):
                if len(chosen) == n or not self._has_room():
                    break
                key = None if keys is None else read_key(keys[i])
                chosen.append((i, self._ticket(_kept(_row_of(X, i)), key)))
            return chosen

    def _is_wanted(self, row: Any, look: Look, worth: float) -> bool:
        """Whether to ask about the newest row."""
        if not self._has_room():
            return False
        if isinstance(self.query, Rule):
            return bool(self.query.wants(look)[0])
        return self._ledger.is_among_best(worth)

    def _is_blank(self) -> bool:
        """Whether the model has met fewer than two classes, as far as the desk can know."""
        model = self.models[0]
        if seen_by(model) > self.answered:  # it learns from elsewhere, too
            return len(model.classes_) < 2
        return len(self._met) < 2

    def _has_room(self) -> bool:
        return len(self._open) < self.max_open and self._ledger.affords()

    def _ticket(self, row: Any, key: Any) -> str:
        # A name that no other desk has given, nor this one before it was restored from a file:
        # an answer can come late, but never to another row.
        ticket = f"{self._ledger.spent + 1}-{secrets.token_hex(6)}"
        asked, spent, noted = Asked(row, key), self._ledger.spent, self._noted()
        try:
            self._note({"ask": ticket, "seen": self._ledger.seen, **asked.to_facts()})
            self._open[ticket] = asked
            self._ledger.spend()
        except BaseException:
            if self._ledger.spent == spent:
                self._open.pop(ticket, None)
                self._back_to(noted)
            raise
        return ticket

    # --- answering ----------------------------------------------------------------------------

    def answer(self, ticket: str, y: Any) -> None:
        """Learn the row of a ticket, which is closed then.

        A label that the model refuses, such as one of an unknown class, leaves the ticket open and
        everything else as it was.
        """
        with self._turn:
            asked, answered, noted = self._find(ticket), self.answered, self._noted()
            met = self._met + ([y] if len(self._met) < 2 and y not in self._met else [])
            try:
                self._note({"answer": ticket, "y": y})
                self._learn(asked, y)
                self._open.pop(ticket)
                self.answered, self._met = answered + 1, met
            except BaseException:
                if asked.learned == len(self.models):
                    self._open.pop(ticket, None)
                    self.answered, self._met = answered + 1, met
                else:
                    self._back_to(noted)
                    self._keep_half(asked)
                raise

    def withdraw(self, ticket: str) -> None:
        """Close a ticket whose label will not come; what it cost is not given back."""
        with self._turn:
            self._find(ticket)
            noted = self._noted()
            try:
                self._note({"withdraw": ticket})
                del self._open[ticket]
            except BaseException:
                if ticket in self._open:
                    self._back_to(noted)
                raise

    def row(self, ticket: str) -> Any:
        """The row of an open ticket, as it was given."""
        row = self._find(ticket).row
        return dict(row) if isinstance(row, dict) else row.copy()

    def key(self, ticket: str) -> Any:
        """Whom the row of an open ticket belongs to; None: nobody said."""
        return self._find(ticket).key

    def _find(self, ticket: str) -> Asked:
        asked = self._open.get(ticket) if isinstance(ticket, str) else None
        if asked is None:
            raise ValueError(
                f"ticket {ticket!r:.80} is not open: it was answered or withdrawn before, or is of "
                "another desk; desk.tickets has those that are"
            )
        return asked

    def _learn(self, asked: Asked, y: Any) -> None:
        """Let each model learn a row that has not; whatever stops it, none learns it twice."""
        for i in range(asked.learned, len(self.models)):
            model = self.models[i]
            with model._register:  # or what another thread teaches it would be taken for the row
                before = seen_by(model)
                try:
                    model.learn_one(asked.row, y, key=asked.key)
                    asked.learned = i + 1
                except BaseException:
                    asked.learned = i + (seen_by(model) - before)
                    raise

    def _keep_half(self, asked: Asked) -> None:
        """Have it on disk, too, that some of a committee have learned a row and others have not."""
        if self._journal is not None and asked.learned:
            self._journal.checkpoint(self)

    # --- what it knows ------------------------------------------------------------------------

    @property
    def model(self) -> Any:
        """The model, or the first of a committee."""
        return self.models[0]

    @property
    def seen(self) -> int:
        """Rows looked at."""
        return self._ledger.seen

    @property
    def spent(self) -> int:
        """Labels asked for, whether their answers have come or not."""
        return self._ledger.spent

    @property
    def tickets(self) -> list[str]:
        """The tickets that wait for an answer, oldest first."""
        return list(self._open)

    def __repr__(self) -> str:
        told = f", {self.budget!r}" if self.budget is not None else ""
        named = " and ".join(type(last_step(one)).__name__ for one in self.models)
        return (
            f"<LabelDesk of {named}, {self.query!r}{told}: {self.spent} labels asked for of "
            f"{self.seen} rows, {len(self._open)} open>"
        )

    def _rate(self) -> float | None:
        if isinstance(self.query, Rule):
            return None
        own = getattr(self.query, "rate", None)
        if own is None and self.budget is None:
            raise ValueError(
                f"query {self.query!r} ranks rows and does not say how many to ask about; "
                "give a budget such as LabelShare(0.1)"
            )
        return float(own if own is not None else self.budget.rate)  # type: ignore[union-attr]

    def _demand_query(self) -> None:
        if not isinstance(self.query, Rule | Rank):
            raise ValueError(f"query must be one such as Margin(), got {self.query!r:.60}")
        if isinstance(self.query, Greedy) and self.query.latest:
            raise ValueError(
                f"query {self.query!r} asks for earlier rows, too, and a desk decides about each "
                f"row at once; take Greedy(h={self.query.h})"
            )
        if not isinstance(self.budget, LabelBudget | None):
            raise ValueError(f"budget must be one such as LabelShare(0.1), got {self.budget!r:.60}")
        if (len(self.models) > 1) != isinstance(self.query, Committee):
            raise ValueError(
                "model must be a list of several for Committee(), and one for any other query"
            )
        if isinstance(self.query, ObjectiveGain) and error_price(self.models[0]) is None:
            name = type(last_step(self.models[0])).__name__
            raise ValueError(f"query ObjectiveGain() needs a model with a C; {name} has none")

    # --- persistence --------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write models, open tickets and all counts to one file, whole or not at all.

        :meth:`load` brings them back, and everything goes on as if it had never stopped, bit for
        bit. The file has no code in it.
        """
        with self._turn:
            data = self._pack()
        with replacing(path) as file:
            file.write(data)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The desk that :meth:`save` wrote; a ValueError in one line if the file is none.

        Raises the audit event ``onlinesvm.load`` with the path, as :func:`onlinesvm.load` does.
        """
        sys.audit("onlinesvm.load", str(path))
        try:
            return cls._unpack(read_plain(path))[0]
        except ValueError as error:
            raise ValueError(f"{path} is not a desk this version can load: {error}") from None

    def keep(self, folder: str | os.PathLike[str]) -> Self:
        """From now on, have each ticket and answer on disk in a folder before it counts.

        ``labels.jsonl`` has them one a line, for good; :meth:`resume` goes on from there after the
        process has ended, however it ended. What a crash can take is the count of rows that were
        looked at and not asked about since the last ticket, and what the model learned from
        elsewhere since the last :meth:`checkpoint`, which also keeps the way back short. The price
        is one wait for the disk per ticket and answer.
        """
        from .journal import begin

        begin(self, Path(folder))
        return self

    @classmethod
    def resume(cls, folder: str | os.PathLike[str]) -> Self:
        """The desk that was kept in a folder, with all that was asked and answered."""
        from .journal import resume

        return resume(cls, Path(folder))

    def checkpoint(self) -> None:
        """Write the model of a desk that is kept, so that no label need be learned again."""
        with self._turn:
            self._kept_journal("checkpoint").checkpoint(self)

    def close(self) -> None:
        """Write a checkpoint and let go of the folder; a desk that is not kept has nothing to do.

        A desk may stand in a ``with`` statement.
        """
        with self._turn:
            if self._journal is not None:
                try:
                    self._journal.checkpoint(self)
                finally:
                    self._journal.close()
                    self._journal = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def take_back(self) -> str:
        """Take the last answer back, and return its ticket, which is open again.

        Only of a desk that is kept: the models begin anew and learn what was answered before, so
        :attr:`model` is another object then. The label stays spent.
        """
        from .journal import take_back

        with self._turn:
            self._kept_journal("take_back")
            return take_back(self)

    def _kept_journal(self, verb: str) -> Journal:
        if self._journal is None:
            raise ValueError(f"{verb} is for a desk that is kept in a folder; call keep first")
        return self._journal

    def _note(self, event: Mapping[str, Any]) -> None:
        if self._journal is not None:
            self._journal.note(event)

    def _noted(self) -> int:
        return 0 if self._journal is None else self._journal.length

    def _back_to(self, noted: int) -> None:
        """What was noted since did not happen."""
        if self._journal is not None:
            self._journal.back_to(noted)

    def _pack(self, length: int = 0) -> bytes:
        """All of it; ``length``: how much of a journal is in it."""
        facts = {
            "query": self.query,
            "budget": self.budget,
            "max_open": self.max_open,
            "ledger": self._ledger.to_facts(),
            "answered": self.answered,
            "met": list(self._met),
            "open": [[ticket, asked.to_facts()] for ticket, asked in self._open.items()],
            "length": length,
        }
        text = json.dumps({k: to_json(k, v) for k, v in facts.items()}, allow_nan=False)
        others: dict[str, NDArray[Any]] = {"facts": np.frombuffer(text.encode(), np.uint8)}
        for i, member in enumerate(self.models[1:], 1):
            packed = pack_among(_MEMBER, member, {})
            others[f"{_MEMBER}{i}"] = np.frombuffer(packed, np.uint8)
        return pack_among(_KIND, self.model, others)

    @classmethod
    def _unpack(cls, data: bytes) -> tuple[Self, int]:
        model, others = unpack_among(data, _KIND)
        try:
            facts = dict(json.loads(others.pop("facts").tobytes()))
            facts = {name: from_json(value) for name, value in facts.items()}
            members = [
                unpack_among(others.pop(f"{_MEMBER}{i}").tobytes(), _MEMBER)[0]
                for i in range(1, len(others) + 1)
            ]
            models = [model, *members]
            desk = cls(
                models if members else model,
                facts["query"],
                facts["budget"],
                max_open=facts["max_open"],
            )
            desk._ledger.recall(facts["ledger"])
            desk.answered = check_count("answered", facts["answered"])
            desk._met = _two_labels(facts.get("met", []), desk.answered)
            for ticket, asked in facts["open"]:
                desk._reopen(ticket, Asked.from_facts(asked, len(models)))
            if desk.answered + len(desk._open) > desk.spent:
                raise ValueError("it has more tickets than it asked for")
            return desk, check_count("length", facts["length"])
        except (TypeError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
            raise ValueError(f"its desk is damaged: {error!r:.200}") from None

    def _reopen(self, ticket: Any, asked: Asked) -> None:
        if not isinstance(ticket, str) or ticket in self._open:
            raise ValueError("its tickets are not distinct strings")
        self._open[ticket] = asked

    def __getstate__(self) -> dict[str, Any]:
        with self._turn:  # copied here: whoever pickles it reads on while others ask and answer
            state = {k: v for k, v in self.__dict__.items() if k not in ("_turn", "_journal")}
            return copy.deepcopy(state)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._turn = threading.RLock()


def _demand_model(model: Any) -> None:
    """A ValueError if answers could not all be learned."""
    last = last_step(model)
    name = type(last).__name__
    goes_on = hasattr(last, "decide_one") and hasattr(last, "learn_one")
    if not (isinstance(last, OnlineEstimator) and is_classifier(last) and goes_on):
        raise ValueError(
            f"model must be a classifier of this library that goes on learning, got {name}"
        )
    if getattr(last, "query", "all") not in ("all", queries.All()):
        raise ValueError(
            f"model has query={last.query!r}, by which it would drop answers; give the query to "
            f"the desk: LabelDesk({name}(), Margin())"
        )
    if last.class_weight == "balanced":
        raise ValueError("model has class_weight='balanced', which needs all labels at once")
    if not model.__sklearn_is_fitted__() and last.classes is None:
        raise ValueError(
            f"model does not know its classes yet; use {name}(classes='open'), name them, "
            "or let it learn before"
        )


def _two_labels(met: Any, answered: int) -> list[Any]:
    """Labels from a file, which is not to be trusted."""
    if not isinstance(met, list) or len(met) > min(2, answered) or met[1:] == met[:1] != []:
        raise ValueError("it has answered other labels than it could")
    return met


def seen_by(model: Any) -> int:
    """Examples that a model has learned from."""
    return int(model.n_seen_) if model.__sklearn_is_fitted__() else 0


def _kept(x: Any) -> Any:
    """A copy of a row that is the caller's to change."""
    if isinstance(x, Mapping):
        return dict(x)
    row = np.array(x)
    if row.ndim != 1:
        raise ValueError(f"x must be a dict or a 1-D array, got {row.ndim} dimensions")
    return row


def _row_of(X: Any, i: int) -> Any:
    if hasattr(X, "columns"):
        return frame_records(X[i : i + 1])[0]
    return X[i].toarray().ravel() if hasattr(X, "toarray") else X[i]


def _best_first(query: AnyQuery, look: Look, worths: NDArray[np.float64]) -> Iterable[int]:
    """The rows that a query would ask about, in order of their worth; of equals the first first."""
    order: Sequence[int] = np.argsort(-worths, kind="stable").tolist()
    if isinstance(query, Rule):
        wanted = query.wants(look)
        return [i for i in order if wanted[i]]
    return order
