"""The sets, the learners, and what cross-validation chooses for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from onlinesvm import IncrementalSVC, PassiveAggressiveClassifier, RampSVC, SmoSVC
from onlinesvm.datasets import PAPER_TASKS, paper_task
from reproduce.journal import Facts, Journal
from reproduce.ramp.printed import COLUMNS

Array = NDArray[Any]
Cell = dict[str, Any]

CS = (0.1, 1.0, 5.0, 10.0, 50.0, 100.0, 500.0)
WIDTHS = (2.0, 1.0, 1 / 2, 1 / 4, 1 / 16, 1 / 64)  # delta^2 over the number of features
VALIDATED_ON_ALL = ("Banana",)  # orders together, not order 0 alone
SCALINGS = {"USPS": ("by attribute", "as a whole", "as is")}
# Training rows where a grid takes hours.
RACED = {"Adult": 10_000, "Cover": 10_000, "USPS": 7_291, "Waveform": 10_000}
TOO_DEAR = {("Adult", "OnlineSVM-R", 500.0, 2.0)}  # minutes a fold
SLOW_FIRST: tuple[str, ...] = ("Cover", "USPS", "Adult", "NCheckerboard", "Waveform", "Gauss")
SLOW_FIRST += ("DNA", "Checkerboard", "Banana")

# OnlineSVM-R as printed: stationary after every example, no bias, nobody ever examined again.
PRINTED: dict[str, Any] = {
    "settle": "example",
    "reexamine": False,
    "bias": "none",
    "s": -1.0,
    "multiclass": "one-vs-rest",
    "classes": [-1, 1],
}

LEARNERS: dict[str, Callable[[float, float], Any]] = {
    "LIBSVM": lambda C, gamma: SVC(C=C, gamma=gamma, cache_size=1000),
    "IDSVM": lambda C, gamma: IncrementalSVC(C=C, gamma=gamma, settle="example", classes=[-1, 1]),
    "PA": lambda C, gamma: PassiveAggressiveClassifier(
        C, kernel="rbf", gamma=gamma, bias="none", average=False, classes=[-1, 1]
    ),
    "OnlineSVM-R": lambda C, gamma: RampSVC(C=C, gamma=gamma, **PRINTED),
    "OnlineASVM-R": lambda C, gamma: RampSVC(C=C, gamma=gamma, query="margin", **PRINTED),
    "SVM": lambda C, gamma: SmoSVC(C=C, gamma=gamma, classes=[-1, 1]),
}
CHOSEN_BY = {"LIBSVM": "SVM", "IDSVM": "SVM"}  # one optimum, found by a faster way


@dataclass(frozen=True)
class Sizes:
    """Of a run: everything, or so little that a test has time for it."""

    tasks: tuple[str, ...] = PAPER_TASKS
    orders: int = 10
    folds: int = 5
    Cs: tuple[float, ...] = CS
    widths: tuple[float, ...] = WIDTHS
    rows: int | None = None
    lengths: tuple[int, ...] = (100, 200, 500, 1000, 2000, 4000, 6000, 8000, 10_000)

    @staticmethod
    def of(journal: Journal) -> Sizes:
        return QUICK if journal.quick else FULL


FULL = Sizes()
QUICK = Sizes(
    orders=2, folds=2, Cs=(1.0, 50.0), widths=(1.0, 1 / 4), rows=200, lengths=(50, 100, 200)
)


@dataclass(frozen=True)
class Rows:
    """A set in one order: rows to learn from and to be tested on, labels -1 and +1."""

    X: Array
    y: Array
    X_test: Array
    y_test: Array

    def gamma(self, width: float) -> float:
        """That of delta^2 = width x features in exp(-|x - x'|^2 / 2 delta^2)."""
        return 1 / (2 * width * int(self.X.shape[1]))

    def folds(self, n: int) -> Iterator[Rows]:
        """Each n-th of the training rows once in place of the test rows."""
        for fold in range(n):
            out = np.arange(len(self.y)) % n == fold
            yield Rows(self.X[~out], self.y[~out], self.X[out], self.y[out])


@lru_cache(maxsize=2)
def load(task: str, order: int, rows: int | None = None, scaling: str = "by attribute") -> Rows:
    """``rows`` training rows at most, and three times as many to test on."""
    data = paper_task(task, train_rows=rows, random_state=order).data
    tested = None if rows is None else 3 * rows
    X, y, X_test, y_test = data.X_train, data.y_train, data.X_test[:tested], data.y_test[:tested]
    if task in SCALINGS:  # the only one that paper_task leaves as it is
        X, X_test = scaled(X, X_test, scaling)
    return Rows(X, y, X_test, y_test)


def scaled(X: Array, X_test: Array, scaling: str) -> tuple[Array, Array]:
    """By the mean and deviation of the training rows, or of all of their values."""
    if scaling == "as is":
        return X, X_test
    axis = 0 if scaling == "by attribute" else None
    mean, deviation = X.mean(axis=axis), X.std(axis=axis)
    deviation = np.where(deviation > 0, deviation, 1.0)
    return (X - mean) / deviation, (X_test - mean) / deviation


def fraction(width: float) -> str:
    """As the paper writes the narrow ones."""
    return f"{width:g}" if width >= 1 else f"1/{1 / width:g}"


def learn(model: Any, X: Array, y: Array) -> None:
    """One pass, or all at once for a learner that knows no other way."""
    if isinstance(model, SVC):
        model.fit(X, y)
    else:
        model.partial_fit(X, y)


def percent(model: Any, X: Array, y: Array) -> float:
    """Accuracy."""
    return round(100 * float(model.score(X, y)), 3)


def accuracies(
    task: str,
    order: int,
    learner: str,
    C: float,
    width: float,
    scaling: str,
    folds: int,
    rows: int | None,
    first: int = 0,
) -> Iterator[float]:
    """In percent on each fold from the first on, after learning from the others."""
    for fold in islice(load(task, order, rows, scaling).folds(folds), first, None):
        model = LEARNERS[learner](C, fold.gamma(width))
        learn(model, fold.X, fold.y)
        yield percent(model, fold.X_test, fold.y_test)


def validate(**place: Any) -> Facts:
    """Of a place in the grid, all folds."""
    return {"accuracy": list(accuracies(**place))}


def glance(**place: Any) -> Facts:
    """Of a place in the grid, the first fold."""
    return {"accuracy": [next(accuracies(**place))]}


def go_on(**place: Any) -> Facts:
    """Of a place in the grid, the other folds."""
    return {"accuracy": list(accuracies(**place, first=1))}


@dataclass(frozen=True, order=True)
class Choice:
    """A place in the grid; the better one is the larger one."""

    accuracy: float
    minus_C: float
    width: float
    scaling: str

    @property
    def words(self) -> Cell:
        """As a cell has them."""
        return {"C": -self.minus_C, "width": self.width, "scaling": self.scaling}


Place = tuple[str, str]  # set and learner
Choices = dict[Place, Choice]


def choices(journal: Journal, tasks: Sequence[str], learners: Sequence[str] = COLUMNS) -> Choices:
    """What the rule of the package's first lines chooses, by set and learner."""
    size = Sizes.of(journal)
    solvers = list(dict.fromkeys(CHOSEN_BY.get(learner, learner) for learner in learners))
    cells: list[Cell] = [
        {"task": task, "order": order, "learner": solver, "C": C, "width": width}
        | {"scaling": scaling, "folds": size.folds, "rows": size.rows}
        for task in tasks
        for order in (range(size.orders) if task in VALIDATED_ON_ALL else (0,))
        for solver in solvers
        for scaling in SCALINGS.get(task, ("by attribute",))
        for C, width in product(size.Cs, size.widths)
        if (task, solver, C, width) not in TOO_DEAR
    ]
    # What is cheap comes first, and rows once loaded are used by all.
    cells.sort(key=lambda cell: (cell["C"], SLOW_FIRST.index(cell["task"]), cell["order"]))
    found: dict[Place, dict[tuple[float, float, str], list[float]]] = {}
    unfinished = set()  # half a grid chooses nothing
    for cell, folds in validated(journal, cells):
        if not folds:
            unfinished.add(where(cell))
        at = cell["C"], cell["width"], cell["scaling"]
        found.setdefault(where(cell), {}).setdefault(at, []).extend(folds)
    solved = {
        (task, one): (task, CHOSEN_BY.get(one, one)) for task, one in product(tasks, learners)
    }
    return {key: the_best(found[at]) for key, at in solved.items() if at not in unfinished}


def the_best(found: dict[tuple[float, float, str], list[float]]) -> Choice:
    """Of what all folds of all orders have at each place."""
    return max(Choice(fmean(folds), -C, *how) for (C, *how), folds in found.items())


def where(cell: Cell) -> Place:
    """Whose grid a cell belongs to."""
    return cell["task"], cell["learner"]


def validated(journal: Journal, cells: Sequence[Cell]) -> Iterator[tuple[Cell, list[float]]]:
    """The accuracies of all folds, or none where they are not known yet.

    Of a long grid whatever is behind the best on the first fold is left out.
    """
    before = journal.known(cells, validate)
    raced = [
        cell
        for cell, facts in zip(cells, before, strict=True)
        if facts is None and cell["task"] in RACED
    ]
    whole = [cell for cell in cells if cell not in raced]
    found = [*zip(whole, journal.work(whole, validate), strict=True)]
    looks = [*zip(raced, journal.work(raced, glance), strict=True)]
    best: dict[Place, float] = {}
    for cell, facts in (*found, *looks):
        if facts is not None:
            best[where(cell)] = max(facts["accuracy"][0], best.get(where(cell), 0.0))
    ahead = [
        (cell, facts)
        for cell, facts in looks
        if facts is not None and not behind(facts["accuracy"][0], best[where(cell)], cell)
    ]
    others = journal.work([cell for cell, _ in ahead], go_on)
    for cell, facts in found:
        yield cell, facts["accuracy"] if facts else []
    for (cell, look), rest in zip(ahead, others, strict=True):
        yield cell, look["accuracy"] + rest["accuracy"] if rest else []
    for cell, look in looks:
        if look is None:
            yield cell, []


def behind(accuracy: float, best: float, cell: Cell) -> bool:
    """By more than a standard error of the best, in percent, on a fold."""
    if accuracy == best:
        return False
    there = RACED[cell["task"]]
    rows = min(there, cell["rows"] or there) // cell["folds"]
    return best - accuracy > float(np.sqrt(best * (100 - best) / rows))
