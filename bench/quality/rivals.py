"""Learners with a grid of settings each, and how one of them is chosen and measured on a contest.

The rules, fixed before anything was measured:

- The point of a grid is chosen by the trial of a contest: on a fifth of the first 4,000 rows after
  learning the others, or test-then-train on the first tenth of a stream, which then does not count.
  Whoever has tried his points for `TUNING` seconds takes the best so far. Test rows are not seen.
- Kernel machines with the same objective take the same point: on rows that of `SmoSVC`, which is
  the quickest to ask, on a stream that of `LASVC`.
- Everybody who has a size (budget, landmarks, features) has `SIZE`.
- Whoever cannot learn from a stream is fitted again every `EVERY` rows, on the newest `WINDOW`.
- Seconds are the processor's, one thread. Memory is the peak of resident memory while learning,
  above what the process held before, its rows among it. Turning rows into what a library wants to
  read (dictionaries, text) is not counted; reading it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from bench.quality.alone import Facts, Peak, Tell, alone
from bench.quality.contests import Contest

SIZE, EVERY, WINDOW = 500, 500, 2000
TUNING, LIMIT = 20, 60  # seconds to choose settings, and to be measured
UNLEARNED = 5  # examples

Settings = dict[str, Any]
Make = Callable[[Contest, Settings], Any]
Takes = Callable[[Contest], bool]


def every(contest: Contest) -> bool:
    return True


@dataclass(frozen=True)
class Rival:
    """Who learns: its name, its models, its grid (the point to begin with first)."""

    name: str
    make: Make
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    asks: Callable[[Contest], Rival] | None = None  # whose settings it takes
    takes: Takes = every
    module: str = "sklearn"
    by_fit: bool = False  # it wants all rows at once
    size: int | None = None  # of landmarks or features
    why_not: str = ""  # for contests that it does not take

    @property
    def there(self) -> bool:
        return find_spec(self.module) is not None

    @property
    def ours(self) -> bool:
        return self.module == "onlinesvm"

    def points(self) -> list[Settings]:
        return [
            dict(zip(self.grid, values, strict=True))
            for values in itertools.product(*self.grid.values())
        ]


# --- models that are not as we need them ---------------------------------------------------------


class Refitted:
    """A batch learner on a stream: fitted again every so often on a window of the newest rows."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.rows: list[tuple[Any, NDArray[Any]]] = []
        self.fresh = 0
        self.fitted = False
        self.last_fit_s = 0.0

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> None:
        self.rows.append((X, y))
        self.fresh += len(y)
        held = sum(len(labels) for _, labels in self.rows)
        while held - len(self.rows[0][1]) >= WINDOW:
            held -= len(self.rows.pop(0)[1])
        labels = np.concatenate([labels for _, labels in self.rows])
        self.usual = np.bincount(labels).argmax()
        if self.fresh < EVERY and self.fitted:
            return
        if len(labels) >= 50 and np.unique(labels).size > 1:
            stack = sparse.vstack if sparse.issparse(X) else np.vstack
            clock = process_time()
            self.model = clone(self.model).fit(stack([rows for rows, _ in self.rows]), labels)
            self.last_fit_s = process_time() - clock
            self.fitted, self.fresh = True, 0

    def predict(self, X: Any) -> Any:
        return self.model.predict(X) if self.fitted else np.full(X.shape[0], self.usual)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["model"], name)


class River:
    """A classifier of river: one dictionary at a time."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def prepare(self, X: Any) -> list[dict[int, float]]:
        if not sparse.issparse(X):
            return [dict(enumerate(row)) for row in X.tolist()]
        parts = itertools.pairwise(X.indptr)
        return [
            dict(zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True)) for a, b in parts
        ]

    def partial_fit(self, X: list[dict[int, float]], y: Any, classes: Any = None) -> None:
        for row, label in zip(X, y.tolist(), strict=True):
            self.model.learn_one(row, label)

    def predict(self, X: list[dict[int, float]]) -> Any:
        return np.array([int(self.model.predict_one(row) or 0) for row in X])


class Vowpal:
    """Vowpal Wabbit, two classes, one line of text at a time."""

    def __init__(self, arguments: str) -> None:
        from vowpalwabbit import Workspace

        self.model = Workspace(f"{arguments} --quiet")

    def prepare(self, X: Any) -> list[str]:
        rows = River.prepare(self, X)  # type: ignore[arg-type]
        return ["| " + " ".join(f"{i}:{v:.7g}" for i, v in row.items() if v) for row in rows]

    def partial_fit(self, X: list[str], y: Any, classes: Any = None) -> None:
        for row, label in zip(X, y.tolist(), strict=True):
            self.model.learn(f"{2 * label - 1} {row}")

    def predict(self, X: list[str]) -> Any:
        return np.array([int(self.model.predict(row) > 0) for row in X])


# --- choosing ------------------------------------------------------------------------------------


def choose(rival: Rival, contest: Contest) -> Settings:
    """The point of the grid that is best on the trial."""
    if rival.asks is not None:
        return _answer(rival.asks(contest), contest)
    points = rival.points()
    if len(points) == 1:
        return points[0]
    trial = contest.trial

    def search(tell: Tell) -> None:
        best = -1.0
        with threadpool_limits(limits=1):
            for point in points:
                right = Pass(rival, trial, point).run()
                if right > best:
                    best = right
                    tell(point=point)

    found: Settings = alone(search, TUNING).get("point", points[0])
    return found


_answers: dict[tuple[str, str, int], Settings] = {}


def _answer(rival: Rival, contest: Contest) -> Settings:
    """Searched for once: else the clock could tell those who share a point two of them."""
    key = rival.name, contest.name, len(contest.y)
    if key not in _answers:
        _answers[key] = choose(rival, contest)
    return _answers[key]


# --- measuring -----------------------------------------------------------------------------------


class Pass:
    """One pass of a model over a contest: processor's seconds to learn and to predict."""

    def __init__(self, rival: Rival, contest: Contest, settings: Settings) -> None:
        self.contest, self.by_fit = contest, rival.by_fit
        self.learn_s = self.predict_s = 0.0
        clock = process_time()
        self.model = rival.make(contest, settings)
        if contest.drifts and rival.by_fit:
            self.model = Refitted(self.model)
        self.learn_s += process_time() - clock

    def run(self) -> float:
        """Learn everything, and return the accuracy."""
        if self.contest.drifts:
            return self.stream()
        self.learn()
        return self.test()

    def learn(self) -> None:
        contest = self.contest
        if self.by_fit:
            clock = process_time()
            self.model.fit(contest.X, contest.y)
            self.learn_s += process_time() - clock
            return
        for start in range(0, len(contest.y), contest.chunk):
            rows = slice(start, start + contest.chunk)
            self._learn(self._prepared(contest.X[rows]), contest.y[rows])

    def test(self) -> float:
        contest, right = self.contest, 0
        for start in range(0, len(contest.y_test), contest.chunk):
            rows = slice(start, start + contest.chunk)
            guesses = self._predict(self._prepared(contest.X_test[rows]))
            right += int(np.sum(guesses == contest.y_test[rows]))
        return right / len(contest.y_test)

    def stream(self, first: int = 0) -> float:
        """Test, then train; the accuracy of the rows from `first` on."""
        contest, right = self.contest, 0
        first = max(first, contest.chunk)
        for start in range(0, len(contest.y), contest.chunk):
            rows = slice(start, start + contest.chunk)
            X, y = self._prepared(contest.X[rows]), contest.y[rows]
            if start:
                guesses = self._predict(X)
                right += int(np.sum((guesses == y)[max(0, first - start) :]))
            self._learn(X, y)
        return right / (len(contest.y) - first)

    def _prepared(self, X: Any) -> Any:
        return self.model.prepare(X) if hasattr(self.model, "prepare") else X

    def _learn(self, X: Any, y: Any) -> None:
        clock = process_time()
        self.model.partial_fit(X, y, classes=self.contest.classes)
        self.learn_s += process_time() - clock

    def _predict(self, X: Any) -> Any:
        clock = process_time()
        guesses = self.model.predict(X)
        self.predict_s += process_time() - clock
        return guesses


def measure(rival: Rival, contest: Contest) -> Facts:
    """Everything that is told of a rival on a contest, each part of it in a process of its own."""
    settings = choose(rival, contest)
    facts = alone(lambda tell: _meet(rival, contest, settings, tell), LIMIT)
    return {"settings": settings, **facts}


def _meet(rival: Rival, contest: Contest, settings: Settings, tell: Tell) -> None:
    with threadpool_limits(limits=1):
        with suppress(ValueError):  # so few rows may be of one class
            Pass(rival, contest.cut(100), settings).run()  # what is only loaded costs no memory
        peak = Peak()
        one = Pass(rival, contest, settings)
        if contest.drifts:
            right = one.stream(first=len(contest.y) // 10)
            tell(accuracy=100 * right, learn_s=one.learn_s, peak_mib=peak.mib())
            asked, tested = len(contest.y) - contest.chunk, len(contest.y) - len(contest.y) // 10
        else:
            one.learn()
            tell(learn_s=one.learn_s, peak_mib=peak.mib())
            tell(accuracy=100 * one.test())
            asked = tested = len(contest.y_test)
        model = one.model
        tell(predict_s=one.predict_s / asked * 1000, tested=tested)
        tell(labels=int(getattr(model, "labels_used_", len(contest.y))))
        if rival.size is not None or hasattr(model, "support_"):
            tell(support=rival.size or len(model.support_))
        if rival.ours and hasattr(model, "nbytes_"):
            tell(held_mib=model.nbytes_ / 2**20)
        tell(**_unlearn(one))


def _unlearn(one: Pass) -> Facts:
    """Seconds to forget a support vector; of those who cannot, to learn the rest again."""
    model = one.model
    if not (hasattr(model, "can") and model.can("unlearn")):
        return {"unlearn_s": getattr(model, "last_fit_s", one.learn_s), "unlearns": False}
    seconds = []
    support = np.unique(model.support_)
    for row in support[:: max(1, len(support) // UNLEARNED)][:UNLEARNED]:
        clock = process_time()
        model.unlearn([int(row)])
        seconds.append(process_time() - clock)
    return {"unlearn_s": median(seconds), "unlearns": True} if seconds else {}
